// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block: the columns of some nodes as bytes.
//!
//! Little-endian: the length of a header as u32, the header, zero bytes up to a multiple of
//! 8, then columns, each of which begins at a multiple of 8. The header is JSON. It has the
//! number of nodes, and of each column its type, its place and its length.

use std::fmt::Write as _;

/// No node, and no block.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The time of a node whose time is not known.
const NO_TIME: i64 = i64::MIN;

const ALIGNMENT: usize = 8;
const SECOND_NS: i64 = 1_000_000_000;

/// The columns of a block.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) parent: Vec<u32>,
    pub(crate) first_child: Vec<u32>,
    pub(crate) child_count: Vec<u32>,
    pub(crate) kind: Vec<u8>,
    pub(crate) flags: Vec<u8>,
    allocated: Wide,
    apparent: Wide,
    pub(crate) entries: Vec<u64>,
    newest_s: Vec<i64>,
    pub(crate) owner: Vec<u32>,
    pub(crate) category: Vec<u8>,
    pub(crate) ending: Vec<u8>,
    pub(crate) name_end: Vec<u32>,
    pub(crate) names: Vec<u8>,
    /// The place of the children, where they are in other blocks; else empty.
    pub(crate) block: Vec<u32>,
    pub(crate) block_node: Vec<u32>,
}

/// Sums of bytes. Few trees need more than 64 bits.
#[derive(Default)]
struct Wide {
    low: Vec<u64>,
    /// Bits 64 to 95; empty where all are 0.
    high: Vec<u32>,
}

impl Wide {
    fn push(&mut self, bytes: u128) {
        let high = u32::try_from(bytes >> 64).unwrap_or(u32::MAX);
        if high > 0 || !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(bytes as u64);
    }

    fn get(&self, index: usize) -> u128 {
        let high = self.high.get(index).copied().unwrap_or(0);
        u128::from(high) << 64 | u128::from(self.low[index])
    }
}

impl Columns {
    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(crate) fn push_sums(&mut self, allocated_bytes: u128, apparent_bytes: u128) {
        self.allocated.push(allocated_bytes);
        self.apparent.push(apparent_bytes);
    }

    pub(crate) fn push_time(&mut self, newest_ns: Option<i64>) {
        let newest_s = newest_ns.map_or(NO_TIME, |ns| ns.div_euclid(SECOND_NS));
        self.newest_s.push(newest_s);
    }

    pub(crate) fn allocated(&self, index: usize) -> u128 {
        self.allocated.get(index)
    }

    pub(crate) fn name(&self, index: usize) -> &[u8] {
        let start = match index.checked_sub(1) {
            Some(before) => self.name_end[before],
            None => 0,
        };
        &self.names[start as usize..self.name_end[index] as usize]
    }

    /// The bytes of the block.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let mut places = Places::default();
        places.note("parent", "u32", self.parent.len() * 4);
        places.note("first_child", "u32", self.first_child.len() * 4);
        places.note("child_count", "u32", self.child_count.len() * 4);
        places.note("kind", "u8", self.kind.len());
        places.note("flags", "u8", self.flags.len());
        places.note("allocated", "u64", self.allocated.low.len() * 8);
        places.note("apparent", "u64", self.apparent.low.len() * 8);
        places.note("entries", "u64", self.entries.len() * 8);
        places.note("newest_s", "i64", self.newest_s.len() * 8);
        places.note("owner", "u32", self.owner.len() * 4);
        places.note("category", "u8", self.category.len());
        places.note("ending", "u8", self.ending.len());
        places.note("name_end", "u32", self.name_end.len() * 4);
        places.note("names", "u8", self.names.len());
        let mut rest = |name, column: &Vec<u32>| {
            if !column.is_empty() {
                places.note(name, "u32", column.len() * 4);
            }
        };
        rest("allocated_high", &self.allocated.high);
        rest("apparent_high", &self.apparent.high);
        rest("block", &self.block);
        rest("block_node", &self.block_node);

        let header = places.header(self.len());
        let mut bytes = Vec::with_capacity(4 + header.len() + ALIGNMENT + places.end);
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header.as_bytes());
        align(&mut bytes);
        let u32s = |bytes: &mut Vec<u8>, column: Vec<u32>| {
            bytes.extend(column.into_iter().flat_map(u32::to_le_bytes));
            align(bytes);
        };
        let u64s = |bytes: &mut Vec<u8>, column: Vec<u64>| {
            bytes.extend(column.into_iter().flat_map(u64::to_le_bytes));
        };
        let u8s = |bytes: &mut Vec<u8>, column: Vec<u8>| {
            bytes.extend(column);
            align(bytes);
        };
        u32s(&mut bytes, self.parent);
        u32s(&mut bytes, self.first_child);
        u32s(&mut bytes, self.child_count);
        u8s(&mut bytes, self.kind);
        u8s(&mut bytes, self.flags);
        u64s(&mut bytes, self.allocated.low);
        u64s(&mut bytes, self.apparent.low);
        u64s(&mut bytes, self.entries);
        bytes.extend(self.newest_s.into_iter().flat_map(i64::to_le_bytes));
        u32s(&mut bytes, self.owner);
        u8s(&mut bytes, self.category);
        u8s(&mut bytes, self.ending);
        u32s(&mut bytes, self.name_end);
        u8s(&mut bytes, self.names);
        u32s(&mut bytes, self.allocated.high);
        u32s(&mut bytes, self.apparent.high);
        u32s(&mut bytes, self.block);
        u32s(&mut bytes, self.block_node);
        bytes
    }
}

/// The places of columns, in the order in which they stand.
#[derive(Default)]
struct Places {
    columns: String,
    end: usize,
}

impl Places {
    fn note(&mut self, name: &str, kind: &str, bytes: usize) {
        let comma = if self.columns.is_empty() { "" } else { "," };
        let at = self.end;
        let column =
            format_args!(r#"{comma}"{name}":{{"type":"{kind}","at":{at},"bytes":{bytes}}}"#);
        self.columns.write_fmt(column).expect("a string takes all");
        self.end = (at + bytes).next_multiple_of(ALIGNMENT);
    }

    fn header(&self, nodes: usize) -> String {
        format!(r#"{{"nodes":{nodes},"columns":{{{}}}}}"#, self.columns)
    }
}

fn align(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}
