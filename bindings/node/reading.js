// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The tables of a scan with its errors, its signal and its end.

const { errorOf, IncompleteScanError } = require('./errors.js')
const { closedBy } = require('./signals.js')
const { prepare } = require('./table.js')

/** How many errors are kept for the end. */
const KEPT_MAX = 1000

/** The part of both readings: what a step of the native module means. */
class Steps {
  #onError
  #errors = []
  report
  isOver = false

  constructor(onError) {
    this.#onError = onError
  }

  /** The columns of a step, null at the end, or undefined where the next one is wanted. */
  take({ columns, error, report }) {
    if (columns != null) return prepare(columns)
    if (error == null) return this.#finish(report)
    this.#keep(errorOf(error))
    return undefined
  }

  #keep(error) {
    if (this.#onError) this.#onError(error)
    else if (this.#errors.length < KEPT_MAX) this.#errors.push(error)
  }

  #finish(report) {
    this.isOver = true
    this.report = report
    if (report != null && !report.isComplete && !this.#onError) {
      throw new IncompleteScanError(this.#errors, report)
    }
    return null
  }
}

class Reading {
  #open
  #stream = null
  #signal
  #steps
  #forget = () => {}

  /** `open` begins the scan when the first table is asked for. */
  constructor(open, { signal, onError }) {
    this.#open = open
    this.#signal = signal
    this.#steps = new Steps(onError)
  }

  get report() {
    return this.#steps.report
  }

  /** The next table of columns; null at the end. */
  async next() {
    if (this.#steps.isOver) return null
    if (this.#stream === null) {
      this.#stream = await this.#open()
      this.#forget = closedBy(this.#signal, this.#stream)
    }
    for (;;) {
      // It can have come before there was something to close.
      this.#signal?.throwIfAborted()
      const step = await this.#stream.next()
      this.#signal?.throwIfAborted()
      const columns = this.#steps.take(step)
      if (columns === undefined) continue
      if (columns === null) this.#forget()
      return columns
    }
  }

  /** Leaves out what is below a directory of the last table, from the next one on. */
  prune(id, path) {
    this.#stream.prune(id, path)
  }

  /** Ends the scan, if it has not ended. */
  async close() {
    this.#forget()
    const isOver = this.#steps.isOver || this.#stream === null
    this.#steps.isOver = true
    if (!isOver) await this.#stream.close()
  }
}

/** The same in place of the event loop. */
class SyncReading {
  #open
  #stream = null
  #signal
  #steps

  constructor(open, { signal, onError }) {
    this.#open = open
    this.#signal = signal
    this.#steps = new Steps(onError)
  }

  next() {
    if (this.#steps.isOver) return null
    this.#stream ??= this.#open()
    for (;;) {
      this.#signal?.throwIfAborted()
      const columns = this.#steps.take(this.#stream.nextNow())
      if (columns !== undefined) return columns
    }
  }

  prune(id, path) {
    this.#stream.prune(id, path)
  }

  close() {
    const isOver = this.#steps.isOver || this.#stream === null
    this.#steps.isOver = true
    if (!isOver) this.#stream.closeNow()
  }
}

module.exports = { Reading, SyncReading }
