// SPDX-License-Identifier: MIT OR Apache-2.0

// A block of the tree: columns of numbers, read where they lie.

const ELEMENTS = {
  u8: Uint8Array,
  u32: Uint32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  bytes: Uint8Array,
} as const;
/** No node. */
const NOTHING = 0xffffffff;

type Type = keyof typeof ELEMENTS;
type Column<T extends Type> = InstanceType<(typeof ELEMENTS)[T]>;

interface Header {
  nodes: number;
  columns: Record<string, Place | undefined>;
}

interface Place {
  type: Type;
  at: number;
  bytes: number;
  /**
   * The lowest bytes of all numbers come first, then the next bytes of all, and so on. Planes
   * whose bytes are all one number are not there; that number stands here.
   */
  planes?: (number | null)[];
}

export interface Block {
  count: number;
  parent: Uint32Array;
  firstChild: Uint32Array;
  childCount: Uint32Array;
  kind: Uint8Array;
  flags: Uint8Array;
  allocated: BigUint64Array;
  apparent: BigUint64Array;
  /** Bits 64 to 95, where a sum needs them. */
  allocatedHigh?: Uint32Array;
  apparentHigh?: Uint32Array;
  entries: BigUint64Array;
  newest: BigInt64Array;
  owner: Uint32Array;
  category: Uint8Array;
  ending: Uint8Array;
  nameEnd: Uint32Array;
  names: Uint8Array;
  /** The block, and the node in it, that has the children of a node. */
  block?: Uint32Array;
  blockNode?: Uint32Array;
}

export function decodeBlock(buffer: ArrayBuffer): Block {
  const view = new DataView(buffer);
  const headerBytes = view.getUint32(0, true);
  const header: Header = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 4, headerBytes)),
  );
  const start = (4 + headerBytes + 7) & ~7;
  const count = header.nodes;

  function optional<T extends Type>(name: string, type: T): Column<T> | undefined {
    const place = header.columns[name];
    if (place === undefined) return undefined;
    const Elements = ELEMENTS[type];
    const width = Elements.BYTES_PER_ELEMENT;
    const planes = place.planes?.filter((plane) => plane === null).length ?? width;
    const isWhole = place.bytes === planes * count && (place.planes?.length ?? width) === width;
    if (place.type !== type || (type !== "bytes" && !isWhole)) {
      throw new Error(`the column ${name} is not ${count} of ${type}`);
    }
    if (place.planes !== undefined) {
      const bytes = new Uint8Array(buffer, start + place.at, place.bytes);
      return new Elements(joined(bytes, place.planes, count)) as Column<T>;
    }
    return new Elements(buffer, start + place.at, place.bytes / width) as Column<T>;
  }
  function column<T extends Type>(name: string, type: T): Column<T> {
    const found = optional(name, type);
    if (found === undefined) throw new Error(`a block has no column ${name}`);
    return found;
  }

  const high = {
    allocatedHigh: optional("allocated_high", "u32"),
    apparentHigh: optional("apparent_high", "u32"),
  };
  return {
    count,
    ...family(column("parent_step", "u32")),
    kind: column("kind", "u8"),
    flags: column("flags", "u8"),
    allocated: column("allocated", "u64"),
    apparent: column("apparent", "u64"),
    ...high,
    entries: column("entries", "u64"),
    newest: column("newest_s", "i64"),
    owner: column("owner", "u32"),
    category: column("category", "u8"),
    ending: column("ending", "u8"),
    nameEnd: column("name_length", "u32").map(sumsFrom(0)),
    names: column("names", "bytes"),
    block: optional("block", "u32"),
    blockNode: optional("block_node", "u32"),
  };
}

/** Numbers from their planes. */
function joined(bytes: Uint8Array, planes: (number | null)[], count: number): ArrayBuffer {
  const width = planes.length;
  const numbers = new Uint8Array(count * width);
  let start = 0;
  planes.forEach((one, plane) => {
    if (one === null) {
      for (let at = 0; at < count; at++) numbers[at * width + plane] = bytes[start + at]!;
      start += count;
    } else if (one !== 0) {
      for (let at = 0; at < count; at++) numbers[at * width + plane] = one;
    }
  });
  return numbers.buffer;
}

/** The sum of a number and all so far, as 32 bits have it. */
function sumsFrom(sum: number): (step: number) => number {
  return (step) => (sum = (sum + step) >>> 0);
}

/** Parents from their steps, and children from parents: those of a node stand in a row. */
function family(steps: Uint32Array): Pick<Block, "parent" | "firstChild" | "childCount"> {
  const parent = steps.map(sumsFrom(NOTHING));
  const firstChild = new Uint32Array(steps.length);
  const childCount = new Uint32Array(steps.length);
  for (let at = 0; at < parent.length; at++) {
    const above = parent[at]!;
    if (above === NOTHING) continue;
    if (childCount[above] === 0) firstChild[above] = at;
    childCount[above]!++;
  }
  return { parent, firstChild, childCount };
}
