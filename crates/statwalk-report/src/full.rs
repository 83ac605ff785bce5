// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every node of a tree, in blocks that a viewer opens when it needs them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use statwalk_view::best_first::{Best, Candidate};
use statwalk_view::{Figures, Kind, Notes};

use crate::block::{Columns, NOTHING};
use crate::redaction::{Naming, Place};
use crate::stripe::Facts;
use crate::tree::{Groups, ReportTree};

/// About how many nodes a block has.
const BLOCK_NODES: usize = 1 << 16;

/// Every node of a tree, in blocks.
struct Full<'a, 'n, T: ReportTree> {
    tree: &'a T,
    naming: &'n mut Naming,
    blocks: Vec<Vec<String>>,
    node_count: u64,
}

/// A directory whose children are in another block than itself.
struct Packed<N> {
    node: N,
    name: Vec<u8>,
    place: Place,
}

/// The blocks of all nodes, and how many there are.
pub(crate) fn full<T: ReportTree>(tree: &T, naming: &mut Naming) -> (Vec<Vec<String>>, u64) {
    let mut full = Full {
        tree,
        naming,
        blocks: vec![Vec::new()],
        node_count: 0,
    };
    let mut block = Block::new(tree);
    block.push_node(tree.root(), None, full.naming);
    full.fill(0, block, 0);
    (full.blocks, full.node_count)
}

impl<T: ReportTree> Full<'_, '_, T> {
    /// Fills a block with what is below its nodes from `first` on, and the blocks below
    /// it.
    fn fill(&mut self, id: usize, mut block: Block<'_, T>, first: usize) {
        let mut closed = BinaryHeap::new();
        block.note_closed(first, &mut closed);
        while block.len() < BLOCK_NODES
            && let Some((_, Reverse(at))) = closed.pop()
        {
            let from = block.len();
            let node = block.cells[at].node.expect("only the first has none");
            for child in sorted_children(self.tree, node) {
                block.push_node(child, Some(at), self.naming);
            }
            block.note_closed(from, &mut closed);
        }
        let mut closed: Vec<usize> = closed.into_iter().map(|(_, Reverse(at))| at).collect();
        closed.sort_unstable();
        block.columns.block = vec![NOTHING; block.len()];
        block.columns.block_node = vec![NOTHING; block.len()];
        for pack in packs(|at| block.columns.entries(at), &closed) {
            let number = self.blocks.len();
            self.blocks.push(Vec::new());
            let mut next = Block::new(self.tree);
            next.push_packed(pack.iter().map(|&at| block.packed(at)).collect());
            for (node, &at) in (1..).zip(pack) {
                block.columns.block[at] = number as u32;
                block.columns.block_node[at] = node;
            }
            self.fill(number, next, 1);
        }
        self.node_count += block.len() as u64;
        self.blocks[id] = block.columns.into_deflated();
    }
}

/// Puts neighbours together until they fill a block. `closed` are the places of
/// directories with so many entries.
fn packs(entries: impl Fn(usize) -> u64, closed: &[usize]) -> Vec<&[usize]> {
    // A directory and at least one child: so a block has room to open one.
    let cost = |at: usize| {
        let entries = usize::try_from(entries(at)).unwrap_or(usize::MAX);
        entries.saturating_add(1)
    };
    let mut packs = Vec::new();
    let (mut begin, mut sum) = (0, 0_usize);
    for (index, &at) in closed.iter().enumerate() {
        if sum > 0 && sum.saturating_add(cost(at)) > BLOCK_NODES {
            packs.push(&closed[begin..index]);
            (begin, sum) = (index, 0);
        }
        sum = sum.saturating_add(cost(at));
    }
    if sum > 0 {
        packs.push(&closed[begin..]);
    }
    packs
}

/// All children, the largest first.
fn sorted_children<T: ReportTree>(tree: &T, node: T::Node) -> impl Iterator<Item = T::Node> {
    let mut all = Best::new(tree, usize::MAX);
    tree.for_each_child(node, |key, node| all.add(Candidate { key, node }));
    all.finish().0.into_iter().map(|candidate| candidate.node)
}

/// The nodes of a block while it is filled.
struct Block<'a, T: ReportTree> {
    tree: &'a T,
    columns: Columns,
    cells: Vec<Cell<T::Node>>,
}

/// A node of a block.
struct Cell<N> {
    /// Absent for the one that stands for directories of other blocks.
    node: Option<N>,
    place: Place,
}

impl<'a, T: ReportTree> Block<'a, T> {
    fn new(tree: &'a T) -> Self {
        Block {
            tree,
            columns: Columns::default(),
            cells: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.cells.len()
    }

    fn push_node(&mut self, node: T::Node, parent: Option<usize>, naming: &mut Naming) {
        let above = parent.map_or(Place::ABOVE, |parent| self.cells[parent].place);
        let parent = parent.map_or(NOTHING, |parent| parent as u32);
        let stripe = self.columns.open_stripe();
        let place = stripe.push_node(self.tree, node, parent, above, naming);
        self.cells.push(Cell {
            node: Some(node),
            place,
        });
    }

    /// Adds directories of other blocks below a node that stands for all of them.
    fn push_packed(&mut self, packed: Vec<Packed<T::Node>>) {
        let tree = self.tree;
        let mut sum = Figures::default();
        for one in &packed {
            sum.add(&tree.figures(one.node));
        }
        sum.incomplete = false;
        let facts = Facts {
            kind: Kind::Roots,
            notes: Notes::default(),
            groups: Groups::NONE,
        };
        self.columns.open_stripe().push(facts, &sum, b"", NOTHING);
        self.cells.push(Cell {
            node: None,
            place: Place::ABOVE,
        });
        for one in packed {
            let (facts, figures) = (Facts::of(tree, one.node), tree.figures(one.node));
            self.columns
                .open_stripe()
                .push(facts, &figures, &one.name, 0);
            self.cells.push(Cell {
                node: Some(one.node),
                place: one.place,
            });
        }
    }

    fn packed(&self, at: usize) -> Packed<T::Node> {
        let cell = &self.cells[at];
        Packed {
            node: cell.node.expect("only the first has none"),
            name: self.columns.name(at).to_vec(),
            place: cell.place,
        }
    }

    /// Adds the directories from `first` on that have children.
    fn note_closed(&self, first: usize, closed: &mut BinaryHeap<(u128, Reverse<usize>)>) {
        for at in first..self.len() {
            let bytes = self.columns.allocated(at);
            if self.columns.is_dir(at) && (self.columns.entries(at) > 1 || bytes > 0) {
                closed.push((bytes, Reverse(at)));
            }
        }
    }
}
