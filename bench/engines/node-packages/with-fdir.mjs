// SPDX-License-Identifier: MIT OR Apache-2.0

// fdir: whole paths, those of directories with a slash behind. It has no attributes, so each wanted path gets an lstatSync.

import { lstatSync } from 'node:fs';
import { fdir } from 'fdir';

export function walk(found, root) {
  const crawler = new fdir().withFullPaths().withDirs().withErrors().crawl(root);
  // The scanned directory comes first.
  for (const path of crawler.sync().slice(1)) {
    try {
      if (path.endsWith('/')) {
        found.directories++;
        continue;
      }
      found.files++;
      if (found.wantsSizes) found.attributes(path, lstatSync(path));
    } catch (error) {
      found.fail(error);
    }
  }
}
