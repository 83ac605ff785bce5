// SPDX-License-Identifier: MIT OR Apache-2.0

// fs.readdirSync with types in a function that calls itself, fs.lstatSync where
// attributes are wanted.

import { lstatSync, readdirSync } from 'node:fs';
import { isLossy, join } from './names.mjs';

function list(path) {
  const entries = readdirSync(path, { withFileTypes: true });
  if (!isLossy(entries)) return entries;
  return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
}

export function walk(found, path) {
  let entries;
  try {
    entries = list(path);
  } catch (error) {
    found.fail(error);
    return;
  }
  for (const entry of entries) {
    found.count(entry);
    const isDirectory = entry.isDirectory();
    const wantsStat = found.wantsStat(entry);
    if (!isDirectory && !wantsStat) continue;
    const entryPath = join(path, entry.name);
    if (wantsStat) {
      try {
        found.attributes(entry.name, lstatSync(entryPath, found.statOptions));
      } catch (error) {
        found.fail(error);
      }
    }
    if (isDirectory && !found.entersNothing) walk(found, entryPath);
  }
}
