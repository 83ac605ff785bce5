// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The columns of a table, prepared for single values.

const fs = require('node:fs')
const { isAscii } = require('node:buffer')
const { IncompleteScanError, systemError } = require('./errors.js')
const { PARTS, partStats, WholeStats } = require('./stats.js')

const SYMLINK = 2

/** Numbers of 64 bits as their halves: big integers would cost more. */
function halves(column) {
  // Both processors of the packages have the low half first.
  return column == null ? null : new Uint32Array(column.buffer, column.byteOffset, 2 * column.length)
}

const sum = (pairs, row) => pairs[2 * row + 1] * 4294967296 + pairs[2 * row]
const bit = (bits, row) => bits == null || ((bits[row >> 3] >> (row & 7)) & 1) === 1
const msOf = (ms) => (ms === ms ? ms : null)

const TIMES = { atime: 'atime', mtime: 'mtime', ctime: 'ctime', birthtime: 'btime' }

/** By the parts of Stats, the functions that read them. Columns that are absent have none. */
function readers(c) {
  const wide = (column, divisor = 1) => {
    if (column == null) return undefined
    const pairs = halves(column)
    return (row) => sum(pairs, row) / divisor
  }
  const narrow = (column) => (column == null ? undefined : (row) => column[row])
  const all = {
    dev: wide(c.dev),
    mode: narrow(c.mode),
    nlink: narrow(c.links),
    uid: narrow(c.uid),
    gid: narrow(c.gid),
    rdev: wide(c.rdev),
    ino: wide(c.ino),
    size: wide(c.size),
    blocks: wide(c.allocated, 512),
  }
  for (const [name, column] of Object.entries(TIMES)) {
    const ms = c[`${column}Ms`]
    if (ms != null) all[`${name}Ms`] = (row) => msOf(ms[row])
  }
  return PARTS.filter((part) => all[part] !== undefined).map((part) => [part, all[part]])
}

/** The same for fs.BigIntStats. */
function bigReaders(c) {
  const wide = (column) => (column == null ? undefined : (row) => column[row])
  const narrow = (column) => (column == null ? undefined : (row) => BigInt(column[row]))
  const all = {
    dev: wide(c.dev),
    mode: narrow(c.mode),
    nlink: narrow(c.links),
    uid: narrow(c.uid),
    gid: narrow(c.gid),
    rdev: wide(c.rdev),
    ino: wide(c.ino),
    size: wide(c.size),
    blocks: c.allocated == null ? undefined : (row) => c.allocated[row] / 512n,
  }
  const exact = {}
  for (const [name, column] of Object.entries(TIMES)) {
    const [ns, ms, known] = [c[`${column}Ns`], c[`${column}Ms`], c[`${column}IsKnown`]]
    if (ns == null) continue
    // Whole seconds are all that is known of a time that nanoseconds do not hold.
    const odd = (row) => (ms[row] === ms[row] ? BigInt(ms[row]) * 1000000n : null)
    const nsOf = (row) => (bit(known, row) ? ns[row] : odd(row))
    exact[`${name}Ns`] = nsOf
    all[`${name}Ms`] = (row) => {
      const ns = nsOf(row)
      // As Node does: towards zero.
      return ns === null ? null : ns / 1000000n
    }
  }
  return [...PARTS.filter((part) => all[part] !== undefined).map((part) => [part, all[part]]), ...Object.entries(exact)]
}

/** Makes the Stats of a row. */
function maker(columns, isBig) {
  const read = isBig ? bigReaders(columns) : readers(columns)
  if (!isBig && read.length === PARTS.length) return null
  const Stats = partStats(read.map(([part]) => part).filter((part) => PARTS.includes(part)), isBig)
  const parts = read.map(([part]) => part)
  return {
    of(row) {
      const stats = new Stats(columns.types[row])
      for (const [part, of] of read) stats[part] = of(row)
      return stats
    },
    /** The same parts of what fs says. */
    like(found, type) {
      const stats = new Stats(type)
      for (const part of parts) stats[part] = found[part]
      return stats
    },
  }
}

/** How the entries of a table have their attributes: for entries of columns, their own errors. */
const ALONE = { bigint: false, followLinks: false, hasOnError: true }

class Table {
  #columns
  #how
  /** Makes the Stats of a row; null where they have all that there is. */
  #maker
  /** By row, the errors of the system; made when one is wanted. */
  #refusals = null
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

  constructor(columns, how = ALONE) {
    this.#columns = columns
    this.#how = how
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
    if (this.#maker === undefined) this.#maker = maker(c, this.#how.bigint)
    if (!bit(c.isKnown, row)) return this.#unknown(row)
    if (this.#maker !== null) return this.#maker.of(row)
    return new WholeStats(
      sum(this.#dev, row),
      c.mode[row],
      c.links[row],
      c.uid[row],
      c.gid[row],
      sum(this.#rdev, row),
      sum(this.#ino, row),
      sum(this.#size, row),
      sum(this.#allocated, row) / 512,
      msOf(c.atimeMs[row]),
      msOf(c.mtimeMs[row]),
      msOf(c.ctimeMs[row]),
      msOf(c.btimeMs[row]),
    )
  }

  /** The error for which the system has refused the attributes of a row, or null. */
  refusal(row) {
    const { refusals } = this.#columns
    if (refusals == null) return null
    this.#refusals ??= new Map(refusals.map(({ row, errno }) => [row, errno]))
    const errno = this.#refusals.get(row)
    return errno === undefined ? null : systemError(errno, 'stat', this.pathBytes(row))
  }

  /** Whether the scan has the attributes of a row. */
  isKnown(row) {
    return bit(this.#columns.isKnown, row)
  }

  #unknown(row) {
    const { bigint, followLinks, hasOnError } = this.#how
    const error = this.refusal(row)
    if (error !== null) throw hasOnError ? error : new IncompleteScanError([error], null)
    // The scan has left the entry out, so nobody has asked the system.
    const bytes = this.pathBytes(row)
    let found = fs.lstatSync(bytes, { bigint })
    // The way to it was a link, which the scan has followed.
    if (followLinks && found.isSymbolicLink() && this.types[row] !== SYMLINK) found = fs.statSync(bytes, { bigint })
    return this.#maker === null ? found : this.#maker.like(found, this.types[row])
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
