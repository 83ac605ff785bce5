// SPDX-License-Identifier: MIT OR Apache-2.0

// How long a task of the event loop of Node waits while a tree is read: a timer that is due each millisecond, and what it
// comes too late. `bench/turns` calls it:
//
//     node bench/harness/turns.mjs MODULE WAY TREE OPTIONS
//
// One reading comes first, with a compiler that has seen nothing. The answer is JSON: of the second reading the entries,
// the milliseconds, the longest wait, how many were longer than 5 ms, and the longest without the time for which the thread
// of the loop could run and had no processor; and the longest wait of the first.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const BEAT_MS = 1;
const [module, way, tree, given] = process.argv.slice(2);
const statwalk = createRequire(import.meta.url)(module);
const options = { fields: "size", ...JSON.parse(given) };

const WAYS = {
  /** No reading: what the machine alone lets a timer wait. */
  async nothing() {
    await new Promise((resolve) => setTimeout(resolve, 800));
    return 0;
  },
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

// Room from the beginning: what looks at the loop must not bring the collector work.
const beats = new Float64Array(1 << 17);
// How long this thread has waited for a processor, in milliseconds: the second number of schedstat.
const delays = new Float64Array(beats.length);
const schedstat = fs.openSync("/proc/thread-self/schedstat");
const text = Buffer.alloc(64);

function delay() {
  const length = fs.readSync(schedstat, text, 0, text.length, 0);
  let ns = 0;
  for (let at = text.indexOf(0x20) + 1; at < length && text[at] !== 0x20; at += 1) ns = 10 * ns + text[at] - 0x30;
  return ns / 1e6;
}

async function reading() {
  let count = 0;
  const timer = setInterval(() => { beats[count] = performance.now(); delays[count] = delay(); count += 1; }, BEAT_MS);
  while (count < 10) await new Promise((resolve) => setTimeout(resolve, 1));
  const first = count;
  const begin = performance.now();
  const entries = await WAYS[way]();
  const end = performance.now();
  const last = count;
  while (count === last) await new Promise((resolve) => setTimeout(resolve, 1));
  clearInterval(timer);
  const waits = Array.from(beats.subarray(first, last + 1), (to, at) => [beats[first + at - 1], to]);
  const length = ([from, to]) => Math.max(0, to - from - BEAT_MS);
  const held = waits.map((wait, at) => length(wait) - (delays[first + at] - delays[first + at - 1]));
  return {
    entries,
    ms: end - begin,
    longest_ms: Math.max(...waits.map(length)),
    held_ms: Math.max(...held),
    long_count: waits.filter((wait) => length(wait) > 5).length,
  };
}

const cold = await reading();
console.log(JSON.stringify({ ...(await reading()), first_longest_ms: cold.longest_ms }));
