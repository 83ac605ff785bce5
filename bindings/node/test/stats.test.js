// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Attributes that are there in part: not asked for, not known to the file system, or not asked
// of the system.

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { inspect } = require('node:util')

const statwalk = require('..')
const { Table } = require('../table.js')
const { byLstat } = require('./walk.js')

const PARTS = {
  id: ['dev', 'ino'],
  mode: ['mode'],
  links: ['nlink'],
  owner: ['uid', 'gid'],
  rdev: ['rdev'],
  size: ['size'],
  allocated: ['blocks'],
  atime: ['atimeMs', 'atime'],
  mtime: ['mtimeMs', 'mtime'],
  ctime: ['ctimeMs', 'ctime'],
  btime: ['birthtimeMs', 'birthtime'],
}
const IS = ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO', 'isSocket', 'isCharacterDevice', 'isBlockDevice']
let tree

before(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-stats-'))
  fs.mkdirSync(path.join(tree, 'a/b'), { recursive: true })
  fs.writeFileSync(path.join(tree, 'a/file'), 'four')
  fs.symlinkSync('a', path.join(tree, 'link'))
  execFileSync('mkfifo', [path.join(tree, 'fifo')])
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/a/`), Buffer.from([0xff])]), '')
})
after(() => fs.rmSync(tree, { recursive: true }))

async function all(root, options) {
  const found = []
  for await (const entry of statwalk.scan(root, options)) found.push(entry)
  return found
}

test('a field that was not asked for throws and is named', async () => {
  for (const bigint of [false, true]) {
    for (const [field, parts] of Object.entries(PARTS)) {
      for (const { stats } of await all(tree, { fields: field, bigint })) {
        for (const [other, names] of Object.entries(PARTS)) {
          for (const name of names) {
            if (other === field) assert.notStrictEqual(stats[name], undefined, name)
            else assert.throws(() => stats[name], { name: 'TypeError', message: new RegExp(`stats\\.${name} .*'${other}'`) })
          }
        }
        if (bigint && field !== 'mtime') assert.throws(() => stats.mtimeNs, { name: 'TypeError', message: /'mtime'/ })
        assert.throws(() => stats.blksize, { name: 'TypeError', message: /fs\.lstat/ })
        assert.strictEqual(stats instanceof fs.Stats, !bigint)
      }
    }
  }
})

test('only fields that were asked for are copied', async () => {
  for (const { stats } of await all(tree, { fields: ['size', 'links'] })) {
    assert.deepStrictEqual(Object.keys(stats), ['nlink', 'size'])
    assert.match(inspect(stats), /^Stats \{ nlink: \d+, size: \d+ \}$/)
  }
})

test('each set of fields has the values of lstat', async () => {
  const sets = [...Object.keys(PARTS), ['size', 'mtime'], ['mode', 'btime'], ['owner', 'links', 'rdev'], 'stat', 'type']
  for (const bigint of [false, true]) {
    for (const fields of sets) {
      for (const entry of await all(tree, { fields, bigint })) {
        const expected = fs.lstatSync(entry.pathBytes(), { bigint })
        const asked = fields === 'stat' ? Object.keys(PARTS) : [fields].flat().filter((field) => field !== 'type')
        for (const name of asked.flatMap((field) => PARTS[field])) {
          // A clock that the file system lacks is null here, and 0 there.
          if (name.startsWith('birthtime') && entry.stats[name] === null) continue
          assert.deepStrictEqual(entry.stats[name], expected[name], `${entry.name} ${name}`)
        }
        for (const is of IS) assert.strictEqual(entry.stats[is](), expected[is](), `${entry.name} ${is}`)
        if (bigint && fields === 'mtime') assert.strictEqual(entry.stats.mtimeNs, expected.mtimeNs)
      }
    }
  }
})

test('objects of fs.BigIntStats are those of lstat', async () => {
  const { constructor } = fs.lstatSync(tree, { bigint: true })
  for (const { pathBytes, stats } of (await all(tree, { bigint: true })).map((e) => ({ pathBytes: e.pathBytes(), stats: e.stats }))) {
    const expected = fs.lstatSync(pathBytes, { bigint: true })
    assert(stats instanceof constructor)
    for (const name of ['dev', 'ino', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'size', 'blocks', 'mtimeMs', 'mtimeNs', 'ctimeNs', 'mtime', 'ctime']) {
      assert.deepStrictEqual(stats[name], expected[name], name)
    }
  }
})

test('a time that nanoseconds do not hold', async (t) => {
  const place = fs.mkdtempSync(path.join(fs.existsSync('/dev/shm') ? '/dev/shm' : tree, 'statwalk-stats-'))
  t.after(() => fs.rmSync(place, { recursive: true }))
  execFileSync('touch', ['-d', '2400-01-01T00:00:00Z', path.join(place, 'late')])
  execFileSync('touch', ['-d', '1600-01-01T00:00:00Z', path.join(place, 'early')])
  for (const [name, bigint] of [['late', false], ['early', false], ['late', true]]) {
    const expected = fs.lstatSync(path.join(place, name), { bigint })
    const { stats } = (await all(place, { bigint })).find((entry) => entry.name === name)
    assert.strictEqual(stats.mtimeMs, expected.mtimeMs)
    assert.deepStrictEqual(stats.mtime, expected.mtime)
    if (bigint) assert.strictEqual(stats.mtimeNs, expected.mtimeNs)
  }
})

test('a time that the file system lacks is null', async () => {
  const [entry] = (await all('/proc/self', { maxDepth: 1 })).filter(({ name }) => name === 'cmdline')
  assert.deepStrictEqual([entry.stats.birthtimeMs, entry.stats.birthtime], [null, null])
  const [big] = (await all('/proc/self', { maxDepth: 1, bigint: true })).filter(({ name }) => name === 'cmdline')
  assert.deepStrictEqual([big.stats.birthtimeMs, big.stats.birthtimeNs, big.stats.birthtime], [null, null, null])
})

test('of an entry that the scan has left out the system is asked', async () => {
  for (const bigint of [false, true]) {
    for (const fields of ['stat', 'id']) {
      const entries = await all('/', { maxDepth: 1, oneFileSystem: true, bigint, fields })
      const proc = entries.find(({ name }) => name === 'proc')
      assert.strictEqual(proc.stats.ino, fs.lstatSync('/proc', { bigint }).ino)
      assert(proc.stats.isDirectory())
      assert.strictEqual(proc.toJSON().stats, null)
      if (fields === 'id') assert.throws(() => proc.stats.size, TypeError)
    }
  }
})

test('an entry that was left out and has gone since gives the error of lstat', async (t) => {
  const lstatSync = t.mock.method(fs, 'lstatSync', () => {
    throw Object.assign(new Error('gone'), { code: 'ENOENT' })
  })
  const entries = await all('/', { maxDepth: 1, oneFileSystem: true })
  assert.throws(() => entries.find(({ name }) => name === 'proc').stats, { code: 'ENOENT' })
  assert.strictEqual(lstatSync.mock.callCount(), 1)
})

test('where the scan has followed a link, what it leads to is asked for', async () => {
  for await (const columns of statwalk.batches(tree, { fields: 'id' })) {
    for (let row = 0; row < columns.length; row += 1) {
      if (statwalk.entryOf(columns, row).name !== 'link') continue
      // As a directory of another file system behind the link would be.
      const isKnown = new Uint8Array(Math.ceil(columns.length / 8))
      const types = columns.types.map(() => 1)
      for (const [followLinks, ask] of [[true, fs.statSync], [false, fs.lstatSync]]) {
        const table = new Table({ ...columns, isKnown, types }, { bigint: false, followLinks, hasOnError: false })
        assert.strictEqual(table.stats(row).ino, ask(path.join(tree, 'link')).ino)
      }
    }
  }
})

test('an entry has plain values for JSON, logs and clones', async () => {
  const entries = await all(tree)
  for (const entry of entries) {
    const plain = JSON.parse(JSON.stringify(entry))
    const bytes = entry.pathBytes()
    assert.strictEqual(plain.path, bytes.toString())
    assert.deepStrictEqual(Buffer.from(plain.pathBase64 ?? '', 'base64'), entry.isText ? Buffer.alloc(0) : bytes)
    assert.deepStrictEqual(plain.stats, JSON.parse(JSON.stringify(entry.stats)))
    assert.deepStrictEqual(structuredClone(entry.toJSON()), plain)
    assert(inspect(entry).startsWith(`Entry {\n  path: ${inspect(bytes.toString())},\n`), inspect(entry))
  }
  assert.strictEqual(inspect({ deep: { entry: entries[0] } }, { depth: 0 }), '{ deep: [Object] }')
  assert.strictEqual(inspect([entries[0]], { depth: 0 }), '[ [Entry] ]')
  assert.deepStrictEqual(entries.map((entry) => entry.toJSON().type).sort(), ['directory', 'directory', 'fifo', 'file', 'file', 'symlink'])
  const [big] = await all(tree, { bigint: true, fields: 'size' })
  assert.deepStrictEqual(JSON.parse(JSON.stringify(big)).stats, { size: `${fs.lstatSync(big.pathBytes()).size}` })
})

test('the synchronous form gives the same', async () => {
  for (const root of [tree, '/usr/include']) {
    const expected = new Set([...byLstat(root).keys()].slice(1))
    for (const entry of statwalk.scanSync(root, { fields: 'size' })) {
      const bytes = entry.pathBytes()
      assert(expected.delete(bytes.toString('latin1')))
      assert.strictEqual(entry.stats.size, fs.lstatSync(bytes).size)
    }
    assert.strictEqual(expected.size, 0)
  }
  const names = []
  const entries = statwalk.scanSync(tree, { fields: 'type' })
  for (const entry of entries) {
    if (entry.name === 'a') entries.skip()
    names.push(entry.name)
  }
  assert.deepStrictEqual(names.sort(), ['a', 'fifo', 'link'])
  assert.deepStrictEqual(entries.next(), { done: true, value: undefined })
  const big = statwalk.scanSync(tree, { bigint: true }).next().value
  assert.strictEqual(typeof big.stats.size, 'bigint')
})

test('the synchronous form ends with its loop, by a signal, and twice', () => {
  const { length } = fs.readdirSync('/proc/self/fd')
  for (let turn = 0; turn < 50; turn += 1) {
    for (const _ of statwalk.scanSync('/usr')) break
    const entries = statwalk.scanSync('/usr')
    entries.next()
    entries.return()
    entries.return()
    assert.deepStrictEqual(entries.next(), { done: true, value: undefined })
  }
  assert.strictEqual(fs.readdirSync('/proc/self/fd').length, length)
  const stop = new AbortController()
  const loop = () => {
    for (const _ of statwalk.scanSync('/usr', { signal: stop.signal })) stop.abort(new Error('enough'))
  }
  assert.throws(loop, { message: 'enough' })
  assert.throws(() => statwalk.scanSync('/usr', { signal: AbortSignal.abort() }).next(), { name: 'AbortError' })
})
