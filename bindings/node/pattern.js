// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Shell patterns as fnmatch(3) of glibc takes them in the C locale, without flags: du
// --exclude means them so. Texts and patterns have a character for each byte.

const CLASSES = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
}

const NEVER = -1

/** Whether a pattern fits a text as a whole. */
function fits(pattern, text) {
  // A star tries again from one byte later; only the last star needs to.
  let [at, step, star, again] = [0, 0, -1, 0]
  for (;;) {
    if (step === pattern.length && at === text.length) return true
    if (pattern[step] === '*') {
      star = step
      again = at
      step += 1
      continue
    }
    const isAny = step < pattern.length && at < text.length
    step = isAny ? behind(pattern, step, text[at]) : NEVER
    at += 1
    if (step !== NEVER) continue
    if (star < 0 || again === text.length) return false
    again += 1
    at = again
    step = star + 1
  }
}

/** Where a pattern goes on behind a step that fits a byte; NEVER where it does not fit. */
function behind(pattern, step, byte) {
  switch (pattern[step]) {
    case '?':
      return step + 1
    case '\\':
      return pattern[step + 1] === byte ? step + 2 : NEVER
    case '[': {
      const end = behindSet(pattern, step + 1, byte)
      // Without its end it stands for itself.
      if (end === null) return byte === '[' ? step + 1 : NEVER
      return end
    }
    default:
      return pattern[step] === byte ? step + 1 : NEVER
  }
}

/** As `behind`, of a set; null where it has no end. */
function behindSet(pattern, from, byte) {
  const isNegative = pattern[from] === '!' || pattern[from] === '^'
  const begin = isNegative ? from + 1 : from
  let at = begin
  do {
    if (at >= pattern.length) return null
    const part = partOf(pattern, at, byte)
    if (part === null) return NEVER
    at = part.nextAt
    if (part.fits) {
      const end = endOfSet(pattern, at)
      return isNegative && end !== null ? NEVER : end
    }
  } while (pattern[at] !== ']')
  return isNegative ? at + 1 : NEVER
}

/** A class, a byte or a range; null where its end is missing. */
function partOf(pattern, at, byte) {
  if (pattern[at] === '[') {
    const rest = pattern.slice(at)
    const named = /^\[:([a-y]*):\]/.exec(rest)
    if (named !== null) {
      const of = CLASSES[named[1]]
      return of === undefined ? null : { nextAt: at + named[0].length, fits: of.test(byte) }
    }
    const equal = /^\[=([^])=\]/.exec(rest)
    if (equal !== null) return { nextAt: at + equal[0].length, fits: equal[1] === byte }
  }
  const low = element(pattern, at)
  if (low === null) return null
  const { nextAt } = low
  if (pattern[nextAt] !== '-' || pattern[nextAt + 1] === ']') return { nextAt, fits: low.byte === byte }
  const high = element(pattern, nextAt + 1)
  if (high === null) return null
  return { nextAt: high.nextAt, fits: low.byte <= byte && byte <= high.byte }
}

/** A byte of a set, and where the next one begins; null where its end is missing. */
function element(pattern, at) {
  if (pattern[at] === '[' && pattern[at + 1] === '.') {
    const end = pattern.indexOf('.]', at + 2)
    return end === at + 3 ? { byte: pattern[at + 2], nextAt: end + 2 } : null
  }
  const quoted = pattern[at] === '\\' ? at + 1 : at
  return quoted < pattern.length ? { byte: pattern[quoted], nextAt: quoted + 1 } : null
}

/** The end of a set of which a part has fitted. glibc looks less closely there. */
function endOfSet(pattern, from) {
  let at = from
  while (at < pattern.length && pattern[at] !== ']') {
    const rest = pattern.slice(at)
    const named = /^\[:[a-y]*:\]/.exec(rest) ?? /^\[=[^]=\]/.exec(rest) ?? /^\[\.[^]*?\.\]/.exec(rest)
    if (named !== null) at += named[0].length
    else if (/^\[[=.]/.test(rest) || rest === '\\') return NEVER
    else at += pattern[at] === '\\' ? 2 : 1
  }
  return at < pattern.length ? at + 1 : null
}

/** The paths that are left out: patterns as GNU du has them, a byte a character. */
class Exclusions {
  #tails = []
  #patterns = []

  constructor(patterns) {
    for (const bytes of patterns) {
      const pattern = bytes.toString('latin1')
      if (pattern.includes('\0')) throw new Error(`bad glob \`${bytes}\`: it holds a NUL`)
      // Without wildcards it is a tail of a path, byte for byte.
      const plain = pattern.replace(/\\([^])/g, '')
      if (/[?*[]/.test(plain)) this.#patterns.push(pattern)
      else this.#tails.push(pattern.replace(/\\([^])/g, '$1'))
    }
  }

  /** Whether a pattern fits a path, or the part behind any of its slashes. */
  fit(bytes) {
    if (this.#tails.length + this.#patterns.length === 0) return false
    const path = bytes.toString('latin1')
    const isTail = (tail) =>
      path.endsWith(tail) && (path.length === tail.length || path.at(-tail.length - 1) === '/')
    if (this.#tails.some(isTail)) return true
    if (this.#patterns.length === 0) return false
    for (let at = 0; at < path.length; at += 1) {
      if (at > 0 && (path[at - 1] !== '/' || path[at] === '/')) continue
      const part = path.slice(at)
      if (this.#patterns.some((pattern) => fits(pattern, part))) return true
    }
    return false
  }
}

module.exports = { Exclusions, fits }
