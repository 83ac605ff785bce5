// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

module.exports = { numbers }
