// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Entries and batches of a scan. index.d.ts has the types and the words.

const fs = require('node:fs')
const { Entry, UndecodablePathError, prepare } = require('./entry.js')
const { Fallback } = require('./fallback.js')
const native = require('./native.js')

const FIELDS = [
  'name', 'type', 'size', 'allocated', 'links', 'id', 'mtime', 'atime', 'ctime', 'btime',
  'owner', 'mode', 'rdev', 'path',
]
const PATH = 1 << 13
const STAT = ['size', 'allocated', 'links', 'id', 'mtime', 'atime', 'ctime', 'btime', 'owner', 'mode', 'rdev']

// For so long a loop may hold the event loop before others get their turn.
const TURN_MS = 3

class IncompleteScanError extends Error {
  constructor(errors, report) {
    const first = errors.length > 0 ? `: ${errors[0].message}` : ''
    super(`the scan is incomplete, with ${errors.length} errors${first}`)
    this.name = 'IncompleteScanError'
    this.code = 'ERR_STATWALK_INCOMPLETE'
    this.errors = errors
    this.report = report
  }
}

function bits(fields) {
  let columns = PATH
  for (const field of typeof fields === 'string' ? [fields] : fields) {
    for (const name of field === 'stat' ? STAT : [field]) {
      const bit = FIELDS.indexOf(name)
      if (bit < 0) throw new RangeError(`there is no field '${field}'; the fields are stat, ${FIELDS.join(', ')}`)
      columns |= 1 << bit
    }
  }
  return columns
}

async function open(path, options) {
  const root = Buffer.isBuffer(path) ? path : Buffer.from(path)
  const given = {
    columns: bits(options.fields ?? 'stat'),
    threads: options.threads,
    maxDepth: options.maxDepth,
    oneFileSystem: options.oneFileSystem ?? false,
    followLinks: options.followLinks ?? false,
    exclude: (options.exclude ?? []).map((pattern) => Buffer.from(pattern)),
  }
  // As fs.opendir does: a path that is no directory is an error, and a link is followed.
  const directory = await fs.promises.stat(root)
  if (!directory.isDirectory()) {
    const error = new Error(`ENOTDIR: not a directory, scan '${root}'`)
    throw Object.assign(error, { code: 'ENOTDIR', errno: -20, syscall: 'scandir', path: `${root}` })
  }
  const isLink = root.at(-1) !== 0x2f && (await fs.promises.lstat(root)).isSymbolicLink()
  const target = isLink ? Buffer.concat([root, Buffer.from('/')]) : root
  const Stream = options.native === false ? null : native.Stream
  return { stream: Stream === null ? new Fallback(target, given) : new Stream(target, given), target }
}

function errorOf(item) {
  const error = new Error(item.message)
  const path = Buffer.from(item.path)
  return Object.assign(error, {
    errno: -item.number,
    operation: item.operation,
    path: path.toString('utf8'),
    pathBytes: path,
  })
}

async function* batches(path, options = {}) {
  const { signal, onError } = options
  signal?.throwIfAborted()
  const { stream } = await open(path, options)
  const abort = () => void stream.close()
  signal?.addEventListener('abort', abort, { once: true })
  const errors = []
  let isOver = false
  try {
    for (;;) {
      const step = await stream.next()
      signal?.throwIfAborted()
      if (step.error != null) {
        const error = errorOf(step.error)
        if (onError) onError(error)
        else if (errors.length < 1000) errors.push(error)
      } else if (step.columns != null) {
        for (const columns of step.columns) yield prepare(columns)
      } else {
        isOver = true
        const report = step.report
        if (report != null && !report.isComplete && !onError) {
          throw new IncompleteScanError(errors, report)
        }
        return report
      }
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    // The loop was left.
    if (!isOver) await stream.close()
  }
}

async function* scan(path, options = {}) {
  let turn = performance.now()
  let isRoot = true
  let rootLength = Buffer.byteLength(path)
  for await (const columns of batches(path, options)) {
    for (let row = 0; row < columns.length; row += 1) {
      // The directory itself is no entry of it. Its path is the shortest, if a slash that
      // leads through a link is left out of account.
      if (isRoot && columns.types[row] === 1) {
        const length = columns.pathOffsets[row + 1] - columns.pathOffsets[row]
        if (length <= rootLength + 1 && isRootPath(columns, row, path, rootLength, length)) {
          isRoot = false
          continue
        }
      }
      yield new Entry(columns, row)
      // A promise that is resolved already gives no other task its turn.
      if ((row & 31) === 31 && performance.now() - turn > TURN_MS) {
        await new Promise(setImmediate)
        turn = performance.now()
      }
    }
  }
}

function isRootPath(columns, row, path, rootLength, length) {
  const begin = columns.pathOffsets[row]
  const bytes = columns.paths.subarray(begin, begin + rootLength)
  const root = Buffer.isBuffer(path) ? path : Buffer.from(path)
  return bytes.equals(root) && (length === rootLength || columns.paths[begin + rootLength] === 0x2f)
}

function entryOf(columns, row) {
  if (!(row >= 0 && row < columns.length)) throw new RangeError(`row ${row} of ${columns.length}`)
  return new Entry(columns, row)
}

exports.scan = scan
exports.batches = batches
exports.entryOf = entryOf
exports.Entry = Entry
exports.IncompleteScanError = IncompleteScanError
exports.UndecodablePathError = UndecodablePathError
exports.FIELDS = FIELDS
exports.isNative = native.Stream !== null
exports.reasonForFallback = native.reason
