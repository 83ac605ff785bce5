// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

/** Says what a test needs, in the words that `cargo xtask` gathers. */
function skip(t, needs) {
  console.log(`skipped: needs ${needs} (${t.name})`)
  t.skip(`needs ${needs}`)
  return false
}

/** Installs packages of npm. Answers whether that went, and skips the test without the registry. */
function install(t, cwd, packages) {
  fs.mkdirSync(cwd, { recursive: true })
  fs.writeFileSync(path.join(cwd, 'package.json'), '{"private": true}')
  const words = ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages]
  const { status, stderr } = spawnSync('npm', words, { cwd, encoding: 'utf8' })
  if (status === 0) return true
  if (spawnSync('npm', ['ping'], { cwd }).status === 0) throw new Error(stderr)
  return skip(t, 'the registry of npm')
}

/** Makes and installs the packages of this checkout. */
function installOwn(cwd) {
  const here = path.join(__dirname, '..')
  const name = `${process.platform}-${process.arch}-gnu`
  const packages = path.join(cwd, 'packages')
  const words = [path.join(here, 'pack.mjs'), packages, `${name}=${path.join(here, 'statwalk.node')}`]
  execFileSync(process.execPath, words, { stdio: 'ignore' })
  const files = fs.readdirSync(packages).map((file) => path.join(packages, file))
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...files], { cwd })
}

module.exports = { install, installOwn, skip }
