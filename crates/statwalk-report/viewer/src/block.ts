// SPDX-License-Identifier: MIT OR Apache-2.0

// A block of the tree: columns of numbers, read where they lie.

const ELEMENTS = {
  u8: Uint8Array,
  u32: Uint32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  bytes: Uint8Array,
} as const;
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
  /** The lowest bytes of all numbers come first, then the next bytes of all, and so on. */
  planes?: boolean;
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
    const length = place.bytes / Elements.BYTES_PER_ELEMENT;
    if (place.type !== type || (type !== "bytes" && length !== count)) {
      throw new Error(`the column ${name} is not ${count} of ${type}`);
    }
    if (place.planes === true) {
      const planes = new Uint8Array(buffer, start + place.at, place.bytes);
      return new Elements(joined(planes, Elements.BYTES_PER_ELEMENT)) as Column<T>;
    }
    return new Elements(buffer, start + place.at, length) as Column<T>;
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
    parent: column("parent", "u32"),
    firstChild: column("first_child", "u32"),
    childCount: column("child_count", "u32"),
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
    nameEnd: column("name_end", "u32"),
    names: column("names", "bytes"),
    block: optional("block", "u32"),
    blockNode: optional("block_node", "u32"),
  };
}

/** Numbers of so many bytes each, from planes. */
function joined(planes: Uint8Array, width: number): ArrayBuffer {
  const numbers = new Uint8Array(planes.length);
  const count = planes.length / width;
  for (let plane = 0; plane < width; plane++) {
    for (let at = 0; at < count; at++) numbers[at * width + plane] = planes[plane * count + at]!;
  }
  return numbers.buffer;
}
