// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Plain JavaScript gives the answers of the native module.

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const statwalk = require('../index.js')
const { NUMBERS } = require('../kernel-file-systems.js')
const { byNobody } = require('./nobody.js')
const { numbers } = require('./numbers.js')

let place

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
})

after(() => fs.rmSync(place, { recursive: true }))

/** A tree with links to its files, to its directories, out of it, in circles and nowhere. */
function grow(root, seed) {
  const random = numbers(seed)
  const outside = `${root}.outside`
  fs.mkdirSync(path.join(outside, 'below/more'), { recursive: true })
  fs.writeFileSync(path.join(outside, 'below/file'), 'outside')
  fs.mkdirSync(root)
  const all = [root]
  const directories = [root, outside, path.join(outside, 'below')]
  const one = (list) => list[Math.floor(random() * list.length)]
  for (let at = 0; at < 60; at += 1) {
    const file = path.join(one(directories), `${at}${one(['', '-', '.x', 'ä'])}`)
    const kind = random()
    if (kind < 0.3) {
      fs.mkdirSync(file)
      directories.push(file)
    } else if (kind < 0.6) {
      fs.writeFileSync(file, 'x'.repeat(at))
    } else {
      const target = one([one(directories), one(all), one(directories), `absent${at}`, file, '..'])
      fs.symlinkSync(target, file)
    }
    all.push(file)
  }
}

/** Everything that is said about each entry, and the report. */
async function answer(root, options) {
  const found = {}
  let report
  const errors = []
  const onError = (error) => errors.push(`${error.message} ${error.errno} ${error.operation}`)
  const batches = statwalk.batches(root, { ...options, onError })
  for (;;) {
    const { done, value } = await batches.next()
    if (done) {
      report = value
      break
    }
    for (let row = 0; row < value.length; row += 1) {
      const entry = statwalk.entryOf(value, row)
      const file = entry.pathBytes().toString('latin1')
      assert(found[file] === undefined, `${file} twice`)
      const { type, stats } = { type: value.types[row], stats: entry.stats }
      // Reading a directory can change its time of access.
      found[file] = { type, stats: stats && { ...stats, atimeMs: undefined } }
    }
  }
  return { found, errors: errors.sort(), report }
}

async function compare(root, options) {
  const native = await answer(root, { ...options, native: true })
  const plain = await answer(root, { ...options, native: false })
  assert.deepStrictEqual(plain, native, JSON.stringify(options))
  const sums = await statwalk.du(root, { ...options, native: true })
  assert.deepStrictEqual(await statwalk.du(root, { ...options, native: false }), sums, JSON.stringify(options))
  return native
}

test('links are followed alike', async () => {
  let followed = 0
  for (let seed = 1; seed <= 12; seed += 1) {
    const root = path.join(place, `links${seed}`)
    grow(root, seed)
    for (const options of [{}, { fields: 'type' }, { maxDepth: 2 }, { oneFileSystem: true }, { threads: 1 }]) {
      const { found } = await compare(root, { ...options, followLinks: true })
      const kept = await compare(root, options)
      followed += Object.keys(found).length - Object.keys(kept.found).length
    }
  }
  assert(followed > 0)
})

test('patterns leave out alike', async () => {
  const root = path.join(place, 'patterns')
  fs.mkdirSync(root)
  const names = ['a', 'b.o', 'c', '[', ']', '-', '!', '^', '\\', '*', '?', 'a[', ':', 'ab', 'é', 'x.y', '.o', ' ']
  for (const name of names) {
    fs.mkdirSync(path.join(root, name))
    for (const below of names) fs.writeFileSync(path.join(root, name, below), '')
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/${name}/`), Buffer.from([0xff])]), '')
  }
  const patterns = [
    '*.o', 'a', 'a/b.o', '[', '[a', '[a-', '[!a]', '[^a-b]*', '[]]', '[[:alpha:]]', '[[:', '[[:nothing:]]',
    '[[=a=]b]', '[[.-.]-a]', '\\*', '\\', '?', '??', '*/a', 'a*', '', '/', '*[!-~]', '[\\]]', '[a\\-c]', 'é', '[é]',
    root, `${root}/a`, '*',
  ]
  const sizes = new Set()
  for (const pattern of patterns) {
    const { found } = await compare(root, { exclude: [pattern], fields: 'type' })
    sizes.add(Object.keys(found).length)
  }
  assert(sizes.size > 8)
  await compare(root, { exclude: ['a', '*.o'], fields: 'type' })
  for (const native of [true, false]) {
    await assert.rejects(statwalk.scan(root, { native, exclude: ['*\0'] }).next(), /bad glob/)
  }
})

test('random patterns fit as those of the C library', async () => {
  const root = path.join(place, 'random')
  fs.mkdirSync(root)
  const random = numbers(3)
  const some = (list, count) => Array.from({ length: count }, () => list[Math.floor(random() * list.length)]).join('')
  for (let at = 0; at < 60; at += 1) {
    fs.writeFileSync(path.join(root, some(['a', 'b', 'c', '-', '[', ']', '!', '^', '\\', ':', '=', '1'], 1 + (at % 3))), '')
  }
  const parts = ['a', 'b', '-', '[', ']', '!', '^', '\\', '*', '?', ':', '.', '=', '[:alpha:]', '[:digit:]', '[=a=]', '[.a.]']
  let count = 0
  for (let at = 0; at < 400; at += 1) {
    const pattern = some(['', '*', 'a'], 1) + some(['[', ''], 1) + some(parts, 1 + (at % 6)) + some([']', ']*', ''], 1)
    const { report } = await compare(root, { exclude: [pattern], fields: 'name' })
    if (report.excluded > 0) count += 1
  }
  assert(count > 40, `${count} patterns fit`)
})

const hasMount = process.getuid() === 0 && fs.existsSync('/bin/mount')

test('a name that is shown twice by mounts counts once', { skip: !hasMount && 'needs root' }, async (t) => {
  const root = path.join(place, 'twice')
  for (const name of ['a/x', 'b', '0']) fs.mkdirSync(path.join(root, name), { recursive: true })
  fs.writeFileSync(path.join(root, 'a/file'), 'x'.repeat(5000))
  fs.writeFileSync(path.join(root, 'a/x/file'), 'x'.repeat(50000))
  const binds = [['a', 'b'], ['a/x', '0']].map((names) => names.map((name) => path.join(root, name)))
  const mounted = []
  try {
    for (const [from, to] of binds) {
      execFileSync('mount', ['--bind', from, to], { stdio: 'pipe' })
      mounted.push(to)
    }
    for (const fields of ['stat', 'type']) {
      const [native, plain] = [await answer(root, { fields, native: true }), await answer(root, { fields, native: false })]
      // It is free which of the names is the one that is read.
      assert.strictEqual(Object.keys(plain.found).length, Object.keys(native.found).length)
      assert.deepStrictEqual(plain.report, native.report)
      assert.strictEqual(plain.report.crossings, 2)
    }
    const sums = await statwalk.du(root, { native: true })
    assert.strictEqual(sums.apparent, 55000)
    assert.deepStrictEqual(await statwalk.du(root, { native: false }), sums)
  } catch (error) {
    if (mounted.length === binds.length) throw error
    t.skip('needs mount(8)')
  } finally {
    mounted.forEach((to) => execFileSync('umount', [to]))
  }
})

test('file systems of the kernel are left out alike', { skip: !hasMount && 'needs root' }, async (t) => {
  const root = path.join(place, 'kernel')
  fs.mkdirSync(path.join(root, 'a/proc'), { recursive: true })
  fs.writeFileSync(path.join(root, 'a/file'), 'x'.repeat(5000))
  fs.symlinkSync('a/proc', path.join(root, 'link'))
  fs.symlinkSync('a/proc/self', path.join(root, 'below'))
  try {
    execFileSync('mount', ['-t', 'proc', 'none', path.join(root, 'a/proc')], { stdio: 'pipe' })
  } catch {
    return t.skip('needs mount(8)')
  }
  try {
    // It has no time of birth, and Node makes 0 of that. Its links are counted by processes,
    // and its times are those of what the kernel keeps in memory (fs/proc/root.c, 6.18).
    const fields = ['size', 'allocated', 'id', 'owner', 'mode']
    for (const options of [{}, { fields: 'type' }, { followLinks: true }, { oneFileSystem: true }, { maxDepth: 2 }]) {
      const { found } = await compare(root, { fields, ...options })
      assert(Object.keys(found).length < 8)
    }
    const { report, apparent } = await statwalk.du(root, { native: false })
    assert.deepStrictEqual([report.excluded, apparent], [1, 5000 + 'a/proc'.length + 'a/proc/self'.length])
    // One that was asked for is read.
    const inside = await statwalk.du(path.join(root, 'a/proc/tty'), { native: false })
    assert(inside.entries > 2)
  } finally {
    execFileSync('umount', [path.join(root, 'a/proc')])
  }
})

test('the file systems of the kernel are those of the native module', () => {
  const source = path.join(__dirname, '../../../crates/statwalk-sys/src/kernel_file_systems.rs')
  const rows = fs.readFileSync(source, 'utf8').matchAll(/^ +\((0x[0-9a-f_]+), "/gm)
  const numbers = Array.from(rows, ([, number]) => BigInt(number.replaceAll('_', '')))
  assert(numbers.length >= 20)
  assert.deepStrictEqual([...NUMBERS], numbers)
})

test('errors are the same', { skip: process.getuid() !== 0 && 'needs root' }, () => {
  const root = path.join(place, 'refused')
  fs.mkdirSync(path.join(root, 'names/directory/below'), { recursive: true })
  fs.mkdirSync(path.join(root, 'closed/below'), { recursive: true })
  fs.writeFileSync(path.join(root, 'names/file'), '')
  fs.symlinkSync('directory', path.join(root, 'names/link'))
  fs.chmodSync(place, 0o755)
  // Names can be listed there, and nothing else.
  fs.chmodSync(path.join(root, 'names'), 0o444)
  fs.chmodSync(path.join(root, 'closed'), 0)
  const output = byNobody(`
    const answer = async (options) => {
      const rows = []
      const onError = ({ message }) => rows.push(message)
      const batches = statwalk.batches(${JSON.stringify(root)}, { ...options, onError })
      for (;;) {
        const { done, value } = await batches.next()
        if (done) return JSON.stringify([rows.sort(), value])
        for (let row = 0; row < value.length; row += 1) {
          const { path, stats } = statwalk.entryOf(value, row)
          rows.push([path, value.types[row], stats && stats.ino].join(' '))
        }
      }
    }
    const run = async () => {
      for (const options of [{}, { maxDepth: 1 }, { maxDepth: 2 }, { oneFileSystem: true }, { followLinks: true }]) {
        for (const fields of ['stat', 'type']) {
          const native = await answer({ ...options, fields })
          const plain = await answer({ ...options, fields, native: false })
          console.log(native === plain ? native.split('denied').length - 1 : native + plain)
        }
      }
    }
    run()`)
  fs.chmodSync(path.join(root, 'names'), 0o755)
  fs.chmodSync(path.join(root, 'closed'), 0o755)
  // How many errors there are, for attributes and for types alone.
  assert.strictEqual(output, [4, 2, 0, 0, 4, 1, 4, 2, 4, 3, ''].join('\n'))
})

test('other file systems are left out alike', { skip: !hasMount && 'needs root' }, async (t) => {
  const root = path.join(place, 'mounts')
  fs.mkdirSync(path.join(root, 'a/there'), { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'none', path.join(root, 'a/there')], { stdio: 'pipe' })
  } catch {
    return t.skip('needs mount(8)')
  }
  try {
    fs.writeFileSync(path.join(root, 'a/there/file'), '')
    fs.symlinkSync('a/there', path.join(root, 'link'))
    for (const options of [{}, { fields: 'type' }, { followLinks: true }]) {
      await compare(root, options)
      const { report } = await compare(root, { ...options, oneFileSystem: true })
      assert.strictEqual(report.crossings, 1)
    }
  } finally {
    execFileSync('umount', [path.join(root, 'a/there')])
  }
})
