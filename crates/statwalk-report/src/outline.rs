// SPDX-License-Identifier: MIT OR Apache-2.0

//! The nodes of a file in which not all are, in their order.

use std::ops::Range;
use std::sync::Arc;

use statwalk_view::best_first::{Best, Candidate, Rest, before, sort};

use crate::block::NOTHING;
use crate::limit::{AT_ONCE, Limit};
use crate::stripe::Stripe;
use crate::tally::Tally;
use crate::tree::ReportTree;

/// The largest nodes of a tree, and sums of the others, each after its directory.
#[derive(Debug)]
pub(crate) struct Outline<N> {
    /// All of them but the last are full.
    done: Vec<Arc<Cells<N>>>,
    last: Cells<N>,
    /// The places of the children of each cell; they stand one after another.
    children: Vec<Range<u32>>,
    /// The places of the cells of sums.
    rests: Vec<usize>,
    /// Room for the children of a directory.
    spare: Vec<Candidate<N>>,
}

/// Cells that stand one after another: those of a stripe.
#[derive(Debug)]
pub(crate) struct Cells<N> {
    /// The place of the first.
    pub(crate) start: usize,
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
}

impl<N> Cells<N> {
    fn new(start: usize) -> Cells<N> {
        Cells {
            start,
            cells: Vec::with_capacity(Stripe::NODES),
            rests: Vec::new(),
        }
    }

    fn end(&self) -> usize {
        self.start + self.cells.len()
    }

    /// The sum at a place.
    pub(crate) fn rest(&self, at: usize) -> Rest {
        let found = self.rests.binary_search_by_key(&at, |&(at, _)| at);
        found.map_or_else(|_| Rest::default(), |index| self.rests[index].1)
    }
}

impl<N: Copy> Outline<N> {
    /// Chooses about so many nodes. `each` is given cells as soon as there are enough of
    /// them, and at last the others.
    pub(crate) fn new<T: ReportTree<Node = N>>(
        tree: &T,
        nodes_max: usize,
        mut each: impl FnMut(Arc<Cells<N>>),
    ) -> Self {
        let mut limit = Limit::new(tree, nodes_max);
        let mut outline = Outline {
            done: Vec::new(),
            last: Cells::new(0),
            children: Vec::new(),
            rests: Vec::new(),
            spare: Vec::new(),
        };
        outline.push(Some(tree.root()), NOTHING);
        // What is below a directory comes before what is below its siblings: so it is near in
        // the memory of the tree, too.
        let mut waiting = vec![0];
        let mut given = 0;
        while let Some(at) = waiting.pop() {
            let node = outline.cell(at).node.expect("sums do not wait");
            if limit.allows(tree.allocated_bytes(node)) {
                outline.open(tree, at, node, &mut limit);
                let children = outline.children[at].clone();
                let is_dir = |at: &usize| {
                    let node = outline.cell(*at).node;
                    node.is_some_and(|node| tree.is_dir(node))
                };
                let children = children.start as usize..children.end as usize;
                waiting.extend(children.rev().filter(is_dir));
            }
            outline.done[given..].iter().cloned().for_each(&mut each);
            given = outline.done.len();
        }
        if !outline.last.cells.is_empty() {
            outline.end_last();
            outline.done[given..].iter().cloned().for_each(each);
        }
        outline.spare = Vec::new();
        outline
    }

    fn len(&self) -> usize {
        self.last.end()
    }

    /// All cells, in their order.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &Cells<N>> {
        self.done.iter().map(|cells| &**cells)
    }

    fn cell(&self, at: usize) -> &Cell<N> {
        let cells = self.done.get(at / Stripe::NODES);
        let cells = cells.map_or(&self.last, |cells| cells);
        &cells.cells[at % Stripe::NODES]
    }

    fn push(&mut self, node: Option<N>, parent: u32) {
        if self.last.cells.len() == Stripe::NODES {
            self.end_last();
        }
        self.last.cells.push(Cell { node, parent });
        self.children.push(0..0);
    }

    fn end_last(&mut self) {
        let next = Cells::new(self.len());
        self.done
            .push(Arc::new(std::mem::replace(&mut self.last, next)));
    }

    /// Adds the children of a directory that are chosen, and the sum of the others.
    fn open<T: ReportTree<Node = N>>(&mut self, tree: &T, at: usize, node: N, limit: &mut Limit) {
        let mut children = std::mem::take(&mut self.spare);
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
        if taken > 0 {
            if taken + 1 == children.len() && beyond.is_empty() {
                taken += 1;
            }
            for child in &children[taken..] {
                beyond.add(tree, child.node, &tree.figures(child.node));
            }
            self.push_children(at, &children[..taken], beyond);
        }
        children.clear();
        self.spare = children;
    }

    /// Of equals, the sum is the first: it has no name.
    fn push_children(&mut self, at: usize, children: &[Candidate<N>], rest: Rest) {
        let first = self.len();
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
        self.children[at] = first as u32..self.len() as u32;
    }

    fn push_rest(&mut self, rest: Rest, parent: u32) {
        let at = self.len();
        self.push(None, parent);
        self.last.rests.push((at, rest));
        self.rests.push(at);
    }

    /// The sums below a directory of all that has no place; absent where all has one.
    pub(crate) fn hidden_below<T: ReportTree<Node = N>>(
        &self,
        tree: &T,
        at: usize,
    ) -> Option<Tally> {
        let directory = self.cell(at).node.filter(|&node| tree.is_dir(node))?;
        let Range { start, end } = self.children[at];
        let shown = start as usize..end as usize;
        let mut hidden = Tally::default();
        if shown.is_empty() {
            hidden.add_subtree(tree, directory);
            return Some(hidden);
        }
        let next_rest = self.rests.partition_point(|&at| at < shown.start);
        if !(self.rests.get(next_rest)).is_some_and(|at| shown.contains(at)) {
            return None;
        }
        let last = shown.rev().find_map(|at| self.cell(at).node);
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
