// SPDX-License-Identifier: MIT OR Apache-2.0

// A headless Firefox that opens made reports from the disk, by WebDriver BiDi. Playwright starts
// its own build of Firefox alone, and this one is that of the system.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import WebSocket from "ws";
import { page as pageOf, type Report } from "./sample";

const PROGRAMS = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];
const program = process.env.FIREFOX ?? PROGRAMS.find((path) => existsSync(path));

/** The options of a test: it says why it does not run. */
export const inFirefox = { skip: program === undefined && "skipped: needs firefox-esr", timeout: 120_000 };
if (program === undefined) console.log("skipped: needs firefox-esr (viewer of statwalk report)");

/** The keys of WebDriver, which are letters for private use (W3C WebDriver, 17.4.2). */
export const KEYS = { Backspace: "\ue003", Tab: "\ue004", Enter: "\ue006", Escape: "\ue00c", ArrowDown: "\ue015" };

/** Whatever leaves the machine goes to a port where nobody listens, and so does what the browser asks for itself. */
const PREFERENCES = {
  "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.proxy.no_proxies_on": "127.0.0.1",
  "ui.prefersReducedMotion": 1, "intl.accept_languages": "en-GB", "intl.regional_prefs.use_os_locales": false,
  "remote.active-protocols": 1, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
};

type Answer = Record<string, any>;

export class Firefox {
  private complaints: string[] = [];
  private requests: string[] = [];
  private number = 0;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private context = "";
  private file = "";

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly socket: WebSocket,
  ) {
    socket.on("message", (data) => this.take(JSON.parse(String(data)) as Answer));
  }

  static async start(): Promise<Firefox> {
    const folder = mkdtempSync(join(tmpdir(), "statwalk-firefox-"));
    const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
    writeFileSync(join(folder, "user.js"), lines.join(""));
    const words = ["--headless", "--no-remote", "--remote-debugging-port=0", "--width=1600", "--height=900", "--profile", folder];
    const child = spawn(program!, words, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: folder, TZ: "UTC" } });
    const address = await new Promise<string>((found, failed) => {
      child.once("exit", (status) => failed(new Error(`Firefox ended with ${status}`)));
      createInterface(child.stderr!).on("line", (line) => {
        const match = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
        if (match !== null) found(`${match[1]}/session`);
      });
    });
    const socket = new WebSocket(address);
    await new Promise((opened, failed) => socket.once("open", opened).once("error", failed));
    const firefox = new Firefox(child, folder, socket);
    await firefox.send("session.new", { capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: "dismiss" } } } });
    await firefox.send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent", "browsingContext.userPromptOpened"] });
    const { contexts } = await firefox.send("browsingContext.getTree", {});
    firefox.context = contexts[0].context;
    await firefox.send("browsingContext.setViewport", { context: firefox.context, viewport: { width: 1600, height: 900 } });
    return firefox;
  }

  /** Opens a report from the disk, and waits until its map is there. */
  async open(report: Report): Promise<void> {
    this.file = join(this.folder, `report-${this.number}.html`);
    writeFileSync(this.file, pageOf(report));
    await this.send("browsingContext.navigate", { context: this.context, url: `file://${this.file}`, wait: "complete" });
    while (!(await this.ask<boolean>('document.querySelector("[aria-activedescendant]") !== null'))) await this.settle();
    await this.settle();
  }

  /** The value of an expression on the page, by way of JSON. */
  async ask<T>(expression: string): Promise<T> {
    const text = `Promise.resolve(${expression}).then((value) => JSON.stringify(value) ?? "null")`;
    const { result, exceptionDetails } = await this.send("script.evaluate", { expression: text, target: { context: this.context }, awaitPromise: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value) as T;
  }

  async press(...keys: string[]): Promise<void> {
    const actions = keys.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.send("input.performActions", { context: this.context, actions: [{ type: "key", id: "keyboard", actions }] });
    await this.settle();
  }

  async point(x: number, y: number): Promise<void> {
    const actions = [{ type: "pointerMove", x, y }];
    await this.send("input.performActions", { context: this.context, actions: [{ type: "pointer", id: "mouse", actions }] });
  }

  /** Fails where console or page complained, or the page asked for anything but its file. */
  check(): void {
    assert.deepEqual([this.complaints, this.requests], [[], []]);
  }

  takeComplaints(): string[] {
    this.requests = [];
    return this.complaints.splice(0);
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.child.once("exit", done));
    await this.send("browser.close", {}).catch(() => this.child.kill());
    await ended;
    this.socket.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  private settle(): Promise<unknown> {
    return this.ask("new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(0)), 90))");
  }

  private send(method: string, params: object): Promise<Answer> {
    const id = ++this.number;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => this.waiting.set(id, (answer) =>
      answer.type === "success" ? done(answer.result) : failed(new Error(`${method}: ${answer.error}: ${answer.message}`))));
  }

  private take(answer: Answer): void {
    const { method, params } = answer;
    if (method === undefined) {
      this.waiting.get(answer.id)?.(answer);
      this.waiting.delete(answer.id);
    } else if (method === "log.entryAdded" && ["error", "warn"].includes(params.level)) {
      this.complaints.push(params.text);
    } else if (method === "browsingContext.userPromptOpened") {
      this.complaints.push(`dialog: ${params.message}`);
    } else if (method === "network.beforeRequestSent" && ![`file://${this.file}`, "data:,"].includes(params.request.url)) {
      this.requests.push(params.request.url);
    }
  }
}
