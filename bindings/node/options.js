// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Values of options: each means something, or is an error that names the option.

const { fileURLToPath } = require('node:url')
const { inspect, types } = require('node:util')
const { optionRules, patternRefused } = require('./native.js')

const RULES = optionRules()

/** An error with the code that Node's own functions have for such a value. */
function refused(words, value, isOfKind) {
  const [Kind, code] = isOfKind ? [RangeError, 'ERR_OUT_OF_RANGE'] : [TypeError, 'ERR_INVALID_ARG_TYPE']
  return Object.assign(new Kind(`${words}, and not ${inspect(value)}`), { code })
}

/** The bytes of a pattern, unless it fits no path. */
function fitting(pattern) {
  const bytes = Buffer.from(pattern)
  const words = patternRefused(bytes)
  if (words == null) return bytes
  throw Object.assign(new RangeError(words), { code: 'ERR_INVALID_ARG_VALUE' })
}

const isPattern = (value) => typeof value === 'string' || types.isUint8Array(value)

const VALUES = {
  number({ name, most, default: normal }, value) {
    value ??= normal
    const isUnlimited = normal == null
    if (isUnlimited && (value == null || value === Infinity)) return undefined
    if (Number.isInteger(value) && value >= 0 && value <= most) return value
    const words = `${name} is a whole number from 0 to ${most}${isUnlimited ? ', or Infinity' : ''}`
    throw refused(words, value, typeof value === 'number')
  },
  flag({ name }, value) {
    value ??= false
    if (typeof value === 'boolean') return value
    throw refused(`${name} is true or false`, value, false)
  },
  patterns({ name }, value) {
    value ??= []
    // A string is iterable, and a pattern all the same.
    const patterns = isPattern(value) ? [value] : typeof value[Symbol.iterator] === 'function' ? [...value] : [null]
    if (patterns.every(isPattern)) return patterns.map(fitting)
    throw refused(`${name} is a pattern or several, each a string or a Buffer`, value, false)
  },
}

/** The options that Node alone has. */
function checkOthers({ bigint, onError, signal }) {
  VALUES.flag({ name: 'bigint' }, bigint)
  if (onError != null && typeof onError !== 'function') throw refused('onError is a function', onError, false)
  if (signal != null && typeof signal.throwIfAborted !== 'function') {
    throw refused('signal is an AbortSignal', signal, false)
  }
}

/** The options as the native module takes them. */
function checked(options) {
  return Object.fromEntries(RULES.map((rule) => [rule.name, VALUES[rule.kind](rule, options[rule.name])]))
}

/** The bytes of a path: a string, a Buffer or a URL, as functions of fs take it. */
function bytesOf(path) {
  if (path instanceof URL) return Buffer.from(fileURLToPath(path))
  if (typeof path === 'string' || types.isUint8Array(path)) return Buffer.from(path)
  throw refused('path is a string, a Buffer or a URL', path, false)
}

/** The longest path that the system takes, with its end. */
const PATH_MAX = 4096

/**
 * A path, and the directory of now. A relative path leads from there, but is read later, and
 * the process can have gone to another directory by then.
 */
class Root {
  #path
  #here

  constructor(path) {
    this.#path = path
    try {
      this.#here = process.cwd()
    } catch {
      // It was removed: nothing can be opened in it.
    }
  }

  /** The bytes, the directory from which they lead, and the bytes by which fs reaches it. */
  checked() {
    const bytes = bytesOf(this.#path)
    // Text with this letter may not be the path.
    const isKnown = this.#here !== undefined && !this.#here.includes('\ufffd')
    if (bytes[0] === 0x2f || bytes.length === 0 || !isKnown) return { bytes, relativeTo: undefined, reached: bytes }
    const relativeTo = Buffer.from(this.#here)
    const reached = Buffer.concat([relativeTo, Buffer.from('/'), bytes])
    return { bytes, relativeTo, reached: reached.length < PATH_MAX ? reached : bytes }
  }
}

module.exports = { checked, checkOthers, Root }
