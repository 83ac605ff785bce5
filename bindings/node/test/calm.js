// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

const fs = require('node:fs')

const { byLstat } = require('./walk.js')

const TRIES_MAX = 20

/** Everything that lstat says of a tree, as text. */
function look(root) {
  try {
    const rows = Array.from(byLstat(root), ([file, { stats }]) => [file, ...Object.values(stats)].join(' '))
    return rows.join('\n')
  } catch (error) {
    // Something has gone meanwhile.
    return error
  }
}

/** Calls the check, again where others have changed the tree while it failed. */
async function checkCalm(root, check) {
  for (let turn = 0; turn < TRIES_MAX; turn += 1) {
    const before = look(root)
    try {
      return await check()
    } catch (error) {
      if (look(root) === before) throw error
    }
  }
  throw new Error(`${root} changes all the time`)
}

/** Whether there are as many entries, soon: a minute is for machines with much else to do. */
async function soonHas(directory, count) {
  const now = () => fs.readdirSync(directory).length
  for (let wait = 0; wait < 6000 && now() > count; wait += 1) await new Promise((r) => setTimeout(r, 10))
  return now() <= count
}

module.exports = { checkCalm, soonHas }
