// SPDX-License-Identifier: MIT OR Apache-2.0

// Walks a tree in one of several ways: walk.mjs WAY MODEL ROUNDS PATH.

import { Found } from './found.mjs';

const [way, model, rounds, path] = process.argv.slice(2);
const { walk } = await import(way === 'article' ? './article.mjs' : `./with-${way}.mjs`);
for (let round = 0; round < Number(rounds); round++) {
  const found = new Found(model);
  const start = process.hrtime.bigint();
  await walk(found, path);
  const elapsed = process.hrtime.bigint() - start;
  console.log([elapsed, ...found.answer()].join(' '));
  if (found.failed) process.exitCode = 1;
}
