// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

/** The directories that a caller does not want to look into, by the bytes of their paths. */
class Pruned {
  #paths = new Set()

  add(path) {
    this.#paths.add(path.toString('latin1'))
  }

  /** Whether a path is one of them, or lies below one. */
  has(path) {
    if (this.#paths.size === 0) return false
    const text = path.toString('latin1')
    for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) {
      if (this.#paths.has(text.slice(0, at))) return true
    }
    return this.#paths.has(text)
  }
}

module.exports = { Pruned }
