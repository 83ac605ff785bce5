// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Errors in the form of those of fs: code, errno, syscall and path.

const os = require('node:os')
const { getSystemErrorMap } = require('node:util')
const { wordsOf } = require('./native.js')

/** By the operation, the call as fs names it. */
const SYSCALLS = {
  open: 'opendir',
  read: 'scandir',
  stat: 'lstat',
  follow: 'stat',
  'read patterns from': 'open',
  'collect entries': 'scandir',
}

/** A directory that was another one each time it was read. It has no number of the system. */
const CHANGED = 'ERR_STATWALK_CHANGED'

class IncompleteScanError extends Error {
  /** The report is null where the scan goes on. */
  constructor(errors, report) {
    const first = errors.length > 0 ? `: ${errors[0].message}` : ''
    super(`the scan is incomplete, with ${errors.length} error${errors.length === 1 ? '' : 's'}${first}`, {
      cause: errors[0],
    })
    this.name = 'IncompleteScanError'
    this.code = 'ERR_STATWALK_INCOMPLETE'
    this.errors = errors
    this.report = report
  }
}

/** Name and words of an error number. libuv lacks some that Linux has. */
function named(errno) {
  const known = getSystemErrorMap().get(errno)
  if (known !== undefined) return known
  const name = Object.entries(os.constants.errno).find(([, number]) => number === -errno)?.[0]
  return [name ?? `Unknown system error ${errno}`, wordsOf(-errno)]
}

/** The error of a path, as fs would throw it. The number is negative, as there. */
function systemError(errno, operation, bytes, reason) {
  const [code, words] = errno === 0 ? [CHANGED, reason] : named(errno)
  const syscall = SYSCALLS[operation] ?? operation
  const path = bytes.toString('utf8')
  const error = new Error(`${code}: ${reason ?? words}, ${syscall} '${path}'`)
  return Object.assign(error, { errno, code, syscall, path, operation, pathBytes: bytes })
}

/** The error of an entry that could not be read. */
function errorOf({ number, operation, path, reason }) {
  return systemError(0 - number, operation, Buffer.from(path), reason)
}

module.exports = { errorOf, IncompleteScanError, systemError }
