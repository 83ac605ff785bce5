// SPDX-License-Identifier: MIT OR Apache-2.0

//! Puts the nodes of a tree into blocks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use statwalk_view::Figures;
use statwalk_view::best_first::{Best, Candidate};

use crate::block::{Columns, NOTHING};
use crate::choice::Choice;
use crate::redaction::{Naming, Place};
use crate::tally::Tally;
use crate::tree::{Facts, Flags, Kind, NO_OWNER, NONE, ReportTree};

/// How much of the tree is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// About so many nodes, the largest first, and sums of the others.
    Nodes(usize),
    /// Every node, in blocks that a viewer opens when it needs them.
    Full,
}

impl Default for Detail {
    /// As many nodes as make a file of one or two MB.
    fn default() -> Detail {
        Detail::Nodes(150_000)
    }
}

/// About how many nodes a block of a full report has.
const BLOCK_NODES: usize = 1 << 16;

/// The blocks of a tree.
pub(crate) struct Blocks {
    /// Their bytes.
    pub(crate) blocks: Vec<Vec<u8>>,
    /// How many nodes they have.
    pub(crate) node_count: u64,
    /// Whether some of them are sums of others.
    pub(crate) has_sums: bool,
}

pub(crate) fn blocks<T: ReportTree>(tree: &T, detail: Detail, naming: &mut Naming) -> Blocks {
    match detail {
        Detail::Nodes(nodes_max) => {
            let columns = chosen(tree, nodes_max, naming);
            Blocks {
                node_count: columns.len() as u64,
                has_sums: columns.kind.contains(&(Kind::Rest as u8)),
                blocks: vec![columns.into_bytes()],
            }
        }
        Detail::Full => {
            let mut full = Full {
                tree,
                naming,
                blocks: Vec::new(),
                node_count: 0,
            };
            full.begin();
            Blocks {
                node_count: full.node_count,
                has_sums: false,
                blocks: full.blocks,
            }
        }
    }
}

/// The block of the largest nodes.
fn chosen<T: ReportTree>(tree: &T, nodes_max: usize, naming: &mut Naming) -> Columns {
    let choice = Choice::new(tree, nodes_max);
    let mut filler = Filler::new(tree);
    filler.push_node(tree.root(), None, naming);
    // The numbers of the nodes in the choice; of a rest none.
    let mut numbers = vec![Some(0)];
    let mut at = 0;
    while at < numbers.len() {
        if let Some(number) = numbers[at]
            && choice.is_open(number)
        {
            let first = filler.columns.len();
            let rest = choice.rest(number);
            let figures = rest.figures();
            let has_bytes = figures.allocated_bytes > 0 || figures.apparent_bytes > 0;
            let mut is_missing = rest.count > 0 || has_bytes;
            for &child in choice.children(number) {
                let node = choice.nodes[child];
                if is_missing && figures.allocated_bytes >= tree.allocated_bytes(node) {
                    filler.push_rest(&choice, number, at, naming);
                    numbers.push(None);
                    is_missing = false;
                }
                filler.push_node(node, Some(at), naming);
                numbers.push(Some(child));
            }
            if is_missing {
                filler.push_rest(&choice, number, at, naming);
                numbers.push(None);
            }
            filler.close_children(at, first);
        }
        at += 1;
    }
    filler.settle(|at, tally| {
        let number = numbers[at]?;
        if choice.is_whole(number) {
            return None;
        }
        let mut hidden = Tally::default();
        match choice.is_open(number) {
            true => (choice.hidden(number)).for_each(|node| hidden.add_subtree(tree, node)),
            false => hidden.add_subtree(tree, choice.nodes[number]),
        }
        tally.add(&hidden);
        Some(hidden)
    });
    filler.columns
}

/// Every node of a tree, in blocks.
struct Full<'a, 'n, T: ReportTree> {
    tree: &'a T,
    naming: &'n mut Naming,
    blocks: Vec<Vec<u8>>,
    node_count: u64,
}

/// A directory whose children are in another block than itself.
struct Packed<N> {
    node: N,
    name: Vec<u8>,
    place: Place,
}

impl<T: ReportTree> Full<'_, '_, T> {
    fn begin(&mut self) {
        let mut filler = Filler::new(self.tree);
        filler.push_node(self.tree.root(), None, self.naming);
        self.blocks.push(Vec::new());
        self.fill(0, filler, 0);
    }

    /// Fills a block with what is below its nodes from `first` on, and the blocks below
    /// it. Returns the tallies of these nodes.
    fn fill(&mut self, id: usize, mut filler: Filler<'_, T>, first: usize) -> Vec<Tally> {
        let roots_end = filler.columns.len();
        let mut closed = BinaryHeap::new();
        filler.note_closed(first, &mut closed);
        while filler.columns.len() < BLOCK_NODES
            && let Some((_, Reverse(at))) = closed.pop()
        {
            let from = filler.columns.len();
            let node = filler.cells[at].node.expect("a rest has no children");
            for child in sorted_children(self.tree, node) {
                filler.push_node(child, Some(at), self.naming);
            }
            filler.close_children(at, from);
            filler.note_closed(from, &mut closed);
        }
        let mut closed: Vec<usize> = closed.into_iter().map(|(_, Reverse(at))| at).collect();
        closed.sort_unstable();
        filler.columns.block = vec![NOTHING; filler.columns.len()];
        filler.columns.block_node = vec![NOTHING; filler.columns.len()];
        for pack in packs(&filler.columns.entries, &closed) {
            let below = self.blocks.len();
            self.blocks.push(Vec::new());
            let mut block = Filler::new(self.tree);
            block.push_packed(pack.iter().map(|&at| filler.packed(at)).collect());
            for (node, &at) in (1..).zip(pack) {
                filler.columns.block[at] = below as u32;
                filler.columns.block_node[at] = node;
            }
            for (tally, &at) in self.fill(below, block, 1).into_iter().zip(pack) {
                filler.tallies[at] = Some(Box::new(tally));
            }
        }
        let mut tallies = vec![Tally::default(); roots_end - first];
        filler.settle(|at, tally| {
            if let Some(own) = at
                .checked_sub(first)
                .and_then(|index| tallies.get_mut(index))
            {
                *own = tally.clone();
            }
            None
        });
        self.node_count += filler.columns.len() as u64;
        self.blocks[id] = filler.columns.into_bytes();
        tallies
    }
}

/// Puts neighbours together until they fill a block. `closed` are the places of
/// directories with so many entries.
fn packs<'c>(entries: &[u64], closed: &'c [usize]) -> Vec<&'c [usize]> {
    // A directory and at least one child: so a block has room to open one.
    let cost = |at: usize| {
        let entries = usize::try_from(entries[at]).unwrap_or(usize::MAX);
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
    for node in tree.children(node) {
        let key = tree.allocated_bytes(node);
        all.add(Candidate { key, node });
    }
    all.finish().0.into_iter().map(|candidate| candidate.node)
}

/// The nodes of a block while it is filled.
struct Filler<'a, T: ReportTree> {
    tree: &'a T,
    columns: Columns,
    cells: Vec<Cell<T::Node>>,
    /// Of directories below which something was tallied, until they are settled.
    tallies: Vec<Option<Box<Tally>>>,
}

/// A node of a block.
struct Cell<N> {
    /// Absent where it is a sum.
    node: Option<N>,
    place: Place,
}

impl<'a, T: ReportTree> Filler<'a, T> {
    fn new(tree: &'a T) -> Self {
        Filler {
            tree,
            columns: Columns::default(),
            cells: Vec::new(),
            tallies: Vec::new(),
        }
    }

    fn push_node(&mut self, node: T::Node, parent: Option<usize>, naming: &mut Naming) {
        let tree = self.tree;
        let facts = tree.facts(node);
        let above = parent.map_or(Place::ABOVE, |parent| self.cells[parent].place);
        let ending = || tree.ending(node).into_owned();
        let (name, place) = naming.of_node(above, facts.kind, tree.name(node), ending);
        self.push(facts, &tree.figures(node), &name, parent);
        self.cells.push(Cell {
            node: Some(node),
            place,
        });
    }

    /// Adds the sum of the children that are not chosen. The bytes of the directory
    /// itself alone are no sum.
    fn push_rest(
        &mut self,
        choice: &Choice<'_, T>,
        number: usize,
        parent: usize,
        naming: &mut Naming,
    ) {
        let rest = choice.rest(number);
        if rest.count == 0
            && let Some(itself) = choice.hidden(number).next()
        {
            return self.push_node(itself, Some(parent), naming);
        }
        let figures = rest.figures();
        let flags = match figures.incomplete {
            true => Flags::INCOMPLETE,
            false => Flags::default(),
        };
        let facts = Facts {
            kind: Kind::Rest,
            flags,
            owner: NO_OWNER,
            category: NONE,
            ending: NONE,
        };
        self.push(facts, &figures, b"", Some(parent));
        self.cells.push(Cell {
            node: None,
            place: Place::ABOVE,
        });
    }

    /// Adds directories of other blocks below a node that stands for all of them.
    fn push_packed(&mut self, packed: Vec<Packed<T::Node>>) {
        let tree = self.tree;
        let mut sum = Figures::default();
        for one in &packed {
            let figures = tree.figures(one.node);
            sum.allocated_bytes += figures.allocated_bytes;
            sum.apparent_bytes += figures.apparent_bytes;
            sum.entries += figures.entries;
            sum.newest_mtime_ns = sum.newest_mtime_ns.max(figures.newest_mtime_ns);
        }
        let facts = Facts {
            kind: Kind::Roots,
            flags: Flags::default(),
            owner: NO_OWNER,
            category: NONE,
            ending: NONE,
        };
        self.push(facts, &sum, b"", None);
        self.cells.push(Cell {
            node: None,
            place: Place::ABOVE,
        });
        for one in packed {
            self.push(
                tree.facts(one.node),
                &tree.figures(one.node),
                &one.name,
                Some(0),
            );
            self.cells.push(Cell {
                node: Some(one.node),
                place: one.place,
            });
        }
        self.close_children(0, 1);
    }

    fn packed(&self, at: usize) -> Packed<T::Node> {
        let cell = &self.cells[at];
        Packed {
            node: cell.node.expect("a rest has no children"),
            name: self.columns.name(at).to_vec(),
            place: cell.place,
        }
    }

    fn push(&mut self, facts: Facts, figures: &Figures, name: &[u8], parent: Option<usize>) {
        let columns = &mut self.columns;
        // A block has fewer than 2^32 nodes and bytes of names: so many do not fit into memory.
        columns
            .parent
            .push(parent.map_or(NOTHING, |parent| parent as u32));
        columns.first_child.push(0);
        columns.child_count.push(0);
        columns.kind.push(facts.kind as u8);
        columns.flags.push(facts.flags.bits());
        columns.push_sums(figures.allocated_bytes, figures.apparent_bytes);
        columns.entries.push(match facts.kind {
            Kind::Itself => 0,
            _ => figures.entries,
        });
        columns.push_time(figures.newest_mtime_ns);
        columns.owner.push(facts.owner);
        columns.category.push(facts.category);
        columns.ending.push(facts.ending);
        columns.names.extend_from_slice(name);
        columns.name_end.push(columns.names.len() as u32);
        self.tallies.push(None);
    }

    /// Notes that the nodes from `first` on are the children of a node.
    fn close_children(&mut self, parent: usize, first: usize) {
        self.columns.first_child[parent] = first as u32;
        self.columns.child_count[parent] = (self.columns.len() - first) as u32;
    }

    /// Adds the directories from `first` on that have children.
    fn note_closed(&self, first: usize, closed: &mut BinaryHeap<(u128, Reverse<usize>)>) {
        for at in first..self.columns.len() {
            let is_dir = self.columns.kind[at] == Kind::Directory as u8
                || (at == 0 && self.columns.kind[at] == Kind::Roots as u8);
            let bytes = self.columns.allocated(at);
            if is_dir && (self.columns.entries[at] > 1 || bytes > 0) {
                closed.push((bytes, Reverse(at)));
            }
        }
    }

    /// Gives directories and sums the owner and the category with most bytes.
    ///
    /// `hidden` adds to the tally of a directory the part that no node has, and returns it.
    fn settle(&mut self, mut hidden: impl FnMut(usize, &mut Tally) -> Option<Tally>) {
        for at in (0..self.columns.len()).rev() {
            let is_dir = self.columns.kind[at] == Kind::Directory as u8
                || self.columns.kind[at] == Kind::Roots as u8;
            let parent = self.columns.parent[at];
            if !is_dir {
                let bytes = self.columns.allocated(at);
                let (category, owner) = (self.columns.category[at], self.columns.owner[at]);
                if self.cells[at].node.is_some() && parent != NOTHING {
                    self.tally(parent).add_leaf(category, owner, bytes);
                }
                continue;
            }
            let mut tally = self.tallies[at].take().unwrap_or_default();
            if let Some(rest) = hidden(at, &mut tally) {
                let first = self.columns.first_child[at] as usize;
                let count = self.columns.child_count[at] as usize;
                if let Some(sum) = (first..first + count).find(|&at| self.cells[at].node.is_none())
                {
                    self.columns.category[sum] = rest.category();
                    self.columns.owner[sum] = rest.owner();
                }
            }
            self.columns.category[at] = tally.category();
            self.columns.owner[at] = tally.owner();
            if parent != NOTHING {
                self.tally(parent).add(&tally);
            }
        }
    }

    fn tally(&mut self, at: u32) -> &mut Tally {
        self.tallies[at as usize].get_or_insert_default()
    }
}
