// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block: the columns of some nodes as bytes.
//!
//! Little-endian: the length of a header as u32, the header, zero bytes up to a multiple of
//! 8, then columns, each of which begins at a multiple of 8. The header is JSON. It has the
//! number of nodes, and of each column its type, its place and its length.

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
        let mut out = Writer::default();
        out.column("parent", Layout::Planes, &self.parent);
        out.column("first_child", Layout::Numbers, &self.first_child);
        out.column("child_count", Layout::Planes, &self.child_count);
        out.column("kind", Layout::Numbers, &self.kind);
        out.column("flags", Layout::Numbers, &self.flags);
        out.column("allocated", Layout::Planes, &self.allocated.low);
        out.column("apparent", Layout::Planes, &self.apparent.low);
        out.column("entries", Layout::Planes, &self.entries);
        out.column("newest_s", Layout::Numbers, &self.newest_s);
        out.column("owner", Layout::Numbers, &self.owner);
        out.column("category", Layout::Numbers, &self.category);
        out.column("ending", Layout::Numbers, &self.ending);
        out.column("name_end", Layout::Planes, &self.name_end);
        out.bytes("names", &self.names);
        for (name, column) in [
            ("allocated_high", &self.allocated.high),
            ("apparent_high", &self.apparent.high),
            ("block", &self.block),
            ("block_node", &self.block_node),
        ] {
            if !column.is_empty() {
                out.column(name, Layout::Numbers, column);
            }
        }
        out.finish(self.len())
    }
}

/// The order of the bytes of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One number after another.
    Numbers,
    /// The lowest bytes of all numbers, then the next ones, and so on. Most numbers are
    /// small, so the zero bytes stand together, and DEFLATE takes half of the time.
    Planes,
}

/// A number in a column.
trait Number: Copy {
    const TYPE: &'static str;
    const BYTES: usize;

    fn bytes(self) -> [u8; 8];
}

macro_rules! number {
    ($($type:ident),+) => {
        $(impl Number for $type {
            const TYPE: &'static str = stringify!($type);
            const BYTES: usize = size_of::<$type>();

            fn bytes(self) -> [u8; 8] {
                let mut all = [0; 8];
                all[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
                all
            }
        })+
    };
}

number!(u8, u32, u64, i64);

/// Columns as bytes, and their places.
#[derive(Default)]
struct Writer {
    places: String,
    data: Vec<u8>,
}

impl Writer {
    fn column<N: Number>(&mut self, name: &str, layout: Layout, numbers: &[N]) {
        let bytes = numbers.len() * N::BYTES;
        self.place(name, N::TYPE, bytes, layout);
        self.data.reserve(bytes + ALIGNMENT);
        match layout {
            Layout::Numbers => {
                for number in numbers {
                    self.data.extend_from_slice(&number.bytes()[..N::BYTES]);
                }
            }
            Layout::Planes => {
                for byte in 0..N::BYTES {
                    self.data
                        .extend(numbers.iter().map(|number| number.bytes()[byte]));
                }
            }
        }
        self.align();
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.place(name, "bytes", bytes.len(), Layout::Numbers);
        self.data.extend_from_slice(bytes);
        self.align();
    }

    fn place(&mut self, name: &str, kind: &str, bytes: usize, layout: Layout) {
        let comma = if self.places.is_empty() { "" } else { "," };
        let at = self.data.len();
        let planes = match layout {
            Layout::Numbers => "",
            Layout::Planes => r#","planes":true"#,
        };
        let place =
            format!(r#"{comma}"{name}":{{"type":"{kind}","at":{at},"bytes":{bytes}{planes}}}"#);
        self.places.push_str(&place);
    }

    fn align(&mut self) {
        self.data
            .resize(self.data.len().next_multiple_of(ALIGNMENT), 0);
    }

    fn finish(self, nodes: usize) -> Vec<u8> {
        let header = format!(r#"{{"nodes":{nodes},"columns":{{{}}}}}"#, self.places);
        let begin = (4 + header.len()).next_multiple_of(ALIGNMENT);
        let mut block = Vec::with_capacity(begin + self.data.len());
        block.extend((header.len() as u32).to_le_bytes());
        block.extend(header.as_bytes());
        block.resize(begin, 0);
        block.extend(self.data);
        block
    }
}
