// SPDX-License-Identifier: MIT OR Apache-2.0

/// <reference types="node" />

import type { BigIntStats, Dirent, PathLike, Stats } from 'node:fs'

/** A field that decides the system calls. 'stat' stands for all that fs.Stats has. */
export type Field =
  // fields of the table
  | 'name'
  | 'type'
  | 'size'
  | 'allocated'
  | 'links'
  | 'id'
  | 'mtime'
  | 'atime'
  | 'ctime'
  | 'btime'
  | 'owner'
  | 'mode'
  | 'rdev'
  | 'flags'
  | 'path'
  | 'stat'
  // end of fields of the table

/** An entry that could not be read, in the form of the errors of fs. */
export interface EntryError extends Error {
  /** Such as 'EACCES'. 'ERR_STATWALK_CHANGED' is a directory that changed each time it was read. */
  code: string
  /** The negative error number of the system; 0 for a directory that changed. */
  errno: number
  /** The call as fs names it: 'opendir', 'scandir', 'lstat', 'stat' or 'open'. */
  syscall: string
  /** The operation, such as 'open'. */
  operation: string
  path: string
  pathBytes: Buffer
}

/**
 * Attributes of an entry: an object of fs.Stats. A field that was not asked for throws a
 * TypeError, and so does blksize, which no scan has.
 */
export interface EntryStats extends Omit<Stats, 'birthtime' | 'birthtimeMs'> {
  /** Null where the file system does not have it. */
  birthtime: Date | null
  birthtimeMs: number | null
}

/** The same with bigints: an object of fs.BigIntStats. */
export interface BigIntEntryStats extends Omit<BigIntStats, 'birthtime' | 'birthtimeMs' | 'birthtimeNs'> {
  birthtime: Date | null
  birthtimeMs: bigint | null
  birthtimeNs: bigint | null
}

export interface Options {
  /** The fields. 'type' alone needs no call for an entry. The default is 'stat'. */
  fields?: Field | readonly Field[]
  /** Gets each error. Without it, the loop ends with an IncompleteScanError. */
  onError?: (error: EntryError) => void
  /** Stops the scan. The loop throws its reason. */
  signal?: AbortSignal
  /** Whether the numbers of stats are bigints, and times have nanoseconds. The default is false. */
  bigint?: boolean
  // options of the table
  /** The number of threads; 0 lets the scan decide. 0 to 2 ** 32 - 1; the default is 0. */
  threads?: number
  /** How far the threads stand behind others for a processor, as nice(1) has it. 0 to 19; the default is 10. */
  niceness?: number
  /** How deep the scan goes: a root has depth 0, and its entries have depth 1. 0 to 2 ** 32 - 1, or Infinity; the default is no limit. */
  maxDepth?: number
  /** Give nothing above this depth; the directories there are read all the same. 0 to 2 ** 32 - 1; the default is 0. */
  minDepth?: number
  /** Sort names within a directory by their bytes, and go into each at once. */
  sort?: boolean
  /** Give a directory after all that is below it, and sort names. */
  contentsFirst?: boolean
  /** Stay on the file system of the root. */
  oneFileSystem?: boolean
  /** A symbolic link stands for what it leads to, and nothing is listed twice. */
  followLinks?: boolean
  /** Enter /proc and its like, which are left out otherwise. */
  kernelFileSystems?: boolean
  /** Leave out paths that fit a shell pattern, or one of several, as du --exclude does. */
  exclude?: string | Uint8Array | Iterable<string | Uint8Array>
  /** Leave out what .gitignore files name, by the rules of git. */
  gitignore?: boolean
  // end of options of the table
}

/** Plain values of an entry. */
export interface PlainEntry {
  /** With U+FFFD for bytes that are no UTF-8. */
  path: string
  /** The bytes of a path that is no UTF-8. */
  pathBase64?: string
  type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'character device' | 'block device' | 'unknown'
  /** The fields that were asked for, bigints as text; null where the scan does not have them. */
  stats: Record<string, number | string | null> | null
  /** The code of the error for which the system has refused the attributes. */
  error?: string
}

/** An entry: a view into the columns of a table, which it keeps alive. */
export class Entry<S = EntryStats> {
  private constructor()
  /** The path. Throws UndecodablePathError where a string would not lead back to the file. */
  readonly path: string
  /** The name; with U+FFFD for bytes that are no UTF-8, and then isText is false. */
  readonly name: string
  /** Whether path and name are strings that lead back to the file. */
  readonly isText: boolean
  readonly isDirectory: boolean
  readonly isSymbolicLink: boolean
  /** As fs.readdir gives it. Name and parent are buffers where they are no UTF-8. */
  readonly dirent: Dirent
  /**
   * As fs.lstat gives it, without a call. Where the system has refused it, this throws the
   * error of the entry, or an IncompleteScanError if the scan has no `onError`. Of an entry
   * that the scan has left out, such as the root of another file system, it asks the system.
   */
  readonly stats: S
  /** Plain values for JSON, logs and structuredClone. It makes no call. */
  toJSON(): PlainEntry
  pathBytes(): Buffer
  nameBytes(): Buffer
}

/** Up to 16,384 entries of many directories in columns. A column that was not asked for is absent. */
export interface Columns {
  length: number
  /** The numbers of the directories. Absent in a table of other entries. */
  ids?: Uint32Array
  /** The number of the directory that each row lies in; of the scanned one its own. */
  dirs: Uint32Array
  /**
   * Which prefix stands before the name of each row: both are its path. The prefix is the path
   * of the row's directory with a slash. The scanned directory has none, and its path for a name.
   */
  prefixes: Uint32Array
  /** The bytes of all prefixes, one after another. */
  prefixBytes: Buffer
  /** Where each prefix begins, and where the last one ends. */
  prefixOffsets: Uint32Array
  /** The bytes of all names, one after another. */
  names: Buffer
  /** Where each name begins, and where the last one ends. */
  nameOffsets: Int32Array
  /** With the field 'path', the bytes of all paths, one after another. */
  paths?: Buffer
  /** Where each path begins, and where the last one ends. */
  pathOffsets?: Uint32Array
  /** Whether all paths are UTF-8. */
  isText: boolean
  /** 0 file, 1 directory, 2 symbolic link, 3 pipe, 4 socket, 5 and 6 devices, 7 unknown. */
  types: Uint8Array
  /** A bit for each row: whether its attributes are known. Absent if all are. */
  isKnown?: Uint8Array
  /** The rows whose attributes the system has refused, with the negative error number. */
  refusals?: { row: number; errno: number }[]
  // columns of the table
  size?: BigUint64Array
  allocated?: BigUint64Array
  links?: Uint32Array
  ino?: BigUint64Array
  dev?: BigUint64Array
  mtimeNs?: BigInt64Array
  /** The same in milliseconds, as fs.Stats has it. */
  mtimeMs?: Float64Array
  mtimeIsKnown?: Uint8Array
  atimeNs?: BigInt64Array
  /** The same in milliseconds, as fs.Stats has it. */
  atimeMs?: Float64Array
  atimeIsKnown?: Uint8Array
  ctimeNs?: BigInt64Array
  /** The same in milliseconds, as fs.Stats has it. */
  ctimeMs?: Float64Array
  ctimeIsKnown?: Uint8Array
  btimeNs?: BigInt64Array
  /** The same in milliseconds, as fs.Stats has it. */
  btimeMs?: Float64Array
  btimeIsKnown?: Uint8Array
  uid?: Uint32Array
  gid?: Uint32Array
  mode?: Uint16Array
  rdev?: BigUint64Array
  flags?: Uint32Array
  flagsMask?: Uint32Array
  // end of columns of the table
}

/** The gaps of a scan. */
export interface Report {
  isComplete: boolean
  isInterrupted: boolean
  unreadable: number
  changedDirectories: number
  vanished: number
  excluded: number
  crossings: number
}

/** A scan has ended, and something could not be read. */
export class IncompleteScanError extends Error {
  code: 'ERR_STATWALK_INCOMPLETE'
  /** The first thousand. The first of them is the `cause`. */
  errors: EntryError[]
  /** Null where attributes were refused while the scan goes on. */
  report: Report | null
}

/** A path that is no UTF-8, where a string was asked for. */
export class UndecodablePathError extends Error {
  code: 'ERR_STATWALK_UNDECODABLE_PATH'
  pathBytes: Buffer
}

/** The entries of a scan. A directory comes before all that is below it, but with contentsFirst. */
export class Scan<S = EntryStats> implements AsyncIterableIterator<Entry<S>, undefined, void> {
  private constructor()
  /**
   * Leaves out all that is below the directory that came last. Throws an Error if that was
   * no directory, and with contentsFirst.
   */
  skip(): void
  next(): Promise<IteratorResult<Entry<S>, undefined>>
  return(): Promise<IteratorResult<Entry<S>, undefined>>
  throw(error?: unknown): Promise<IteratorResult<Entry<S>, undefined>>
  [Symbol.asyncIterator](): this
  /** Ends the scan, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The same for a loop that nobody waits beside: each step holds the event loop. */
export class SyncScan<S = EntryStats> implements IterableIterator<Entry<S>, undefined, void> {
  private constructor()
  skip(): void
  next(): IteratorResult<Entry<S>, undefined>
  return(): IteratorResult<Entry<S>, undefined>
  throw(error?: unknown): IteratorResult<Entry<S>, undefined>
  [Symbol.iterator](): this
  /** Ends the scan, for `using`. */
  [Symbol.dispose](): void
}

/** All entries below a directory. Leaving the loop ends the scan. */
export function scan(path: PathLike, options: Options & { bigint: true }): Scan<BigIntEntryStats>
export function scan(path: PathLike, options?: Options & { bigint?: false }): Scan
export function scan(path: PathLike, options?: Options): Scan<EntryStats | BigIntEntryStats>

/** The same in place of the event loop, for programs that have nothing else to do. */
export function scanSync(path: PathLike, options: Options & { bigint: true }): SyncScan<BigIntEntryStats>
export function scanSync(path: PathLike, options?: Options & { bigint?: false }): SyncScan
export function scanSync(path: PathLike, options?: Options): SyncScan<EntryStats | BigIntEntryStats>

/**
 * The same in columns, and the directory itself. A batch is of directories or of other
 * entries. What is above its rows comes before them. With sort or contentsFirst a batch has
 * both, and an entry that is no directory has 4294967295 among the ids.
 */
export function batches(
  path: PathLike,
  options?: Omit<Options, 'bigint'>,
): AsyncGenerator<Columns, Report | null | undefined, void>

/** The options of a sum: as those of a scan, and its errors are values of it. */
export interface DuOptions extends Omit<
  Options,
  'bigint' | 'contentsFirst' | 'fields' | 'maxDepth' | 'minDepth' | 'onError' | 'sort'
> {
  /** Whether the bytes are bigints. Numbers are exact up to 2 ** 53. The default is false. */
  bigint?: boolean
}

/** The sums of a path with all that is below it. An inode with several names counts its bytes once. */
export interface Usage<Bytes = number> {
  /** The space that it takes, in bytes. */
  allocated: Bytes
  /** The lengths of its files and symbolic links, in bytes. */
  apparent: Bytes
  /** Names, its own among them. */
  entries: number
  files: number
  directories: number
  /** Whether all of it was read. If not, the sums are lower bounds. */
  isComplete: boolean
  /** The first thousand. */
  errors: EntryError[]
  report: Report
}

/**
 * Sums a file or a directory as du does. A link is itself, unless followLinks is set or a
 * slash stands at its end. What could not be read is in errors and no exception; only a path
 * that is not there is one.
 */
export function du(path: PathLike, options: DuOptions & { bigint: true }): Promise<Usage<bigint>>
export function du(path: PathLike, options?: DuOptions & { bigint?: false }): Promise<Usage>
export function du(path: PathLike, options?: DuOptions): Promise<Usage | Usage<bigint>>

/** An entry of columns. Its `stats` throws the error of the entry, whatever `onError` is. */
export function entryOf(columns: Columns, row: number): Entry

export const FIELDS: readonly Field[]
