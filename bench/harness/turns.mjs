// SPDX-License-Identifier: MIT OR Apache-2.0

// How long the event loop of Node waits for its next turn while a tree is read. `bench/turns` calls it:
//
//     node bench/harness/turns.mjs MODULE WAY TREE THREADS
//
// One reading comes first and is not counted. The answer is JSON: the entries, the milliseconds of the reading, the
// longest wait, how many were longer than 5 ms, and how much of the longest the collector had.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { PerformanceObserver } from "node:perf_hooks";

const [module, way, tree, threads] = process.argv.slice(2);
const statwalk = createRequire(import.meta.url)(module);
const options = { fields: "size", ...(Number(threads) > 0 && { threads: Number(threads) }) };

const WAYS = {
  async entries() {
    let count = 0;
    for await (const entry of statwalk.scan(tree, options)) count += entry.stats === null ? 0 : 1;
    return count;
  },
  async columns() {
    let count = 0;
    for await (const batch of statwalk.batches(tree, options)) count += batch.length;
    return count - 1; // The tree itself has a row, and is no entry of itself.
  },
  /** As a program without statwalk would, with as many promises as fill the threads of libuv. */
  async promises() {
    let count = 0;
    const waiting = [tree];
    const work = async () => {
      for (let folder; (folder = waiting.pop()) !== undefined;) {
        for (const entry of await fs.promises.readdir(folder, { withFileTypes: true })) {
          const whole = path.join(folder, entry.name);
          if (entry.isDirectory()) waiting.push(whole);
          await fs.promises.lstat(whole);
          count += 1;
        }
      }
    };
    while (waiting.length > 0) await Promise.all(Array.from({ length: 8 }, work));
    return count;
  },
};

const pauses = [];
const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) pauses.push([startTime, startTime + duration]);
});
observer.observe({ entryTypes: ["gc"] });

async function reading() {
  const waits = [];
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    waits.push([last, now]);
    last = now;
    timer = setImmediate(look);
  };
  let timer = setImmediate(look);
  const begin = performance.now();
  const entries = await WAYS[way]();
  const ms = performance.now() - begin;
  clearImmediate(timer);
  // The observer hears of pauses in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const [from, to] = waits.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
  const collector = pauses.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, to) - Math.max(a, from)), 0);
  return { entries, ms, longest_ms: to - from, long_count: waits.filter(([a, b]) => b - a > 5).length, collector_ms: collector };
}

await reading();
console.log(JSON.stringify(await reading()));
