// SPDX-License-Identifier: MIT OR Apache-2.0

'use strict'

// The file systems that show the state of the kernel and hold no data of a user.

const fs = require('node:fs')

/** The numbers of statfs(2), as crates/statwalk-sys/src/kernel_file_systems.rs has them. */
const NUMBERS = new Set([
  0x9fa0n, // proc
  0x62656572n, // sysfs
  0x27e0ebn, // cgroup
  0x63677270n, // cgroup2
  0x1cd1n, // devpts
  0x64626720n, // debugfs
  0x74726163n, // tracefs
  0x73636673n, // securityfs
  0xf97cff8cn, // selinuxfs
  0x43415d53n, // smackfs
  0xcafe4a11n, // bpf
  0x6165676cn, // pstore
  0xde5e81e4n, // efivarfs
  0x62656570n, // configfs
  0x65735543n, // fusectl
  0x42494e4dn, // binfmt_misc
  0x6c6f6f70n, // binder
  0x67596969n, // rpc_pipefs
  0x6e667364n, // nfsd
  0x07655821n, // resctrl
])

/** Whether a directory belongs to one. */
async function isKernelFileSystem(directory) {
  try {
    const { type } = await fs.promises.statfs(directory, { bigint: true })
    return NUMBERS.has(type)
  } catch {
    // Reading it brings the error.
    return false
  }
}

module.exports = { isKernelFileSystem, NUMBERS }
