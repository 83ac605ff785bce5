// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Anybody can make a tree whose paths take all memory, if each entry has its own. Here they
// would take 2 GB.

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const LEVELS = 3000
const FILES = 70000
const PACKAGE = JSON.stringify(path.resolve(__dirname, '..'))
let tree

/** Runs a program in a process of its own, where nothing else takes memory. */
const run = (code) => execFileSync(process.execPath, ['-e', code], { encoding: 'utf8', maxBuffer: 1 << 24 })

const LEVELS_MANY = 12000
let deeper

function made(levels) {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-deep-'))
  run(`
    const fs = require('node:fs')
    process.chdir(${JSON.stringify(top)})
    for (let level = 0; level < ${levels}; level += 1) { fs.mkdirSync('directory'); process.chdir('directory') }
    for (let at = 0; at < ${FILES}; at += 1) fs.closeSync(fs.openSync('file' + at, 'w'))`)
  return top
}

before(() => {
  tree = made(LEVELS)
  deeper = made(LEVELS_MANY)
})
// The paths are too long for fs.rm.
after(() => execFileSync('rm', ['-rf', tree, deeper]))

/** The entries of a loop, the bytes of their paths, and by how many MiB its memory grew. */
function measured(loop, root = tree) {
  const output = run(`
    const { batches, du, entryOf, scan, scanSync } = require(${PACKAGE})
    const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
    const root = ${JSON.stringify(root)}
    const begin = peak()
    let [entries, bytes] = [0, 0]
    const run = async () => { ${loop} }
    run().then(() => console.log(JSON.stringify([entries, bytes, peak() - begin])))`)
  return JSON.parse(output)
}

const LOOPS = {
  scan: 'for await (const { path, stats } of scan(root)) { entries += 1; bytes += path.length + 0 * stats.size }',
  scanSync: 'for (const { path, stats } of scanSync(root)) { entries += 1; bytes += path.length + 0 * stats.size }',
  pathBytes: 'for await (const entry of scan(root)) { entries += 1; bytes += entry.pathBytes().length }',
  paths: "for await (const { length, paths } of batches(root, { fields: 'path' })) { entries += length; bytes += paths.length }",
  entryOf: `for await (const columns of batches(root)) {
    for (let row = 0; row < columns.length; row += 1) { entries += 1; bytes += entryOf(columns, row).path.length }
  }`,
}

for (const [name, loop] of Object.entries(LOOPS)) {
  test(`the memory of a deep directory with many files is bounded: ${name}`, () => {
    const [entries, bytes, grown] = measured(loop)
    // Columns have the directory itself, too.
    const hasRoot = /batches/.test(loop)
    assert.strictEqual(entries, LEVELS + FILES + (hasRoot ? 1 : 0))
    const above = tree.length + 1 + '/directory'.length * LEVELS
    assert(bytes > above * FILES, `${bytes} bytes of paths`)
    assert(grown < 100, `${grown} MiB`)
  })
}

// Also where a loop gives the event loop no turn.
for (const name of ['scan', 'scanSync']) {
  test(`the memory of a tree of ${LEVELS_MANY} levels is bounded: ${name}`, () => {
    const [entries, bytes, grown] = measured(LOOPS[name], deeper)
    assert.strictEqual(entries, LEVELS_MANY + FILES)
    assert(bytes > '/directory'.length * LEVELS_MANY * FILES, `${bytes} bytes of paths`)
    assert(grown < 100, `${grown} MiB`)
  })
}

test('du has no paths', () => {
  const [entries, , grown] = measured('entries = (await du(root)).entries')
  assert.strictEqual(entries, LEVELS + FILES + 1)
  assert(grown < 30, `${grown} MiB`)
})
