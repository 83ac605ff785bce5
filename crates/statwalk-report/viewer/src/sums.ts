// SPDX-License-Identifier: MIT OR Apache-2.0

// Sums of the groups of a property over a part of the tree. What the file does not tell apart
// has a sum of its own, so that all sums together are those of the part.

import type { LegendEntry } from "./colouring";
import { type Ages, type Property, propertyOf } from "./filter";
import { Kind, type Tree } from "./tree";

export interface GroupSums {
  allocated: bigint;
  apparent: bigint;
  files: bigint;
}

export interface ViewSums {
  /** By the value of the property. */
  groups: Map<number, GroupSums>;
  /** What is of several groups. */
  several: GroupSums;
}

/** Calls a function for each node below and including `from` that is not divided further. */
export function eachLeaf(tree: Tree, from: number, call: (node: number) => void): void {
  if (tree.childCount(from) === 0) return call(from);
  // An explicit stack: directories are thousands deep.
  const stack = [from];
  while (stack.length > 0) {
    const node = stack.pop()!;
    const first = tree.firstChild(node);
    for (let child = first, end = first + tree.childCount(node); child < end; child++) {
      if (tree.childCount(child) > 0) stack.push(child);
      else call(child);
    }
  }
}

/** With `isLit`, of those nodes alone, as far as the file tells them apart. */
export function sumsOf(tree: Tree, view: number, property: Property, ages: Ages, isLit?: (node: number) => boolean): ViewSums {
  const groups = new Map<number, GroupSums>();
  const none = (): GroupSums => ({ allocated: 0n, apparent: 0n, files: 0n });
  const several = none();
  eachLeaf(tree, view, (node) => {
    if (isLit !== undefined && !(tree.tells(node, property) && isLit(node))) return;
    let sums = several;
    if (tree.tells(node, property)) {
      const value = propertyOf(tree, node, property, ages);
      sums = groups.get(value) ?? none();
      groups.set(value, sums);
    }
    sums.allocated += tree.allocated(node);
    sums.apparent += tree.apparent(node);
    if (tree.kind(node) === Kind.File) sums.files += 1n;
  });
  return { groups, several };
}

/** The group that has most bytes below a node; undefined where what is not told apart could change it. */
export function mostOf(tree: Tree, node: number, property: Property, ages: Ages): number | undefined {
  const { groups, several } = sumsOf(tree, node, property, ages);
  const [first, second] = [...groups].sort(([, a], [, b]) => (a.allocated < b.allocated ? 1 : a.allocated > b.allocated ? -1 : 0));
  if (first === undefined) return undefined;
  return first[1].allocated >= (second?.[1].allocated ?? 0n) + several.allocated ? first[0] : undefined;
}

/** The entries of a legend with the sums of a view; those without any are left out. */
export function entriesIn(entries: LegendEntry[], sums: ViewSums): LegendEntry[] {
  return entries.flatMap((entry) => {
    const own = sums.groups.get(entry.value);
    return own === undefined ? [] : [{ ...entry, allocated: own.allocated, apparent: own.apparent, count: own.files }];
  });
}
