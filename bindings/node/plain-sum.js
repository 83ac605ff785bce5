// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The same sums in plain JavaScript, from the batches of the fallback.

const { Fallback } = require('./fallback.js')
const { KEPT_MAX } = require('./reading.js')

const FILE = 0
const DIRECTORY = 1
const SYMLINK = 2

class PlainSum {
  #scan
  #followLinks
  #errors = []
  /** The inodes that can come again and whose bytes were counted. */
  #counted = new Set()
  #allocated = 0n
  #apparent = 0n
  #entries = 0
  #files = 0
  #directories = 0

  constructor(root, options) {
    this.#scan = new Fallback(root, { ...options, takesFiles: true })
    this.#followLinks = options.followLinks
  }

  /** The sums; null if the scan still goes on. */
  async next() {
    const { error, columns, report } = await this.#scan.next()
    if (error !== undefined && this.#errors.length < KEPT_MAX) this.#errors.push(error)
    columns?.forEach((table) => this.#add(table))
    if (report === undefined) return null
    return {
      allocated: this.#allocated,
      apparent: this.#apparent,
      entries: this.#entries,
      files: this.#files,
      directories: this.#directories,
      errors: this.#errors,
      report,
    }
  }

  stop() {
    void this.close()
  }

  async close() {
    await this.#scan.close()
  }

  #add({ length, types, isKnown, size, allocated, links, dev, ino }) {
    this.#entries += length
    for (let row = 0; row < length; row += 1) {
      const type = types[row]
      if (type === FILE) this.#files += 1
      if (type === DIRECTORY) this.#directories += 1
      if (((isKnown[row >> 3] >> (row & 7)) & 1) === 0) continue
      if (type !== DIRECTORY && (this.#followLinks || links[row] > 1)) {
        // A link to a directory that is listed elsewhere has no bytes. Another name of it
        // can be dangling, and then has some.
        if (type === SYMLINK && size[row] === 0n && allocated[row] === 0n) continue
        const inode = `${dev[row]}:${ino[row]}`
        if (this.#counted.has(inode)) continue
        this.#counted.add(inode)
      }
      this.#allocated += allocated[row]
      if (type === FILE || type === SYMLINK) this.#apparent += size[row]
    }
  }
}

module.exports = { PlainSum }
