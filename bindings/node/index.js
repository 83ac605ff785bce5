// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Entries, batches and sums of a scan. index.d.ts has the types and the words.

const fs = require('node:fs')
const { Entry, UndecodablePathError } = require('./entry.js')
const { IncompleteScanError, systemError } = require('./errors.js')
const { fieldBits, Stream, Sum } = require('./native.js')
const { checked, checkOthers, Root } = require('./options.js')
const { Reading, SyncReading } = require('./reading.js')
const { Scan, SyncScan } = require('./scan.js')
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

function wishes(fields, options) {
  checkOthers(options)
  return { columns: bits(fields), ...checked(options) }
}

/** A link that leads to a directory is followed, as fs.opendir does it. */
const followed = (root, isLink) => (isLink ? Buffer.concat([root, Buffer.from('/')]) : root)
const endsWithSlash = (root) => root.at(-1) === 0x2f

/** By the call of fs, the operation of its error. */
const OPERATIONS = { opendir: 'open', lstat: 'stat', stat: 'follow' }

/**
 * The error of fs with the path as it was given: fs.opendir forgets it in some releases of
 * Node, and was called with a longer one.
 */
function notOpened(error, root) {
  const operation = OPERATIONS[error.syscall]
  return operation === undefined ? error : systemError(error.errno, operation, root)
}

async function open(root, options) {
  const { bytes, relativeTo, reached } = root.checked()
  const given = { ...wishes(options.fields ?? 'stat', options), relativeTo }
  options.signal?.throwIfAborted()
  try {
    await (await fs.promises.opendir(reached)).close()
    const isLink = !endsWithSlash(bytes) && (await fs.promises.lstat(reached)).isSymbolicLink()
    return new Stream(followed(bytes, isLink), given)
  } catch (error) {
    throw notOpened(error, bytes)
  }
}

function openNow(root, options) {
  const { bytes, relativeTo, reached } = root.checked()
  const given = { ...wishes(options.fields ?? 'stat', options), relativeTo }
  options.signal?.throwIfAborted()
  try {
    fs.opendirSync(reached).closeSync()
    const isLink = !endsWithSlash(bytes) && fs.lstatSync(reached).isSymbolicLink()
    return new Stream(followed(bytes, isLink), given)
  } catch (error) {
    throw notOpened(error, bytes)
  }
}

/** How the entries of a scan have their attributes. */
const how = ({ bigint, contentsFirst, followLinks, onError }) => ({
  contentsFirst: contentsFirst === true,
  bigint: bigint === true,
  followLinks: followLinks === true,
  hasOnError: onError != null,
})

function reading(path, options) {
  const root = new Root(path)
  return new Reading(() => open(root, options), options)
}

function batches(path, options = {}) {
  return columnsOf(reading(path, options))
}

async function* columnsOf(read) {
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
  return new Scan(reading(path, options), how(options))
}

function scanSync(path, options = {}) {
  const root = new Root(path)
  return new SyncScan(new SyncReading(() => openNow(root, options), options), how(options))
}

async function du(path, options = {}) {
  const { bytes, relativeTo, reached } = new Root(path).checked()
  const wanted = wishes(['size', 'allocated', 'links', 'id'], { ...options, maxDepth: undefined })
  options.signal?.throwIfAborted()
  try {
    // What is not there is an error, and nothing that can be missing in a sum.
    await (wanted.followLinks ? fs.promises.stat : fs.promises.lstat)(reached)
  } catch (error) {
    throw notOpened(error, bytes)
  }
  return sumOf(new Sum(bytes, { ...wanted, relativeTo }), options)
}

function entryOf(columns, row) {
  if (!(row >= 0 && row < columns.length)) throw new RangeError(`row ${row} of ${columns.length}`)
  return new Entry(tableOf(columns), row)
}

exports.scan = scan
exports.scanSync = scanSync
exports.batches = batches
exports.du = du
exports.entryOf = entryOf
exports.Entry = Entry
exports.Scan = Scan
exports.SyncScan = SyncScan
exports.IncompleteScanError = IncompleteScanError
exports.UndecodablePathError = UndecodablePathError
exports.FIELDS = FIELDS
