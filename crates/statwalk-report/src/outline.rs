// SPDX-License-Identifier: MIT OR Apache-2.0

//! The nodes of a file in which not all are, in their order.

use statwalk_view::best_first::{Best, Candidate, Rest, before, sort};

use crate::block::NOTHING;
use crate::limit::{AT_ONCE, Limit};
use crate::tally::Tally;
use crate::tree::ReportTree;

/// The largest nodes of a tree, and sums of the others, each after its directory.
#[derive(Debug)]
pub(crate) struct Outline<N> {
    pub(crate) cells: Vec<Cell<N>>,
    /// Sums, with the places of their cells.
    rests: Vec<(usize, Rest)>,
}

/// A place in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<N> {
    /// Absent for a sum.
    pub(crate) node: Option<N>,
    pub(crate) parent: u32,
    /// Where the children begin; they stand one after another.
    pub(crate) first_child: u32,
    pub(crate) child_count: u32,
}

impl<N: Copy> Outline<N> {
    /// Chooses about so many nodes.
    pub(crate) fn new<T: ReportTree<Node = N>>(tree: &T, nodes_max: usize) -> Self {
        let mut limit = Limit::new(tree, nodes_max);
        let entries = tree.figures(tree.root()).entries;
        let room = nodes_max.min(usize::try_from(entries).unwrap_or(usize::MAX));
        let mut outline = Outline {
            cells: Vec::with_capacity(room),
            rests: Vec::new(),
        };
        outline.push(Some(tree.root()), NOTHING);
        let mut at = 0;
        while at < outline.cells.len() {
            if let Some(node) = outline.cells[at].node
                && tree.is_dir(node)
                && limit.allows(tree.allocated_bytes(node))
            {
                outline.open(tree, at, node, &mut limit);
            }
            at += 1;
        }
        outline
    }

    fn push(&mut self, node: Option<N>, parent: u32) {
        self.cells.push(Cell {
            node,
            parent,
            first_child: 0,
            child_count: 0,
        });
    }

    /// Adds the children of a directory that are chosen, and the sum of the others.
    fn open<T: ReportTree<Node = N>>(&mut self, tree: &T, at: usize, node: N, limit: &mut Limit) {
        let mut children = Vec::new();
        // Of millions of equals few are chosen, and of smaller ones no more than are shown at
        // least. One more: a sum of one child can as well be that child.
        let mut equal = Best::new(tree, limit.equals().saturating_add(AT_ONCE + 1));
        let mut small = Best::new(tree, AT_ONCE + 1);
        tree.for_each_child(node, |key, node| {
            let best = match limit.allows(key) {
                true if limit.takes_all(key) => {
                    children.push(Candidate { key, node });
                    return;
                }
                true => &mut equal,
                false => &mut small,
            };
            if best.is_wanted(key) {
                best.add(Candidate { key, node });
            } else {
                best.beyond.add(tree, node, &tree.figures(node));
            }
        });
        sort(tree, &mut children);
        let (equal, mut beyond) = equal.finish();
        let (small, beyond_small) = small.finish();
        beyond.add_rest(&beyond_small);
        children.extend(equal);
        children.extend(small);
        let mut taken = limit.take(&children);
        if taken == 0 {
            return;
        }
        if taken + 1 == children.len() && beyond.is_empty() {
            taken += 1;
        }
        for child in children.drain(taken..) {
            beyond.add(tree, child.node, &tree.figures(child.node));
        }
        self.push_children(at, &children, beyond);
    }

    /// Of equals, the sum is the first: it has no name.
    fn push_children(&mut self, at: usize, children: &[Candidate<N>], rest: Rest) {
        let first = self.cells.len();
        let bytes = rest.figures().allocated_bytes;
        let place = match rest.is_empty() {
            true => None,
            false => Some(children.partition_point(|child| child.key > bytes)),
        };
        // Fewer than 2^32 nodes fit into memory.
        let parent = at as u32;
        for (index, child) in children.iter().enumerate() {
            if place == Some(index) {
                self.push_rest(rest, parent);
            }
            self.push(Some(child.node), parent);
        }
        if place == Some(children.len()) {
            self.push_rest(rest, parent);
        }
        self.cells[at].first_child = first as u32;
        self.cells[at].child_count = (self.cells.len() - first) as u32;
    }

    fn push_rest(&mut self, rest: Rest, parent: u32) {
        self.rests.push((self.cells.len(), rest));
        self.push(None, parent);
    }

    /// The sum at a place.
    pub(crate) fn rest(&self, at: usize) -> Rest {
        let found = self.rests.binary_search_by_key(&at, |&(at, _)| at);
        found.map_or_else(|_| Rest::default(), |index| self.rests[index].1)
    }

    fn children(&self, at: usize) -> &[Cell<N>] {
        let cell = &self.cells[at];
        let first = cell.first_child as usize;
        &self.cells[first..first + cell.child_count as usize]
    }

    /// The sums below a directory of all that has no place; absent where all has one.
    pub(crate) fn hidden_below<T: ReportTree<Node = N>>(
        &self,
        tree: &T,
        at: usize,
    ) -> Option<Tally> {
        let directory = self.cells[at].node.filter(|&node| tree.is_dir(node))?;
        let shown = self.children(at);
        let mut hidden = Tally::default();
        if shown.is_empty() {
            hidden.add_subtree(tree, directory);
            return Some(hidden);
        }
        let first = self.cells[at].first_child as usize;
        let next_rest = self.rests.partition_point(|&(at, _)| at < first);
        let next_rest = self.rests.get(next_rest);
        if next_rest.is_none_or(|&(at, _)| at >= first + shown.len()) {
            return None;
        }
        let last = shown.iter().rev().find_map(|cell| cell.node);
        let last = last.map(|node| Candidate {
            key: tree.allocated_bytes(node),
            node,
        });
        tree.for_each_child(directory, |key, node| {
            if last.is_none_or(|last| before(tree, &last, &Candidate { key, node }).is_lt()) {
                hidden.add_subtree(tree, node);
            }
        });
        Some(hidden)
    }
}
