// SPDX-License-Identifier: MIT OR Apache-2.0

// The rows of the tree table: the directory in view, and below it what is expanded.

import { label } from "./describe";
import { ownerName } from "./grouping";
import { lacksBlocks, type Facts } from "./facts";
import { bytesOf, isContainer, type Measure, type Tree } from "./tree";

export type SortKey = "name" | "disk" | "apparent" | "entries" | "newest" | "owner";

export interface Sort {
  key: SortKey;
  isDescending: boolean;
}

export interface Row {
  node: number;
  level: number;
  /** Its place among its siblings, from 1, and how many they are. */
  position: number;
  of: number;
}

export class Rows {
  rows: Row[] = [];
  readonly expanded = new Set<number>();
  sort: Sort;
  private places: Map<number, number> | undefined;

  constructor(private readonly facts: Facts) {
    this.sort = { key: lacksBlocks(facts) ? "apparent" : "disk", isDescending: true };
  }

  /** Makes the rows anew. */
  fill(tree: Tree, view: number): void {
    this.rows = [{ node: view, level: 1, position: 1, of: 1 }];
    this.expanded.add(view);
    // An explicit stack: directories are thousands deep.
    const stack: Row[] = this.childRows(tree, view, 2).reverse();
    while (stack.length > 0) {
      const row = stack.pop()!;
      this.rows.push(row);
      if (!this.expanded.has(row.node)) continue;
      const below = this.childRows(tree, row.node, row.level + 1);
      for (let at = below.length - 1; at >= 0; at--) stack.push(below[at]!);
    }
    this.places = undefined;
  }

  /**
   * Expands directories below the view, the largest first, where all rows fit in `room`;
   * none that holds less than a hundredth.
   */
  openLargest(tree: Tree, view: number, room: number): void {
    let rows = 1 + tree.childCount(view);
    const waiting = [view];
    while (waiting.length > 0) {
      const node = waiting.shift()!;
      if (node !== view) {
        if (rows + tree.childCount(node) > room) continue;
        rows += tree.childCount(node);
        this.expanded.add(node);
      }
      if (rows >= room) return;
      const first = tree.firstChild(node);
      for (let child = first, end = first + tree.childCount(node); child < end; child++) {
        const isLarge = tree.allocated(child) * 100n >= tree.allocated(view);
        if (isLarge && isContainer(tree, child) && tree.childCount(child) > 0) waiting.push(child);
      }
      waiting.sort((a, b) => bySize(tree, b, a, "allocated") || a - b);
    }
  }

  /** Expands the directories above what was searched, from the top, until there are `max` rows. */
  openDownTo(isFound: (node: number) => boolean, tree: Tree, view: number, max: number): void {
    let rows = 1 + tree.childCount(view);
    const waiting = [view];
    for (const node of waiting) {
      const first = tree.firstChild(node);
      for (let child = first, end = first + tree.childCount(node); child < end; child++) {
        const below = tree.childCount(child);
        if (below === 0 || rows + below > max || isFound(child)) continue;
        rows += below;
        this.expanded.add(child);
        waiting.push(child);
      }
    }
  }

  private childRows(tree: Tree, node: number, level: number): Row[] {
    const of = tree.childCount(node);
    return this.sorted(tree, node).map((child, at) => ({ node: child, level, position: at + 1, of }));
  }

  private sorted(tree: Tree, node: number): number[] {
    const first = tree.firstChild(node);
    const children = Array.from({ length: tree.childCount(node) }, (_, at) => first + at);
    const { key, isDescending } = this.sort;
    const direction = isDescending ? -1 : 1;
    const compare = this.comparison(tree, key, children);
    if (compare !== undefined) children.sort((a, b) => direction * compare(a, b) || a - b);
    else if (!isDescending) children.reverse();
    return children;
  }

  /** Absent for the order in which children come: the largest first. */
  private comparison(tree: Tree, key: SortKey, children: number[]): ((a: number, b: number) => number) | undefined {
    switch (key) {
      case "disk": return undefined;
      case "apparent": return (a, b) => bySize(tree, a, b, "apparent");
      case "entries": return (a, b) => Number(tree.entries(a) - tree.entries(b));
      case "newest": return (a, b) => (tree.newest(a) ?? -Infinity) - (tree.newest(b) ?? -Infinity) || 0;
      case "name": return byText(children, (node) => label(tree, node));
      case "owner": return byText(children, (node) => ownerName(this.facts, tree.owner(node)));
    }
  }

  canExpand(tree: Tree, node: number): boolean {
    return isContainer(tree, node) && (tree.childCount(node) > 0 || tree.isClosed(node));
  }

  at(index: number): Row | undefined {
    return this.rows[index];
  }

  indexOf(node: number): number {
    if (this.places === undefined) {
      this.places = new Map();
      this.rows.forEach((row, at) => this.places!.set(row.node, at));
    }
    return this.places.get(node) ?? -1;
  }

  /** The row of the directory that holds a row. */
  above(index: number): number {
    const level = this.rows[index]?.level ?? 1;
    for (let at = index - 1; at >= 0; at--) if (this.rows[at]!.level < level) return at;
    return 0;
  }
}

function bySize(tree: Tree, a: number, b: number, measure: Measure): number {
  const difference = bytesOf(tree, a, measure) - bytesOf(tree, b, measure);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function byText(nodes: number[], textOf: (node: number) => string): (a: number, b: number) => number {
  const texts = new Map(nodes.map((node) => [node, textOf(node)]));
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return (a, b) => compare(texts.get(a)!, texts.get(b)!);
}
