// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The ends of scans by signals. A signal warns of more than ten listeners, so all scans of one
// share a listener.

/** By signal, the functions that it calls. */
const CALLED = new WeakMap()

/** Calls a function when the signal says so. The answer takes it back. */
function onAbort(signal, stop) {
  if (signal == null) return () => {}
  let called = CALLED.get(signal)
  if (called === undefined) {
    const stops = new Set()
    const listener = () => {
      for (const stop of [...stops]) stop()
    }
    called = { stops, listener }
    CALLED.set(signal, called)
  }
  const { stops, listener } = called
  if (stops.size === 0) signal.addEventListener('abort', listener)
  stops.add(stop)
  return () => {
    if (stops.delete(stop) && stops.size === 0) signal.removeEventListener('abort', listener)
  }
}

const LOST = new FinalizationRegistry((back) => back())

/**
 * The same for a stream, which the signal does not keep alive. Its loop throws the reason of the
 * signal, whatever the end of the scan says.
 */
function closedBy(signal, closed) {
  if (signal == null) return () => {}
  const weak = new WeakRef(closed)
  const back = onAbort(signal, () => void weak.deref()?.close().catch(() => {}))
  LOST.register(closed, back)
  return back
}

module.exports = { closedBy, onAbort }
