// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const statwalk = require('../index.js')
const { checkCalm } = require('./calm.js')
const { numbers } = require('./numbers.js')

let place

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
})

after(() => fs.rmSync(place, { recursive: true }))

/** A random tree; names of bytes that are no text are among them. */
function grow(root, random, left) {
  fs.mkdirSync(root)
  const directories = [Buffer.from(root)]
  for (let at = 0; at < left; at += 1) {
    const above = directories[Math.floor(random() * directories.length)]
    const odd = random() < 0.1 ? Buffer.from([0xff]) : Buffer.alloc(0)
    const file = Buffer.concat([above, Buffer.from(`/${at}`), odd])
    if (random() < 0.4) {
      fs.mkdirSync(file)
      directories.push(file)
    } else {
      fs.writeFileSync(file, '')
    }
  }
}

/** Whether to skip a directory: by its bytes, so that every walker decides alike. */
function decider(seed, share) {
  return (bytes) => {
    let hash = seed
    for (const byte of bytes) hash = (Math.imul(hash ^ byte, 16777619) + 1) >>> 0
    return ((hash ^ (hash >>> 15)) % 1000) / 1000 < share
  }
}

function byReaddir(root, skips) {
  const found = []
  const read = (directory) => {
    for (const dirent of fs.readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
      const file = Buffer.concat([directory, Buffer.from('/'), dirent.name])
      found.push(file.toString('latin1'))
      if (dirent.isDirectory() && !skips(file)) read(file)
    }
  }
  read(Buffer.from(root))
  return found.sort()
}

/** All entries; asserts that a directory comes before all that is below it. */
async function byScan(root, skips, options) {
  const found = new Set()
  const entries = statwalk.scan(root, options)
  for await (const entry of entries) {
    const file = entry.pathBytes().toString('latin1')
    const above = path.dirname(file)
    assert(above === root || found.has(above), `${file} came before its directory`)
    assert(!found.has(file))
    found.add(file)
    if (entry.isDirectory && skips(entry.pathBytes())) entries.skip()
  }
  return [...found].sort()
}

test('what is below a skipped directory does not come', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const root = path.join(place, `${seed}`)
    grow(root, numbers(seed), 40 * seed)
    for (const share of [0, 0.2, 0.6, 1]) {
      const skips = decider(seed, share)
      for (const threads of [1, 4]) {
        const found = await byScan(root, skips, { threads, fields: 'type' })
        assert.deepStrictEqual(found, byReaddir(root, skips), `seed ${seed}, ${share}`)
      }
    }
  }
})

test('a large tree, skipped in part', async () => {
  for (const share of [0, 0.05, 0.3]) {
    const skips = decider(7, share)
    await checkCalm('/usr', async () => {
      const found = await byScan('/usr', skips, { fields: 'type' })
      assert.deepStrictEqual(found, byReaddir('/usr', skips))
    })
  }
})

test('only a directory can be skipped', async () => {
  const root = path.join(place, `file`)
  fs.mkdirSync(path.join(root, 'directory'), { recursive: true })
  fs.writeFileSync(path.join(root, 'file'), '')
  const entries = statwalk.scan(root)
  assert.throws(() => entries.skip(), /no directory/)
  for await (const entry of entries) {
    if (entry.isDirectory) entries.skip()
    else assert.throws(() => entries.skip(), /no directory/)
  }
  assert.throws(() => entries.skip(), /no directory/)
})

test('the answers of calls at once keep their order', async () => {
  const entries = statwalk.scan('/usr/include', { fields: 'type' })
  const calls = []
  for (let at = 0; at < 300; at += 1) calls.push(entries.next())
  const found = await Promise.all(calls)
  const paths = new Set(found.map(({ value }) => value.path))
  assert.strictEqual(paths.size, 300)
  for (const file of paths) assert(path.dirname(file) === '/usr/include' || paths.has(path.dirname(file)))
  assert.deepStrictEqual(await entries.return(), { done: true, value: undefined })
  assert.deepStrictEqual(await entries.next(), { done: true, value: undefined })
})

test('directories of batches come before what is below them', async () => {
  const known = new Set()
  for await (const { ids, dirs, length } of statwalk.batches('/usr', { fields: 'type' })) {
    for (let row = 0; row < length; row += 1) {
      assert(known.has(dirs[row]) || dirs[row] === ids?.[row])
      if (ids) known.add(ids[row])
    }
  }
})

const hasStrace = spawnSync('strace', ['-V']).status === 0

test('skipped directories are not opened', { skip: !hasStrace && 'needs strace' }, () => {
  // The part to skip is larger than all that workers read ahead.
  const root = path.join(place, 'wide')
  for (let at = 0; at < 60; at += 1) {
    for (let below = 0; below < 60; below += 1) {
      fs.mkdirSync(path.join(root, 'skipped', `${at}`, `${below}`, 'more'), { recursive: true })
    }
  }
  const code = (skips) => `
    const statwalk = require(${JSON.stringify(path.join(__dirname, '..', 'index.js'))})
    const run = async () => {
      const entries = statwalk.scan(${JSON.stringify(root)}, { threads: 1, fields: 'type' })
      for await (const entry of entries) if (${skips} && entry.name === 'skipped') entries.skip()
    }
    run()`
  const opened = (skips) => {
    const trace = path.join(place, 'trace')
    const words = ['-f', '-qq', '-e', 'trace=openat,openat2,open', '-o', trace, process.execPath, '-e', code(skips)]
    assert.strictEqual(spawnSync('strace', words).status, 0)
    return fs.readFileSync(trace, 'utf8').split('\n').filter((line) => /O_DIRECTORY/.test(line)).length
  }
  const [all, some] = [opened(false), opened(true)]
  assert(all > 7000, `${all} directories opened`)
  // Rows come when the caller waits, and then a worker has read little.
  assert(some < all / 2, `${some} of ${all} directories opened`)
})
