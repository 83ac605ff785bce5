// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Entries, batches and sums of a scan. index.d.ts has the types and the words.

const fs = require('node:fs')
const { Entry, UndecodablePathError } = require('./entry.js')
const { IncompleteScanError, systemError } = require('./errors.js')
const { fieldBits, Stream, Sum } = require('./native.js')
const { bytesOf, checked, checkOthers } = require('./options.js')
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

/** The error of fs.opendir, which forgets the path in some releases of Node. */
function notOpened(error, root) {
  return error.syscall === 'opendir' ? systemError(error.errno, 'open', root) : error
}

async function open(path, options) {
  const root = bytesOf(path)
  const given = wishes(options.fields ?? 'stat', options)
  options.signal?.throwIfAborted()
  try {
    await (await fs.promises.opendir(root)).close()
    const isLink = !endsWithSlash(root) && (await fs.promises.lstat(root)).isSymbolicLink()
    return new Stream(followed(root, isLink), given)
  } catch (error) {
    throw notOpened(error, root)
  }
}

function openNow(path, options) {
  const root = bytesOf(path)
  const given = wishes(options.fields ?? 'stat', options)
  options.signal?.throwIfAborted()
  try {
    fs.opendirSync(root).closeSync()
    const isLink = !endsWithSlash(root) && fs.lstatSync(root).isSymbolicLink()
    return new Stream(followed(root, isLink), given)
  } catch (error) {
    throw notOpened(error, root)
  }
}

/** How the entries of a scan have their attributes. */
const how = ({ bigint, contentsFirst, followLinks, onError }) => ({
  contentsFirst: contentsFirst === true,
  bigint: bigint === true,
  followLinks: followLinks === true,
  hasOnError: onError != null,
})

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
  return new Scan(reading(path, options), how(options))
}

function scanSync(path, options = {}) {
  return new SyncScan(new SyncReading(() => openNow(path, options), options), how(options))
}

async function du(path, options = {}) {
  const root = bytesOf(path)
  const given = wishes(['size', 'allocated', 'links', 'id'], { ...options, maxDepth: undefined })
  options.signal?.throwIfAborted()
  // What is not there is an error, and nothing that can be missing in a sum.
  await (given.followLinks ? fs.promises.stat : fs.promises.lstat)(root)
  return sumOf(new Sum(root, given), options)
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
