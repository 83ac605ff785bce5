// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block: the columns of some nodes.

use crate::column::{Column, Numbers, Packed, block_of};
use crate::deflate::Deflate;
use crate::stripe::{Stripe, Wide};
use crate::threads::{Next, queue};

/// No node, and no block.
pub(crate) const NOTHING: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Columns {
    /// All of them but the last have [`Stripe::NODES`] nodes.
    pub(crate) stripes: Vec<Stripe>,
    /// The place of the children, where they are in other blocks; else empty.
    pub(crate) block: Vec<u32>,
    pub(crate) block_node: Vec<u32>,
}

impl Columns {
    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        match self.stripes.split_last() {
            Some((last, before)) => before.len() * Stripe::NODES + last.len(),
            None => 0,
        }
    }

    /// The stripe that takes the next node.
    pub(crate) fn open_stripe(&mut self) -> &mut Stripe {
        if self.len() == self.stripes.len() * Stripe::NODES {
            self.stripes.push(Stripe::default());
        }
        self.stripes.last_mut().expect("one was there or came")
    }

    /// The stripe of a node, and its place there.
    fn at(&self, index: usize) -> (&Stripe, usize) {
        (&self.stripes[index / Stripe::NODES], index % Stripe::NODES)
    }

    /// Whether a node has nodes below it.
    pub(crate) fn is_dir(&self, index: usize) -> bool {
        let (stripe, at) = self.at(index);
        stripe.is_dir(at)
    }

    /// Whether some nodes are sums of others.
    pub(crate) fn has_rests(&self) -> bool {
        let mut stripes = self.stripes.iter();
        stripes.any(|stripe| (0..stripe.len()).any(|at| stripe.is_rest(at)))
    }

    pub(crate) fn allocated(&self, index: usize) -> u128 {
        let (stripe, at) = self.at(index);
        stripe.allocated(at)
    }

    pub(crate) fn entries(&self, index: usize) -> u64 {
        let (stripe, at) = self.at(index);
        stripe.entries[at]
    }

    pub(crate) fn name(&self, index: usize) -> &[u8] {
        let (stripe, at) = self.at(index);
        stripe.name(at)
    }

    /// The block as raw DEFLATE in base64, a piece a line.
    pub(crate) fn into_deflated(mut self) -> Vec<String> {
        self.align();
        let packed = queue(|next| self.packed(next));
        block_of(self.len(), packed)
    }

    /// Packs those pieces that no other thread takes.
    pub(crate) fn packed(&self, next: &Next) -> Vec<(usize, Packed)> {
        let columns = self.columns();
        let pieces: Vec<_> = columns.iter().flat_map(Column::pieces).collect();
        let pack = |deflate: &mut Deflate, at: usize| pieces[at].packed(deflate);
        next.work(pieces.len(), pack)
    }

    /// Gives all stripes the same columns.
    pub(crate) fn align(&mut self) {
        self.give_high_bits(|stripe| &mut stripe.allocated);
        self.give_high_bits(|stripe| &mut stripe.apparent);
    }

    /// Where one stripe has bits beyond 64, all others have them, too.
    fn give_high_bits(&mut self, of: impl Fn(&mut Stripe) -> &mut Wide) {
        if self
            .stripes
            .iter_mut()
            .any(|stripe| !of(stripe).high.is_empty())
        {
            for wide in self.stripes.iter_mut().map(of) {
                wide.high.resize(wide.low.len(), 0);
            }
        }
    }

    /// All columns. Those that take longest to pack come first.
    fn columns(&self) -> Vec<Column<'_>> {
        let u8s = |of: fn(&Stripe) -> &[u8]| Numbers::U8(self.each(of));
        let columns = [
            Column::new("names", Numbers::Bytes(self.each(|s| &s.names))),
            Column::new("newest_s", Numbers::I64(self.each(|s| &s.newest_s))),
            Column::new("apparent", Numbers::U64(self.each(|s| &s.apparent.low))),
            Column::new("allocated", Numbers::U64(self.each(|s| &s.allocated.low))),
            Column::new("entries", Numbers::U64(self.each(|s| &s.entries))),
            Column::new("name_length", Numbers::Lengths(self.each(|s| &s.name_end))),
            Column::new(
                "parent_step",
                Numbers::Steps(NOTHING, self.each(|s| &s.parent)),
            ),
            Column::new("ending", u8s(|s| &s.ending)),
            Column::new("kind", u8s(|s| &s.kind)),
            Column::new("flags", u8s(|s| &s.flags)),
        ];
        let rare = [
            ("allocated_high", self.each(|s| &s.allocated.high[..])),
            ("apparent_high", self.each(|s| &s.apparent.high)),
            ("block", vec![&self.block]),
            ("block_node", vec![&self.block_node]),
        ];
        let rare = rare
            .into_iter()
            .filter(|(_, column)| column.iter().any(|part| !part.is_empty()));
        let rare = rare.map(|(name, column)| Column::new(name, Numbers::U32(column)));
        let colours = [
            Column::new("owner", Numbers::U32(self.each(|s| &s.owner))),
            Column::new("category", u8s(|s| &s.category)),
        ];
        columns.into_iter().chain(rare).chain(colours).collect()
    }

    /// A column of all stripes.
    fn each<'c, V>(&'c self, of: impl Fn(&'c Stripe) -> &'c [V]) -> Vec<&'c [V]> {
        self.stripes.iter().map(of).collect()
    }
}
