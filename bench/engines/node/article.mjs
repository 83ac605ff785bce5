// SPDX-License-Identifier: MIT OR Apache-2.0

// The algorithm of the fourth article in JavaScript, in one thread: names, one
// lstat for each, whole paths in the records, symbolic links passed over.
//
// The article names a JavaScript version and does not print it. This one has
// what the printed versions have, and a call instead of a task for a directory.

import { lstatSync, readdirSync } from 'node:fs';
import { isLossy, join } from './names.mjs';

function list(path) {
  const names = readdirSync(path);
  return isLossy(names) ? readdirSync(path, { encoding: 'buffer' }) : names;
}

export function walk(found, path) {
  let names;
  try {
    names = list(path);
  } catch (error) {
    found.fail(error);
    return;
  }
  for (const name of names) {
    const entryPath = join(path, name);
    let stats;
    try {
      stats = lstatSync(entryPath, found.statOptions);
    } catch (error) {
      found.fail(error);
      continue;
    }
    if (stats.isSymbolicLink()) continue;
    found.count(stats);
    if (found.wantsStat(stats)) found.attributes(entryPath, stats);
    if (stats.isDirectory() && !found.entersNothing) walk(found, entryPath);
  }
}
