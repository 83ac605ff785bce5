// SPDX-License-Identifier: MIT OR Apache-2.0

// A headless Chromium that opens made reports from the disk, without a network.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { page as pageOf, type Report } from "./sample";
import { job, slownessOf } from "./slowness";

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
export async function open(report: Report, options: BrowserContextOptions & { isBroken?: boolean; isSilent?: boolean } = {}): Promise<Opened> {
  browser ??= chromium.launch({ executablePath: program!, args: ["--no-sandbox"] });
  let file = files.get(report);
  if (file === undefined) {
    file = join(folder, `report-${number++}.html`);
    writeFileSync(file, pageOf(report));
    files.set(report, file);
  }
  const { isBroken = false, isSilent = false, ...more } = options;
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
  // Without scripts nothing but the text is there.
  if (isSilent) return { page, file, complaints, requests };
  await page.waitForSelector(isBroken ? ".failed" : "[aria-activedescendant]", { state: "attached" });
  await settled(page);
  return { page, file, complaints, requests };
}

/** Waits until the map stands still. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise<void>((done) => setTimeout(() => requestAnimationFrame(() => done()), 90)));
}

/** How many times as long the machine of this page takes now as that of the limits of time. */
export async function slowness(page: Page): Promise<number> {
  return slownessOf(await page.evaluate(job));
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
