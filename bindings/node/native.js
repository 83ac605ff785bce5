// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Loads the native module: from the checkout, or from the package of this platform.

const { createRequire } = require('node:module')

const PLATFORM = `${process.platform}-${process.arch}`

// A module for another library of C does not load, so the order says nothing of the platform.
const PLACES = ['./statwalk.node', `@statwalk/${PLATFORM}-gnu`, `@statwalk/${PLATFORM}-musl`]

function from(place) {
  // Bundlers look for calls that are written out, and leave out one in `try` whose package is
  // absent: esbuild copies the module with --loader:.node=copy.
  try {
    switch (place) {
      case '@statwalk/linux-x64-gnu':
        return require('@statwalk/linux-x64-gnu')
      case '@statwalk/linux-x64-musl':
        return require('@statwalk/linux-x64-musl')
      case '@statwalk/linux-arm64-gnu':
        return require('@statwalk/linux-arm64-gnu')
      case '@statwalk/linux-arm64-musl':
        return require('@statwalk/linux-arm64-musl')
      default:
        // They do not follow this one. A bundle that is an ES module has no __filename.
        return createRequire(__filename)(place)
    }
  } catch (error) {
    return error
  }
}

function load() {
  const errors = []
  for (const place of PLACES) {
    const found = from(place)
    if (!(found instanceof Error)) return found
    errors.push(`${found.message}`.split('\n', 1)[0])
  }
  const error = new Error(
    `statwalk has no native module for ${PLATFORM} here. ` +
      'If a bundler has made this program, declare statwalk external, or put statwalk.node beside the bundle. ' +
      'If package-lock.json was made on another platform, remove it and node_modules and install again: ' +
      `https://github.com/npm/cli/issues/4828 (${errors.join('; ')})`,
  )
  throw Object.assign(error, { code: 'ERR_STATWALK_NO_MODULE' })
}

module.exports = load()
