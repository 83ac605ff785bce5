// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// An entry is a view into the columns of a table.

const fs = require('node:fs')
const { isUtf8 } = require('node:buffer')
const util = require('node:util')

const DIRECTORY = 1
const SYMLINK = 2

// By the number of the type, the type of a Dirent.
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

/** By the number of the type, its name. */
const TYPES = ['file', 'directory', 'symlink', 'fifo', 'socket', 'character device', 'block device', 'unknown']

/** A path that is no UTF-8: a string of it would not lead back to the file. */
class UndecodablePathError extends Error {
  constructor(bytes) {
    super(`the path is not UTF-8: ${bytes.toString('utf8')}; use pathBytes()`)
    this.name = 'UndecodablePathError'
    this.code = 'ERR_STATWALK_UNDECODABLE_PATH'
    this.pathBytes = bytes
  }
}

class Entry {
  #table
  #row

  constructor(table, row) {
    this.#table = table
    this.#row = row
  }

  /** The bytes of the path. */
  pathBytes() {
    return this.#table.pathBytes(this.#row)
  }

  /** The bytes of the name: a view into the table. */
  nameBytes() {
    return this.#table.nameBytes(this.#row)
  }

  /** Whether path and name are strings that lead back to the file. */
  get isText() {
    return this.#table.isText || isUtf8(this.pathBytes())
  }

  /** The path. Throws UndecodablePathError where a string would lead elsewhere. */
  get path() {
    const table = this.#table
    if (!table.isText) {
      const bytes = this.pathBytes()
      if (!isUtf8(bytes)) throw new UndecodablePathError(bytes)
    }
    return table.path(this.#row)
  }

  /** The name; with U+FFFD for what is no UTF-8, and then isText is false. */
  get name() {
    return this.#table.name(this.#row)
  }

  get isDirectory() {
    return this.#table.types[this.#row] === DIRECTORY
  }

  get isSymbolicLink() {
    return this.#table.types[this.#row] === SYMLINK
  }

  /** The entry as fs.readdir gives it. */
  get dirent() {
    const table = this.#table
    const type = DIRENTS[table.types[this.#row]]
    if (table.isText || this.isText) return new fs.Dirent(this.name, type, table.parent(this.#row))
    const bytes = this.pathBytes()
    const slash = bytes.lastIndexOf(0x2f)
    const parent = slash < 0 ? Buffer.from('.') : bytes.subarray(0, slash || 1)
    return new fs.Dirent(bytes.subarray(slash + 1), type, parent)
  }

  /** The attributes as fs.lstat gives them. Throws the error of the entry where it has none. */
  get stats() {
    return this.#table.stats(this.#row)
  }

  /** Plain values for JSON and structuredClone. It asks the system for nothing. */
  toJSON() {
    const plain = this.#plain()
    if (plain.stats === null) return plain
    // JSON has no bigint.
    const text = ([part, value]) => [part, typeof value === 'bigint' ? `${value}` : value]
    return { ...plain, stats: Object.fromEntries(Object.entries(plain.stats).map(text)) }
  }

  [util.inspect.custom](depth, options, inspect = util.inspect) {
    if (depth < 0) return options.stylize('[Entry]', 'special')
    return `Entry ${inspect(this.#plain(), { ...options, depth: options.depth === null ? null : options.depth - 1 })}`
  }

  #plain() {
    const [table, row] = [this.#table, this.#row]
    const bytes = this.pathBytes()
    const plain = { path: bytes.toString('utf8') }
    if (!isUtf8(bytes)) plain.pathBase64 = bytes.toString('base64')
    plain.type = TYPES[table.types[row]]
    plain.stats = table.isKnown(row) ? table.stats(row) : null
    const error = table.refusal(row)
    if (error !== null) plain.error = error.code
    return plain
  }
}

module.exports = { Entry, UndecodablePathError }
