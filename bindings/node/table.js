// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The columns of a table, prepared for single values.

const fs = require('node:fs')
const { isAscii } = require('node:buffer')

// S_IFMT of st_mode, by the number of the type.
const { S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK } = fs.constants
const MODES = [S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK, 0]

/** Numbers of 64 bits as their halves: big integers would cost more. */
function halves(column) {
  // Both processors of the packages have the low half first.
  return column == null ? null : new Uint32Array(column.buffer, column.byteOffset, 2 * column.length)
}

const large = (pairs, row) =>
  pairs === null ? undefined : pairs[2 * row + 1] * 4294967296 + pairs[2 * row]
const small = (column, row) => (column == null ? undefined : column[row])
const bit = (bits, row) => bits == null || ((bits[row >> 3] >> (row & 7)) & 1) === 1

// A Stats whose dates are made when they are asked for, as Node 22 has it.
// A constructor with all fields gives objects that hold them in place.
function EntryStats(dev, mode, nlink, uid, gid, rdev, ino, size, blocks, atimeMs, mtimeMs, ctimeMs, birthtimeMs) {
  this.dev = dev
  this.mode = mode
  this.nlink = nlink
  this.uid = uid
  this.gid = gid
  this.rdev = rdev
  this.ino = ino
  this.size = size
  this.blocks = blocks
  this.atimeMs = atimeMs
  this.mtimeMs = mtimeMs
  this.ctimeMs = ctimeMs
  this.birthtimeMs = birthtimeMs
}
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

/** Fields that were not asked for are undefined, and never 0. */
class Table {
  #columns
  #dev
  #rdev
  #ino
  #size
  #allocated
  /** The prefixes that were asked for. */
  #prefixes = []
  length
  types
  isText
  #namesAreAscii

  constructor(columns) {
    this.#columns = columns
    this.#dev = halves(columns.dev)
    this.#rdev = halves(columns.rdev)
    this.#ino = halves(columns.ino)
    this.#size = halves(columns.size)
    this.#allocated = halves(columns.allocated)
    this.length = columns.length
    this.types = columns.types
    this.isText = columns.isText
    this.#namesAreAscii = isAscii(columns.names)
  }

  pathBytes(row) {
    return Buffer.concat([this.prefixBytes(row), this.#wholeName(row)])
  }

  /** What stands before the name: the path of the directory with a slash; nothing for the root. */
  prefixBytes(row) {
    const { prefixes, prefixBytes, prefixOffsets } = this.#columns
    const at = prefixes[row]
    return prefixBytes.subarray(prefixOffsets[at], prefixOffsets[at + 1])
  }

  #wholeName(row) {
    const { names, nameOffsets } = this.#columns
    return names.subarray(nameOffsets[row], nameOffsets[row + 1])
  }

  nameBytes(row) {
    const name = this.#wholeName(row)
    return this.#isRoot(row) ? name.subarray(name.lastIndexOf(0x2f) + 1) : name
  }

  /** Nothing stands before the path of a root. */
  #isRoot(row) {
    const { prefixes, prefixOffsets } = this.#columns
    return prefixOffsets[prefixes[row]] === prefixOffsets[prefixes[row] + 1]
  }

  /** The directory that was given has its path for a name. */
  #text(row) {
    const { names, nameOffsets } = this.#columns
    const [begin, end] = [nameOffsets[row], nameOffsets[row + 1]]
    return this.#namesAreAscii ? names.latin1Slice(begin, end) : names.utf8Slice(begin, end)
  }

  #prefix(row) {
    const at = this.#columns.prefixes[row]
    const known = this.#prefixes[at]
    if (known !== undefined) return known
    return (this.#prefixes[at] = this.prefixBytes(row).utf8Slice())
  }

  path(row) {
    return this.#prefix(row) + this.#text(row)
  }

  name(row) {
    const text = this.#text(row)
    return this.#isRoot(row) ? text.slice(text.lastIndexOf('/') + 1) : text
  }

  /** The path of the directory of a row. */
  parent(row) {
    const prefix = this.#isRoot(row) ? this.#text(row) : this.#prefix(row)
    const slash = prefix.lastIndexOf('/')
    return slash < 0 ? '.' : prefix.slice(0, slash || 1)
  }

  stats(row) {
    const c = this.#columns
    if (!bit(c.isKnown, row)) return null
    return new EntryStats(
      large(this.#dev, row),
      c.mode == null ? MODES[c.types[row]] : c.mode[row],
      small(c.links, row),
      small(c.uid, row),
      small(c.gid, row),
      large(this.#rdev, row),
      large(this.#ino, row),
      large(this.#size, row),
      this.#allocated === null ? undefined : large(this.#allocated, row) / 512,
      bit(c.atimeIsKnown, row) ? small(c.atimeMs, row) : undefined,
      bit(c.mtimeIsKnown, row) ? small(c.mtimeMs, row) : undefined,
      bit(c.ctimeIsKnown, row) ? small(c.ctimeMs, row) : undefined,
      bit(c.btimeIsKnown, row) ? small(c.btimeMs, row) : undefined,
    )
  }
}

const TABLES = new WeakMap()

/**
 * The table of some columns, made once. What the map holds goes only when V8 looks through
 * its whole heap, with the buffers of the columns, so a loop over entries does without.
 */
function tableOf(columns) {
  let table = TABLES.get(columns)
  if (table === undefined) {
    table = new Table(columns)
    TABLES.set(columns, table)
  }
  return table
}

/** The columns of a table, as the native module has made them. */
function prepare({ attributes, ...columns }) {
  for (const bytes of ['prefixBytes', 'names', 'paths']) {
    if (columns[bytes] == null) continue
    const { buffer, byteOffset, byteLength } = columns[bytes]
    columns[bytes] = Buffer.from(buffer, byteOffset, byteLength)
  }
  for (const { name, values, ms, isKnown } of attributes) {
    if (ms == null) {
      columns[name] = values
    } else {
      columns[`${name}Ns`] = values
      columns[`${name}Ms`] = ms
      if (isKnown != null) columns[`${name}IsKnown`] = isKnown
    }
  }
  return columns
}

module.exports = { prepare, Table, tableOf }
