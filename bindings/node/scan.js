// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The entries of a scan, one after another.

const { Cursor } = require('./cursor.js')
const { Entry } = require('./entry.js')

// For so long a loop may hold the event loop before others get their turn.
const TURN_MS = 1
// After so many entries a loop looks at the clock.
const ENTRIES = 16

/** An iterator by hand: a generator would make three promises for each entry. */
class Scan {
  #reading
  #cursor
  #turn = performance.now()
  #left = ENTRIES
  /** The call that others wait for. */
  #busy = null
  #isOver = false

  constructor(reading, how) {
    this.#reading = reading
    this.#cursor = new Cursor(reading, how)
  }

  [Symbol.asyncIterator]() {
    return this
  }

  next() {
    if (this.#busy === null && this.#left > 0 && this.#cursor.advance()) {
      this.#left -= 1
      return Promise.resolve({ done: false, value: new Entry(this.#cursor.table, this.#cursor.last) })
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
    this.#cursor.skip()
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
      if (this.#cursor.advance()) {
        this.#left -= 1
        return { done: false, value: new Entry(this.#cursor.table, this.#cursor.last) }
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
        this.#cursor.begin(columns)
      }
    }
  }

  async #end() {
    this.#isOver = true
    this.#cursor.end()
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

/** The same in place of the event loop. */
class SyncScan {
  #reading
  #cursor
  #isOver = false

  constructor(reading, how) {
    this.#reading = reading
    this.#cursor = new Cursor(reading, how)
  }

  [Symbol.iterator]() {
    return this
  }

  next() {
    for (;;) {
      if (this.#isOver) return { done: true, value: undefined }
      if (this.#cursor.advance()) {
        return { done: false, value: new Entry(this.#cursor.table, this.#cursor.last) }
      }
      let columns
      try {
        columns = this.#reading.next()
      } catch (error) {
        this.#end()
        throw error
      }
      if (columns === null) this.#isOver = true
      else this.#cursor.begin(columns)
    }
  }

  return(value) {
    this.#end()
    return { done: true, value }
  }

  throw(error) {
    this.#end()
    throw error
  }

  /** Leaves out all that is below the directory that came last. */
  skip() {
    this.#cursor.skip()
  }

  #end() {
    this.#isOver = true
    this.#cursor.end()
    this.#reading.close()
  }
}

// Early releases of Node 20 lack the symbols.
function disposes(Kind, symbol) {
  if (symbol === undefined) return
  const value = function () {
    const ended = this.return()
    return ended instanceof Promise ? ended.then(() => {}) : undefined
  }
  Object.defineProperty(Kind.prototype, symbol, { configurable: true, writable: true, value })
}
disposes(Scan, Symbol.asyncDispose)
disposes(SyncScan, Symbol.dispose)

module.exports = { Scan, SyncScan }
