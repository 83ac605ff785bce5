// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// readdirp with a scan in the place of fs.readdir: it knows errors by their code. Its tests are
// no part of its package, so they come from its repository, or from the folder in
// STATWALK_READDIRP.

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const { install, installOwn, skip } = require('./registry.js')

const VERSION = '5.1.1'
const COMMIT = '5dba3694a1de891ea6edb0301240326f8f8c81f1'
const SUITE = `https://raw.githubusercontent.com/paulmillr/readdirp/${COMMIT}/test/index.test.js`
const SHA256 = '51ec017f8ae183262a1602b7ead3ec3115954d90e5c12c674fa89e8edff5857b'
const TOOLS = ['@paulmillr/jsbt@0.6.1', 'chai@4.3.4', 'chai-subset@1.6.0']
const WITH_SCAN = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  import { scan } from 'statwalk'
  let calls = 0
  fs.promises.readdir = async (path, options) => {
    calls += 1
    const found = []
    for await (const { name, dirent } of scan(path, { maxDepth: 1, fields: 'type' })) found.push({ name, dirent })
    // libuv sorts what it has read.
    found.sort((a, b) => (a.name < b.name ? -1 : 1))
    return found.map(({ name, dirent }) => (options?.withFileTypes ? dirent : name))
  }
  syncBuiltinESMExports()
  process.on('exit', () => { if (calls === 0) process.exitCode = 7 })
`
let place

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-readdirp-'))
  fs.chmodSync(place, 0o755)
  fs.writeFileSync(path.join(place, 'with-scan.mjs'), WITH_SCAN)
})
after(() => fs.rmSync(place, { recursive: true }))

/** Runs a program of the folder as an ordinary user, with a scan or without. */
function run(program, isWithScan) {
  const words = isWithScan ? ['--import', path.join(place, 'with-scan.mjs'), program] : [program]
  const user = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath]
  const [name, ...rest] = process.getuid() === 0 ? ['setpriv', ...user, ...words] : [process.execPath, ...words]
  return spawnSync(name, rest, { cwd: place, encoding: 'utf8' })
}

test('readdirp gives the same with a scan', async (t) => {
  if (!install(t, place, [`readdirp@${VERSION}`, ...TOOLS])) return
  installOwn(place)
  const tree = path.join(place, 'tree')
  for (const name of ['a/b/c', 'closed/below', 'listed/below']) fs.mkdirSync(path.join(tree, name), { recursive: true })
  for (const name of ['a/file', 'a/b/größe', 'a/b/c/two words', 'listed/file']) fs.writeFileSync(path.join(tree, name), '')
  for (const [to, name] of [['a', 'link'], ['nowhere', 'dangling']]) fs.symlinkSync(to, path.join(tree, name))
  fs.chmodSync(path.join(tree, 'closed'), 0)
  fs.chmodSync(path.join(tree, 'listed'), 0o744)
  fs.writeFileSync(path.join(place, 'compare.mjs'), `
    import { readdirp } from 'readdirp'
    for (const options of [{}, { type: 'all' }, { type: 'all', depth: 0 }, { alwaysStat: true }, { lstat: true, type: 'all' }]) {
      const found = []
      const stream = readdirp(${JSON.stringify(tree)}, options).on('warn', ({ code, path }) => found.push('warns ' + code + ' ' + path))
      for await (const { path } of stream) found.push(path)
      console.log(JSON.stringify([options, found.sort()]))
    }`)
  const [plain, scanned] = [run('compare.mjs', false), run('compare.mjs', true)]
  assert.deepStrictEqual([plain.status, scanned.status], [0, 0], `${plain.stderr}${scanned.stderr}`)
  assert.match(plain.stdout, /warns EACCES/)
  assert.strictEqual(scanned.stdout, plain.stdout)
})

test('the tests of readdirp pass with a scan', async (t) => {
  if (!fs.existsSync(path.join(place, 'node_modules/readdirp'))) return skip(t, 'the registry of npm')
  const local = process.env.STATWALK_READDIRP
  let suite
  if (local !== undefined) {
    suite = fs.readFileSync(path.join(local, 'test/index.test.js'))
  } else {
    const answer = await fetch(SUITE).catch(() => null)
    if (!answer?.ok) return skip(t, 'raw.githubusercontent.com')
    suite = Buffer.from(await answer.arrayBuffer())
  }
  assert.strictEqual(createHash('sha256').update(suite).digest('hex'), SHA256)
  const folder = path.join(place, 'test')
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'index.test.js'), suite)
  fs.writeFileSync(path.join(place, 'index.js'), "export * from 'readdirp'\n")
  fs.writeFileSync(path.join(place, 'package.json'), '{"private": true, "type": "module"}')
  // They compare a directory with itself.
  fs.chmodSync(folder, 0o755)
  const { status, stdout, stderr } = run('test/index.test.js', true)
  assert.strictEqual(status, 0, `${stdout}${stderr}`)
  assert.match(stdout, /\b29 tests passed\b/)
})
