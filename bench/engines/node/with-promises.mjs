// SPDX-License-Identifier: MIT OR Apache-2.0

// fs.promises: some directories at once, and some stats at once in each.

import { lstat, readdir } from 'node:fs/promises';
import { isLossy, join } from './names.mjs';

// More than libuv's four threads can take, so that none of them waits; few
// enough that a large directory does not become as many promises.
const DIRECTORIES_AT_ONCE = 8;
const STATS_AT_ONCE = 64;

async function list(path) {
  const entries = await readdir(path, { withFileTypes: true });
  if (!isLossy(entries)) return entries;
  return readdir(path, { withFileTypes: true, encoding: 'buffer' });
}

async function stat(found, path, entry) {
  try {
    found.attributes(entry.name, await lstat(join(path, entry.name), found.statOptions));
  } catch (error) {
    found.fail(error);
  }
}

// Lists one directory and gives the paths of the directories in it.
async function read(found, path) {
  const below = [];
  let stats = [];
  try {
    for (const entry of await list(path)) {
      found.count(entry);
      if (found.wantsStat(entry) && stats.push(stat(found, path, entry)) === STATS_AT_ONCE) {
        await Promise.all(stats);
        stats = [];
      }
      if (entry.isDirectory() && !found.entersNothing) below.push(join(path, entry.name));
    }
    await Promise.all(stats);
  } catch (error) {
    found.fail(error);
  }
  return below;
}

export function walk(found, root) {
  const waiting = [root];
  let underWay = 0;
  return new Promise((done) => {
    const next = () => {
      while (waiting.length > 0 && underWay < DIRECTORIES_AT_ONCE) {
        underWay++;
        read(found, waiting.pop()).then((below) => {
          for (const path of below) waiting.push(path);
          underWay--;
          next();
        });
      }
      if (underWay === 0) done();
    };
    next();
  });
}
