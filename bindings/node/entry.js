// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// An entry is a view into the columns of a batch.

const fs = require('node:fs')
const { isUtf8 } = require('node:buffer')

const DIRECTORY = 1
const SYMLINK = 2

// By the number of the type: S_IFMT of st_mode, and the type of a Dirent.
const { S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK } = fs.constants
const MODES = [S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, 0]
const of = fs.constants
const DIRENTS = [
  of.UV_DIRENT_FILE,
  of.UV_DIRENT_DIR,
  of.UV_DIRENT_LINK,
  of.UV_DIRENT_FIFO,
  of.UV_DIRENT_SOCKET,
  of.UV_DIRENT_CHAR,
  of.UV_DIRENT_BLOCK,
  of.UV_DIRENT_UNKNOWN,
]

/** A path that is no UTF-8: a string of it would not lead back to the file. */
class UndecodablePathError extends Error {
  constructor(bytes) {
    super(`the path is not UTF-8: ${bytes.toString('utf8')}; use pathBytes()`)
    this.name = 'UndecodablePathError'
    this.code = 'ERR_STATWALK_UNDECODABLE_PATH'
    this.pathBytes = bytes
  }
}

const bit = (bits, row) => bits == null || ((bits[row >> 3] >> (row & 7)) & 1) === 1

class Entry {
  #columns
  #row

  constructor(columns, row) {
    this.#columns = columns
    this.#row = row
  }

  /** The bytes of the path: a view into the batch. */
  pathBytes() {
    const { paths, pathOffsets } = this.#columns
    return paths.subarray(pathOffsets[this.#row], pathOffsets[this.#row + 1])
  }

  /** The bytes of the name. */
  nameBytes() {
    const bytes = this.pathBytes()
    return bytes.subarray(bytes.lastIndexOf(0x2f) + 1)
  }

  /** Whether path and name are strings that lead back to the file. */
  get isText() {
    return this.#columns.isText || isUtf8(this.pathBytes())
  }

  /** The path. Throws UndecodablePathError where a string would lead elsewhere. */
  get path() {
    const columns = this.#columns
    const [begin, end] = [columns.pathOffsets[this.#row], columns.pathOffsets[this.#row + 1]]
    if (!columns.isText) {
      const bytes = this.pathBytes()
      if (!isUtf8(bytes)) throw new UndecodablePathError(Buffer.from(bytes))
    }
    return columns.paths.utf8Slice(begin, end)
  }

  /** The name; with U+FFFD for what is no UTF-8, and then isText is false. */
  get name() {
    return this.nameBytes().toString('utf8')
  }

  get isDirectory() {
    return this.#columns.types[this.#row] === DIRECTORY
  }

  get isSymbolicLink() {
    return this.#columns.types[this.#row] === SYMLINK
  }

  /** The entry as fs.readdir gives it. */
  get dirent() {
    const bytes = this.pathBytes()
    const slash = bytes.lastIndexOf(0x2f)
    const parent = bytes.subarray(0, slash || 1)
    const type = DIRENTS[this.#columns.types[this.#row]]
    const text = this.isText
    const name = text ? this.name : Buffer.from(this.nameBytes())
    return new fs.Dirent(name, type, text ? parent.toString('utf8') : Buffer.from(parent))
  }

  /** The attributes as fs.lstat gives them; null where they could not be read. */
  get stats() {
    const c = this.#columns
    const row = this.#row
    if (!bit(c.isKnown, row)) return null
    // Fields that were not asked for are undefined, and never 0.
    const number = (column) => (column == null ? undefined : column[row])
    const stats = new EntryStats()
    stats.dev = large(c.dev, row)
    stats.mode = c.mode == null ? MODES[c.types[row]] : c.mode[row]
    stats.nlink = number(c.links)
    stats.uid = number(c.uid)
    stats.gid = number(c.gid)
    stats.rdev = large(c.rdev, row)
    stats.ino = large(c.ino, row)
    stats.size = large(c.size, row)
    stats.blocks = c.allocated == null ? undefined : large(c.allocated, row) / 512
    stats.atimeMs = bit(c.atimeIsKnown, row) ? number(c.atimeMs) : undefined
    stats.mtimeMs = bit(c.mtimeIsKnown, row) ? number(c.mtimeMs) : undefined
    stats.ctimeMs = bit(c.ctimeIsKnown, row) ? number(c.ctimeMs) : undefined
    stats.birthtimeMs = bit(c.btimeIsKnown, row) ? number(c.btimeMs) : undefined
    return stats
  }
}

// A Stats whose dates are made when they are asked for, as Node 22 has it.
function EntryStats() {}
EntryStats.prototype = Object.create(fs.Stats.prototype)
for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) {
  Object.defineProperty(EntryStats.prototype, name, {
    configurable: true,
    enumerable: true,
    get() {
      const ms = this[`${name}Ms`]
      const value = ms === undefined ? undefined : new Date(Math.round(ms))
      Object.defineProperty(this, name, { configurable: true, enumerable: true, value, writable: true })
      return value
    },
  })
}

// A number of 64 bits. Two halves, because a big integer for each would cost more.
function large(column, row) {
  if (column == null) return undefined
  const { low, high } = halves(column)
  return high[2 * row] * 4294967296 + low[2 * row]
}

const HALVES = new WeakMap()

function halves(column) {
  let both = HALVES.get(column)
  if (both === undefined) {
    const { buffer, byteOffset, length } = column
    // Both processors of the packages have the low half first.
    const low = new Uint32Array(buffer, byteOffset, 2 * length)
    const high = new Uint32Array(buffer, byteOffset + 4, 2 * length - 1)
    both = { low, high }
    HALVES.set(column, both)
  }
  return both
}

/** The columns of a batch, as the native module or the fallback has made them. */
function prepare(columns) {
  const { buffer, byteOffset, byteLength } = columns.paths
  columns.paths = Buffer.from(buffer, byteOffset, byteLength)
  return columns
}

module.exports = { Entry, UndecodablePathError, prepare }
