// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const PACKAGE = path.join(__dirname, '..')

/** What a program writes that an ordinary user runs. It has the package as `statwalk`. */
function byNobody(code) {
  // The checkout can be closed to that user.
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-node-'))
  fs.chmodSync(place, 0o755)
  for (const file of fs.readdirSync(PACKAGE).filter((name) => /\.(js|node)$/.test(name))) {
    fs.copyFileSync(path.join(PACKAGE, file), path.join(place, file))
  }
  const whole = `const statwalk = require(${JSON.stringify(`${place}/index.js`)})\n${code}`
  const user = ['--reuid=65534', '--regid=65534', '--clear-groups']
  const run = spawnSync('setpriv', [...user, process.execPath, '-e', whole])
  fs.rmSync(place, { recursive: true })
  return `${run.stdout}${run.stderr}`
}

module.exports = { byNobody }
