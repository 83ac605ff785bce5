// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The entries of a scan, one after another.

const { Entry } = require('./entry.js')
const { Table } = require('./table.js')

// For so long a loop may hold the event loop before others get their turn.
const TURN_MS = 1
// After so many entries a loop looks at the clock.
const ENTRIES = 16

/** An iterator by hand: a generator would make three promises for each entry. */
class Scan {
  #reading
  #columns = null
  #table = null
  #row = 0
  /** The row that was given last; of the directories alone it can be skipped. */
  #last = -1
  /** The directories of the table at hand that are not wanted, or lie in one. */
  #skipped = new Set()
  #turn = performance.now()
  #left = ENTRIES
  /** The call that others wait for. */
  #busy = null
  #isOver = false

  constructor(reading) {
    this.#reading = reading
  }

  [Symbol.asyncIterator]() {
    return this
  }

  next() {
    if (this.#busy === null && this.#left > 0 && this.#advance()) {
      this.#left -= 1
      return Promise.resolve({ done: false, value: new Entry(this.#table, this.#last) })
    }
    return this.#enqueue(() => this.#wait())
  }

  return(value) {
    return this.#enqueue(async () => {
      await this.#end()
      return { done: true, value }
    })
  }

  throw(error) {
    return this.#enqueue(async () => {
      await this.#end()
      throw error
    })
  }

  /** Leaves out all that is below the directory that came last. */
  skip() {
    const { ids } = this.#columns ?? {}
    if (ids == null || this.#last < 0) throw new Error('the last entry is no directory')
    this.#skipped.add(ids[this.#last])
    this.#reading.prune(ids[this.#last], this.#table.pathBytes(this.#last))
  }

  /** Goes on to the next row, if it is at hand. */
  #advance() {
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
      this.#last = row
      return true
    }
    this.#take(null)
    return false
  }

  #take(columns) {
    this.#columns = columns
    this.#table = columns === null ? null : new Table(columns)
    this.#row = 0
    this.#last = -1
  }

  async #wait() {
    for (;;) {
      if (this.#isOver) return { done: true, value: undefined }
      if (this.#left === 0) {
        this.#left = ENTRIES
        // A promise that is resolved already gives no other task its turn.
        if (performance.now() - this.#turn > TURN_MS) {
          await new Promise(setImmediate)
          this.#turn = performance.now()
        }
      }
      if (this.#advance()) {
        this.#left -= 1
        return { done: false, value: new Entry(this.#table, this.#last) }
      }
      let columns
      try {
        columns = await this.#reading.next()
      } catch (error) {
        await this.#end()
        throw error
      }
      if (columns === null) {
        this.#isOver = true
      } else {
        this.#skipped.clear()
        this.#take(columns)
      }
    }
  }

  async #end() {
    this.#isOver = true
    this.#columns = null
    await this.#reading.close()
  }

  /** Calls of next need not wait for each other; their answers keep their order. */
  #enqueue(task) {
    const result = this.#busy === null ? task() : this.#busy.then(task)
    const clear = () => {
      if (this.#busy === done) this.#busy = null
    }
    const done = result.then(clear, clear)
    this.#busy = done
    return result
  }
}

module.exports = { Scan }
