// SPDX-License-Identifier: MIT OR Apache-2.0

// statwalk for Node, entry by entry or in columns: walk.mjs scan|batches MODEL ROUNDS PATH.

import { createRequire } from 'node:module';

const { batches, scan } = createRequire(import.meta.url)('./node/index.js');

const SECOND = 1_000_000_000n;
const FIELDS = {
  count: 'type',
  size: ['type', 'size'],
  directory: ['type', 'size'],
  records: ['type', 'name', 'size', 'mode', 'mtime', 'atime', 'ctime'],
};

const [way, model, rounds, path] = process.argv.slice(2);
const options = { fields: FIELDS[model], onError: complain };
if (model === 'directory') options.maxDepth = 1;

function complain(error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function byEntries() {
  let [files, directories, bytes] = [0, 0, 0];
  for await (const entry of scan(path, options)) {
    if (entry.isDirectory) {
      directories += 1;
      continue;
    }
    files += 1;
    if (model === 'count') continue;
    const { stats, dirent } = entry;
    if (dirent.isFile()) bytes += stats.size;
  }
  return [files, directories, bytes];
}

async function byBatches() {
  const kept = [];
  // The directory itself is a row.
  let [files, directories, bytes, mtime] = [0, -1, 0n, 0n];
  let root = 0n;
  for await (const columns of batches(path, options)) {
    if (model === 'records') kept.push(columns);
    for (let row = 0; row < columns.length; row += 1) {
      const type = columns.types[row];
      if (type === 1) directories += 1;
      else files += 1;
      if (type === 0 && columns.size) bytes += columns.size[row];
      if (!columns.mtimeNs) continue;
      const ns = columns.mtimeNs[row];
      // The division of bigints rounds towards zero, and the rest can be negative.
      const seconds = (ns - (((ns % SECOND) + SECOND) % SECOND)) / SECOND;
      mtime += seconds;
      if (type === 1 && columns.ids[row] === columns.dirs[row]) root = seconds;
    }
  }
  if (model !== 'records') return [files, directories, bytes];
  return [files, directories, bytes, BigInt.asIntN(64, mtime - root)];
}

for (let round = 0; round < Number(rounds); round += 1) {
  const start = process.hrtime.bigint();
  const answer = await (way === 'scan' ? byEntries() : byBatches());
  console.log([process.hrtime.bigint() - start, ...answer].join(' '));
}
