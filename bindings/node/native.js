// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Loads the native module: from the checkout, or from the package of this platform.

const path = require('node:path')

function load() {
  const errors = []
  const places = [
    path.join(__dirname, 'statwalk.node'),
    `@statwalk/${process.platform}-${process.arch}-gnu`,
  ]
  for (const place of places) {
    try {
      return require(place)
    } catch (error) {
      errors.push(error.message.split('\n', 1)[0])
    }
  }
  const error = new Error(
    `statwalk has no native module for ${process.platform}-${process.arch} here. ` +
      'If package-lock.json was made on another platform, remove it and node_modules and install again: ' +
      `https://github.com/npm/cli/issues/4828 (${errors.join('; ')})`,
  )
  throw Object.assign(error, { code: 'ERR_STATWALK_NO_MODULE' })
}

module.exports = load()
