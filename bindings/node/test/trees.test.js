// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// All named trees and some random ones, beside a plain walk.

const assert = require('node:assert')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')

const statwalk = require('../index.js')
const { byLstat, sumsOf, TREES } = require('./walk.js')

const BLOCK = 512n
const FIELDS = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'ino', 'size', 'blocks', 'ctimeMs']
const IS = ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO', 'isSocket', 'isCharacterDevice', 'isBlockDevice']
const skip = fs.existsSync(TREES) ? false : 'needs the trees of `cargo xtask bindings`'
// One of them has directories that only root can walk.
const isOpen = (name) => process.getuid() === 0 || name !== 'permissions'
const names = skip ? [] : fs.readdirSync(TREES).filter(isOpen).sort()
// Paths of some are as long as the system takes, so none begins with that of the checkout.
if (!skip) process.chdir(TREES)

/** A time where 64 bits of nanoseconds hold it. */
const isTime = (ns) => BigInt.asIntN(64, ns) === ns

function checkStats(stats, { file, stats: { mtimeNs } }) {
  const expected = fs.lstatSync(file)
  for (const field of FIELDS) assert.strictEqual(stats[field], expected[field], `${file} ${field}`)
  // Of others the scan has whole seconds.
  const mtimeMs = isTime(mtimeNs) ? expected.mtimeMs : Math.floor(expected.mtimeMs / 1e3) * 1e3
  assert.strictEqual(stats.mtimeMs, mtimeMs, `${file} mtime`)
}

function checkEntry(entry, expected) {
  const { file, dirent, stats } = expected
  assert.deepStrictEqual(entry.pathBytes(), file)
  assert.deepStrictEqual(entry.nameBytes(), dirent.name)
  assert.strictEqual(entry.isDirectory, stats.isDirectory())
  assert.strictEqual(entry.isSymbolicLink, stats.isSymbolicLink())
  for (const is of IS) assert.strictEqual(entry.dirent[is](), dirent[is](), `${file} ${is}`)
  assert.deepStrictEqual(Buffer.from(entry.dirent.name), dirent.name)
  if (entry.isText) assert.deepStrictEqual(Buffer.from(entry.path), file)
  else assert.throws(() => entry.path, { name: 'UndecodablePathError', pathBytes: file })
  checkStats(entry.stats, expected)
}

async function checkScan(root, expected, options) {
  const left = new Map(expected)
  left.delete(root)
  for await (const entry of statwalk.scan(root, options)) {
    const bytes = entry.pathBytes().toString('latin1')
    const other = left.get(bytes)
    assert(other !== undefined && left.delete(bytes), bytes)
    checkEntry(entry, other)
  }
  assert.deepStrictEqual([...left.keys()], [])
}

async function checkBatches(root, expected, options) {
  const left = new Map(expected)
  const directories = new Map()
  const fields = ['type', 'size', 'allocated', 'links', 'id', ...(options.threads > 1 ? ['path'] : [])]
  const piece = (bytes, offsets, at) => bytes.subarray(offsets[at], offsets[at + 1]).toString('latin1')
  for await (const columns of statwalk.batches(root, { ...options, fields })) {
    const { paths, pathOffsets, prefixes, prefixBytes, prefixOffsets, names, nameOffsets } = columns
    assert.strictEqual(paths != null, fields.includes('path'))
    for (let row = 0; row < columns.length; row += 1) {
      const bytes = piece(prefixBytes, prefixOffsets, prefixes[row]) + piece(names, nameOffsets, row)
      if (paths != null) assert.strictEqual(piece(paths, pathOffsets, row), bytes)
      const { stats } = left.get(bytes) ?? {}
      assert(stats !== undefined && left.delete(bytes), bytes)
      if (columns.ids != null) directories.set(columns.ids[row], bytes)
      if (bytes !== root) assert.strictEqual(directories.get(columns.dirs[row]), bytes.slice(0, bytes.lastIndexOf('/')))
      assert.strictEqual(columns.types[row], IS.findIndex((is) => stats[is]()), bytes)
      const { size, allocated, links, ino, dev } = columns
      assert.deepStrictEqual(
        [size[row], allocated[row], BigInt(links[row]), ino[row], dev[row]],
        [stats.size, stats.blocks * BLOCK, stats.nlink, stats.ino, stats.dev],
        bytes,
      )
    }
  }
  assert.deepStrictEqual([...left.keys()], [])
}

for (const threads of [1, 4]) {
  test(`all trees (${threads} threads)`, { skip }, async () => {
    assert(names.length > 40)
    for (const root of names) {
      const expected = byLstat(root)
      const options = { threads }
      await checkScan(root, expected, options)
      await checkBatches(root, expected, options)
      const { report, errors, isComplete, ...sums } = await statwalk.du(root, { ...options, bigint: true })
      assert.deepStrictEqual([errors, isComplete, sums], [[], true, sumsOf(expected)], root)
    }
  })
}
