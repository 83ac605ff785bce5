// SPDX-License-Identifier: MIT OR Apache-2.0

// fs.readdirSync with `recursive`: one call gives the entries of the whole tree.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from './names.mjs';

export function walk(found, path) {
  let entries;
  try {
    entries = readdirSync(path, { recursive: true, withFileTypes: true });
  } catch (error) {
    found.fail(error);
    return;
  }
  for (const entry of entries) {
    found.count(entry);
    if (!found.wantsStat(entry)) continue;
    try {
      const entryPath = join(entry.parentPath, entry.name);
      found.attributes(entry.name, lstatSync(entryPath, found.statOptions));
    } catch (error) {
      found.fail(error);
    }
  }
}
