// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The sums of a scan.

const { errorOf } = require('./errors.js')
const { onAbort } = require('./signals.js')

/** The answer of a scan that was begun. Ends it when the signal says so. */
async function sumOf(sum, { signal, bigint }) {
  const forget = onAbort(signal, () => sum.stop())
  try {
    // It can have come before there was something to stop.
    signal?.throwIfAborted()
    for (;;) {
      const sums = await sum.next()
      signal?.throwIfAborted()
      if (sums != null) return usage(sums, bigint ? BigInt : Number)
    }
  } catch (error) {
    await sum.close()
    throw error
  } finally {
    forget()
  }
}

function usage({ allocated, apparent, entries, files, directories, errors, report }, bytes) {
  return {
    allocated: bytes(allocated),
    apparent: bytes(apparent),
    entries,
    files,
    directories,
    isComplete: report.isComplete,
    errors: errors.map(errorOf),
    report,
  }
}

module.exports = { sumOf }
