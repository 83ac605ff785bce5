// SPDX-License-Identifier: MIT OR Apache-2.0

// Names are bytes. Node gives them as strings, which is quick, and puts U+FFFD
// where they are not UTF-8: such a directory is listed again as buffers.

import { Buffer } from 'node:buffer';

const LOST = '\ufffd';

export function isLossy(entries) {
  return entries.some((entry) => (entry.name ?? entry).includes(LOST));
}

export function join(directory, name) {
  if (typeof directory === 'string' && typeof name === 'string') return `${directory}/${name}`;
  return Buffer.concat([Buffer.from(directory), Buffer.from('/'), Buffer.from(name)]);
}
