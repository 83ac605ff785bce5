// SPDX-License-Identifier: MIT OR Apache-2.0

// The numbers that a page must have, from what `find` says of the tree. The file of the report
// gives the form alone: which entries have a node, and which are summed.

import { parseFacts, type Facts } from "../src/facts";
import { inflateRawSync } from "node:zlib";
import { shownName } from "../src/name";
import { ownerName } from "../src/grouping";
import { BlockTree, Flag, isMixed, Kind, type Tree } from "../src/tree";
import { CATEGORIES, type Report } from "./sample";
import type { Found } from "./real";

/** Sums of bytes and entries. */
export interface Sums {
  allocated: bigint;
  apparent: bigint;
  entries: bigint;
  files: bigint;
  newest: number | undefined;
}

/** One entry; a directory is one with its own blocks alone. */
export interface Item extends Found {
  /** Names below the root, as a page shows them. */
  way: string[];
  category: string;
  owner: string;
  age: string;
  ending: string;
  /** Whether a node of the file stands for it alone. */
  isKnown: boolean;
}

export type Property = "category" | "owner" | "age" | "ending";
export const OWN = "the directory itself";
export const key = (way: string[]): string => way.join("\0");

export class Oracle {
  readonly items: Item[] = [];
  /** The labels of the nodes below each directory, as the file has them. */
  readonly childrenOf = new Map<string, string[]>();
  readonly isBound = new Set<string>();
  private readonly sums = new Map<string, Sums>();

  private constructor(
    readonly root: string,
    readonly facts: Facts,
  ) {}

  static async of(report: Report, found: Found[]): Promise<Oracle> {
    const facts = parseFacts(JSON.stringify(report.facts));
    const tree = await BlockTree.from({
      facts: async () => facts,
      block: async (index) => {
        const pieces = report.packed![index]!.trim().split("\n");
        const bytes = Buffer.concat(pieces.map((piece) => inflateRawSync(Buffer.from(piece, "base64"))));
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      },
    });
    const oracle = new Oracle(shownName(found[0]!.path), facts);
    const { known, elsewhere } = oracle.form(tree);
    oracle.count(found, known, elsewhere);
    return oracle;
  }

  /** The ways of the entries that have a node, and those of names that count elsewhere. */
  private form(tree: Tree): { known: Set<string>; elsewhere: Set<string> } {
    const known = new Set<string>();
    const elsewhere = new Set<string>();
    const stack: { node: number; way: string[] }[] = [{ node: tree.root, way: [] }];
    while (stack.length > 0) {
      const { node, way } = stack.pop()!;
      const children: string[] = [];
      if (tree.flags(node) & Flag.Incomplete) this.isBound.add(key(way));
      for (let at = 0; at < tree.childCount(node); at++) {
        const child = tree.firstChild(node) + at;
        const kind = tree.kind(child);
        if (kind === Kind.Own) {
          known.add(key(way));
        } else if (kind !== Kind.Others) {
          const below = [...way, shownName(tree.nameBytes(child))];
          children.push(below[below.length - 1]!);
          if (tree.childCount(child) > 0) stack.push({ node: child, way: below });
          else if (tree.flags(child) & Flag.Incomplete) this.isBound.add(key(below));
          if (tree.childCount(child) === 0 && !isMixed(tree, child)) known.add(key(below));
          if (tree.flags(child) & Flag.CountedElsewhere) elsewhere.add(key(below));
        }
      }
      this.childrenOf.set(key(way), children);
    }
    return { known, elsewhere };
  }

  private count(found: Found[], known: Set<string>, elsewhere: Set<string>): void {
    const { facts } = this;
    const length = found[0]!.path.length;
    const owners = new Map(facts.owners.map(({ id }, index) => [id, ownerName(facts, index)]));
    const notFiles = facts.categories[facts.categories.length - 1]!.label;
    const seen = new Map<string, string[]>();
    for (const one of found) {
      const below = one.path.subarray(length + 1);
      const way = one.path.length === length ? [] : namesIn(below).map((name) => shownName(name));
      const isFile = one.kind === "f";
      const name = shownName(Buffer.from(namesIn(below).pop() ?? []));
      const ending = /^.+\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
      const item: Item = {
        ...one, way, isKnown: known.has(key(way)),
        owner: owners.get(one.uid)!,
        category: isFile ? categoryOf(facts, ending) : notFiles,
        ending: isFile ? ending : "",
        age: facts.ages.find(({ from_s, to_s, not_files }) => (isFile
          ? !not_files && (from_s ?? -Infinity) <= one.modified && one.modified < (to_s ?? Infinity) : not_files))!.label ?? "",
      };
      if (isFile && one.links > 1) {
        const names = seen.get(one.inode) ?? [];
        seen.set(one.inode, [...names, key(way)]);
        if (elsewhere.has(key(way))) item.allocated = item.apparent = 0n;
      }
      this.items.push(item);
    }
    for (const names of seen.values()) {
      const counting = names.filter((name) => !elsewhere.has(name));
      if (counting.length !== 1) throw new Error(`${counting.length} of the names of an inode have its bytes`);
    }
    for (const item of this.items) {
      for (let depth = 0; depth <= item.way.length; depth++) {
        const at = key(item.way.slice(0, depth));
        this.sums.set(at, added(this.sums.get(at), item));
      }
    }
  }

  /** The sums of an entry with all below. */
  under(way: string[]): Sums | undefined {
    return this.sums.get(key(way));
  }

  of(isWanted: (item: Item) => boolean, from: string[] = []): Sums {
    let sums = NOTHING;
    for (const item of this.items) if (isUnder(item.way, from) && isWanted(item)) sums = added(sums, item);
    return sums;
  }

  item(way: string[]): Item | undefined {
    this.byWay ??= new Map(this.items.map((item) => [key(item.way), item]));
    return this.byWay.get(key(way));
  }
  private byWay: Map<string, Item> | undefined;

  /** The groups of a property with their sums. */
  groups(property: Property, isWanted: (item: Item) => boolean = () => true): Map<string, Sums> {
    const groups = new Map<string, Sums>();
    for (const item of this.items) {
      if (isWanted(item)) groups.set(item[property], added(groups.get(item[property]), item));
    }
    return groups;
  }
}

export const NOTHING: Sums = { allocated: 0n, apparent: 0n, entries: 0n, files: 0n, newest: undefined };

function added(sums: Sums = NOTHING, item: Item): Sums {
  const isDirectory = item.kind === "d";
  return {
    allocated: sums.allocated + item.allocated,
    apparent: sums.apparent + item.apparent,
    entries: sums.entries + 1n,
    files: sums.files + (item.kind === "f" ? 1n : 0n),
    newest: isDirectory ? sums.newest : Math.max(sums.newest ?? -Infinity, item.modified),
  };
}

export function isUnder(way: string[], from: string[]): boolean {
  return from.every((name, at) => way[at] === name);
}

function namesIn(path: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let start = 0; start <= path.length; ) {
    const slash = path.indexOf(0x2f, start);
    const end = slash < 0 ? path.length : slash;
    names.push(path.subarray(start, end));
    start = end + 1;
  }
  return names;
}

/** The category of an ending, for those that the trees have. */
function categoryOf(facts: Facts, ending: string): string {
  const key = ending === "" ? "no_extension" : { mp3: "audio", xyz: "data", tag: "other", toml: "configuration" }[ending]
    ?? CATEGORIES.find(([, , endings]) => endings.includes(ending))?.[0] ?? "other";
  return facts.categories.find((category) => category.key === key)?.label ?? `no ${key} of ${ending}`;
}
