// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block: the columns of some nodes as bytes.
//!
//! Little-endian: the length of a header as u32, the header with blanks behind it, then
//! columns, each of which begins at a multiple of 8. The header is JSON. It has the number
//! of nodes, and of each column its type, its place and its length.

use std::ops::Range;

use statwalk_view::Figures;

use crate::redaction::{Naming, Place};
use crate::tally::{Tally, settle};
use crate::threads::both;
use crate::tree::{Facts, Kind, ReportTree};

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
    colours: Colours,
    pub(crate) ending: Vec<u8>,
    pub(crate) name_end: Vec<u32>,
    pub(crate) names: Vec<u8>,
    /// The place of the children, where they are in other blocks; else empty.
    pub(crate) block: Vec<u32>,
    pub(crate) block_node: Vec<u32>,
}

/// The owners and the categories of nodes: of directories and sums those with most bytes.
#[derive(Default)]
pub(crate) struct Colours {
    pub(crate) owner: Vec<u32>,
    pub(crate) category: Vec<u8>,
}

/// Sums of bytes. Few trees need more than 64 bits.
#[derive(Default)]
struct Wide {
    low: Vec<u64>,
    /// Bits 64 to 95; empty where all are 0.
    high: Vec<u32>,
}

impl Wide {
    fn with_room(nodes: usize) -> Wide {
        Wide {
            low: Vec::with_capacity(nodes),
            high: Vec::new(),
        }
    }

    fn push(&mut self, bytes: u128) {
        let high = u32::try_from(bytes >> 64).unwrap_or(u32::MAX);
        if high > 0 || !self.high.is_empty() {
            self.high.resize(self.low.len(), 0);
            self.high.push(high);
        }
        self.low.push(bytes as u64);
    }

    fn append(&mut self, others: Wide) {
        if !(self.high.is_empty() && others.high.is_empty()) {
            self.high.resize(self.low.len(), 0);
            self.high.extend(&others.high);
            self.high.resize(self.low.len() + others.low.len(), 0);
        }
        self.low.extend(others.low);
    }

    fn get(&self, index: usize) -> u128 {
        let high = self.high.get(index).copied().unwrap_or(0);
        u128::from(high) << 64 | u128::from(self.low[index])
    }
}

impl Columns {
    /// With room for so many nodes.
    pub(crate) fn with_room(nodes: usize) -> Columns {
        Columns {
            parent: Vec::with_capacity(nodes),
            first_child: Vec::with_capacity(nodes),
            child_count: Vec::with_capacity(nodes),
            kind: Vec::with_capacity(nodes),
            flags: Vec::with_capacity(nodes),
            allocated: Wide::with_room(nodes),
            apparent: Wide::with_room(nodes),
            entries: Vec::with_capacity(nodes),
            newest_s: Vec::with_capacity(nodes),
            colours: Colours {
                owner: Vec::with_capacity(nodes),
                category: Vec::with_capacity(nodes),
            },
            ending: Vec::with_capacity(nodes),
            name_end: Vec::with_capacity(nodes),
            ..Columns::default()
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.kind.len()
    }

    /// Adds a node that stands below a place, and returns its own place.
    pub(crate) fn push_node<T: ReportTree>(
        &mut self,
        tree: &T,
        node: T::Node,
        parent: u32,
        above: Place,
        naming: &mut Naming,
    ) -> Place {
        let facts = tree.facts(node);
        let ending = || tree.ending(node).into_owned();
        let (name, place) = naming.of_node(above, facts.kind, tree.name(node), ending);
        self.push(facts, &tree.figures(node), &name, parent);
        place
    }

    pub(crate) fn push(&mut self, facts: Facts, figures: &Figures, name: &[u8], parent: u32) {
        self.parent.push(parent);
        self.first_child.push(0);
        self.child_count.push(0);
        self.kind.push(facts.kind as u8);
        self.flags.push(facts.flags.bits());
        self.allocated.push(figures.allocated_bytes);
        self.apparent.push(figures.apparent_bytes);
        self.entries.push(match facts.kind {
            Kind::Itself => 0,
            _ => figures.entries,
        });
        let newest_ns = figures.newest_mtime_ns;
        let newest_s = newest_ns.map_or(NO_TIME, |ns| ns.div_euclid(SECOND_NS));
        self.newest_s.push(newest_s);
        self.colours.owner.push(facts.owner);
        self.colours.category.push(facts.category);
        self.ending.push(facts.ending);
        self.names.extend_from_slice(name);
        // A block has fewer than 2^32 bytes of names: so many do not fit into memory.
        self.name_end.push(self.names.len() as u32);
    }

    /// Adds the nodes of other columns, whose places are those behind these.
    pub(crate) fn append(&mut self, others: Columns) {
        let names_before = self.names.len() as u32;
        self.parent.extend(others.parent);
        self.first_child.extend(others.first_child);
        self.child_count.extend(others.child_count);
        self.kind.extend(others.kind);
        self.flags.extend(others.flags);
        self.allocated.append(others.allocated);
        self.apparent.append(others.apparent);
        self.entries.extend(others.entries);
        self.newest_s.extend(others.newest_s);
        self.colours.owner.extend(others.colours.owner);
        self.colours.category.extend(others.colours.category);
        self.ending.extend(others.ending);
        let ends = others.name_end.iter().map(|end| end + names_before);
        self.name_end.extend(ends);
        self.names.extend(others.names);
    }

    /// Notes that the nodes from `first` on are the children of a node.
    pub(crate) fn close_children(&mut self, parent: usize, first: usize) {
        self.first_child[parent] = first as u32;
        self.child_count[parent] = (self.len() - first) as u32;
    }

    /// Whether a node has nodes below it.
    pub(crate) fn is_dir(&self, index: usize) -> bool {
        let kind = self.kind[index];
        kind == Kind::Directory as u8 || kind == Kind::Roots as u8
    }

    /// Whether a node is a sum of others.
    pub(crate) fn is_rest(&self, index: usize) -> bool {
        self.kind[index] == Kind::Rest as u8
    }

    /// The places of the children.
    pub(crate) fn children(&self, index: usize) -> Range<usize> {
        let first = self.first_child[index] as usize;
        first..first + self.child_count[index] as usize
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

    /// The bytes of the block, and the tallies of some directories. `hidden` gives what is
    /// below a directory and has no node here.
    pub(crate) fn into_bytes(
        mut self,
        roots: Range<usize>,
        hidden: impl FnMut(usize) -> Option<Tally>,
    ) -> (Vec<u8>, Vec<Tally>) {
        let mut colours = std::mem::take(&mut self.colours);
        let own = || settle(&self, &mut colours, roots, hidden);
        let (mut out, tallies) = both(|| self.written(), own);
        out.column("owner", Layout::Numbers, &colours.owner);
        out.column("category", Layout::Numbers, &colours.category);
        (out.finish(self.len()), tallies)
    }

    /// All columns without the colours.
    fn written(&self) -> Writer {
        let mut out = Writer::new();
        out.column("parent", Layout::Planes, &self.parent);
        out.column("first_child", Layout::Numbers, &self.first_child);
        out.column("child_count", Layout::Planes, &self.child_count);
        out.column("kind", Layout::Numbers, &self.kind);
        out.column("flags", Layout::Numbers, &self.flags);
        out.column("allocated", Layout::Planes, &self.allocated.low);
        out.column("apparent", Layout::Planes, &self.apparent.low);
        out.column("entries", Layout::Planes, &self.entries);
        out.column("newest_s", Layout::Numbers, &self.newest_s);
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
        out
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

/// The room for the length of the header and the header: more than all columns need.
const HEADER_BYTES: usize = 4096;

/// Columns as bytes, and their places.
struct Writer {
    places: String,
    data: Vec<u8>,
}

impl Writer {
    fn new() -> Writer {
        Writer {
            places: String::new(),
            data: vec![0; HEADER_BYTES],
        }
    }

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
        let at = self.data.len() - HEADER_BYTES;
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

    /// The block. Blanks fill the room that was left for the header, so that nothing moves.
    fn finish(mut self, nodes: usize) -> Vec<u8> {
        let header = format!(r#"{{"nodes":{nodes},"columns":{{{}}}}}"#, self.places);
        let room = &mut self.data[..HEADER_BYTES];
        let (length, room) = room.split_at_mut(4);
        length.copy_from_slice(&(room.len() as u32).to_le_bytes());
        room.fill(b' ');
        room[..header.len()].copy_from_slice(header.as_bytes());
        self.data
    }
}
