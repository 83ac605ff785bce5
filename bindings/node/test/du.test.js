// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const statwalk = require('../index.js')
const { checkCalm, soonHas } = require('./calm.js')
const { byNobody } = require('./nobody.js')
const { byDu, byLstat, du, sumsOf } = require('./walk.js')

let place
let tree
let links

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
  tree = path.join(place, 'tree')
  fs.mkdirSync(path.join(tree, 'a/b/c'), { recursive: true })
  fs.mkdirSync(path.join(tree, 'empty'))
  for (let at = 0; at < 40; at += 1) fs.writeFileSync(path.join(tree, 'a', `file${at}`), 'x'.repeat(at * 1000))
  fs.writeFileSync(path.join(tree, 'a/b', 'größe\n\'"'), 'x')
  fs.writeFileSync(path.join(tree, '-rf'), 'x')
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/a/b/c/`), Buffer.from([0xff, 0xfe])]), 'x')
  fs.symlinkSync('a/file7', path.join(tree, 'link'))
  fs.symlinkSync('a/file7', path.join(tree, 'second-link'))
  fs.symlinkSync('nowhere', path.join(tree, 'dangling'))
  fs.symlinkSync('a', path.join(tree, 'to-directory'))
  fs.symlinkSync('..', path.join(tree, 'a/up'))
  fs.symlinkSync('n'.repeat(300), path.join(tree, 'long'))
  // Names of one inode in one directory, in others, and outside of the tree.
  fs.linkSync(path.join(tree, 'a/file9'), path.join(tree, 'a/b/second'))
  fs.linkSync(path.join(tree, 'a/file9'), path.join(tree, 'third'))
  fs.linkSync(path.join(tree, 'a/file30'), path.join(place, 'outside'))
  fs.linkSync(path.join(tree, 'link'), path.join(tree, 'a/link-again'))
  execFileSync('mkfifo', [path.join(tree, 'fifo')])
  // Holes alone, and data behind one.
  fs.truncateSync(path.join(tree, 'a/file2'), 2 ** 33)
  fs.writeFileSync(path.join(tree, 'hole'), 'x'.repeat(5000))
  // Without links that lead nowhere, of which du says that they cannot be read.
  links = path.join(place, 'links')
  fs.mkdirSync(path.join(links, 'a/b'), { recursive: true })
  fs.writeFileSync(path.join(links, 'a/b/file'), 'x'.repeat(5000))
  fs.linkSync(path.join(links, 'a/b/file'), path.join(links, 'second'))
  fs.symlinkSync('a/b/file', path.join(links, 'to-file'))
  fs.symlinkSync('../a/b/file', path.join(links, 'a/again'))
  fs.symlinkSync('../..', path.join(links, 'a/b/up'))
  fs.symlinkSync('a/b', path.join(links, 'to-directory'))
  fs.symlinkSync(path.join(tree, 'a/b'), path.join(links, 'out'))
  fs.symlinkSync(path.join(tree, 'hole'), path.join(links, 'to-hole'))
  const hole = fs.openSync(path.join(tree, 'hole'), 'r+')
  fs.writeSync(hole, 'end', 2 ** 30)
  fs.closeSync(hole)
})

after(() => fs.rmSync(place, { recursive: true }))

/** A sum without its report, which must say that nothing is missing. */
async function sum(root, options) {
  const { report, errors, isComplete, ...sums } = await statwalk.du(root, { bigint: true, ...options })
  assert.deepStrictEqual(errors, [])
  assert(isComplete && report.isComplete && !report.isInterrupted)
  return sums
}

test('sums are those of du and lstat', async () => {
  const check = async (root) => {
    const found = byLstat(root)
    const expected = sumsOf(found)
    const { allocated, apparent } = expected
    assert.deepStrictEqual(byDu(root, found), { allocated, apparent }, root)
    assert.deepStrictEqual(await sum(root), expected, root)
    assert.deepStrictEqual(await sum(Buffer.from(root), { threads: 1 }), expected, root)
  }
  for (const root of [tree, `${tree}/`, path.join(tree, 'empty'), path.join(tree, 'a/b')]) await check(root)
  await checkCalm('/usr/include', () => check('/usr/include'))
})

test('a root can be anything', async () => {
  const odd = Buffer.concat([Buffer.from(`${tree}/a/b/c/`), Buffer.from([0xff, 0xfe])])
  const names = ['third', '-rf', 'hole', 'a/file2', 'link', 'dangling', 'to-directory', 'fifo', 'long']
  for (const root of [...names.map((name) => path.join(tree, name)), odd, '/dev/null']) {
    const found = byLstat(root)
    const expected = sumsOf(found)
    const { allocated, apparent } = expected
    assert.strictEqual(expected.entries, 1)
    assert.deepStrictEqual(byDu(root, found), { allocated, apparent }, `${root}`)
    assert.deepStrictEqual(await sum(root), expected, `${root}`)
  }
  // A slash leads through a link, and so does the option.
  const behind = await sum(path.join(tree, 'a'))
  assert.deepStrictEqual(await sum(path.join(tree, 'to-directory/')), behind)
  for (const root of [links, path.join(links, 'to-directory'), path.join(links, 'out'), path.join(links, 'to-file')]) {
    const { allocated } = await sum(root, { followLinks: true })
    assert.strictEqual(allocated, du(root, ['-L']), root)
  }
  for (const name of ['to-directory/', 'to-directory/.', 'a/up/third', 'a/up/a/b/second']) {
    const root = path.join(tree, name)
    const { allocated } = await sum(root)
    assert.strictEqual(allocated, du(root), root)
  }
  const file = await sum(path.join(tree, 'link'), { followLinks: true })
  assert.deepStrictEqual(file, await sum(path.join(tree, 'a/file7')))
})

test('options leave out what du leaves out', async () => {
  for (const exclude of [['b'], ['file?'], ['*link*', 'third'], ['nothing'], ['a/*'], [`${tree}/a`]]) {
    const words = exclude.map((pattern) => `--exclude=${pattern}`)
    const { allocated } = await sum(tree, { exclude })
    assert.strictEqual(allocated, du(tree, words), exclude.join())
  }
  const none = { allocated: 0n, apparent: 0n, entries: 0, files: 0, directories: 0 }
  assert.deepStrictEqual(await sum(tree, { exclude: ['tree'] }), none)
  assert.deepStrictEqual(await sum(path.join(tree, 'third'), { exclude: ['t*'] }), none)
  await assert.rejects(statwalk.du(tree, { exclude: ['*\0'] }), /a pattern of exclude holds a NUL/)
})

test('a path that is not there is an error', async () => {
  await assert.rejects(statwalk.du(path.join(tree, 'absent')), { code: 'ENOENT' })
  await assert.rejects(statwalk.du(path.join(tree, 'third/x')), { code: 'ENOTDIR' })
  await assert.rejects(statwalk.du(''), { code: 'ENOENT' })
  await assert.rejects(statwalk.du('a\0'), { code: 'ERR_INVALID_ARG_VALUE' })
  // A slash wants a directory.
  for (const name of ['third/', 'link/', 'fifo/']) {
    await assert.rejects(statwalk.du(path.join(tree, name)), { code: 'ENOTDIR' })
  }
  await assert.rejects(statwalk.du(path.join(tree, 'dangling/')), { code: 'ENOENT' })
  const follow = { followLinks: true }
  await assert.rejects(statwalk.du(path.join(tree, 'dangling'), follow), { code: 'ENOENT' })
})

test('bytes are numbers, or bigints beyond those', async () => {
  const numbers = await statwalk.du(tree)
  const { allocated, apparent } = await sum(tree)
  assert.deepStrictEqual([numbers.allocated, numbers.apparent], [Number(allocated), Number(apparent)])
  // Odd numbers of bytes that have more than 53 bits together.
  const large = path.join(place, 'large')
  fs.mkdirSync(large)
  for (let at = 0; at < 1025; at += 1) {
    const file = path.join(large, `${at}`)
    fs.writeFileSync(file, '')
    fs.truncateSync(file, 2 ** 43 + 1)
  }
  assert.strictEqual((await sum(large)).apparent, 1025n * (2n ** 43n + 1n))
})

test('a signal ends a sum', async () => {
  const early = statwalk.du(tree, { signal: AbortSignal.abort() })
  await assert.rejects(early, { name: 'AbortError' })
  const absent = statwalk.du('/absent', { signal: AbortSignal.abort(new Error('first')) })
  await assert.rejects(absent, { message: 'first' })
  const before = fs.readdirSync('/proc/self/task').length
  for (const wait of [0, 1, 5, 20]) {
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('enough')), wait)
    const begin = performance.now()
    await assert.rejects(statwalk.du('/', { signal: stop.signal }), { message: 'enough' })
    // Long enough for a busy machine: without the signal a sum of all takes much longer.
    assert(performance.now() - begin < 20_000)
  }
  // Those of libuv.
  assert(await soonHas('/proc/self/task', before + 4))
  const { signal } = new AbortController()
  assert.deepStrictEqual(await sum(tree, { signal }), await sum(tree))
})

test('the event loop goes on', async () => {
  let turns = 0
  const timer = setInterval(() => { turns += 1 }, 1)
  await statwalk.du('/usr').finally(() => clearInterval(timer))
  assert(turns > 3, `${turns} turns`)
})

test('many sums at once', async () => {
  const expected = sumsOf(byLstat(tree))
  const sums = await Promise.all(Array.from({ length: 40 }, () => sum(tree)))
  for (const one of sums) assert.deepStrictEqual(one, expected)
})

test('many sums leave nothing behind', async () => {
  await sum(tree)
  const before = fs.readdirSync('/proc/self/fd').length
  for (let turn = 0; turn < 300; turn += 1) {
    const stop = new AbortController()
    const done = statwalk.du(tree, { signal: stop.signal })
    if (turn % 3 === 0) setImmediate(() => stop.abort())
    await done.catch((error) => assert.strictEqual(error.name, 'AbortError'))
  }
  assert(await soonHas('/proc/self/fd', before))
})

const isRoot = process.getuid() === 0

test('other file systems are left out', { skip: !isRoot && 'needs root' }, async (t) => {
  const root = path.join(place, 'mounts')
  fs.mkdirSync(path.join(root, 'there'), { recursive: true })
  fs.writeFileSync(path.join(root, 'here'), 'x'.repeat(5000))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'none', path.join(root, 'there')], { stdio: 'pipe' })
  } catch {
    return t.skip('needs mount(8)')
  }
  try {
    fs.writeFileSync(path.join(root, 'there/file'), 'x'.repeat(50000))
    assert.strictEqual((await sum(root)).allocated, du(root))
    const { allocated, report } = await statwalk.du(root, { bigint: true, oneFileSystem: true })
    assert.strictEqual(allocated, du(root, ['-x']))
    assert.strictEqual(report.crossings, 1)
  } finally {
    execFileSync('umount', [path.join(root, 'there')])
  }
})

test('errors are values of a sum', { skip: !isRoot && 'needs root' }, () => {
  const root = path.join(place, 'partly')
  fs.mkdirSync(path.join(root, 'closed/below'), { recursive: true })
  fs.mkdirSync(path.join(root, 'names'))
  fs.writeFileSync(path.join(root, 'names/file'), 'x')
  fs.writeFileSync(path.join(root, 'file'), 'x'.repeat(5000))
  fs.chmodSync(place, 0o755)
  fs.chmodSync(path.join(root, 'closed'), 0)
  // Names can be listed there, and nothing else.
  fs.chmodSync(path.join(root, 'names'), 0o444)
  const output = byNobody(`
    const { spawnSync } = require('node:child_process')
    const run = async (root) => {
      const { allocated, errors, report, ...rest } = await statwalk.du(root)
      const said = spawnSync('du', ['-s', '-B1', root], { encoding: 'utf8' }).stdout.split('\\t', 1)[0]
      const words = errors.map((e) => [e.operation, e.errno, e.path, e.pathBytes.toString() === e.path, e instanceof Error].join(' '))
      console.log(JSON.stringify([allocated === Number(said), words.sort(), errors.length === report.unreadable, rest]))
    }
    const each = async () => {
      for (const root of ['', '/closed', '/names', '/file']) {
        await run(${JSON.stringify(root)} + root)
      }
      await statwalk.du(${JSON.stringify(root)} + '/closed/below').catch(({ code }) => console.log(code))
    }
    each()`)
  fs.chmodSync(path.join(root, 'closed'), 0o755)
  fs.chmodSync(path.join(root, 'names'), 0o755)
  const closed = `open -13 ${root}/closed true true`
  const file = `stat -13 ${root}/names/file true true`
  const line = (words, rest) => `${JSON.stringify([true, words, true, rest])}\n`
  const sums = (apparent, entries, files, directories, isComplete) =>
    ({ apparent, entries, files, directories, isComplete })
  const expected =
    line([closed, file], sums(5000, 5, 2, 3, false)) +
    line([closed], sums(0, 1, 0, 1, false)) +
    line([file], sums(0, 2, 1, 1, false)) +
    line([], sums(5000, 1, 1, 0, true)) +
    'EACCES\n'
  assert.strictEqual(output, expected)
})
