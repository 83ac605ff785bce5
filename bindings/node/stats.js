// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Objects of fs.Stats and fs.BigIntStats from columns. A field that was not asked for throws,
// and one that the file system lacks is null.

const fs = require('node:fs')

// S_IFMT of st_mode, by the method that asks for it, and the number of the type.
const METHODS = {
  isFile: 0,
  isDirectory: 1,
  isSymbolicLink: 2,
  isFIFO: 3,
  isSocket: 4,
  isCharacterDevice: 5,
  isBlockDevice: 6,
}

/** By the parts of Stats, the fields of a scan. No field has blksize. */
const FIELDS = {
  dev: 'id',
  mode: 'mode',
  nlink: 'links',
  uid: 'owner',
  gid: 'owner',
  rdev: 'rdev',
  ino: 'id',
  size: 'size',
  blocks: 'allocated',
  atimeMs: 'atime',
  mtimeMs: 'mtime',
  ctimeMs: 'ctime',
  birthtimeMs: 'btime',
}
const PARTS = Object.keys(FIELDS)
const TIMES = ['atime', 'mtime', 'ctime', 'birthtime']
const isTime = (part) => part.endsWith('Ms')

/** A date is made when somebody asks for it, as Node 22 has it. */
function addDates(prototype, times) {
  for (const name of times) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get() {
        const ms = this[`${name}Ms`]
        const value = ms === null ? null : new Date(Math.round(Number(ms)))
        Object.defineProperty(this, name, { configurable: true, enumerable: true, value, writable: true })
        return value
      },
      set(value) {
        Object.defineProperty(this, name, { configurable: true, enumerable: true, value, writable: true })
      },
    })
  }
}

function addRefusals(prototype, parts) {
  for (const part of parts) {
    const field = FIELDS[part] ?? FIELDS[`${part}Ms`] ?? FIELDS[part.replace(/Ns$/, 'Ms')]
    const words = field === undefined ? 'no scan has it; fs.lstat does' : `add '${field}' to the fields of the scan`
    Object.defineProperty(prototype, part, {
      configurable: true,
      get() {
        throw new TypeError(`stats.${part} was not asked for: ${words}`)
      },
      set(value) {
        Object.defineProperty(this, part, { configurable: true, enumerable: true, value, writable: true })
      },
    })
  }
}

// A constructor with all parts gives objects that hold them in place.
function WholeStats(dev, mode, nlink, uid, gid, rdev, ino, size, blocks, atimeMs, mtimeMs, ctimeMs, birthtimeMs) {
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
WholeStats.prototype = Object.create(fs.Stats.prototype)
addDates(WholeStats.prototype, TIMES)
addRefusals(WholeStats.prototype, ['blksize'])

/** fs does not export the class. */
const bigPrototype = () => Object.getPrototypeOf(fs.statSync('/', { bigint: true }))

const MADE = new Map()

/** The class of objects with some parts. */
function partStats(parts, isBig) {
  const key = `${isBig} ${parts}`
  let made = MADE.get(key)
  if (made === undefined) {
    made = makePartStats(parts, isBig)
    MADE.set(key, made)
  }
  return made
}

function makePartStats(parts, isBig) {
  class PartStats {
    #type
    constructor(type) {
      this.#type = type
    }
    static typeOf(stats) {
      return stats.#type
    }
  }
  const { prototype } = PartStats
  Object.setPrototypeOf(prototype, isBig ? bigPrototype() : fs.Stats.prototype)
  // Its name, where somebody prints an object, is that of the class of fs.
  delete prototype.constructor
  for (const [method, type] of Object.entries(METHODS)) {
    Object.defineProperty(prototype, method, {
      configurable: true,
      writable: true,
      value() {
        return PartStats.typeOf(this) === type
      },
    })
  }
  const [has, lacks] = [parts, PARTS.filter((part) => !parts.includes(part))]
  const dateOf = (part) => part.slice(0, -2)
  addDates(prototype, has.filter(isTime).map(dateOf))
  addRefusals(prototype, ['blksize', ...lacks, ...lacks.filter(isTime).map(dateOf)])
  if (isBig) addRefusals(prototype, lacks.filter(isTime).map((part) => `${dateOf(part)}Ns`))
  return PartStats
}

module.exports = { PARTS, partStats, WholeStats }
