// SPDX-License-Identifier: MIT OR Apache-2.0

// fs.opendir: an async iterable of the entries of a directory, and an lstat of each whose attributes are wanted.

import { lstat, opendir } from 'node:fs/promises';

export async function walk(found, path) {
  try {
    for await (const entry of await opendir(path)) {
      const whole = `${path}/${entry.name}`;
      found.count(entry);
      if (found.wantsStat(entry)) found.attributes(entry.name, await lstat(whole, found.statOptions));
      if (entry.isDirectory()) await walk(found, whole);
    }
  } catch (error) {
    found.fail(error);
  }
}
