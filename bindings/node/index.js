// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Entries, batches and sums of a scan. index.d.ts has the types and the words.

const fs = require('node:fs')
const { Entry, UndecodablePathError } = require('./entry.js')
const { fieldBits, Stream, Sum } = require('./native.js')
const { bytesOf, checked } = require('./options.js')
const { IncompleteScanError, Reading } = require('./reading.js')
const { Scan } = require('./scan.js')
const { sumOf } = require('./sum.js')
const { tableOf } = require('./table.js')

/** The bits of fields by their names, and of all that fs.Stats has. */
const BITS = Object.fromEntries(fieldBits().map(({ name, bits }) => [name, bits]))
const FIELDS = Object.keys(BITS).filter((name) => name !== 'stat')

function bits(fields) {
  let columns = BITS.name
  for (const name of typeof fields === 'string' ? [fields] : fields) {
    if (!Object.hasOwn(BITS, name)) {
      throw new RangeError(`there is no field '${name}'; the fields are stat, ${FIELDS.join(', ')}`)
    }
    columns |= BITS[name]
  }
  return columns >>> 0
}

const wishes = (fields, options) => ({ columns: bits(fields), ...checked(options) })

async function open(path, options) {
  const root = bytesOf(path)
  const given = wishes(options.fields ?? 'stat', options)
  // As fs.opendir does: a path that is no directory is an error, and a link is followed.
  const directory = await fs.promises.stat(root)
  if (!directory.isDirectory()) {
    const error = new Error(`ENOTDIR: not a directory, scan '${root}'`)
    throw Object.assign(error, { code: 'ENOTDIR', errno: -20, syscall: 'scandir', path: `${root}` })
  }
  const isLink = root.at(-1) !== 0x2f && (await fs.promises.lstat(root)).isSymbolicLink()
  const target = isLink ? Buffer.concat([root, Buffer.from('/')]) : root
  return new Stream(target, given)
}

const reading = (path, options) => new Reading(() => open(path, options), options)

async function* batches(path, options = {}) {
  const read = reading(path, options)
  try {
    for (;;) {
      const columns = await read.next()
      if (columns === null) return read.report
      yield columns
    }
  } finally {
    await read.close()
  }
}

function scan(path, options = {}) {
  return new Scan(reading(path, options))
}

async function du(path, options = {}) {
  const { signal } = options
  signal?.throwIfAborted()
  const root = bytesOf(path)
  const given = wishes(['size', 'allocated', 'links', 'id'], { ...options, maxDepth: undefined })
  // What is not there is an error, and nothing that can be missing in a sum.
  await (given.followLinks ? fs.promises.stat : fs.promises.lstat)(root)
  return sumOf(new Sum(root, given), options)
}

function entryOf(columns, row) {
  if (!(row >= 0 && row < columns.length)) throw new RangeError(`row ${row} of ${columns.length}`)
  return new Entry(tableOf(columns), row)
}

exports.scan = scan
exports.batches = batches
exports.du = du
exports.entryOf = entryOf
exports.Entry = Entry
exports.Scan = Scan
exports.IncompleteScanError = IncompleteScanError
exports.UndecodablePathError = UndecodablePathError
exports.FIELDS = FIELDS
