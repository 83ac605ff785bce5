// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const SLASH = Buffer.from('/')

/** A tree by the calls of Node, the root among it: by the bytes of the paths. */
function byLstat(root) {
  const found = new Map()
  const waiting = [{ file: Buffer.from(root), dirent: null }]
  while (waiting.length > 0) {
    const { file, dirent } = waiting.pop()
    const stats = fs.lstatSync(file, { bigint: true })
    found.set(file.toString('latin1'), { file, dirent, stats })
    if (!stats.isDirectory()) continue
    for (const dirent of fs.readdirSync(file, { withFileTypes: true, encoding: 'buffer' })) {
      waiting.push({ file: Buffer.concat([file, SLASH, dirent.name]), dirent })
    }
  }
  return found
}

/** The sums of such a tree. */
function sumsOf(found) {
  const sums = { allocated: 0n, apparent: 0n, entries: 0, files: 0, directories: 0 }
  const counted = new Set()
  for (const { stats } of found.values()) {
    sums.entries += 1
    if (stats.isFile()) sums.files += 1
    if (stats.isDirectory()) sums.directories += 1
    const inode = `${stats.dev}:${stats.ino}`
    if (counted.has(inode)) continue
    counted.add(inode)
    sums.allocated += stats.blocks * 512n
    if (stats.isFile() || stats.isSymbolicLink()) sums.apparent += stats.size
  }
  return sums
}

/** The sum that du prints. Node passes no words that are no text, so du reads the path. */
function du(root, options = []) {
  const words = ['-s', '-B1', ...options, '--files0-from=-']
  const input = Buffer.concat([Buffer.from(root), Buffer.of(0)])
  return BigInt(execFileSync('du', words, { encoding: 'latin1', input }).split('\t', 1)[0])
}

/** Whether du --apparent-size has the lengths of directories, as it had for long. */
function countsDirectories() {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
  fs.writeFileSync(path.join(place, 'empty'), '')
  const sum = du(place, ['--apparent-size'])
  fs.rmSync(place, { recursive: true })
  return sum > 0n
}

/** Allocated and apparent bytes by du, of a tree that byLstat has walked. */
function byDu(root, found) {
  let apparent = du(root, ['--apparent-size'])
  if (countsDirectories()) {
    for (const { stats } of found.values()) if (stats.isDirectory()) apparent -= stats.size
  }
  return { allocated: du(root), apparent }
}

/** The named and random trees that `cargo xtask bindings` makes. */
const TREES = path.join(__dirname, '../../target/trees')

module.exports = { byDu, byLstat, du, sumsOf, TREES }
