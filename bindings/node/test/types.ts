// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiled, never run: the types are those that a caller needs.

import { batches, type Columns, type Entry, entryOf, IncompleteScanError, type Scan, scan } from '../index.js'

export async function sum(path: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  try {
    for await (const entry of scan(path, { fields: ['size', 'mtime'], signal })) {
      const { stats, dirent, path }: Entry = entry
      if (dirent.isFile() && stats !== null && path.length > 0) bytes += stats.size
    }
    const entries: Scan = scan(path)
    for await (const entry of entries) if (entry.isDirectory) entries.skip()
    for await (const columns of batches(Buffer.from(path), { fields: 'size', maxDepth: 1 })) {
      const size: BigUint64Array | undefined = columns.size
      const some: Columns = columns
      bytes += Number(size?.[0] ?? 0n) + entryOf(some, 0).name.length
    }
  } catch (error) {
    if (error instanceof IncompleteScanError) bytes = error.report.unreadable
  }
  // @ts-expect-error there is no such field
  scan(path, { fields: 'sizes' })
  return bytes
}
