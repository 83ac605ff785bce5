// SPDX-License-Identifier: MIT OR Apache-2.0

// A headless Chromium that opens made reports from the disk, without a network.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { page as pageOf, type Report } from "./sample";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path));

/** The options of a test: it says why it does not run. */
export const inBrowser = { skip: program === undefined && "skipped: needs chromium", timeout: 90_000 };
if (program === undefined) console.log("skipped: needs chromium (viewer of statwalk report)");

const folder = mkdtempSync(join(tmpdir(), "statwalk-viewer-"));
let browser: Promise<Browser> | undefined;

after(async () => {
  await (await browser)?.close();
  rmSync(folder, { recursive: true, force: true });
});

export interface Opened {
  page: Page;
  file: string;
  /** What the console, the page and its policy complained about. */
  complaints: string[];
  /** What was asked of any network or disk, but the file itself. */
  requests: string[];
}

let number = 0;
const files = new Map<Report, string>();

/** Opens a report, and closes it after the test. */
export async function open(report: Report, options: BrowserContextOptions & { isBroken?: boolean } = {}): Promise<Opened> {
  browser ??= chromium.launch({ executablePath: program!, args: ["--no-sandbox"] });
  let file = files.get(report);
  if (file === undefined) {
    file = join(folder, `report-${number++}.html`);
    writeFileSync(file, pageOf(report));
    files.set(report, file);
  }
  const { isBroken = false, ...more } = options;
  const context = await (await browser).newContext({ viewport: { width: 1600, height: 900 }, offline: true, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce", ...more });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`file://${file}`) && url !== "data:,") requests.push(url);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector(isBroken ? ".failed" : "[aria-activedescendant]", { state: "attached" });
  await settled(page);
  return { page, file, complaints, requests };
}

/** Waits until the map stands still. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise<void>((done) => setTimeout(() => requestAnimationFrame(() => done()), 90)));
}

/** A fixed job, in milliseconds, on the machine that the limits of time are for: two processors, nothing beside. */
const JOB_MS = 46;

/**
 * How many times as long this machine takes for a fixed job now, and at least 1.
 *
 * A limit of time times this number holds on a slow or busy machine, too, and is no looser on a fast one.
 */
export async function slowness(page: Page): Promise<number> {
  const took = await page.evaluate(() => {
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
      let state = 7;
      const numbers = Float64Array.from({ length: 200_000 }, () => (state = (state * 16807) % 2147483647));
      const start = performance.now();
      numbers.sort((a, b) => a - b);
      best = Math.min(best, performance.now() - start);
    }
    return best;
  });
  return Math.max(1, took / JOB_MS);
}

export async function close({ page }: Opened): Promise<void> {
  await page.context().close();
}

/** Presses keys one after another. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
  await settled(page);
}

export const text = async (page: Page, selector: string): Promise<string> =>
  (await page.textContent(selector)) ?? "";

/** The name of the selected row. */
export const selected = (page: Page): Promise<string> =>
  page.evaluate(() => document.querySelector(".selection strong")?.textContent ?? "");

/** The steps of the way to the view. */
export const way = (page: Page): Promise<string[]> =>
  page.$$eval(".crumbs li", (items) => items.map((item) => item.textContent ?? ""));

export const fragmentOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);
