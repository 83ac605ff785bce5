// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The examples of the README: strict TypeScript takes them, and the first one comes to its end on
// trees that are hostile.

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')

const PACKAGE = path.resolve(__dirname, '..')
const README = fs.readFileSync(path.join(PACKAGE, 'README.md'), 'utf8')
const EXAMPLES = Array.from(README.matchAll(/```js\n(.*?)```/gs), ([, code]) => code)
let place

before(() => {
  place = fs.mkdtempSync(path.join(os.tmpdir(), 'statwalk-readme-'))
  fs.chmodSync(place, 0o755)
})
after(() => fs.rmSync(place, { recursive: true }))

test('the examples compile in strict TypeScript', () => {
  assert(EXAMPLES.length >= 3)
  const files = EXAMPLES.map((code, at) => {
    const imports = /^import /m.test(code) ? '' : "import { scan } from 'statwalk'\n"
    fs.writeFileSync(path.join(place, `${at}.mts`), imports + code)
    return `${at}.mts`
  })
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [path.join(PACKAGE, 'node_modules/@types')],
      paths: { statwalk: [path.join(PACKAGE, 'index.d.ts')] },
    },
    files,
  }
  fs.writeFileSync(path.join(place, 'tsconfig.json'), JSON.stringify(config))
  const { status, stdout } = spawnSync(path.join(PACKAGE, 'node_modules/.bin/tsc'), ['-p', place], { encoding: 'utf8' })
  assert.strictEqual(status, 0, stdout)
})

/** Runs the first example as an ordinary user, on another tree. */
function first(tree, before = '') {
  const folder = fs.mkdtempSync(path.join(place, 'run-'))
  const installed = path.join(folder, 'node_modules/statwalk')
  fs.mkdirSync(installed, { recursive: true })
  for (const name of fs.readdirSync(PACKAGE).filter((name) => /\.(js|node|json)$/.test(name))) {
    fs.copyFileSync(path.join(PACKAGE, name), path.join(installed, name))
  }
  fs.chmodSync(folder, 0o755)
  fs.writeFileSync(path.join(folder, 'first.mjs'), before + EXAMPLES[0].replace('/usr', tree))
  const words = [process.execPath, path.join(folder, 'first.mjs')]
  const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const [name, ...rest] = process.getuid() === 0 ? [...user, ...words] : words
  const { status, stdout, stderr } = spawnSync(name, rest, { encoding: 'utf8' })
  return { status, lines: stdout.trimEnd().split('\n').sort(), stderr }
}

test('the first one survives a name that is no text', () => {
  const tree = path.join(place, 'odd')
  fs.mkdirSync(tree)
  fs.writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0x61, 0xff])]), 'four')
  fs.writeFileSync(path.join(tree, 'größe'), '')
  const { status, lines, stderr } = first(tree)
  assert.strictEqual(status, 0, stderr)
  assert.deepStrictEqual(lines, ['0 größe', '4 a\ufffd'])
})

test('the first one ends as at its end where attributes are refused', () => {
  const tree = path.join(place, 'refused')
  fs.mkdirSync(path.join(tree, 'listed'), { recursive: true })
  fs.writeFileSync(path.join(tree, 'listed/file'), '')
  fs.chmodSync(path.join(tree, 'listed'), 0o744)
  const { status, lines, stderr } = first(tree)
  fs.chmodSync(path.join(tree, 'listed'), 0o755)
  assert.strictEqual(status, 1)
  assert.match(stderr, /IncompleteScanError: the scan is incomplete, with 1 error: EACCES: permission denied, lstat '.*\/listed\/file'/)
  assert.strictEqual(lines.length, 1)
})

test('the first one survives directories that vanish', () => {
  const tree = path.join(place, 'vanishing')
  for (let at = 0; at < 30; at += 1) {
    for (let below = 0; below < 10; below += 1) fs.mkdirSync(path.join(tree, `${at}/${below}/deep`), { recursive: true })
  }
  spawnSync('chmod', ['-R', '777', tree])
  // Another thread removes them while the loop goes on.
  const removing = `
    import { Worker } from 'node:worker_threads'
    const worker = new Worker(\`
      const fs = require('node:fs')
      for (const name of fs.readdirSync('${tree}')) fs.rmSync('${tree}/' + name, { recursive: true })\`, { eval: true })
    await new Promise((begun) => worker.once('online', begun))\n`
  const { status, stderr } = first(tree, removing)
  // A directory that loses entries during three readings has changed, and nothing else is wrong.
  assert(status === 0 || /incomplete, with \d+ errors?: ERR_STATWALK_CHANGED/.test(stderr), stderr)
})
