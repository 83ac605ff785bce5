// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of some thousand nodes that stand one after another in a block.

use statwalk_view::best_first::{Candidate, before};
use statwalk_view::{Figures, Kind, Notes};

use crate::outline::Others;
use crate::redaction::{Naming, Place};
use crate::tally::Tally;
use crate::tree::{Groups, NONE, ReportTree, flags_of, number_of};

/// The time of a node whose time is not known.
const NO_TIME: i64 = i64::MIN;

const SECOND_NS: i64 = 1_000_000_000;

/// Most names are shorter: the room that names are given at first.
const NAME_BYTES: usize = 24;

/// A part of a block that is made at once.
#[derive(Debug, Default)]
pub(crate) struct Stripe {
    pub(crate) parent: Vec<u32>,
    pub(crate) kind: Vec<u8>,
    pub(crate) flags: Vec<u8>,
    pub(crate) allocated: Wide,
    pub(crate) apparent: Wide,
    pub(crate) entries: Vec<u64>,
    pub(crate) newest_s: Vec<i64>,
    /// The owners and the categories of nodes: of directories and sums those with most bytes.
    pub(crate) owner: Vec<u32>,
    pub(crate) category: Vec<u8>,
    pub(crate) ending: Vec<u8>,
    /// Where each name ends in `names`.
    pub(crate) name_end: Vec<u32>,
    pub(crate) names: Vec<u8>,
    /// Room for the entries of one directory.
    tally: Tally,
}

/// Sums of bytes. Few trees need more than 64 bits.
#[derive(Debug, Default)]
pub(crate) struct Wide {
    pub(crate) low: Vec<u64>,
    /// Bits 64 to 95; empty where all are 0.
    pub(crate) high: Vec<u32>,
}

/// The properties of a node beside its figures and its name.
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) notes: Notes,
    pub(crate) groups: Groups,
}

impl Facts {
    pub(crate) fn of<T: ReportTree>(tree: &T, node: T::Node) -> Facts {
        Facts {
            kind: tree.kind(node),
            notes: tree.notes(node),
            groups: tree.groups(node),
        }
    }
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

    fn get(&self, index: usize) -> u128 {
        let high = self.high.get(index).copied().unwrap_or(0);
        u128::from(high) << 64 | u128::from(self.low[index])
    }
}

impl Stripe {
    /// How many nodes all stripes of a block have, but the last.
    pub(crate) const NODES: usize = 1 << 13;

    /// With room for so many nodes.
    pub(crate) fn with_room(nodes: usize) -> Stripe {
        Stripe {
            parent: Vec::with_capacity(nodes),
            kind: Vec::with_capacity(nodes),
            flags: Vec::with_capacity(nodes),
            allocated: Wide::with_room(nodes),
            apparent: Wide::with_room(nodes),
            entries: Vec::with_capacity(nodes),
            newest_s: Vec::with_capacity(nodes),
            owner: Vec::with_capacity(nodes),
            category: Vec::with_capacity(nodes),
            ending: Vec::with_capacity(nodes),
            name_end: Vec::with_capacity(nodes),
            names: Vec::with_capacity(nodes.saturating_mul(NAME_BYTES)),
            tally: Tally::default(),
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
        let facts = Facts::of(tree, node);
        let ending = || tree.ending(node).into_owned();
        let (name, place) = naming.of_node(above, facts.kind, tree.name(node), ending);
        self.push(facts, &tree.figures(node), &name, parent);
        place
    }

    /// Adds the sum of the entries of a directory that have no node.
    pub(crate) fn push_others<T: ReportTree>(
        &mut self,
        tree: &T,
        others: &Others<T::Node>,
        parent: u32,
    ) {
        self.tally.clear();
        tree.for_each_child(others.directory, |key, node| {
            if before(tree, &others.last, &Candidate { key, node }).is_lt() {
                tree.add_to(&mut self.tally, node);
            }
        });
        let figures = others.sum.figures();
        let facts = Facts {
            kind: Kind::Rest,
            notes: Notes::default(),
            groups: Groups {
                owner: self.tally.owner(),
                category: self.tally.category(),
                ending: NONE,
            },
        };
        self.push(facts, &figures, b"", parent);
    }

    pub(crate) fn push(&mut self, facts: Facts, figures: &Figures, name: &[u8], parent: u32) {
        self.parent.push(parent);
        self.kind.push(number_of(facts.kind));
        self.flags.push(flags_of(figures, &facts.notes));
        self.allocated.push(figures.allocated_bytes);
        self.apparent.push(figures.apparent_bytes);
        self.entries.push(match facts.kind {
            Kind::Itself => 0,
            _ => figures.entries,
        });
        let newest_ns = figures.newest_mtime_ns;
        let newest_s = newest_ns.map_or(NO_TIME, |ns| ns.div_euclid(SECOND_NS));
        self.newest_s.push(newest_s);
        self.owner.push(facts.groups.owner);
        self.category.push(facts.groups.category);
        self.ending.push(facts.groups.ending);
        self.names.extend_from_slice(name);
        // There are 2^13 names, each far below 2^19 bytes.
        self.name_end.push(self.names.len() as u32);
    }

    /// Whether a node has nodes below it.
    pub(crate) fn is_dir(&self, index: usize) -> bool {
        let kind = self.kind[index];
        kind == number_of(Kind::Directory) || kind == number_of(Kind::Roots)
    }

    /// Whether a node is a sum of others.
    pub(crate) fn is_rest(&self, index: usize) -> bool {
        self.kind[index] == number_of(Kind::Rest)
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
}
