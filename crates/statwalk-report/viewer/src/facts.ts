// SPDX-License-Identifier: MIT OR Apache-2.0

// The numbers beside the tree, as the program wrote them: counted from all entries of the
// scan, and not from the part of them that the tree in this file shows.

import type { Measure } from "./tree";

/** What groups of files call all that is no file. */
export const NOT_FILES = "directories, links and others";

/** A path or a name. `raw` is there where the bytes are not UTF-8. */
export interface PathText {
  text: string;
  raw?: string;
}

export interface Sums {
  allocated: bigint;
  apparent: bigint;
}

/** Of the sums of groups: the newest modification of anything but directories. */
interface Newest {
  newest_s?: number;
}

export interface FileSums extends Sums, Newest {
  files: bigint;
}

export interface Category extends FileSums {
  key: string;
  label: string;
}

export interface Ending extends FileSums {
  /** Absent for the rest and for what is no file; "" for no ending. */
  name?: string;
  not_files?: boolean;
}

/** Without `id` and `name`: the owner is not known. */
export interface Owner extends Sums, Newest {
  id?: number;
  name?: PathText;
  entries: bigint;
}

export interface Age extends FileSums {
  label?: string;
  not_files?: boolean;
  from_s?: number;
  to_s?: number;
}

export interface SizeClass extends FileSums {
  label?: string;
  not_files?: boolean;
}

export interface LargeFile extends Sums {
  path: PathText;
  newest_s?: number;
  owner?: number;
  category?: number;
}

export interface Failure {
  path: PathText;
  operation: string;
  cause: string;
}

export interface SpaceRow {
  label: string;
  /** Below zero where the parts have more than the whole. */
  bytes: bigint;
  /** A part of the line above that has a lower one. */
  level: number;
  note?: string;
}

/** A file system of a root. */
export interface Space {
  /** Its mount point; empty where that is hidden. */
  point: PathText;
  total: bigint;
  /** Whether the scan covers it, so that its parts are known. */
  is_exact: boolean;
  parts: SpaceRow[];
}

export interface Worth {
  kind: "old" | "new" | "rebuildable" | "unreadable";
  path: PathText;
  allocated?: bigint;
  note: string;
}

export interface Facts {
  version: number;
  program: string;
  roots: PathText[];
  host: PathText;
  time_ns: bigint;
  options: PathText[];
  is_redacted: boolean;
  complete: { is: boolean; why?: string };
  totals: Sums & {
    entries: bigint;
    files: bigint;
    directories: bigint;
    links: bigint;
    other: bigint;
    errors: bigint;
    /** How many of the errors are directories that were read, and changed meanwhile. */
    changed?: bigint;
  };
  categories: Category[];
  endings: Ending[];
  owners: Owner[];
  ages: Age[];
  sizes: SizeClass[];
  percentiles: { of: number; bytes: bigint }[];
  largest: LargeFile[];
  errors: Failure[];
  errors_total?: bigint;
  spaces?: Space[];
  free_bytes?: bigint;
  /** One sentence on what is there. */
  gist?: string;
  worth: Worth[];
  /** What a program makes again: all of it, and the largest. */
  rebuildable?: { count: bigint; allocated: bigint; largest: Worth[] };
  detail: { nodes: bigint; of_entries: bigint };
}

/** Whether files have content, and nothing has blocks: so do phones by MTP and some clouds. */
export function lacksBlocks({ totals }: Facts): boolean {
  return totals.files > 0n && totals.apparent > 0n && totals.allocated === 0n;
}

/** The size that shares, bars and the order are of, until the reader chooses another. */
export function usualMeasure(facts: Facts): Measure {
  return lacksBlocks(facts) ? "apparent" : "allocated";
}

/** Numbers that can pass 2^53. The file has them as decimal strings. */
const LONG = new Set([
  "allocated", "apparent", "entries", "files", "directories", "links", "other", "errors", "changed",
  "bytes", "time_ns", "free_bytes", "errors_total", "nodes", "of_entries", "count", "total",
]);
const SECONDS = new Set(["newest_s", "from_s", "to_s"]);

export function parseFacts(json: string): Facts {
  const facts = JSON.parse(json, (key, value) => {
    if (typeof value !== "string" && typeof value !== "number") return value;
    if (LONG.has(key)) return BigInt(value);
    if (SECONDS.has(key)) return Number(value);
    return value;
  }) as Facts;
  if (facts.version !== 2) {
    throw new Error(`this viewer reads version 2, and the data have version ${facts.version}`);
  }
  return facts;
}
