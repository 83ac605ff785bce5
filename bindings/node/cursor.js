// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The rows of one table after another, without those that the caller has skipped.

const { Table } = require('./table.js')

/** The number of an entry that is no directory, in a table that has both. */
const NO_DIRECTORY = 0xffffffff

class Cursor {
  #reading
  #how
  #columns = null
  #row = 0
  /** The directories of the table at hand that are not wanted, or lie in one. */
  #skipped = new Set()
  table = null
  /** The row that was given last; of the directories alone it can be skipped. */
  last = -1

  constructor(reading, how) {
    this.#reading = reading
    this.#how = how
  }

  /** Goes on to the next row, if it is at hand. */
  advance() {
    if (this.#columns === null) return false
    const { ids, dirs, length } = this.#columns
    while (this.#row < length) {
      const row = this.#row
      this.#row += 1
      if (ids != null) {
        // The directory itself is no entry of it.
        if (dirs[row] === ids[row]) continue
        if (this.#skipped.has(dirs[row])) {
          this.#skipped.add(ids[row])
          continue
        }
      }
      this.last = row
      return true
    }
    this.#take(null)
    return false
  }

  /** Begins the next table. */
  begin(columns) {
    this.#skipped.clear()
    this.#take(columns)
  }

  end() {
    this.#columns = null
  }

  #take(columns) {
    this.#columns = columns
    this.table = columns === null ? null : new Table(columns, this.#how)
    this.#row = 0
    this.last = -1
  }

  /** Leaves out all that is below the directory that came last. */
  skip() {
    if (this.#how.contentsFirst) {
      throw new Error('nothing can be skipped with contentsFirst: all below a directory comes before it')
    }
    const { ids } = this.#columns ?? {}
    if (ids == null || this.last < 0 || ids[this.last] === NO_DIRECTORY) {
      throw new Error('the last entry is no directory')
    }
    this.#skipped.add(ids[this.last])
    this.#reading.prune(ids[this.last], this.table.pathBytes(this.last))
  }
}

module.exports = { Cursor }
