// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Entries by path, contents first, and from a depth on.

const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, test } = require('node:test')
const statwalk = require('..')
const { numbers } = require('./numbers.js')

const place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-order-'))
after(() => fs.rmSync(place, { recursive: true }))

/** The paths below a directory by sorted names, with their depths. */
function byName(directory, depth, isContentsFirst, found = []) {
  const names = fs.readdirSync(directory, { encoding: 'buffer' }).sort(Buffer.compare)
  for (const name of names) {
    const below = path.join(directory, name.toString())
    if (!isContentsFirst) found.push([below, depth])
    if (fs.lstatSync(below).isDirectory()) byName(below, depth + 1, isContentsFirst, found)
    if (isContentsFirst) found.push([below, depth])
  }
  return found
}

function grow(root, random) {
  fs.mkdirSync(root)
  const directories = [root]
  for (let at = 0; at < 200; at += 1) {
    const above = directories[Math.floor(random() * directories.length)]
    const file = path.join(above, `${'zyxcba'[Math.floor(random() * 6)]}${['', '.', '-', 'é'][at % 4]}${at}`)
    if (random() < 0.4) {
      fs.mkdirSync(file)
      directories.push(file)
    } else {
      fs.writeFileSync(file, '')
    }
  }
}

test('the order is that of sorted names', async () => {
  for (const seed of [1, 2, 3]) {
    const root = path.join(place, `${seed}`)
    grow(root, numbers(seed))
    for (const isContentsFirst of [false, true]) {
      const expected = byName(root, 1, isContentsFirst)
      for (const threads of [1, 2, 7]) {
        for (const minDepth of [0, 2, 99]) {
          const options = { [isContentsFirst ? 'contentsFirst' : 'sort']: true, threads, minDepth }
          const paths = expected.filter(([, depth]) => depth >= minDepth).map(([file]) => file)
          const found = []
          for await (const entry of statwalk.scan(root, options)) found.push(entry.path)
          assert.deepStrictEqual(found, paths)
          assert.deepStrictEqual(Array.from(statwalk.scanSync(root, options), (entry) => entry.path), paths)
          const rows = []
          for await (const columns of statwalk.batches(root, { ...options, fields: 'type' })) {
            for (let row = 0; row < columns.length; row += 1) {
              const entry = statwalk.entryOf(columns, row)
              assert.strictEqual(columns.ids[row] !== 0xffffffff, entry.isDirectory)
              if (entry.path !== root) rows.push(entry.path)
            }
          }
          assert.deepStrictEqual(rows, paths)
        }
      }
    }
  }
})

test('what is skipped does not come', async () => {
  const root = path.join(place, 'skips')
  grow(root, numbers(5))
  const top = byName(root, 1, false).filter(([, depth]) => depth === 1)
  for (const scan of [statwalk.scan(root, { sort: true }), statwalk.scanSync(root, { sort: true })]) {
    const found = []
    for await (const entry of scan) {
      found.push(entry.path)
      if (entry.isDirectory) scan.skip()
      else assert.throws(() => scan.skip(), /the last entry is no directory/)
    }
    assert.deepStrictEqual(
      found,
      top.map(([file]) => file),
    )
  }
})

test('nothing is skipped with contentsFirst', async () => {
  fs.mkdirSync(path.join(place, 'last/a/b'), { recursive: true })
  const scan = statwalk.scan(path.join(place, 'last'), { contentsFirst: true })
  assert.strictEqual((await scan.next()).value.name, 'b')
  assert.throws(() => scan.skip(), /nothing can be skipped with contentsFirst/)
  await scan.return()
})

test('sums have no order', async () => {
  for (const options of [{ sort: true }, { contentsFirst: true }, { minDepth: 1 }]) {
    await assert.rejects(statwalk.du(place, options), /sums have neither an order nor a depth/)
  }
})
