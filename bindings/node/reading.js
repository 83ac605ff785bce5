// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The tables of a scan with its errors, its signal and its end.

const { prepare } = require('./table.js')

/** How many errors are kept for the end. */
const KEPT_MAX = 1000

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

class Reading {
  #open
  #stream = null
  #signal
  #onError
  #errors = []
  #abort = () => void this.#stream?.close()
  #isOver = false
  report

  /** `open` begins the scan when the first table is asked for. */
  constructor(open, { signal, onError }) {
    this.#open = open
    this.#signal = signal
    this.#onError = onError
  }

  /** The next table of columns; null at the end. */
  async next() {
    if (this.#isOver) return null
    if (this.#stream === null) {
      this.#signal?.throwIfAborted()
      this.#stream = await this.#open()
      this.#signal?.addEventListener('abort', this.#abort, { once: true })
    }
    for (;;) {
      const step = await this.#stream.next()
      this.#signal?.throwIfAborted()
      if (step.error != null) this.#take(errorOf(step.error))
      else if (step.columns == null) return this.#finish(step.report)
      else return prepare(step.columns)
    }
  }

  #take(error) {
    if (this.#onError) this.#onError(error)
    else if (this.#errors.length < KEPT_MAX) this.#errors.push(error)
  }

  #finish(report) {
    this.#isOver = true
    this.#signal?.removeEventListener('abort', this.#abort)
    this.report = report
    if (report == null) return null
    if (!report.isComplete && !this.#onError) throw new IncompleteScanError(this.#errors, report)
    return null
  }

  /** Leaves out what is below a directory of the last table, from the next one on. */
  prune(id, path) {
    this.#stream.prune(id, path)
  }

  /** Ends the scan, if it has not ended. */
  async close() {
    this.#signal?.removeEventListener('abort', this.#abort)
    const isOver = this.#isOver || this.#stream === null
    this.#isOver = true
    if (!isOver) await this.#stream.close()
  }
}

module.exports = { errorOf, IncompleteScanError, KEPT_MAX, Reading }
