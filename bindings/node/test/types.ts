// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiled, never run: the types are those that a caller needs.

import { Stats } from 'node:fs'
import {
  batches, type BigIntEntryStats, type Columns, du, type DuOptions, type Entry, type EntryError, entryOf, IncompleteScanError, type Options, type Scan, scan, scanSync,
  type Usage,
} from '../index.js'

export async function sum(path: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  try {
    for await (const entry of scan(path, { fields: ['size', 'mtime'], signal })) {
      const { stats, dirent, path }: Entry = entry
      if (dirent.isFile() && path.length > 0) bytes += stats.size
    }
    const entries: Scan = scan(path)
    for await (const entry of entries) if (entry.isDirectory) entries.skip()
    for await (const entry of scan(new URL('file:///usr'), { kernelFileSystems: true, gitignore: true })) entry.name
    for await (const columns of batches(Buffer.from(path), { fields: 'size', maxDepth: 1 })) {
      const size: BigUint64Array | undefined = columns.size
      const some: Columns = columns
      bytes += Number(size?.[0] ?? 0n) + entryOf(some, 0).name.length
    }
  } catch (error) {
    if (error instanceof IncompleteScanError) bytes = error.report?.unreadable ?? 0
  }
  // @ts-expect-error there is no such field
  scan(path, { fields: 'sizes' })
  return bytes
}

export async function usage(path: Buffer, options: DuOptions, signal: AbortSignal): Promise<bigint> {
  const usage: Usage = await du('/usr', { signal, oneFileSystem: true, followLinks: true, exclude: ['*.o', path], threads: 1 })
  // @ts-expect-error one path alone
  await du([path])
  await du(path, { exclude: '*.o' })
  await du(path, { exclude: path })
  const bytes: number = usage.allocated + usage.apparent + usage.entries + usage.files + usage.directories
  const errors: EntryError[] = usage.errors
  const exact: Usage<bigint> = await du(path, { bigint: true })
  const { allocated } = await du(path, options)
  // @ts-expect-error it can be a bigint
  const number: number = allocated
  // @ts-expect-error errors are values of the sum
  await du(path, { onError: () => {} })
  // @ts-expect-error a sum has everything that is below
  await du(path, { maxDepth: 1 })
  return exact.apparent + BigInt(bytes + errors.length + number + (usage.isComplete ? 0 : usage.report.unreadable))
}

export async function attributes(path: string, options: Options): Promise<bigint> {
  let bytes = 0n
  await using entries = scan(path, { bigint: true })
  for await (const { stats } of entries) {
    const all: BigIntEntryStats = stats
    bytes += all.size + (all.birthtimeNs ?? 0n) + all.mtimeNs
  }
  using now = scanSync(path, { onError: ({ code, syscall, errno }) => console.log(code.length, syscall, errno + 1) })
  for (const { stats } of now) {
    if (stats.isFile()) bytes += BigInt(stats.size)
    // @ts-expect-error a file system can lack it
    stats.birthtime.getTime()
    if (stats instanceof Stats) mode(stats)
  }
  for await (const entry of scan(path, options)) {
    const size: number | bigint = entry.stats.size
    bytes += BigInt(size) + BigInt(entry.toJSON().path.length)
  }
  // @ts-expect-error columns have bigints where they need them
  batches(path, { bigint: true })
  return bytes
}

const mode = (stats: Stats): number => stats.mode
