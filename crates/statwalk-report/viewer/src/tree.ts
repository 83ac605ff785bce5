// SPDX-License-Identifier: MIT OR Apache-2.0

// The tree as the rest of the viewer sees it. A node is a number; the children of a node are
// numbers in a row. `BlockTree` reads blocks; `RegroupedTree` has the same bytes in other
// directories.

import { decodeBlock, type Block } from "./block";
import type { Property } from "./filter";
import type { Provider } from "./provider";

export const enum Kind {
  Directory,
  File,
  Link,
  Other,
  /** The rest of a directory, summed. */
  Others,
  /** The blocks of a directory itself. */
  Own,
  Free,
  AllRoots,
}

export const enum Flag {
  Incomplete = 1,
  Unreadable = 2,
  Excluded = 4,
  OtherFileSystem = 8,
  CountedElsewhere = 16,
}

export type Measure = "allocated" | "apparent";

export const NO_NODE = -1;
/** An index that names nothing, in columns of 32 and of 8 bits. */
export const NONE_32 = 0xffffffff;
export const NONE_8 = 255;

export interface Tree {
  readonly root: number;
  kind(node: number): Kind;
  flags(node: number): number;
  allocated(node: number): bigint;
  apparent(node: number): bigint;
  /** The same as a float: enough for areas, never for a number on the page. */
  weight(node: number, measure: Measure): number;
  entries(node: number): bigint;
  /** Seconds since 1970; absent where nothing is known. */
  newest(node: number): number | undefined;
  /** The group of ages that the node belongs to whatever its time is, or `NONE_8`. */
  age(node: number): number;
  /** Whether all bytes of the node are of one group of the property. */
  tells(node: number, property: Property): boolean;
  owner(node: number): number;
  category(node: number): number;
  ending(node: number): number;
  nameBytes(node: number): Uint8Array;
  parent(node: number): number;
  firstChild(node: number): number;
  childCount(node: number): number;
  /** Whether its children are in a block that is not read yet. */
  isClosed(node: number): boolean;
  open(node: number): Promise<void>;
  /** The node of the scan behind a node of a regrouped tree, or `NO_NODE`. */
  origin(node: number): number;
}

export function bytesOf(tree: Tree, node: number, measure: Measure): bigint {
  return measure === "allocated" ? tree.allocated(node) : tree.apparent(node);
}

/** Whether the node can have others below it. */
export function isContainer(tree: Tree, node: number): boolean {
  const kind = tree.kind(node);
  return kind === Kind.Directory || kind === Kind.AllRoots;
}

/** Whether the bytes of a node are of several kinds, which the file does not tell apart. */
export function isMixed(tree: Tree, node: number): boolean {
  const kind = tree.kind(node);
  if (kind === Kind.Others) return true;
  return isContainer(tree, node) && tree.childCount(node) === 0 && tree.entries(node) > 1n;
}

/** How many nodes a part can have. Numbers of nodes stay exact below 2^53. */
export const PART = 2 ** 26;
const UNKNOWN_TIME = -(2n ** 63n);

interface Part {
  block: Block;
  /** Allocated and apparent bytes in halves, so that no float needs a BigInt. */
  halves: Record<Measure, Uint32Array>;
  /** From a node whose children others hang below, to the node that they belong to. */
  entrances: Map<number, number>;
}

export class BlockTree implements Tree {
  readonly root = 0;
  private readonly parts: (Part | undefined)[] = [];
  private readonly opening = new Map<number, Promise<void>>();
  private sumsUp: boolean | undefined;

  private constructor(private readonly provider: Provider) {}

  static async from(provider: Provider): Promise<BlockTree> {
    const tree = new BlockTree(provider);
    await tree.read(0);
    return tree;
  }

  /** The parts that are read, with the number of their first node. */
  *loaded(): Iterable<{ first: number; block: Block }> {
    for (let index = 0; index < this.parts.length; index++) {
      const part = this.parts[index];
      if (part !== undefined) yield { first: index * PART, block: part.block };
    }
  }

  private async read(index: number): Promise<void> {
    const block = decodeBlock(await this.provider.block(index));
    const halves = (column: BigUint64Array) =>
      new Uint32Array(column.buffer, column.byteOffset, column.length * 2);
    this.parts[index] = {
      block,
      halves: { allocated: halves(block.allocated), apparent: halves(block.apparent) },
      entrances: new Map(),
    };
  }

  /** Whether some entries of the scan are in a sum alone, so that the file lacks their names. */
  hasSums(): boolean {
    // A file in several blocks has every entry.
    const { block } = this.parts[0]!;
    this.sumsUp ??= block.block === undefined
      && block.kind.some((kind, node) => kind === Kind.Others || (kind === Kind.Directory && isMixed(this, node)));
    return this.sumsUp;
  }

  /** Whether every block is read. */
  isRead(): boolean {
    for (const { block } of this.loaded()) {
      if (block.block?.some((index) => index !== NONE_32 && this.parts[index] === undefined)) return false;
    }
    return true;
  }

  private part(node: number): Part {
    const part = node < PART ? this.parts[0] : this.parts[Math.floor(node / PART)];
    if (part === undefined) throw new Error(`node ${node} is in a block that is not read`);
    return part;
  }

  private at(node: number): number {
    return node % PART;
  }

  kind(node: number): Kind {
    return this.part(node).block.kind[this.at(node)]!;
  }

  flags(node: number): number {
    return this.part(node).block.flags[this.at(node)]!;
  }

  allocated(node: number): bigint {
    const { block } = this.part(node);
    const low = block.allocated[this.at(node)]!;
    const high = block.allocatedHigh?.[this.at(node)];
    return high ? (BigInt(high) << 64n) | low : low;
  }

  apparent(node: number): bigint {
    const { block } = this.part(node);
    const low = block.apparent[this.at(node)]!;
    const high = block.apparentHigh?.[this.at(node)];
    return high ? (BigInt(high) << 64n) | low : low;
  }

  weight(node: number, measure: Measure): number {
    const part = this.part(node);
    const at = this.at(node);
    const halves = part.halves[measure];
    const high = (measure === "allocated" ? part.block.allocatedHigh : part.block.apparentHigh)?.[at];
    return (high ?? 0) * 2 ** 64 + halves[at * 2 + 1]! * 2 ** 32 + halves[at * 2]!;
  }

  entries(node: number): bigint {
    return this.part(node).block.entries[this.at(node)]!;
  }

  newest(node: number): number | undefined {
    const newest = this.part(node).block.newest[this.at(node)]!;
    return newest === UNKNOWN_TIME ? undefined : Number(newest);
  }

  age(): number {
    return NONE_8;
  }

  tells(node: number): boolean {
    return !isMixed(this, node);
  }

  owner(node: number): number {
    return this.part(node).block.owner[this.at(node)]!;
  }

  category(node: number): number {
    return this.part(node).block.category[this.at(node)]!;
  }

  ending(node: number): number {
    return this.part(node).block.ending[this.at(node)]!;
  }

  nameBytes(node: number): Uint8Array {
    const { block } = this.part(node);
    const at = this.at(node);
    return block.names.subarray(at === 0 ? 0 : block.nameEnd[at - 1]!, block.nameEnd[at]!);
  }

  parent(node: number): number {
    const part = this.part(node);
    const parent = part.block.parent[this.at(node)]!;
    if (parent === NONE_32) return NO_NODE;
    const above = node - this.at(node) + parent;
    return part.entrances.get(parent) ?? above;
  }

  firstChild(node: number): number {
    const { block } = this.part(node);
    const at = this.at(node);
    if (block.childCount[at]! > 0) return node - at + block.firstChild[at]!;
    const below = this.below(node);
    return below === undefined ? NO_NODE : this.firstChild(below);
  }

  childCount(node: number): number {
    const count = this.part(node).block.childCount[this.at(node)]!;
    if (count > 0) return count;
    const below = this.below(node);
    return below === undefined ? 0 : this.childCount(below);
  }

  /** The same directory in the block that has its children, where that is read. */
  private below(node: number): number | undefined {
    const { block } = this.part(node);
    const at = this.at(node);
    const index = block.block?.[at];
    if (index === undefined || index === NONE_32) return undefined;
    const part = this.parts[index];
    if (part === undefined) return undefined;
    const inside = block.blockNode?.[at] ?? 0;
    part.entrances.set(inside, node);
    return index * PART + inside;
  }

  isClosed(node: number): boolean {
    const { block } = this.part(node);
    const index = block.block?.[this.at(node)];
    return index !== undefined && index !== NONE_32 && this.parts[index] === undefined;
  }

  async open(node: number): Promise<void> {
    if (!this.isClosed(node)) return;
    const index = this.part(node).block.block![this.at(node)]!;
    let reading = this.opening.get(index);
    if (reading === undefined) {
      reading = this.read(index).finally(() => this.opening.delete(index));
      this.opening.set(index, reading);
    }
    await reading;
  }

  origin(node: number): number {
    return node;
  }
}
