// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The ends of scans: many by one signal, by `using`, twice, lost, and in a thread that ends.

const assert = require('node:assert')
const { getEventListeners } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { Worker } = require('node:worker_threads')

const statwalk = require('..')
const { soonHas } = require('./calm.js')

const DESCRIPTORS = '/proc/self/fd'

test('many scans share a signal without a warning', async () => {
  const warnings = []
  const warned = (warning) => warnings.push(warning.message)
  process.on('warning', warned)
  const stop = new AbortController()
  const { signal } = stop
  const scans = Array.from({ length: 30 }, () => statwalk.scan('/usr', { signal, threads: 1 }))
  await Promise.all(scans.map((scan) => scan.next()))
  const sums = Array.from({ length: 3 }, () => statwalk.du('/usr', { signal, threads: 1 }))
  assert.strictEqual(getEventListeners(signal, 'abort').length, 1)
  stop.abort(new Error('enough'))
  const ends = scans.map(async (scan) => {
    for await (const _ of scan);
  })
  for (const { reason } of await Promise.allSettled([...ends, ...sums])) assert.strictEqual(reason?.message, 'enough')
  await new Promise(setImmediate)
  assert.strictEqual(getEventListeners(signal, 'abort').length, 0)
  assert.deepStrictEqual(warnings, [])
  process.off('warning', warned)
})

test('a scan that ends forgets its signal', async () => {
  const { signal } = new AbortController()
  for await (const _ of statwalk.scan('/usr/include', { signal }));
  for await (const _ of statwalk.scan('/usr', { signal })) break
  for await (const _ of statwalk.batches('/usr', { signal })) break
  await statwalk.du('/usr/include', { signal })
  assert.strictEqual(getEventListeners(signal, 'abort').length, 0)
})

test('a scan that is lost goes, though its signal stays', async () => {
  const { signal } = new AbortController()
  const before = fs.readdirSync(DESCRIPTORS).length
  const lose = async () => {
    for (let turn = 0; turn < 10; turn += 1) await statwalk.scan('/usr', { signal, threads: 2 }).next()
  }
  await lose()
  for (let turn = 0; turn < 100 && getEventListeners(signal, 'abort').length > 0; turn += 1) {
    global.gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.strictEqual(getEventListeners(signal, 'abort').length, 0)
  assert(await soonHas(DESCRIPTORS, before))
})

test('using ends a scan', async () => {
  const before = fs.readdirSync(DESCRIPTORS).length
  const entries = statwalk.scan('/usr')
  await entries.next()
  assert.strictEqual(await entries[Symbol.asyncDispose](), undefined)
  assert.deepStrictEqual(await entries.next(), { done: true, value: undefined })
  const now = statwalk.scanSync('/usr')
  now.next()
  assert.strictEqual(now[Symbol.dispose](), undefined)
  assert.deepStrictEqual(now.next(), { done: true, value: undefined })
  assert(await soonHas(DESCRIPTORS, before))
})

test('a scan can be closed twice, while it reads, and before it begins', async () => {
  const fresh = statwalk.scan('/usr')
  await Promise.all([fresh.return(), fresh.return()])
  assert.deepStrictEqual(await fresh.next(), { done: true, value: undefined })
  const entries = statwalk.scan('/usr')
  const steps = [entries.next(), entries.return(), entries.next(), entries.return(), entries.next()]
  const [first, ...rest] = await Promise.all(steps)
  assert.strictEqual(first.done, false)
  for (const { done, value } of rest) assert.deepStrictEqual([done, value], [true, undefined])
})

test('a thread that is terminated takes its scans with it', async () => {
  const before = fs.readdirSync(DESCRIPTORS).length
  const program = `
    const { parentPort } = require('node:worker_threads')
    const { scan, scanSync } = require(${JSON.stringify(path.resolve(__dirname, '..'))})
    const run = async () => {
      scanSync('/usr').next()
      for (;;) for await (const entry of scan('/usr')) { parentPort.postMessage(entry.toJSON()); entry.stats }
    }
    run()`
  for (let turn = 0; turn < 5; turn += 1) {
    const worker = new Worker(program, { eval: true })
    const message = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    assert(message.path.startsWith('/usr/') && message.stats.ino > 0)
    await worker.terminate()
  }
  assert(await soonHas(DESCRIPTORS, before))
})
