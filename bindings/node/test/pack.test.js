// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const assert = require('node:assert')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const HERE = path.resolve(__dirname, '..')
const { version } = require('../package.json')
const NAME = `${process.platform}-${process.arch}-gnu`
const PACK = path.join(HERE, 'pack.mjs')
let folder
let packages

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-packages-'))
  packages = path.join(folder, 'packages')
  execFileSync(process.execPath, [PACK, packages, `${NAME}=${path.join(HERE, 'statwalk.node')}`])
})
after(() => fs.rmSync(folder, { recursive: true }))

/** A project with packages from the disk alone, and what a program in it writes. */
function project(name, tarballs, program) {
  const cwd = path.join(folder, name)
  fs.mkdirSync(cwd)
  fs.writeFileSync(path.join(cwd, 'package.json'), '{"private": true}')
  const files = tarballs.map((file) => path.join(packages, file))
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...files], { cwd })
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { cwd, encoding: 'utf8' }))
}

const PROGRAM = `
  const { scan } = require('statwalk')
  const run = async () => {
    const found = []
    for await (const { path, stats } of scan('node_modules/statwalk')) found.push([path, stats.size])
    console.log(JSON.stringify(found.sort()))
  }
  run()`

test('the library finds the package of its platform', () => {
  const tarballs = fs.readdirSync(packages).sort()
  assert.deepStrictEqual(tarballs, [`statwalk-${version}.tgz`, `statwalk-${NAME}-${version}.tgz`])
  const found = project('whole', tarballs, PROGRAM)
  const installed = path.join(folder, 'whole/node_modules/statwalk')
  for (const [file, size] of found) assert.strictEqual(fs.lstatSync(path.join(folder, 'whole', file)).size, size)
  const names = fs.readdirSync(installed).map((name) => `node_modules/statwalk/${name}`)
  assert.deepStrictEqual(found.map(([file]) => file), names.sort())
  const { optionalDependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(installed, 'package.json')))
  assert.deepStrictEqual(optionalDependencies, { [`@statwalk/${NAME}`]: version })
  assert.strictEqual(devDependencies, undefined)
  for (const part of ['statwalk', `@statwalk/${NAME}`]) {
    const licences = fs.readdirSync(path.join(folder, 'whole/node_modules', part)).filter((name) => /^LICENSE/.test(name))
    assert.deepStrictEqual(licences.sort(), ['LICENSE-APACHE', 'LICENSE-MIT'])
  }
})

test('without that package the library says what is missing', () => {
  const program = "try { require('statwalk') } catch (e) { console.log(JSON.stringify([e.code, e.message])) }"
  const [code, message] = project('alone', [`statwalk-${version}.tgz`], program)
  assert.strictEqual(code, 'ERR_STATWALK_NO_MODULE')
  assert.match(message, /no native module for linux-.*bundler.*external.*npm\/cli\/issues\/4828/)
})

test('the library finds a package for musl', () => {
  const arch = `${process.platform}-${process.arch}-musl`
  const musl = path.join(folder, 'musl-packages')
  execFileSync(process.execPath, [PACK, musl, `${arch}=${path.join(HERE, 'statwalk.node')}`], { stdio: 'ignore' })
  // npm does not install it where Node has another library of C, so it is put there by hand.
  const program = `
    const { execFileSync } = require('node:child_process')
    const place = 'node_modules/@statwalk/${arch}'
    require('node:fs').mkdirSync(place, { recursive: true })
    const tarball = ${JSON.stringify(path.join(musl, `statwalk-${arch}-${version}.tgz`))}
    execFileSync('tar', ['xzf', tarball, '-C', place, '--strip-components=1'])
    ${PROGRAM}`
  const found = project('musl', [`statwalk-${version}.tgz`], program)
  assert(found.some(([file]) => file === 'node_modules/statwalk/index.js'))
})

test('packages without a module are refused', () => {
  for (const words of [[], [packages], [packages, 'statwalk.node'], [packages, 'linux-x64=statwalk.node']]) {
    const { status, stderr } = spawnSync(process.execPath, [PACK, ...words], { encoding: 'utf8' })
    assert.strictEqual(status, 2)
    assert.match(stderr, /^usage: /)
  }
})
