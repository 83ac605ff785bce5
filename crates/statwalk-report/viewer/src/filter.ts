// SPDX-License-Identifier: MIT OR Apache-2.0

// Which nodes a reader wants to see: by category, ending, owner, age, and words of the name.

import type { Facts } from "./facts";
import { shownName } from "./name";
import { Kind, NO_NODE, NONE_8, PART, type BlockTree, type Tree } from "./tree";

export type Property = "category" | "ending" | "owner" | "age";
export const PROPERTIES: Property[] = ["category", "ending", "owner", "age"];

export class Filter {
  text = "";
  readonly chosen: Record<Property, Set<number>> = {
    category: new Set(),
    ending: new Set(),
    owner: new Set(),
    age: new Set(),
  };

  isEmpty(): boolean {
    return this.text === "" && PROPERTIES.every((property) => this.chosen[property].size === 0);
  }

  /** Whether it chooses groups, and not names alone. */
  hasGroups(): boolean {
    return PROPERTIES.some((property) => this.chosen[property].size > 0);
  }

  toggle(property: Property, value: number): void {
    const chosen = this.chosen[property];
    if (!chosen.delete(value)) chosen.add(value);
  }

  clear(): void {
    this.text = "";
    for (const property of PROPERTIES) this.chosen[property].clear();
  }

  copy(): Filter {
    const copy = new Filter();
    copy.text = this.text;
    for (const property of PROPERTIES) {
      for (const value of this.chosen[property]) copy.chosen[property].add(value);
    }
    return copy;
  }

  /** Whether the properties of a node are chosen; names are asked for elsewhere. */
  hasProperties(tree: Tree, node: number, ages: Ages): boolean {
    return PROPERTIES.every((property) => {
      const chosen = this.chosen[property];
      return chosen.size === 0 || chosen.has(propertyOf(tree, node, property, ages));
    });
  }
}

export function propertyOf(tree: Tree, node: number, property: Property, ages: Ages): number {
  switch (property) {
    case "category": return tree.category(node);
    case "ending": return tree.ending(node);
    case "owner": return tree.owner(node);
    case "age": return ages.of(tree, node);
  }
}

/** The groups of ages, and the one of each node. */
export class Ages {
  private readonly groups: { from: number; to: number }[];
  /** The group of what is no file or has no time. */
  readonly rest: number;

  constructor(ages: Facts["ages"]) {
    this.groups = ages.map(({ from_s, to_s }) =>
      from_s === undefined && to_s === undefined
        ? { from: Infinity, to: -Infinity }
        : { from: from_s ?? -Infinity, to: to_s ?? Infinity });
    this.rest = this.groups.findIndex(({ from, to }) => from > to);
  }

  of(tree: Tree, node: number): number {
    const grouped = tree.age(node);
    if (grouped !== NONE_8) return grouped;
    const newest = tree.newest(node);
    const kind = tree.kind(node);
    const holdsFiles = kind === Kind.Others || (kind === Kind.Directory && tree.entries(node) > 1n);
    if (newest === undefined || (kind !== Kind.File && !holdsFiles)) return this.rest;
    return this.groups.findIndex(({ from, to }) => from <= newest && newest < to);
  }
}

/** Matches of a text in the names of the tree, and the directories above them. */
export class Search {
  private readonly marks = new Map<number, Uint8Array>();
  /** All nodes whose names match, as `find` counts them. */
  readonly nodes: number[] = [];
  /** The bytes of the matches that are not below others: each counts once. */
  allocated = 0n;
  /** How many matches are below others. */
  nested = 0;

  constructor(tree: BlockTree, text: string, names: LowerNames) {
    const wanted = matcher(text);
    const lower = new Map<number, string[]>();
    for (const { first, block } of tree.loaded()) {
      this.marks.set(first / PART, new Uint8Array(block.count));
      lower.set(first / PART, names.of(first, block.count, tree, wanted.isExactCase));
    }
    const way: { node: number; next: number; end: number; isBelow: boolean }[] = [];
    const enter = (node: number, isBelow: boolean) => {
      const next = tree.firstChild(node);
      way.push({ node, next, end: next + tree.childCount(node), isBelow });
    };
    // The name of a root is a path, which is above everything.
    enter(tree.root, false);
    while (way.length > 0) {
      const step = way[way.length - 1]!;
      if (step.next === step.end) {
        way.pop();
        continue;
      }
      const node = step.next++;
      const isNamed = tree.kind(node) <= Kind.Other && tree.parent(node) !== NO_NODE;
      const part = Math.floor(node / PART);
      let isBelow = step.isBelow;
      const isMatch = isNamed && wanted.test(lower.get(part)![node % PART]!);
      if (isMatch) this.nodes.push(node);
      if (isBelow) {
        this.set(node, Mark.Below);
        if (isMatch) this.nested += 1;
      } else if (isMatch) {
        isBelow = true;
        this.allocated += tree.allocated(node);
        this.set(node, Mark.Matches);
        for (let at = way.length - 1; at >= 0; at--) {
          if (this.mark(way[at]!.node) & Mark.Above) break;
          this.set(way[at]!.node, Mark.Above);
        }
      }
      if (tree.childCount(node) > 0) enter(node, isBelow);
    }
  }

  private set(node: number, mark: Mark): void {
    this.marks.get(Math.floor(node / PART))![node % PART]! |= mark;
  }

  private mark(node: number): number {
    return this.marks.get(Math.floor(node / PART))?.[node % PART] ?? 0;
  }

  get matches(): number {
    return this.nodes.length;
  }

  /** Whether the node or a directory above it matches. */
  isMatch(node: number): boolean {
    return (this.mark(node) & (Mark.Matches | Mark.Below)) !== 0;
  }

  /** Whether the node, one above it or one below it matches. */
  hasMatch(node: number): boolean {
    return this.mark(node) !== 0;
  }
}

const enum Mark {
  Matches = 1,
  /** Below a match. */
  Below = 2,
  /** Above a match. */
  Above = 4,
}

/** Names in lower case, kept for the next letter of a search. */
export class LowerNames {
  private readonly exact = new Map<number, string[]>();
  private readonly lower = new Map<number, string[]>();

  of(first: number, count: number, tree: Tree, isExactCase: boolean): string[] {
    let exact = this.exact.get(first);
    if (exact === undefined) {
      exact = Array.from({ length: count }, (_, at) => shownName(tree.nameBytes(first + at)));
      this.exact.set(first, exact);
    }
    if (isExactCase) return exact;
    let lower = this.lower.get(first);
    if (lower === undefined) {
      lower = exact.map((name) => name.toLowerCase());
      this.lower.set(first, lower);
    }
    return lower;
  }
}

/** As in `statwalk find`: case counts where the text has a capital; `*` and `?` are a glob. */
function matcher(text: string): { test: (name: string) => boolean; isExactCase: boolean } {
  const isExactCase = text !== text.toLowerCase();
  if (!/[*?]/.test(text)) return { test: (name) => name.includes(text), isExactCase };
  const pattern = text
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  const whole = new RegExp(`^${pattern}$`, "su");
  return { test: (name) => whole.test(name), isExactCase };
}
