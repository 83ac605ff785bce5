// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block: the columns of some nodes.

use std::ops::Range;

use statwalk_view::Figures;

use crate::column::{Column, Numbers, Packed, block_of};
use crate::deflate::{Deflate, Effort};
use crate::redaction::{Naming, Place};
use crate::tally::{Tally, settle};
use crate::threads::queue;
use crate::tree::{Facts, Kind, ReportTree};

/// No node, and no block.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The time of a node whose time is not known.
const NO_TIME: i64 = i64::MIN;

const SECOND_NS: i64 = 1_000_000_000;

/// Most names are shorter: the room that names are given at first.
const NAME_BYTES: usize = 24;

/// The columns of a block.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) parent: Vec<u32>,
    pub(crate) kind: Vec<u8>,
    pub(crate) flags: Vec<u8>,
    allocated: Wide,
    apparent: Wide,
    pub(crate) entries: Vec<u64>,
    newest_s: Vec<i64>,
    colours: Colours,
    pub(crate) ending: Vec<u8>,
    name_end: Vec<u32>,
    names: Vec<u8>,
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
            names: Vec::with_capacity(nodes.saturating_mul(NAME_BYTES)),
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

    /// Whether a node has nodes below it.
    pub(crate) fn is_dir(&self, index: usize) -> bool {
        let kind = self.kind[index];
        kind == Kind::Directory as u8 || kind == Kind::Roots as u8
    }

    /// Whether a node is a sum of others.
    pub(crate) fn is_rest(&self, index: usize) -> bool {
        self.kind[index] == Kind::Rest as u8
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

    /// The block as raw DEFLATE, and the tallies of some directories. `hidden` gives what is
    /// below a directory and has no node here.
    pub(crate) fn into_deflated(
        mut self,
        roots: Range<usize>,
        hidden: impl FnMut(usize) -> Option<Tally>,
    ) -> (Vec<u8>, Vec<Tally>) {
        let mut colours = std::mem::take(&mut self.colours);
        let (parent_steps, name_lengths) = (self.parent_steps(), self.name_lengths());
        let columns = self.columns(&parent_steps, &name_lengths);
        let pieces: Vec<_> = columns.iter().flat_map(Column::pieces).collect();
        let pack = |deflate: &mut Deflate, at: usize| pieces[at].packed(deflate);
        let settle_colours = || {
            let tallies = settle(&self, &mut colours, roots, hidden);
            let columns = colours.columns();
            let pieces = columns.iter().flat_map(Column::pieces);
            let mut deflate = Deflate::default();
            let packed: Vec<Packed> = pieces.map(|piece| piece.packed(&mut deflate)).collect();
            (packed, tallies)
        };
        let (mut packed, (coloured, tallies)) = queue(pieces.len(), pack, settle_colours);
        packed.extend(coloured);
        (block_of(self.len(), packed), tallies)
    }

    /// All columns without the colours. Those that take longest to pack come first.
    fn columns<'c>(&'c self, parent_steps: &'c [u32], name_lengths: &'c [u32]) -> Vec<Column<'c>> {
        let columns = [
            Column::new("names", Numbers::Bytes(&self.names), Effort::More),
            Column::new("newest_s", Numbers::I64(&self.newest_s), Effort::More),
            Column::new("apparent", Numbers::U64(&self.apparent.low), Effort::Least),
            Column::new(
                "allocated",
                Numbers::U64(&self.allocated.low),
                Effort::Least,
            ),
            Column::new("entries", Numbers::U64(&self.entries), Effort::More),
            Column::new("name_length", Numbers::U32(name_lengths), Effort::Least),
            Column::new("parent_step", Numbers::U32(parent_steps), Effort::More),
            Column::new("ending", Numbers::U8(&self.ending), Effort::More),
            Column::new("kind", Numbers::U8(&self.kind), Effort::More),
            Column::new("flags", Numbers::U8(&self.flags), Effort::More),
        ];
        let rare = [
            ("allocated_high", &self.allocated.high),
            ("apparent_high", &self.apparent.high),
            ("block", &self.block),
            ("block_node", &self.block_node),
        ];
        let rare = rare.into_iter().filter(|(_, column)| !column.is_empty());
        let rare = rare.map(|(name, column)| Column::new(name, Numbers::U32(column), Effort::More));
        columns.into_iter().chain(rare).collect()
    }

    /// By how much the number of each parent is above the one before; the first is that of
    /// [`NOTHING`].
    fn parent_steps(&self) -> Vec<u32> {
        let before = [NOTHING].into_iter().chain(self.parent.iter().copied());
        let steps = (self.parent.iter()).zip(before);
        steps.map(|(at, before)| at.wrapping_sub(before)).collect()
    }

    fn name_lengths(&self) -> Vec<u32> {
        let before = [0].into_iter().chain(self.name_end.iter().copied());
        let lengths = self.name_end.iter().zip(before);
        lengths.map(|(end, before)| end - before).collect()
    }
}

impl Colours {
    fn columns(&self) -> [Column<'_>; 2] {
        [
            Column::new("owner", Numbers::U32(&self.owner), Effort::More),
            Column::new("category", Numbers::U8(&self.category), Effort::More),
        ]
    }
}
