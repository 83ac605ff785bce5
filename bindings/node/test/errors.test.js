// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Errors as programs recognise them: by code, errno, syscall and path, as those of fs.

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { Worker } = require('node:worker_threads')

const { errorOf } = require('../errors.js')
const statwalk = require('..')
const { byNobody } = require('./nobody.js')

const asRoot = { skip: process.getuid() !== 0 && 'needs root' }
let tree

before(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-errors-'))
  fs.chmodSync(tree, 0o755)
  // One that cannot be opened, and one whose entries have no attributes.
  for (const name of ['closed', 'listed', 'listed/below']) fs.mkdirSync(path.join(tree, name))
  fs.writeFileSync(path.join(tree, 'listed/file'), '')
  fs.writeFileSync(path.join(tree, 'good'), 'four')
  fs.symlinkSync('closed', path.join(tree, 'way'))
  fs.chmodSync(path.join(tree, 'closed'), 0)
  fs.chmodSync(path.join(tree, 'listed'), 0o744)
})
after(() => fs.rmSync(tree, { recursive: true }))

/** The answer of a program that nobody runs, by JSON. */
function answer(code) {
  const output = byNobody(`
    const tree = ${JSON.stringify(tree)}
    const plain = (e) => ({ name: e.name, code: e.code, errno: e.errno, syscall: e.syscall, path: e.path, message: e.message })
    const run = async () => { ${code} }
    run().then((found) => console.log(JSON.stringify(found)))`)
  try {
    return JSON.parse(output)
  } catch {
    assert.fail(output)
  }
}

const denied = (syscall, name) => ({
  name: 'Error',
  code: 'EACCES',
  errno: -13,
  syscall,
  path: path.join(tree, name),
  message: `EACCES: permission denied, ${syscall} '${path.join(tree, name)}'`,
})
const byPath = (a, b) => (a.path < b.path ? -1 : 1)

test('errors of entries are those of fs', asRoot, () => {
  const { scanned, summed, at_the_end } = answer(`
    const scanned = []
    for await (const _ of statwalk.scan(tree, { onError: (e) => scanned.push(plain(e)) }));
    const summed = (await statwalk.du(tree)).errors.map(plain)
    let at_the_end
    try { for await (const _ of statwalk.scan(tree)); } catch (e) { at_the_end = { ...plain(e), cause: plain(e.cause), first: plain(e.errors[0]) } }
    return { scanned, summed, at_the_end }`)
  for (const found of [scanned, summed]) {
    const all = [denied('opendir', 'closed'), denied('opendir', 'listed/below'), denied('lstat', 'listed/file')]
    assert.deepStrictEqual(found.sort(byPath), all)
  }
  assert.strictEqual(at_the_end.code, 'ERR_STATWALK_INCOMPLETE')
  assert.deepStrictEqual(at_the_end.cause, at_the_end.first)
  assert.strictEqual(at_the_end.message, `the scan is incomplete, with 3 errors: ${at_the_end.first.message}`)
})

test('a path that cannot be opened gives the error of fs.opendir at the first step', asRoot, () => {
  const found = answer(`
    const found = []
    for (const name of ['closed', 'way', 'good', 'absent', 'closed/below']) {
      const one = {}
      const keep = (how) => (e) => (one[how] = plain(e))
      await require('node:fs').promises.opendir(tree + '/' + name).catch(keep('fs'))
      await statwalk.scan(tree + '/' + name).next().catch(keep('scan'))
      await statwalk.scan(tree + '/' + name, { onError: () => {} }).next().catch(keep('onError'))
      await statwalk.batches(tree + '/' + name).next().catch(keep('batches'))
      try { statwalk.scanSync(tree + '/' + name).next() } catch (e) { keep('scanSync')(e) }
      found.push(one)
    }
    return found`)
  assert.strictEqual(found.length, 5)
  for (const { fs: expected, ...others } of found) {
    assert(expected.code, expected.message)
    for (const way of ['scan', 'onError', 'batches', 'scanSync']) assert.deepStrictEqual(others[way], expected, way)
  }
})

test('descriptors that lack are the error of fs.opendir', () => {
  const script = `
    const { scan } = require(${JSON.stringify(path.resolve(__dirname, '..'))})
    const fs = require('node:fs')
    try { for (;;) fs.openSync('/') } catch {}
    scan('/usr').next().catch(({ code, syscall, path }) => console.log(code, syscall, path))`
  const words = ['-c', 'ulimit -n 60 && exec "$0" -e "$1"', process.execPath, script]
  assert.strictEqual(execFileSync('sh', words, { encoding: 'utf8' }), 'EMFILE opendir /usr\n')
})

test('attributes that the system has refused throw its error at stats', asRoot, () => {
  const { own, sync, ended, rows, of_columns, json, shown } = answer(`
    const own = []
    for await (const entry of statwalk.scan(tree, { onError: () => {} })) {
      try { entry.stats.size } catch (e) { own.push(plain(e)) }
    }
    const sync = []
    for (const entry of statwalk.scanSync(tree, { onError: () => {} })) {
      try { entry.stats.size } catch (e) { sync.push(plain(e)) }
    }
    let ended
    try { for await (const entry of statwalk.scan(tree)) entry.stats.size } catch (e) {
      ended = { ...plain(e), cause: plain(e.cause), errors: e.errors.map(plain), report: e.report }
    }
    let rows = []
    let of_columns = []
    let json, shown
    for await (const columns of statwalk.batches(tree, { fields: 'size', onError: () => {} })) {
      for (const { row, errno } of columns.refusals ?? []) {
        const entry = statwalk.entryOf(columns, row)
        rows.push([entry.name, errno])
        try { entry.stats } catch (e) { of_columns.push(plain(e)) }
        if (entry.name === 'file') { json = entry; shown = require('node:util').inspect(entry) }
      }
    }
    return { own, sync, ended, rows: rows.sort(), of_columns, json, shown }`)
  const all = [denied('lstat', 'listed/below'), denied('lstat', 'listed/file')]
  for (const found of [own, sync, of_columns]) assert.deepStrictEqual(found.sort(byPath), all)
  assert.deepStrictEqual(rows, [['below', -13], ['file', -13]])
  const { cause, errors, report, code, name } = ended
  assert.deepStrictEqual([name, code, report], ['IncompleteScanError', 'ERR_STATWALK_INCOMPLETE', null])
  assert(all.some(({ path }) => path === cause.path), cause.path)
  assert.deepStrictEqual(errors, [cause])
  assert.deepStrictEqual(json, { path: path.join(tree, 'listed/file'), type: 'file', stats: null, error: 'EACCES' })
  assert.match(shown, /^Entry \{\n.*stats: null,\n  error: 'EACCES'\n\}$/s)
})

test('errors that the system has no name for', () => {
  const of = (number, reason, operation = 'read') => errorOf({ number, reason, operation, path: Buffer.from('/x') })
  const changed = of(0, 'changed while it was read')
  assert.strictEqual(changed.code, 'ERR_STATWALK_CHANGED')
  assert(Object.is(changed.errno, 0))
  assert.strictEqual(changed.message, "ERR_STATWALK_CHANGED: changed while it was read, scandir '/x'")
  // libuv does not know these; Node's own words are "Unknown system error -116" twice.
  assert.strictEqual(of(116).message, "ESTALE: stale file handle, scandir '/x'")
  assert.strictEqual(of(117).message, "Unknown system error -117: structure needs cleaning, scandir '/x'")
  const irregular = of(22, 'not a regular file', 'read patterns from')
  assert.deepStrictEqual([irregular.code, irregular.syscall], ['EINVAL', 'open'])
  assert.strictEqual(irregular.message, "EINVAL: not a regular file, open '/x'")
})

test('a directory that changes all the time has a code', async (t) => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-errors-'))
  for (let at = 0; at < 1000; at += 1) fs.closeSync(fs.openSync(`${place}/${at}`, 'w'))
  const change = `
    const fs = require('node:fs')
    for (;;) { fs.writeFileSync(${JSON.stringify(place)} + '/new', ''); fs.unlinkSync(${JSON.stringify(place)} + '/new') }`
  const changing = new Worker(change, { eval: true })
  t.after(async () => {
    await changing.terminate()
    fs.rmSync(place, { recursive: true })
  })
  await new Promise((begun) => changing.once('online', begun))
  const errors = []
  for (let turn = 0; turn < 100 && errors.length === 0; turn += 1) {
    for await (const _ of statwalk.batches(place, { fields: 'size', onError: (e) => errors.push(e) }));
  }
  assert.deepStrictEqual(errors.map(({ code, errno, path }) => [code, errno, path]), [['ERR_STATWALK_CHANGED', 0, place]])
})
