// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// Programs that a bundler has made: each way of the README works, and the others say so.

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const { install, installOwn } = require('./registry.js')

const BUNDLERS = ['esbuild@0.28.2', 'webpack@5.113.0', 'rollup@4.68.8', '@rollup/plugin-commonjs@29.0.3',
  '@rollup/plugin-node-resolve@16.0.3']
const PROGRAM = `
  import { scanSync } from 'statwalk'
  for (const { stats } of scanSync('/usr/include')) { console.log(typeof stats.size); break }`
const WEBPACK = `
  const webpack = require('webpack')
  const [name, externals] = process.argv.slice(2)
  webpack({
    mode: 'development', devtool: false, target: 'node', entry: './program.mjs',
    output: { path: __dirname + '/out', filename: name },
    externals: externals === undefined ? {} : { statwalk: 'commonjs statwalk' },
  }, (error, stats) => {
    console.error(error ?? stats.toString('errors-only'))
    process.exitCode = error != null || stats.hasErrors() ? 1 : 0
  })`
const ROLLUP = `
  import commonjs from '@rollup/plugin-commonjs'
  import resolve from '@rollup/plugin-node-resolve'
  import { rollup } from 'rollup'
  const [file, format, ...external] = process.argv.slice(2)
  const bundle = await rollup({ input: 'program.mjs', plugins: [resolve(), commonjs()], external, logLevel: 'silent' })
  await bundle.write({ file, format })`
let place

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-bundlers-'))
})
after(() => fs.rmSync(place, { recursive: true }))

function node(cwd, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

test('bundles find the native module, or somebody says what is missing', async (t) => {
  if (!install(t, place, BUNDLERS)) return
  installOwn(place)
  for (const [name, text] of [['program.mjs', PROGRAM], ['webpack.cjs', WEBPACK], ['rollup.mjs', ROLLUP]]) {
    fs.writeFileSync(path.join(place, name), text)
  }
  const esbuild = (...words) => node(place, 'node_modules/esbuild/bin/esbuild', 'program.mjs', '--bundle', '--platform=node', ...words)
  const webpack = (...words) => node(place, 'webpack.cjs', ...words)
  const rollup = (...words) => node(place, 'rollup.mjs', ...words)
  const far = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-bundlers-'))
  t.after(() => fs.rmSync(far, { recursive: true }))
  const runs = (name, folder = path.join(place, 'out')) => {
    const { status, output } = node(folder, name)
    assert.strictEqual(output, 'number\n', name)
    assert.strictEqual(status, 0)
  }
  const bundled = ({ status, output }) => assert.strictEqual(status, 0, output)

  // External, with node_modules at hand.
  bundled(esbuild('--format=esm', '--external:statwalk', '--outfile=out/esbuild.mjs'))
  bundled(webpack('webpack.cjs', 'external'))
  bundled(rollup('out/rollup.mjs', 'es', 'statwalk'))
  for (const name of ['esbuild.mjs', 'webpack.cjs', 'rollup.mjs']) runs(name)

  // esbuild copies the module, and the folder can go elsewhere.
  bundled(esbuild('--loader:.node=copy', `--outfile=${far}/copied.cjs`))
  runs('copied.cjs', far)

  // Without those words the bundler names the file that it does not understand.
  for (const { status, output } of [
    esbuild('--outfile=out/plain.cjs'),
    webpack('plain.cjs'),
    rollup('out/plain.mjs', 'es'),
  ]) {
    assert.notStrictEqual(status, 0)
    assert.match(output, /statwalk\.node/)
  }

  // A bundle that was made without the native package says it, and takes one from its folder.
  fs.rmSync(path.join(place, 'node_modules/@statwalk'), { recursive: true })
  bundled(esbuild('--format=cjs', `--outfile=${far}/bare.cjs`))
  bundled(rollup(`${far}/bare.mjs`, 'es'))
  fs.rmSync(path.join(far, 'statwalk.node'), { force: true })
  for (const name of ['bare.cjs', 'bare.mjs']) {
    assert.match(node(far, name).output, /If a bundler has made this program, declare statwalk external/)
  }
  fs.copyFileSync(path.join(__dirname, '../statwalk.node'), path.join(far, 'statwalk.node'))
  runs('bare.cjs', far)
})
