// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The same batches in plain JavaScript, for platforms without the native module.

const fs = require('node:fs')
const { isUtf8 } = require('node:buffer')
const { isKernelFileSystem } = require('./kernel-file-systems.js')
const { Exclusions } = require('./pattern.js')
const { Pruned } = require('./pruned.js')

const FULL = 1024
const CONCURRENT = 16
const SLASH = Buffer.from('/')
const LEADS_NOWHERE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']

class Fallback {
  /** Directories to read, and links to follow when none is left, the next one last. */
  #waiting
  #sorted = []
  #links = []
  #options
  #exclusions
  #needsStat
  #report = {
    isComplete: true,
    isInterrupted: false,
    unreadable: 0,
    changedDirectories: 0,
    vanished: 0,
    excluded: 0,
    crossings: 0,
  }
  #errors = []
  #directories = []
  #entries = []
  #pruned = new Pruned()
  /** The directories that were met. */
  #visited = new Set()
  /** How many directories have a number. */
  #count = 1
  #isRootGiven = false
  #device
  #root

  constructor(root, options) {
    this.#exclusions = new Exclusions(options.exclude)
    this.#needsStat = (options.columns & 0x1ffc) !== 0
    this.#root = root
    this.#options = options
    this.#waiting = [{ path: root, depth: 0, id: 0 }]
  }

  async next() {
    if (this.#report.isInterrupted) return {}
    if (!this.#isRootGiven) await this.#begin()
    for (;;) {
      if (this.#errors.length > 0) return { error: this.#errors.shift() }
      const [directories, entries] = [this.#directories, this.#entries]
      const isFull = Math.max(directories.length, entries.length) >= FULL
      if (!isFull && this.#waiting.length > 0) {
        await this.#read(this.#waiting.pop())
      } else if (!isFull && this.#links.length + this.#sorted.length > 0) {
        if (this.#sorted.length === 0) this.#sorted = inPathOrder(this.#links.splice(0)).reverse()
        await this.#follow(this.#sorted.pop())
      } else if (directories.length + entries.length > 0) {
        // Entries wait until no directory does: theirs comes first.
        const rows = [directories.splice(0, 16384)]
        if (directories.length === 0) rows.push(entries.splice(0, 16384))
        const filled = rows.filter(({ length }) => length > 0)
        return { columns: filled.map((rows) => columns(rows, this.#options.columns)) }
      } else {
        return { report: this.#report }
      }
    }
  }

  prune(path) {
    this.#pruned.add(path)
  }

  async close() {
    this.#report.isInterrupted = true
    this.#report.isComplete = false
    return this.#report
  }

  async #begin() {
    this.#isRootGiven = true
    if (this.#exclusions.fit(this.#root)) {
      this.#report.excluded += 1
      this.#waiting = []
      return
    }
    const look = this.#options.followLinks ? fs.promises.stat : fs.promises.lstat
    const stat = await look(this.#root, { bigint: true })
    if (!stat.isDirectory()) {
      // A scan has seen a directory here. What has taken its place is no entry of it.
      if (this.#options.takesFiles) this.#entries.push({ path: this.#root, type: typeOf(stat), stat, dir: 0 })
      this.#waiting = []
      return
    }
    this.#device = stat.dev
    this.#waiting[0].device = stat.dev
    this.#visited.add(identity(stat))
    this.#directories.push({ path: this.#root, type: 1, stat, id: 0, dir: 0 })
  }

  async #read(directory) {
    const { path, depth, id, device } = directory
    if (depth >= (this.#options.maxDepth ?? Infinity)) return
    if (this.#pruned.has(path)) {
      this.#report.excluded += 1
      return
    }
    let dirents
    try {
      dirents = await fs.promises.readdir(path, { withFileTypes: true, encoding: 'buffer' })
    } catch (error) {
      // Another way can lead into it.
      if (directory.isListed) this.#visited.delete(directory.identity)
      return this.#fail(path, 'open', error)
    }
    const prefix = path.at(-1) === 0x2f ? path : Buffer.concat([path, SLASH])
    for (let at = 0; at < dirents.length && !this.#report.isInterrupted; at += CONCURRENT) {
      await Promise.all(
        dirents.slice(at, at + CONCURRENT).map(async (dirent) => {
          const row = { path: Buffer.concat([prefix, dirent.name]), type: typeOf(dirent), stat: null, dir: id }
          if (this.#exclusions.fit(row.path)) this.#report.excluded += 1
          else await this.#add(row, depth + 1, device)
        }),
      )
    }
  }

  /** Adds an entry of a directory that lies on a device. */
  async #add(row, depth, device) {
    const { oneFileSystem, followLinks } = this.#options
    const isDirectory = row.type === 1
    const isDeepest = depth >= (this.#options.maxDepth ?? Infinity)
    // Two mounts, or a link, can lead to a directory that is listed elsewhere.
    const looksAtDirectory = isDirectory && (oneFileSystem || followLinks || !isDeepest)
    let isRefused = false
    if ((this.#needsStat || row.type === 7 || looksAtDirectory) && !(followLinks && row.type === 2)) {
      try {
        row.stat = await fs.promises.lstat(row.path, { bigint: true })
        row.type = typeOf(row.stat)
      } catch (error) {
        if (error.code === 'ENOENT') {
          this.#report.vanished += 1
          return
        }
        // Whoever refuses this does not open it either. That is one error.
        isRefused = isDirectory
        this.#fail(row.path, isDirectory ? 'open' : 'stat', error)
      }
    }
    if (followLinks && row.type === 2) return this.#addTarget(row, depth)
    const isCrossing = oneFileSystem && row.stat !== null && row.stat.dev !== this.#device
    if (isCrossing) {
      this.#report.crossings += 1
      row.stat = null
    }
    if (row.type !== 1) {
      this.#entries.push(row)
      return
    }
    let isLeft = isCrossing || isRefused || isDeepest
    if (!isLeft && row.stat.dev !== device && (await isKernelFileSystem(row.path))) {
      isLeft = true
      this.#report.excluded += 1
      row.stat = null
    }
    this.#addDirectory(row, depth, isLeft)
  }

  #addDirectory(row, depth, isLeft) {
    row.id = this.#count
    this.#count += 1
    this.#directories.push(row)
    if (isLeft) return
    const { path, id, stat } = row
    const directory = { path, depth, id, device: stat.dev, isListed: true, identity: identity(stat) }
    if (this.#visited.has(directory.identity)) {
      this.#report.crossings += 1
      row.stat = null
      return
    }
    this.#visited.add(directory.identity)
    this.#waiting.push(directory)
  }

  /** A link to a directory waits, because it can lead to one that is listed elsewhere. */
  async #addTarget(row, depth) {
    const target = await fs.promises.stat(row.path, { bigint: true }).catch(() => null)
    if (target === null || target.isDirectory()) this.#links.push({ row, depth })
    else this.#entries.push({ ...row, type: typeOf(target), stat: target })
  }

  async #follow({ row, depth }) {
    let [target, failure] = [null, null]
    try {
      target = await fs.promises.stat(row.path, { bigint: true })
    } catch (error) {
      failure = error
    }
    const isNear = target !== null && (!this.#options.oneFileSystem || target.dev === this.#device)
    if (isNear && target.isDirectory() && !this.#visited.has(identity(target))) {
      if (this.#pruned.has(row.path)) {
        this.#report.excluded += 1
        return
      }
      const isDeepest = depth >= (this.#options.maxDepth ?? Infinity)
      if (isDeepest || !(await isKernelFileSystem(row.path))) {
        row.id = this.#count
        this.#count += 1
        this.#directories.push({ ...row, type: 1, stat: target })
        if (isDeepest) return
        this.#visited.add(identity(target))
        this.#waiting.push({ path: row.path, depth, id: row.id, device: target.dev })
        return
      }
    }
    let link
    try {
      link = await fs.promises.lstat(row.path, { bigint: true })
    } catch (error) {
      if (error.code === 'ENOENT') this.#report.vanished += 1
      else this.#fail(row.path, 'follow', error)
      return
    }
    if (failure !== null && !LEADS_NOWHERE.includes(failure.code)) this.#fail(row.path, 'follow', failure)
    if (target === null) {
      row.stat = link
    } else if (target.isDirectory()) {
      // It stands for the bytes of a directory that is listed elsewhere, or not at all.
      row.stat = Object.assign(link, { size: 0n, blocks: 0n })
    } else {
      row.stat = target
      row.type = typeOf(target)
    }
    this.#entries.push(row)
  }

  #fail(path, operation, error) {
    const number = -error.errno
    // Node has no words of the system; its message begins with them.
    const words = error.message.replace(/^\w+: /, '').split(',', 1)[0]
    const message = `${operation} ${path}: ${words}`
    this.#errors.push({ path, operation, number, message })
    this.#report.unreadable += 1
    this.#report.isComplete = false
  }
}

const identity = ({ dev, ino }) => `${dev}:${ino}`

/** By their names, from the first to the last. */
function inPathOrder(links) {
  const key = (bytes) => bytes.toString('latin1').replaceAll('/', '\0')
  const keyed = links.map((link) => ({ link, key: key(link.row.path) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ link }) => link)
}

function typeOf(entry) {
  if (entry.isFile()) return 0
  if (entry.isDirectory()) return 1
  if (entry.isSymbolicLink()) return 2
  if (entry.isFIFO()) return 3
  if (entry.isSocket()) return 4
  if (entry.isCharacterDevice()) return 5
  if (entry.isBlockDevice()) return 6
  return 7
}

function columns(rows, wanted) {
  const length = rows.length
  const stat = (bit, type, value) => {
    if ((wanted & bit) === 0) return undefined
    const column = new type(length)
    const isBig = typeof column[0] === 'bigint'
    rows.forEach((row, at) => {
      if (row.stat !== null) column[at] = isBig ? value(row.stat) : Number(value(row.stat))
    })
    return column
  }
  const pathOffsets = new Uint32Array(length + 1)
  rows.forEach((row, at) => {
    pathOffsets[at + 1] = pathOffsets[at] + row.path.length
  })
  const needsStat = (wanted & 0x1ffc) !== 0
  const isKnown = new Uint8Array(Math.ceil(length / 8))
  rows.forEach((row, at) => {
    if (row.stat !== null || !needsStat) isKnown[at >> 3] |= 1 << (at & 7)
  })
  /** A time that 64 bits of nanoseconds do not hold is not known. */
  const timeIsKnown = (bit, ns) => {
    if ((wanted & bit) === 0) return undefined
    const bits = isKnown.slice()
    rows.forEach((row, at) => {
      if (row.stat !== null && BigInt.asIntN(64, ns(row.stat)) !== ns(row.stat)) bits[at >> 3] &= ~(1 << (at & 7))
    })
    return bits
  }
  const paths = Buffer.concat(rows.map((row) => row.path))
  return {
    length,
    ids: rows[0].id === undefined ? undefined : Uint32Array.from(rows, (row) => row.id),
    dirs: Uint32Array.from(rows, (row) => row.dir),
    isText: isUtf8(paths),
    paths,
    pathOffsets,
    types: Uint8Array.from(rows, (row) => row.type),
    isKnown,
    size: stat(1 << 2, BigUint64Array, (s) => s.size),
    allocated: stat(1 << 3, BigUint64Array, (s) => s.blocks * 512n),
    links: stat(1 << 4, Uint32Array, (s) => s.nlink),
    ino: stat(1 << 5, BigUint64Array, (s) => s.ino),
    dev: stat(1 << 5, BigUint64Array, (s) => s.dev),
    mtimeNs: stat(1 << 6, BigInt64Array, (s) => s.mtimeNs),
    atimeNs: stat(1 << 7, BigInt64Array, (s) => s.atimeNs),
    ctimeNs: stat(1 << 8, BigInt64Array, (s) => s.ctimeNs),
    btimeNs: stat(1 << 9, BigInt64Array, (s) => s.birthtimeNs),
    mtimeMs: stat(1 << 6, Float64Array, (s) => milliseconds(s.mtimeNs)),
    atimeMs: stat(1 << 7, Float64Array, (s) => milliseconds(s.atimeNs)),
    ctimeMs: stat(1 << 8, Float64Array, (s) => milliseconds(s.ctimeNs)),
    btimeMs: stat(1 << 9, Float64Array, (s) => milliseconds(s.birthtimeNs)),
    mtimeIsKnown: timeIsKnown(1 << 6, (s) => s.mtimeNs),
    atimeIsKnown: timeIsKnown(1 << 7, (s) => s.atimeNs),
    ctimeIsKnown: timeIsKnown(1 << 8, (s) => s.ctimeNs),
    btimeIsKnown: timeIsKnown(1 << 9, (s) => s.birthtimeNs),
    uid: stat(1 << 10, Uint32Array, (s) => s.uid),
    gid: stat(1 << 10, Uint32Array, (s) => s.gid),
    mode: stat(1 << 11, Uint16Array, (s) => s.mode),
    rdev: stat(1 << 12, BigUint64Array, (s) => s.rdev),
  }
}

// As lib/internal/fs/utils.js has it, and rounded down as in the native module.
function milliseconds(ns) {
  const rest = ((ns % 1000000000n) + 1000000000n) % 1000000000n
  return Number((ns - rest) / 1000000000n) * 1e3 + Number(rest) / 1e6
}

module.exports = { Fallback }
