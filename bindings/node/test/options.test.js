// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Values of options: each means something, or is an error that names the option.

const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, test } = require('node:test')
const { pathToFileURL } = require('node:url')
const { inspect } = require('node:util')
const statwalk = require('..')

const tree = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-options-'))
after(() => fs.rmSync(tree, { recursive: true }))
fs.mkdirSync(path.join(tree, 'a/b'), { recursive: true })
for (const name of ['keep.c', 'a/keep.h', 'a/b/drop.o']) fs.writeFileSync(path.join(tree, name), name)
const EVERYTHING = ['a', 'b', 'drop.o', 'keep.c', 'keep.h']

async function names(options, root = tree) {
  const found = []
  for await (const entry of statwalk.scan(root, { fields: 'type', ...options })) found.push(entry.name)
  return found.sort()
}

const NUMBERS = { threads: 2 ** 32 - 1, niceness: 19, maxDepth: 2 ** 32 - 1, minDepth: 2 ** 32 - 1 }

async function refused(options, error) {
  await assert.rejects(statwalk.scan(tree, options).next(), error)
  await assert.rejects(statwalk.batches(tree, options).next(), error)
  // A sum has everything that is below.
  if (!('maxDepth' in options)) await assert.rejects(statwalk.du(tree, options), error)
}

test('a number that means nothing is named', async () => {
  for (const [name, most] of Object.entries(NUMBERS)) {
    const end = name === 'maxDepth' ? ', or Infinity' : ''
    const words = (value) => `${name} is a whole number from 0 to ${most}${end}, and not ${inspect(value)}`
    for (const value of [NaN, 1.5, -1, -Infinity, 2 ** 32, 2 ** 32 + 1, Number.MAX_VALUE]) {
      await refused({ [name]: value }, { name: 'RangeError', code: 'ERR_OUT_OF_RANGE', message: words(value) })
    }
    for (const value of ['1', 1n, true, {}]) {
      await refused({ [name]: value }, { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message: words(value) })
    }
  }
  await refused({ threads: Infinity }, RangeError)
  await refused({ niceness: 20 }, RangeError)
})

test('numbers mean what they say', async () => {
  for (const options of [{ threads: 0 }, { threads: 1 }, { threads: null }, { niceness: null }, { maxDepth: undefined }]) {
    assert.deepStrictEqual(await names(options), EVERYTHING, inspect(options))
  }
  for (const maxDepth of [Infinity, null, 2 ** 32 - 1, 100]) {
    assert.deepStrictEqual(await names({ maxDepth }), EVERYTHING, `${maxDepth}`)
    let rows = 0
    for await (const columns of statwalk.batches(tree, { maxDepth })) rows += columns.length
    assert.strictEqual(rows, EVERYTHING.length + 1)
  }
  assert.deepStrictEqual(await names({ maxDepth: 0 }), [])
  assert.deepStrictEqual(await names({ maxDepth: 1 }), ['a', 'keep.c'])
})

test('a flag is true or false', async () => {
  for (const name of ['oneFileSystem', 'followLinks', 'kernelFileSystems', 'gitignore', 'sort', 'contentsFirst']) {
    for (const value of ['no', 0, {}]) {
      const message = `${name} is true or false, and not ${inspect(value)}`
      await refused({ [name]: value }, { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message })
    }
    assert.deepStrictEqual(await names({ [name]: null }), EVERYTHING)
  }
})

test('patterns are one or several', async () => {
  for (const exclude of ['*.o', Buffer.from('*.o'), new Uint8Array(Buffer.from('*.o')), ['*.o'], new Set(['*.o'])]) {
    assert.deepStrictEqual(await names({ exclude }), ['a', 'b', 'keep.c', 'keep.h'], inspect(exclude))
    assert.strictEqual((await statwalk.du(tree, { exclude })).entries, 5)
  }
  assert.deepStrictEqual(await names({ exclude: ['*.o', Buffer.from('*.h')] }), ['a', 'b', 'keep.c'])
  for (const exclude of [[], null, undefined]) assert.deepStrictEqual(await names({ exclude }), EVERYTHING)
  for (const exclude of [5, {}, ['*.o', 5], [null], true]) {
    const message = `exclude is a pattern or several, each a string or a Buffer, and not ${inspect(exclude)}`
    await refused({ exclude }, { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE', message })
  }
})

test('a pattern that fits no path is an error', async () => {
  const code = 'ERR_INVALID_ARG_VALUE'
  const message = 'a pattern of exclude ends with a slash, and no path does: leave the slash out'
  for (const exclude of ['a/', Buffer.from('a/'), ['*.o', 'a/']]) {
    await refused({ exclude }, { name: 'RangeError', code, message })
    assert.throws(() => statwalk.scanSync(tree, { exclude }).next(), { name: 'RangeError', code, message })
  }
  await refused({ exclude: 'a\0b' }, { name: 'RangeError', code, message: /exclude.*NUL/ })
})

test('a relative path leads from where the call was', async () => {
  const other = path.join(tree, 'a/b')
  fs.mkdirSync(path.join(other, 'a'))
  const before = process.cwd()
  const here = async (begin, end) => {
    process.chdir(tree)
    const begun = begin()
    process.chdir(other)
    try {
      return await end(begun)
    } finally {
      process.chdir(before)
    }
  }
  const list = async (entries) => {
    const found = []
    for await (const entry of entries) found.push(`${entry.path}`)
    return found.sort()
  }
  const a = ['a/b', 'a/b/a', 'a/b/drop.o', 'a/keep.h']
  try {
    for (const root of ['a', Buffer.from('a')]) {
      assert.deepStrictEqual(await here(() => statwalk.scan(root), list), a)
      assert.deepStrictEqual(await here(() => statwalk.scanSync(root), list), a)
      const count = async (batches) => {
        let rows = 0
        for await (const columns of batches) rows += columns.length
        return rows
      }
      assert.strictEqual(await here(() => statwalk.batches(root), count), 5)
      assert.strictEqual((await here(() => statwalk.du(root), (sum) => sum)).entries, 5)
    }
    // A link is followed, and errors have the path as it was given.
    fs.symlinkSync('a', path.join(tree, 'link'))
    assert.strictEqual((await here(() => statwalk.scan('link'), list)).length, 4)
    for (const begin of [() => statwalk.scan('keep.c').next(), () => statwalk.scan('none').next(), () => statwalk.du('none')]) {
      const error = await here(begin, (promise) => promise.catch((error) => error))
      assert(['keep.c', 'none'].includes(error.path), inspect(error))
      assert(!error.message.includes(tree) && /ENOTDIR|ENOENT/.test(error.code), error.message)
    }
  } finally {
    fs.rmSync(path.join(tree, 'link'), { force: true })
    fs.rmdirSync(path.join(other, 'a'))
  }
})

test('kernel file systems are entered on request', async () => {
  const isEntered = async (options) => {
    let found = false
    for await (const entry of statwalk.scan('/', { maxDepth: 2, fields: 'type', onError: () => {}, ...options })) {
      found ||= entry.pathBytes().toString('latin1').startsWith('/proc/')
    }
    return found
  }
  assert.strictEqual(await isEntered({}), false)
  assert.strictEqual(await isEntered({ kernelFileSystems: true }), true)
  assert.strictEqual(await isEntered({ kernelFileSystems: true, oneFileSystem: true }), false)
})

test('what .gitignore files name is left out on request', async () => {
  const root = path.join(tree, 'a')
  fs.writeFileSync(path.join(root, '.gitignore'), '*.o\n')
  try {
    assert.deepStrictEqual(await names({}, root), ['.gitignore', 'b', 'drop.o', 'keep.h'])
    assert.deepStrictEqual(await names({ gitignore: true }, root), ['.gitignore', 'b', 'keep.h'])
    assert.strictEqual((await statwalk.du(root, { gitignore: true })).entries, 4)
  } finally {
    fs.rmSync(path.join(root, '.gitignore'))
  }
})

test('a path is a string, a Buffer or a URL', async () => {
  const odd = path.join(tree, 'odd #%20 ?é')
  fs.mkdirSync(odd)
  fs.writeFileSync(path.join(odd, 'file'), 'bytes')
  try {
    for (const root of [odd, Buffer.from(odd), new Uint8Array(Buffer.from(odd)), pathToFileURL(odd)]) {
      const found = []
      for await (const entry of statwalk.scan(root)) found.push(entry.path)
      assert.deepStrictEqual(found, [path.join(odd, 'file')], inspect(root))
      assert.strictEqual((await statwalk.du(root)).apparent, 5)
      let rows = 0
      for await (const columns of statwalk.batches(root)) rows += columns.length
      assert.strictEqual(rows, 2)
    }
  } finally {
    fs.rmSync(odd, { recursive: true })
  }
  const other = new URL('https://example.org/usr')
  await assert.rejects(statwalk.scan(other).next(), { code: 'ERR_INVALID_URL_SCHEME' })
  await assert.rejects(statwalk.du(other), { code: 'ERR_INVALID_URL_SCHEME' })
  for (const wrong of [5, undefined, null, {}, [tree], [0x2f]]) {
    const error = { code: 'ERR_INVALID_ARG_TYPE', message: `path is a string, a Buffer or a URL, and not ${inspect(wrong)}` }
    await assert.rejects(statwalk.scan(wrong).next(), error)
    await assert.rejects(statwalk.batches(wrong).next(), error)
    await assert.rejects(statwalk.du(wrong), error)
  }
})

// The table of the README: each line gives what those packages give.
test('the options of readdirp and fdir have a way here', async () => {
  const { Readable } = require('node:stream')
  const { scan, scanSync } = statwalk
  const files = Readable.from(scan(tree)).filter((entry) => entry.name.endsWith('.o'))
  assert.deepStrictEqual((await files.toArray()).map((entry) => entry.name), ['drop.o'])
  assert.deepStrictEqual(await names({ maxDepth: 1 }), fs.readdirSync(tree).sort())
  const found = Array.from(scanSync(tree, { sort: true }))
  const dirs = found.filter((entry) => entry.isDirectory).map((entry) => path.relative(tree, entry.path))
  assert.deepStrictEqual(dirs, ['a', 'a/b'])
  const entries = scan(tree, { sort: true })
  const seen = []
  for await (const entry of entries) {
    seen.push(entry.name)
    if (entry.name === 'a') entries.skip()
  }
  assert.deepStrictEqual(seen, ['a', 'keep.c'])
  for (const exclude of [(name) => name === 'a', /\.o$/, pathToFileURL(tree)]) {
    await refused({ exclude }, /TypeError/)
  }
})
