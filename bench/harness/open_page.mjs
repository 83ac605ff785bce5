// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens an HTML file from the disk in a headless Chromium, without a network, and prints what that
// took as JSON. `bench/pages` calls it:
//
//     node bench/harness/open_page.mjs FILE [ZOOM]
//
// ZOOM says how a reader zooms on this page, as JSON: {"click": [x, y, times], "back": KEY} with parts
// of the width and the height, or {"focus": SELECTOR, "keys": [KEY, …], "back": KEY}. Without it there is no zoom.
// A report of statwalk with several blocks is also asked for directories whose block is not read.

import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { inflateRawSync } from "node:zlib";

const require = createRequire(new URL("../../crates/statwalk-report/viewer/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const ZOOMS = 8;
const COLD_BLOCKS = 12;
const MEMORY_PERIOD_MS = 100;
const TIMEOUT_MS = 180_000;

const [file, zoom] = [process.argv[2], JSON.parse(process.argv[3] ?? "null")];

/** The processes of this browser: its profile is in their command line, or their parent is one of them. */
function processes() {
  const parents = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      parents.set(Number(pid), Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]));
    } catch { /* It has ended. */ }
  }
  const own = new Set([process.pid]);
  for (let size = 0; size < own.size;) {
    size = own.size;
    for (const [pid, parent] of parents) if (own.has(parent)) own.add(pid);
  }
  own.delete(process.pid);
  return [...own];
}

/** The memory of the browser, and of its largest renderer, in MiB: pages that several share count in parts. */
function memory() {
  let [all, renderer] = [0, 0];
  for (const pid of processes()) {
    try {
      const kib = Number(/^Pss:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]);
      all += kib / 1024;
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) renderer = Math.max(renderer, kib / 1024);
      readlinkSync(`/proc/${pid}/exe`);
    } catch { /* It has ended. */ }
  }
  return { all, renderer };
}

/** Directories whose children are in a block of their own, one a block, by their paths from the root. */
function coldPaths(html) {
  const element = (id) => {
    const start = html.indexOf(`id="${id}">`);
    return start < 0 ? undefined : html.subarray(start + id.length + 5, html.indexOf("</script>", start)).toString("latin1");
  };
  const text = element("statwalk-block-0");
  if (text === undefined || element("statwalk-block-1") === undefined) return [];
  const pieces = text.split("\n").filter((piece) => piece !== "");
  const bytes = Buffer.concat(pieces.map((piece) => inflateRawSync(Buffer.from(piece, "base64"))));
  const length = bytes.readUInt32LE(0);
  const { nodes, columns } = JSON.parse(bytes.subarray(4, 4 + length).toString());
  const data = bytes.subarray((4 + length + 7) & ~7);
  const number = (name, at) => {
    const place = columns[name];
    const width = place.type === "u8" ? 1 : place.type === "u32" ? 4 : 8;
    let [sum, start] = [0, place.at];
    for (let byte = 0; byte < Math.min(width, 6); byte++) {
      const one = place.planes?.[byte];
      sum += (one ?? data[place.planes ? start + at : place.at + at * width + byte]) * 2 ** (8 * byte);
      if (one === null) start += nodes;
    }
    return sum;
  };
  const sums = (name, sum) => Array.from({ length: nodes }, (_, at) => (sum = (sum + number(name, at)) % 2 ** 32));
  const [parents, nameEnds] = [sums("parent_step", 0xffffffff), sums("name_length", 0)];
  const name = (at) => data.subarray(columns.names.at + (nameEnds[at - 1] ?? 0), columns.names.at + nameEnds[at]).toString();
  const byBlock = new Map();
  for (let at = 0; at < nodes; at++) {
    const block = number("block", at);
    if (block === 0xffffffff || byBlock.has(block)) continue;
    const names = [];
    for (let above = at; above !== 0; above = parents[above]) names.unshift(name(above));
    byBlock.set(block, `/${names.join("/")}`);
  }
  // The last are the smallest: the map has not read them by itself.
  return [...byBlock.values()].slice(-COLD_BLOCKS);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const empty = memory();
const context = await browser.newContext({ viewport: { width: 1600, height: 900 }, offline: true, locale: "en-GB", reducedMotion: "reduce" });
await context.addInitScript(() => {
  globalThis.benchEvents = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.benchEvents.push([entry.name, entry.startTime, entry.duration]);
  }).observe({ type: "event", durationThreshold: 16 });
});
const page = await context.newPage();
const complaints = [];
page.on("pageerror", (error) => complaints.push(String(error)));
const requests = [];
page.on("request", (request) => {
  if (!/^(file|data|blob):/.test(request.url())) requests.push(request.url());
});

let peak = empty;
const sampler = setInterval(() => {
  const now = memory();
  if (now.all > peak.all) peak = now;
}, MEMORY_PERIOD_MS);
await page.goto(`file://${file}`, { timeout: TIMEOUT_MS, waitUntil: "load" });
/** Waits until nothing more is to be done, and says when that was. */
const idle = () => page.evaluate(() => new Promise((done) => {
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    // A frame that is late shows that something worked meanwhile.
    if (now - last > 60) globalThis.benchBusy = now;
    last = now;
    if (now - (globalThis.benchBusy ?? 0) > 500) return done(globalThis.benchBusy ?? 0);
    requestAnimationFrame(look);
  };
  globalThis.benchBusy ??= performance.now();
  requestAnimationFrame(look);
}));
const usable = await idle();
const painted = await page.evaluate(() => ({
  first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  map: performance.getEntriesByName("statwalk-map")[0]?.startTime,
}));
const settled = memory();
clearInterval(sampler);

const zooms = [];
if (zoom !== null) {
  for (let attempt = 0; attempt < ZOOMS; attempt++) {
    await page.evaluate(() => { globalThis.benchEvents.length = 0; });
    if (zoom.click !== undefined) {
      const [x, y, times] = zoom.click;
      await page.mouse.click(1600 * x, 900 * y, { clickCount: times });
    } else {
      await page.focus(zoom.focus);
      for (const key of zoom.keys) await page.keyboard.press(key);
    }
    await page.waitForTimeout(700);
    if (zoom.back !== undefined) await page.keyboard.press(zoom.back);
    await page.waitForTimeout(500);
    zooms.push(await page.evaluate(() => Math.max(0, ...globalThis.benchEvents.map(([, , duration]) => duration))));
  }
}

const cold = [];
for (const path of coldPaths(readFileSync(file))) {
  const took = await page.evaluate((path) => new Promise((done, failed) => {
    const begin = performance.now();
    location.hash = `path=${path.split("/").map(encodeURIComponent).join("/")}`;
    const look = () => {
      const mark = performance.getEntriesByName("statwalk-map").at(-1);
      const isThere = document.querySelectorAll(".crumbs li").length === path.split("/").length
        && mark !== undefined && mark.startTime > begin && !document.querySelector(".picture").textContent.includes("Reading");
      if (isThere) return done(performance.now() - begin);
      if (performance.now() - begin > 10_000) return failed(new Error(`${path} does not open`));
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }), path);
  cold.push(took);
  await page.waitForTimeout(200);
}
const end = memory();
await browser.close();
console.log(JSON.stringify({ painted, usable, zooms, cold, memory: { empty, peak, settled, end }, requests, complaints }));
