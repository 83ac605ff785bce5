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

const FIELDS = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'ino', 'size', 'blocks',
  'atimeMs', 'mtimeMs', 'ctimeMs', 'birthtimeMs']
let tree

before(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
  fs.mkdirSync(path.join(tree, 'a/b/c'), { recursive: true })
  fs.mkdirSync(path.join(tree, 'empty'))
  for (let i = 0; i < 40; i += 1) fs.writeFileSync(path.join(tree, 'a', `file${i}`), 'x'.repeat(i))
  fs.writeFileSync(path.join(tree, 'a/b', 'größe\n\'"'), '')
  fs.writeFileSync(path.join(tree, 'a/b', 'n'.repeat(255)), '')
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/a/b/c/`), Buffer.from([0xff, 0xfe])]), '')
  fs.symlinkSync('a/file7', path.join(tree, 'link'))
  fs.symlinkSync('nowhere', path.join(tree, 'dangling'))
  fs.symlinkSync('a', path.join(tree, 'to_directory'))
  fs.linkSync(path.join(tree, 'a/file9'), path.join(tree, 'a/b/second'))
  execFileSync('mkfifo', [path.join(tree, 'fifo')])
  fs.utimesSync(path.join(tree, 'a/file1'), 1, -5.25)
  fs.truncateSync(path.join(tree, 'a/file2'), 2 ** 33)
})

after(() => fs.rmSync(tree, { recursive: true }))

/** By Node's own calls. */
function byReaddir(root) {
  const found = new Map()
  const read = (directory) => {
    for (const dirent of fs.readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
      const file = Buffer.concat([directory, Buffer.from('/'), dirent.name])
      found.set(file.toString('hex'), { dirent, stats: fs.lstatSync(file), file })
      if (dirent.isDirectory()) read(file)
    }
  }
  read(Buffer.from(root))
  return found
}

async function check(root, options) {
  // The first reading of a directory can change its time of access.
  byReaddir(root)
  const expected = byReaddir(root)
  let count = 0
  for await (const entry of statwalk.scan(root, options)) {
    const bytes = entry.pathBytes()
    const other = expected.get(bytes.toString('hex'))
    assert(other, bytes.toString())
    assert(expected.delete(bytes.toString('hex')))
    for (const field of FIELDS) {
      assert.strictEqual(entry.stats[field], other.stats[field], `${bytes} ${field}`)
    }
    assert(entry.stats instanceof fs.Stats && entry.dirent instanceof fs.Dirent)
    assert.deepStrictEqual(entry.stats.mtime, other.stats.mtime)
    for (const is of ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO']) {
      assert.strictEqual(entry.dirent[is](), other.dirent[is]())
      assert.strictEqual(entry.stats[is](), other.stats[is]())
    }
    if (entry.isText) {
      assert.strictEqual(entry.path, bytes.toString())
      assert.strictEqual(entry.name, path.basename(entry.path))
      assert.strictEqual(entry.dirent.name, entry.name)
    } else {
      assert.throws(() => entry.path, { name: 'UndecodablePathError' })
      assert(entry.name.includes('\ufffd') && Buffer.isBuffer(entry.dirent.name))
    }
    count += 1
  }
  assert.strictEqual(expected.size, 0)
  return count
}

test('entries are those of readdir and lstat', async () => {
  assert(await check(tree) > 45)
  await checkCalm('/usr/include', () => check('/usr/include'))
})

test('one directory, links and fields', async () => {
  const names = []
  for await (const e of statwalk.scan(tree, { maxDepth: 1, fields: 'type' })) {
    names.push(e.name)
    assert.throws(() => e.stats.size, TypeError)
  }
  assert.deepStrictEqual(names.sort(), fs.readdirSync(tree).sort())
  const behind = []
  for await (const e of statwalk.scan(`${tree}/to_directory`, { maxDepth: 1 })) behind.push(e.path)
  assert(behind.includes(`${tree}/to_directory/file7`))
  assert.strictEqual(behind.length, fs.readdirSync(`${tree}/a`).length)
})

test('columns', async () => {
  let [sum, rows] = [0n, 0]
  for await (const c of statwalk.batches(tree, { fields: 'size' })) {
    assert(c.size instanceof BigUint64Array && c.mtimeNs == null)
    for (let row = 0; row < c.length; row += 1) sum += c.size[row]
    rows += c.length
  }
  const expected = [...byReaddir(tree).values()]
  const bytes = expected.reduce((sum, { stats }) => sum + stats.size, fs.lstatSync(tree).size)
  assert.strictEqual(Number(sum), bytes)
  assert.strictEqual(rows, expected.length + 1)
})

test('the directory that was given is a row with its own name', async () => {
  const before = process.cwd()
  process.chdir(path.dirname(tree))
  try {
    const name = path.basename(tree)
    for (const [root, its, parent] of [
      [name, name, '.'],
      [`./${name}`, name, '.'],
      [tree, name, path.dirname(tree)],
      ['/', '', '/'],
    ]) {
      for await (const columns of statwalk.batches(root, { fields: 'type', maxDepth: 1 })) {
        const entry = statwalk.entryOf(columns, 0)
        assert.deepStrictEqual([entry.path, entry.name, entry.dirent.parentPath ?? parent], [root, its, parent])
        break
      }
    }
  } finally {
    process.chdir(before)
  }
})

test('a path that cannot be scanned', async () => {
  const first = (root, options) => statwalk.scan(root, { ...options }).next()
  await assert.rejects(first(`${tree}/absent`), { code: 'ENOENT' })
  await assert.rejects(first(`${tree}/link`), { code: 'ENOTDIR' })
  await assert.rejects(first(tree, { fields: 'sizes' }), RangeError)
})

test('a signal stops a scan', async () => {
  const stop = new AbortController()
  let count = 0
  const loop = async () => {
    for await (const _ of statwalk.scan('/usr', { signal: stop.signal })) {
      count += 1
      if (count === 10) stop.abort(new Error('enough'))
    }
  }
  await assert.rejects(loop(), { message: 'enough' })
  await assert.rejects(statwalk.scan('/', { signal: AbortSignal.abort() }).next(), { name: 'AbortError' })
})

test('errors are given, and the end says so', { skip: process.getuid() !== 0 && 'needs root' }, () => {
  // The same for an ordinary user in a process of its own: root may read everything.
  const closed = path.join(tree, 'closed')
  fs.mkdirSync(closed)
  fs.chmodSync(closed, 0)
  fs.chmodSync(tree, 0o755)
  const output = byNobody(`
    const run = async () => {
      let count = 0
      try { for await (const _ of statwalk.scan(${JSON.stringify(tree)})) count += 1 }
      catch (e) { console.log(e.name, e.errors.length, e.errors[0].errno, e.errors[0].operation, e.report.unreadable, count > 40) }
      const errors = []
      for await (const _ of statwalk.scan(${JSON.stringify(tree)}, { onError: (e) => errors.push(e.path) })) {}
      console.log(errors.join())
    }
    run()`)
  fs.rmdirSync(closed)
  const one = `IncompleteScanError 1 -13 open 1 true\n${closed}\n`
  assert.strictEqual(output, one)
})

test('a thousand scans leave nothing behind', async () => {
  const measure = () => {
    global.gc()
    return { files: fs.readdirSync('/proc/self/fd').length, memory: process.memoryUsage.rss() }
  }
  let begin
  for (let turn = 0; turn < 1000; turn += 1) {
    if (turn === 200) begin = measure()
    for await (const _ of statwalk.scan(tree)) if (turn % 2 === 1) break
  }
  const end = measure()
  assert(await soonHas('/proc/self/fd', begin.files))
  assert(end.memory - begin.memory < 32 << 20, `${end.memory - begin.memory} bytes grown`)
  assert(await soonHas('/proc/self/task', 24))
})

test('what a loop over entries leaves behind goes with the young objects', () => {
  // In a process of its own, because a later scan of one can find room that V8 has just made.
  const script = `
    const { scan } = require(${JSON.stringify(path.resolve(__dirname, '..'))})
    const begin = process.memoryUsage().external
    const run = async () => {
      let bytes = 0
      for await (const entry of scan('/usr', { fields: 'size' })) bytes += entry.pathBytes().length
      console.log(bytes, process.memoryUsage().external - begin)
    }
    run()`
  const [bytes, kept] = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }).split(' ').map(Number)
  assert(bytes > 4 << 20, `${bytes} bytes of paths`)
  assert(kept < bytes / 2, `${kept} bytes are kept, and the paths have ${bytes}`)
})

test('the threads of a scan stand behind the event loop', async () => {
  const own = os.getPriority()
  const workers = () => fs.readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      // After the name, which is in brackets: proc_pid_stat(5), the 17th is the niceness.
      const [, name, rest] = /\((.*)\) (.*)/s.exec(fs.readFileSync(`/proc/self/task/${thread}/stat`, 'latin1'))
      return /^statwalk-\d/.test(name) ? [Number(rest.split(' ')[16]) - own] : []
    } catch (error) {
      // A thread can end meanwhile.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
      return []
    }
  })
  const seen = async (options) => {
    // Those of an earlier scan are shown until they have left the kernel.
    while (workers().length > 0) await new Promise((r) => setTimeout(r, 10))
    const found = new Set()
    for await (const _ of statwalk.batches('/usr', options)) workers().forEach((niceness) => found.add(niceness))
    return [...found]
  }
  // A thread that has just begun has not said it yet.
  const isBeginning = (niceness) => niceness !== 0
  assert.deepStrictEqual((await seen({})).filter(isBeginning), [Math.min(10, 19 - own)])
  assert.deepStrictEqual((await seen({ niceness: 3 })).filter(isBeginning), [Math.min(3, 19 - own)])
  assert.deepStrictEqual(await seen({ niceness: 0 }), [0])
})

test('a slow consumer bounds the memory', async () => {
  let count = 0
  const begin = process.memoryUsage.rss()
  for await (const _ of statwalk.batches('/usr')) {
    count += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert(count > 2)
  assert(process.memoryUsage.rss() - begin < 256 << 20)
})

test('a loop over entries gives other tasks their turn', async (t) => {
  // The clock of the loop is the work of its body and nothing else, however busy the machine is.
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let last = 0
  let longest = 0
  const look = () => {
    longest = Math.max(longest, now - last)
    last = now
    timer = setImmediate(look)
  }
  let timer = setImmediate(look)
  let count = 0
  for await (const entry of statwalk.scan('/usr', { fields: 'size' })) {
    // A body that takes 20 us: half a second for the entries of one batch.
    now += 0.02
    assert(entry.path.length > 0)
    count += 1
    if (count === 50000) break
  }
  clearImmediate(timer)
  // A turn is due after a millisecond, and the clock is looked at after some entries.
  assert(count > 10000 && longest > 0 && longest < 3, `${longest} ms of ${count} entries`)
})
