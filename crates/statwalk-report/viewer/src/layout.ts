// SPDX-License-Identifier: MIT OR Apache-2.0

// The cells of the map for one view: where each lies, in whole pixels of the device. What is
// too small for the eye is one cell of its directory.

import { squarify } from "./squarify";
import { bytesOf, Kind, NO_NODE, type Measure, type Tree } from "./tree";

export const enum Cell {
  /** A directory, which its cells fill. */
  Frame,
  /** A node alone. */
  Leaf,
  /** Several children of a directory, too small to be drawn apart. */
  Rest,
  Free,
}

export interface LayoutOptions {
  width: number;
  height: number;
  measure: Measure;
  /** Smaller areas are put together. */
  areaMin: number;
  /** The height of a strip for the name of a directory; 0 for none. */
  strip: (width: number, height: number, depth: number) => number;
  /** The border around the cells of a directory with a strip. */
  border: number;
  /** Free bytes of the file system, as a tile of the root. */
  free?: bigint | undefined;
}

/** The children of a directory that one cell stands for. */
export interface Rest {
  children: number[] | Range;
  bytes: bigint;
  entries: bigint;
}

interface Range {
  first: number;
  end: number;
}

export class Layout {
  count = 0;
  x0 = new Int32Array(1024);
  y0 = new Int32Array(1024);
  x1 = new Int32Array(1024);
  y1 = new Int32Array(1024);
  cell = new Uint8Array(1024);
  depth = new Uint16Array(1024);
  strip = new Uint8Array(1024);
  parent = new Int32Array(1024);
  firstInside = new Int32Array(1024);
  insideCount = new Int32Array(1024);
  /** The node; of a rest the directory. */
  node = new Float64Array(1024);
  readonly rests = new Map<number, Rest>();
  private bySize: Int32Array | undefined;

  constructor(
    readonly tree: Tree,
    readonly view: number,
    readonly options: LayoutOptions,
  ) {
    this.add(Cell.Leaf, view, NO_NODE, 0, 0, 0, options.width, options.height);
    // A queue, not a recursion: directories are thousands deep. It puts the cells of one
    // directory in a row.
    for (let index = 0; index < this.count; index++) this.divide(index);
  }

  private add(
    cell: Cell, node: number, parent: number, depth: number,
    x0: number, y0: number, x1: number, y1: number,
  ): number {
    if (this.count === this.x0.length) this.grow();
    const index = this.count++;
    this.cell[index] = cell;
    this.node[index] = node;
    this.parent[index] = parent;
    this.depth[index] = Math.min(depth, 0xffff);
    this.x0[index] = x0;
    this.y0[index] = y0;
    this.x1[index] = x1;
    this.y1[index] = y1;
    return index;
  }

  private grow(): void {
    const doubled = <T extends Int32Array | Uint8Array | Uint16Array | Float64Array>(from: T): T => {
      const to = new (from.constructor as new (length: number) => T)(from.length * 2);
      to.set(from);
      return to;
    };
    this.x0 = doubled(this.x0);
    this.y0 = doubled(this.y0);
    this.x1 = doubled(this.x1);
    this.y1 = doubled(this.y1);
    this.cell = doubled(this.cell);
    this.depth = doubled(this.depth);
    this.strip = doubled(this.strip);
    this.parent = doubled(this.parent);
    this.firstInside = doubled(this.firstInside);
    this.insideCount = doubled(this.insideCount);
    this.node = doubled(this.node);
  }

  /** Fills a directory with its cells, if they have room. */
  private divide(index: number): void {
    if (this.cell[index] !== Cell.Leaf) return;
    const { tree, options } = this;
    const node = this.node[index]!;
    const childCount = tree.childCount(node);
    if (childCount === 0) return;
    const free = index === 0 ? options.free ?? 0n : 0n;
    const depth = this.depth[index]!;
    let [x0, y0, x1, y1] = [this.x0[index]!, this.y0[index]!, this.x1[index]!, this.y1[index]!];
    const strip = index === 0 ? 0 : options.strip(x1 - x0, y1 - y0, depth);
    if (strip > 0) {
      x0 += options.border;
      y0 += strip;
      x1 -= options.border;
      y1 -= options.border;
    }
    const area = (x1 - x0) * (y1 - y0);
    if (area < options.areaMin * 2 && index > 0) return;

    const { measure, areaMin } = options;
    const total = tree.weight(node, measure) + Number(free);
    if (!(total > 0)) return;
    const weightMin = (areaMin / area) * total;
    const first = tree.firstChild(node);
    const shown: number[] = [];
    const small: number[] = [];
    let smallFrom = childCount;
    for (let at = 0; at < childCount; at++) {
      const child = first + at;
      const isShown = tree.weight(child, measure) >= weightMin && tree.kind(child) !== Kind.Others;
      if (isShown) shown.push(child);
      else if (measure === "allocated" && tree.weight(child, measure) < weightMin) {
        // The children come by allocated bytes, so none that follows has room either.
        smallFrom = at;
        break;
      } else small.push(child);
    }
    if (measure !== "allocated") shown.sort((a, b) => tree.weight(b, measure) - tree.weight(a, measure));
    const rest = this.restOf(node, shown, small, { first: first + smallFrom, end: first + childCount });

    // A rest can be larger than what is shown beside it: the largest come first.
    interface Part { cell: Cell; node: number; weight: number }
    const parts: Part[] = shown.map((child) => ({
      cell: Cell.Leaf, node: child, weight: tree.weight(child, measure),
    }));
    const insert = (part: Part) => {
      let at = parts.findIndex((other) => other.weight < part.weight);
      if (at < 0) at = parts.length;
      parts.splice(at, 0, part);
    };
    if (rest !== undefined) {
      const single = this.singleOf(rest);
      const weight = Number(rest.bytes);
      insert(single === undefined
        ? { cell: Cell.Rest, node, weight }
        : { cell: Cell.Leaf, node: single, weight });
    }
    if (free > 0n) insert({ cell: Cell.Free, node: NO_NODE, weight: Number(free) });
    if (parts.length === 0) return;

    this.cell[index] = Cell.Frame;
    this.strip[index] = strip;
    this.firstInside[index] = this.count;
    this.insideCount[index] = parts.length;
    const weights = Float64Array.from(parts, (part) => part.weight);
    const base = this.count;
    for (const part of parts) this.add(part.cell, part.node, index, depth + 1, 0, 0, 0, 0);
    squarify(weights, parts.length, x0, y0, x1, y1, (at, left, top, right, bottom) => {
      this.x0[base + at] = Math.round(left);
      this.y0[base + at] = Math.round(top);
      this.x1[base + at] = Math.round(right);
      this.y1[base + at] = Math.round(bottom);
    });
    parts.forEach((part, at) => {
      if (part.cell === Cell.Rest) this.rests.set(base + at, rest!);
    });
  }

  /** What is not shown apart, with its exact sum: that of the directory without the shown. */
  private restOf(node: number, shown: number[], small: number[], tail: Range): Rest | undefined {
    const { tree, options: { measure } } = this;
    if (small.length === 0 && tail.first === tail.end) return undefined;
    let bytes = bytesOf(tree, node, measure);
    for (const child of shown) bytes -= bytesOf(tree, child, measure);
    // Empty files take no room.
    if (bytes === 0n) return undefined;
    let entries = 0n;
    const children = small.length === 0 ? tail : [...small];
    if (Array.isArray(children)) {
      for (let child = tail.first; child < tail.end; child++) children.push(child);
    }
    for (const child of each(children)) entries += tree.entries(child);
    return { children, bytes, entries };
  }

  /** The one node that a rest is made of, if it can stand for itself. */
  private singleOf(rest: Rest): number | undefined {
    const { children } = rest;
    const length = Array.isArray(children) ? children.length : children.end - children.first;
    if (length !== 1) return undefined;
    return Array.isArray(children) ? children[0] : children.first;
  }

  /** The exact bytes of a cell. */
  bytes(index: number): bigint {
    const cell = this.cell[index];
    if (cell === Cell.Free) return this.options.free ?? 0n;
    if (cell === Cell.Rest) return this.rests.get(index)!.bytes;
    return bytesOf(this.tree, this.node[index]!, this.options.measure);
  }

  entries(index: number): bigint {
    const cell = this.cell[index];
    if (cell === Cell.Free) return 0n;
    if (cell === Cell.Rest) return this.rests.get(index)!.entries;
    return this.tree.entries(this.node[index]!);
  }

  /** The innermost cell at a pixel. */
  hit(x: number, y: number): number {
    if (!this.holds(0, x, y)) return -1;
    let found = 0;
    descend: for (;;) {
      const first = this.firstInside[found]!;
      const end = first + this.insideCount[found]!;
      for (let index = first; index < end; index++) {
        if (this.holds(index, x, y)) {
          found = index;
          continue descend;
        }
      }
      return found;
    }
  }

  private holds(index: number, x: number, y: number): boolean {
    return x >= this.x0[index]! && x < this.x1[index]! && y >= this.y0[index]! && y < this.y1[index]!;
  }

  /** The cells that are no frames and can be seen, the largest first. */
  largestFirst(): Int32Array {
    if (this.bySize === undefined) {
      const cells: number[] = [];
      const weights = new Float64Array(this.count);
      for (let index = 0; index < this.count; index++) {
        const isSeen = this.x1[index]! > this.x0[index]! && this.y1[index]! > this.y0[index]!;
        if (this.cell[index] === Cell.Frame || !isSeen) continue;
        weights[index] = Number(this.bytes(index));
        cells.push(index);
      }
      cells.sort((a, b) => weights[b]! - weights[a]! || a - b);
      this.bySize = Int32Array.from(cells);
    }
    return this.bySize;
  }

  /** The cell of a node, or the innermost one that holds it; -1 outside of the view. */
  cellOf(node: number): number {
    const way = [];
    let at = node;
    while (at !== this.view) {
      if (at === NO_NODE) return -1;
      way.push(at);
      at = this.tree.parent(at);
    }
    let found = 0;
    for (const next of way.reverse()) {
      const first = this.firstInside[found]!;
      const end = first + this.insideCount[found]!;
      let inside = -1;
      let rest = -1;
      for (let index = first; index < end; index++) {
        if (this.cell[index] === Cell.Rest) rest = index;
        else if (this.node[index] === next) inside = index;
      }
      if (inside < 0) return rest < 0 ? found : rest;
      found = inside;
    }
    return found;
  }
}

export function* each(children: number[] | Range): Iterable<number> {
  if (Array.isArray(children)) {
    yield* children;
  } else {
    for (let child = children.first; child < children.end; child++) yield child;
  }
}
