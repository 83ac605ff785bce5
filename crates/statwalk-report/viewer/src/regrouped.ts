// SPDX-License-Identifier: MIT OR Apache-2.0

// The bytes of a directory in other directories: by category, owner or age, or those alone
// that match. Every sum is exact: what the file does not tell apart is in a rest of its group
// where the sum of the group is known, and in a group of its own elsewhere.

import { Flag, Kind, NO_NODE, NONE_32, NONE_8, isMixed, type Measure, type Tree } from "./tree";
import type { Property } from "./filter";
import { toBytes } from "./name";

export interface Group {
  label: string;
  /** What colours the group; `NONE_…` where nothing does. */
  category?: number;
  owner?: number;
  age?: number;
  /** The sums that the program counted, where the whole scan is regrouped. */
  sums?: { allocated: bigint; apparent: bigint; entries: bigint; newest?: number | undefined } | undefined;
}

export interface Regrouping {
  groups: Group[];
  /** The group of a node that is not divided further; undefined leaves it out. */
  groupOf: (node: number) => number | undefined;
  /** Where the bytes of mixed nodes go; undefined leaves them out. */
  mixed?: string | undefined;
}

const enum Told {
  Category = 1,
  Owner = 2,
  Age = 4,
}

/** Columns as they grow, before the children of a directory lie in a row. */
class Draft {
  readonly parent: number[] = [];
  readonly origin: number[] = [];
  readonly label: (string | undefined)[] = [];
  readonly kind: number[] = [];
  readonly allocated: bigint[] = [];
  readonly apparent: bigint[] = [];
  readonly entries: bigint[] = [];
  readonly group: number[] = [];
  /** The node of what the file does not tell apart, and the newest time in it. */
  mixed: number | undefined;
  mixedNewest: number | undefined;

  add(parent: number, origin: number, kind: Kind, group: number, label?: string): number {
    this.parent.push(parent);
    this.origin.push(origin);
    this.label.push(label);
    this.kind.push(kind);
    this.allocated.push(0n);
    this.apparent.push(0n);
    this.entries.push(0n);
    this.group.push(group);
    return this.parent.length - 1;
  }

  count(node: number, allocated: bigint, apparent: bigint, entries: bigint): void {
    this.allocated[node]! += allocated;
    this.apparent[node]! += apparent;
    this.entries[node]! += entries;
  }
}

export class RegroupedTree implements Tree {
  readonly root = 0;
  private readonly parents: Int32Array;
  private readonly firsts: Int32Array;
  private readonly counts: Int32Array;
  private readonly origins: Float64Array;
  private readonly kinds: Uint8Array;
  private readonly sums: { allocated: bigint[]; apparent: bigint[]; entries: bigint[] };
  private readonly weights: Record<Measure, Float64Array>;
  /** The properties of which a node has one value alone, though it stands for several items. */
  private readonly told: Uint8Array;
  private readonly labels = new Map<number, Uint8Array>();
  private readonly colours: { category: Uint8Array; owner: Uint32Array; newest: Float64Array; age: Uint8Array };
  private nodes: Map<number, number> | undefined;

  constructor(
    private readonly base: Tree,
    readonly from: number,
    regrouping: Regrouping,
  ) {
    const draft = draftOf(base, from, regrouping);
    const length = draft.parent.length;

    // Children in a row, the largest first.
    const childrenOf: number[][] = Array.from({ length }, () => []);
    for (let node = 1; node < length; node++) childrenOf[draft.parent[node]!]!.push(node);
    const places = new Int32Array(length);
    const order = new Int32Array(length);
    let filled = 1;
    this.firsts = new Int32Array(length).fill(NO_NODE);
    this.counts = new Int32Array(length);
    this.parents = new Int32Array(length).fill(NO_NODE);
    for (let place = 0; place < filled; place++) {
      const children = childrenOf[order[place]!]!;
      children.sort((a, b) => {
        const difference = draft.allocated[b]! - draft.allocated[a]!;
        return difference > 0n ? 1 : difference < 0n ? -1 : a - b;
      });
      if (children.length > 0) this.firsts[place] = filled;
      this.counts[place] = children.length;
      for (const child of children) {
        this.parents[filled] = place;
        places[child] = filled;
        order[filled++] = child;
      }
    }
    const placed = <T>(column: T[]): T[] => Array.from(order, (node) => column[node]!);
    this.origins = Float64Array.from(order, (node) => draft.origin[node]!);
    this.kinds = Uint8Array.from(order, (node) => draft.kind[node]!);
    this.sums = {
      allocated: placed(draft.allocated),
      apparent: placed(draft.apparent),
      entries: placed(draft.entries),
    };
    this.weights = {
      allocated: Float64Array.from(this.sums.allocated, Number),
      apparent: Float64Array.from(this.sums.apparent, Number),
    };
    this.told = Uint8Array.from(order, (node) => {
      const group = regrouping.groups[draft.group[node]!];
      return (group?.category === undefined ? 0 : Told.Category)
        | (group?.owner === undefined ? 0 : Told.Owner) | (group?.age === undefined ? 0 : Told.Age);
    });
    draft.label.forEach((label, node) => {
      if (label !== undefined) this.labels.set(places[node]!, toBytes(label));
    });
    this.colours = {
      category: new Uint8Array(length).fill(NONE_8),
      owner: new Uint32Array(length).fill(NONE_32),
      newest: new Float64Array(length).fill(Number.NaN),
      age: new Uint8Array(length).fill(NONE_8),
    };
    // From below: a directory has the colours of its largest child.
    for (let place = length - 1; place >= 0; place--) {
      const group = regrouping.groups[draft.group[order[place]!]!];
      const origin = this.origins[place]!;
      const largest = this.firsts[place]!;
      const { category, owner, newest, age } = this.colours;
      if (largest !== NO_NODE) {
        category[place] = category[largest]!;
        owner[place] = owner[largest]!;
        for (let at = 0; at < this.counts[place]!; at++) {
          const time = newest[largest + at]!;
          if (!(time <= newest[place]!) && !Number.isNaN(time)) newest[place] = time;
        }
      } else if (origin !== NO_NODE && place > 0) {
        // The root has nothing of the view where nothing matches.
        category[place] = base.category(origin);
        owner[place] = base.owner(origin);
        newest[place] = base.newest(origin) ?? Number.NaN;
      } else if (order[place] === draft.mixed) {
        newest[place] = draft.mixedNewest ?? Number.NaN;
      }
      if (group?.category !== undefined) category[place] = group.category;
      if (group?.owner !== undefined) owner[place] = group.owner;
      if (group?.age !== undefined) age[place] = group.age;
      // A rest has no time of its own here; that of its group covers it.
      if (group?.sums !== undefined && place !== 0 && this.parents[place] === 0) {
        newest[place] = group.sums.newest ?? Number.NaN;
      }
    }
  }

  /** All nodes that stand for a node of the scan: a directory is in several groups. */
  nodesOf(origin: number): number[] {
    const found: number[] = [];
    this.origins.forEach((node, at) => {
      if (node === origin) found.push(at);
    });
    return found;
  }

  /** The largest node that stands for a node of the scan, or `NO_NODE`. */
  nodeOf(origin: number): number {
    if (this.nodes === undefined) {
      this.nodes = new Map();
      // A node before another is in a larger group.
      this.origins.forEach((node, at) => {
        if (node !== NO_NODE && !this.nodes!.has(node)) this.nodes!.set(node, at);
      });
    }
    return this.nodes.get(origin) ?? NO_NODE;
  }

  kind(node: number): Kind {
    return this.kinds[node]!;
  }

  flags(node: number): number {
    const origin = this.origins[node]!;
    // What was not read could belong to any group.
    return origin === NO_NODE ? this.base.flags(this.from) & Flag.Incomplete : this.base.flags(origin);
  }

  allocated(node: number): bigint {
    return this.sums.allocated[node]!;
  }

  apparent(node: number): bigint {
    return this.sums.apparent[node]!;
  }

  weight(node: number, measure: Measure): number {
    return this.weights[measure][node]!;
  }

  entries(node: number): bigint {
    return this.sums.entries[node]!;
  }

  newest(node: number): number | undefined {
    const newest = this.colours.newest[node]!;
    return Number.isNaN(newest) ? undefined : newest;
  }

  tells(node: number, property: Property): boolean {
    if (!isMixed(this, node)) return true;
    const told = this.told[node]!;
    switch (property) {
      case "category": return (told & Told.Category) !== 0;
      case "owner": return (told & Told.Owner) !== 0;
      case "age": return (told & Told.Age) !== 0;
      case "ending": return false;
    }
  }

  age(node: number): number {
    return this.colours.age[node]!;
  }

  owner(node: number): number {
    return this.colours.owner[node]!;
  }

  category(node: number): number {
    return this.colours.category[node]!;
  }

  ending(node: number): number {
    const origin = this.origins[node]!;
    return origin === NO_NODE ? NONE_8 : this.base.ending(origin);
  }

  nameBytes(node: number): Uint8Array {
    return this.labels.get(node) ?? this.base.nameBytes(this.origins[node]!);
  }

  parent(node: number): number {
    return this.parents[node]!;
  }

  firstChild(node: number): number {
    return this.firsts[node]!;
  }

  childCount(node: number): number {
    return this.counts[node]!;
  }

  isClosed(): boolean {
    return false;
  }

  async open(): Promise<void> {}

  origin(node: number): number {
    return this.origins[node]!;
  }
}

function draftOf(base: Tree, from: number, regrouping: Regrouping): Draft {
  const { groups, groupOf, mixed } = regrouping;
  const draft = new Draft();
  const root = draft.add(NO_NODE, from, Kind.AllRoots, NONE_32);
  // One group alone needs no level of its own.
  const isFlat = groups.length === 1 && mixed === undefined;
  const tops = new Map<number, number>();
  const topOf = (group: number): number => {
    if (isFlat) return root;
    let top = tops.get(group);
    if (top === undefined) {
      top = draft.add(root, NO_NODE, Kind.Directory, group, groups[group]!.label);
      tops.set(group, top);
    }
    return top;
  };
  // The directories on the way to the node in hand, and what stands for each in the groups.
  const way: { node: number; next: number; end: number; in: Map<number, number> }[] = [];
  const enter = (node: number) => {
    const first = base.firstChild(node);
    way.push({ node, next: first, end: first + base.childCount(node), in: new Map() });
  };
  const directoryIn = (group: number): number => {
    let above = topOf(group);
    // The view itself is the root.
    for (let level = 1; level < way.length; level++) {
      const step = way[level]!;
      let there = step.in.get(group);
      if (there === undefined) {
        there = draft.add(above, step.node, Kind.Directory, group);
        step.in.set(group, there);
      }
      above = there;
    }
    return above;
  };
  const leaf = (node: number) => {
    const own = base.kind(node);
    if (isMixed(base, node)) {
      if (mixed === undefined) return;
      if (groups.every((group) => group.sums !== undefined)) return;
      draft.mixed ??= draft.add(root, NO_NODE, Kind.Others, NONE_32, mixed);
      draft.count(draft.mixed, base.allocated(node), base.apparent(node), base.entries(node));
      const newest = base.newest(node);
      if (newest !== undefined && !(newest <= draft.mixedNewest!)) draft.mixedNewest = newest;
      return;
    }
    const group = groupOf(node);
    if (group === undefined) return;
    if (groups[group] === undefined) throw new Error(`the report has no group for node ${node}`);
    const there = draft.add(directoryIn(group), node, own, group);
    // The blocks of a directory stand for it: no other node below counts it as an entry.
    draft.count(there, base.allocated(node), base.apparent(node), own === Kind.Own ? 1n : base.entries(node));
  };
  if (base.childCount(from) === 0) leaf(from);
  else enter(from);
  while (way.length > 0) {
    const step = way[way.length - 1]!;
    if (step.next === step.end) {
      way.pop();
      continue;
    }
    const node = step.next++;
    if (base.childCount(node) > 0) enter(node);
    else leaf(node);
  }

  // Parents come before children.
  for (let node = draft.parent.length - 1; node > 0; node--) {
    const parent = draft.parent[node]!;
    draft.count(parent, draft.allocated[node]!, draft.apparent[node]!, draft.entries[node]!);
  }
  groups.forEach((group, index) => {
    if (group.sums === undefined) return;
    const known = tops.get(index);
    const of = (column: bigint[]) => (known === undefined ? 0n : column[known]!);
    const allocated = group.sums.allocated - of(draft.allocated);
    const apparent = group.sums.apparent - of(draft.apparent);
    const entries = group.sums.entries - of(draft.entries);
    if (allocated < 0n || apparent < 0n) {
      throw new Error(`the tree has more of ${group.label} than the scan`);
    }
    if (allocated === 0n && apparent === 0n && entries <= 0n) return;
    const top = topOf(index);
    const rest = draft.add(top, NO_NODE, Kind.Others, index, "");
    draft.count(rest, allocated, apparent, entries > 0n ? entries : 0n);
    draft.count(top, allocated, apparent, entries > 0n ? entries : 0n);
    draft.count(root, allocated, apparent, entries > 0n ? entries : 0n);
  });
  if (mixed !== undefined) {
    // Directories whose blocks are in a sum are entries, too, and no node stands for them.
    const rest = base.entries(from) - draft.entries[root]!;
    if (draft.mixed !== undefined) draft.entries[draft.mixed]! += rest;
    draft.entries[root]! += rest;
  }
  return draft;
}
