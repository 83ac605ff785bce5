// SPDX-License-Identifier: MIT OR Apache-2.0

// Takes pictures of a report in both themes: `npm run picture -- REPORT LIGHT.png DARK.png`.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const [report, light, dark] = process.argv.slice(2);
const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? programs.find((path) => existsSync(path));
if (executablePath === undefined) throw new Error("there is no chromium");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [colorScheme, path] of [["light", light], ["dark", dark]]) {
  const context = await browser.newContext({
    viewport: { width: 1200, height: 700 }, colorScheme, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce", offline: true,
  });
  const page = await context.newPage();
  await page.goto(`file://${report}`);
  await page.waitForSelector("[aria-activedescendant]", { state: "attached" });
  await page.focus("#tree");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(300);
  await page.screenshot({ path });
  await context.close();
}
await browser.close();
