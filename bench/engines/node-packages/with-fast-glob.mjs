// SPDX-License-Identifier: MIT OR Apache-2.0

// fast-glob: a stream of all below a directory, with their attributes where they are wanted.

import glob from 'fast-glob';

export async function walk(found, cwd) {
  const options = { cwd, dot: true, onlyFiles: false, followSymbolicLinks: false, objectMode: true, stats: found.wantsSizes };
  try {
    for await (const { name, dirent, stats } of glob.stream('**', options)) {
      found.count(stats ?? dirent);
      if (found.wantsSizes) found.attributes(name, stats);
    }
  } catch (error) {
    found.fail(error);
  }
}
