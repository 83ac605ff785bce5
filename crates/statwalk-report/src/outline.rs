// SPDX-License-Identifier: MIT OR Apache-2.0

//! The nodes of a file in which not all are, in their order.

use statwalk_view::Tree;
use statwalk_view::best_first::{Best, Candidate, Rest, sort};

use crate::block::NOTHING;
use crate::limit::{AT_ONCE, Limit};
use crate::stripe::Stripe;

/// The largest nodes of a tree, and sums of the others, each after its directory.
#[derive(Debug)]
pub(crate) struct Outline<N> {
    /// All of them but the last are full.
    done: Vec<Cells<N>>,
    last: Cells<N>,
    /// Room for the children of a directory.
    spare: Vec<Candidate<N>>,
}

/// Cells that stand one after another: those of a stripe.
#[derive(Debug)]
pub(crate) struct Cells<N> {
    /// The place of the first.
    pub(crate) start: usize,
    pub(crate) cells: Vec<Cell<N>>,
    /// Sums, in the order of their cells.
    others: Vec<Others<N>>,
}

/// The entries of a directory that have no place in the file.
#[derive(Debug)]
pub(crate) struct Others<N> {
    /// The place of the cell of their sum.
    at: usize,
    pub(crate) sum: Rest,
    pub(crate) directory: N,
    /// The last child that has a place: all behind it are these.
    pub(crate) last: Candidate<N>,
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
            others: Vec::new(),
        }
    }

    fn end(&self) -> usize {
        self.start + self.cells.len()
    }

    /// The entries whose sum is at a place.
    ///
    /// # Panics
    ///
    /// Panics where there is none.
    pub(crate) fn others(&self, at: usize) -> &Others<N> {
        let found = self.others.binary_search_by_key(&at, |others| others.at);
        &self.others[found.expect("the cell is that of a sum")]
    }
}

impl<N: Copy> Outline<N> {
    /// Chooses about so many nodes.
    pub(crate) fn new<T: Tree<Node = N>>(tree: &T, nodes_max: usize) -> Self {
        let mut limit = Limit::new(tree, nodes_max);
        let mut outline = Outline {
            done: Vec::new(),
            last: Cells::new(0),
            spare: Vec::new(),
        };
        outline.push(Some(tree.root()), NOTHING);
        // What is below a directory comes before what is below its siblings: so it is near in
        // the memory of the tree, too.
        let mut waiting = vec![(0, tree.root())];
        while let Some((at, node)) = waiting.pop() {
            if limit.allows(tree.allocated_bytes(node)) {
                let opened = waiting.len();
                outline.open(tree, at, node, &mut limit, &mut waiting);
                waiting[opened..].reverse();
            }
        }
        if !outline.last.cells.is_empty() {
            outline.end_last();
        }
        outline.spare = Vec::new();
        outline
    }

    fn len(&self) -> usize {
        self.last.end()
    }

    /// All cells, in their order.
    pub(crate) fn cells(&self) -> &[Cells<N>] {
        &self.done
    }

    fn push(&mut self, node: Option<N>, parent: u32) {
        if self.last.cells.len() == Stripe::NODES {
            self.end_last();
        }
        self.last.cells.push(Cell { node, parent });
    }

    fn end_last(&mut self) {
        let next = Cells::new(self.len());
        self.done.push(std::mem::replace(&mut self.last, next));
    }

    /// Adds the children of a directory that are chosen, and the sum of the others. Those
    /// that are directories wait then, in their order.
    fn open<T: Tree<Node = N>>(
        &mut self,
        tree: &T,
        at: usize,
        directory: N,
        limit: &mut Limit,
        waiting: &mut Vec<(usize, N)>,
    ) {
        let mut children = std::mem::take(&mut self.spare);
        // Of millions of equals few are chosen, and of smaller ones no more than are shown at
        // least. One more: a sum of one child can as well be that child.
        let mut equal = Best::new(tree, limit.equals().saturating_add(AT_ONCE + 1));
        let mut small = Best::new(tree, AT_ONCE + 1);
        tree.for_each_child(directory, |key, node| {
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
            self.push_children(tree, at, directory, &children[..taken], beyond, waiting);
        }
        children.clear();
        self.spare = children;
    }

    /// Of equals, the sum is the first: it has no name.
    fn push_children<T: Tree<Node = N>>(
        &mut self,
        tree: &T,
        at: usize,
        directory: N,
        children: &[Candidate<N>],
        sum: Rest,
        waiting: &mut Vec<(usize, N)>,
    ) {
        // Fewer than 2^32 nodes fit into memory.
        let parent = at as u32;
        let bytes = sum.figures().allocated_bytes;
        let larger = children.partition_point(|child| child.key > bytes);
        for (index, child) in children.iter().enumerate() {
            if index == larger {
                self.push_others(directory, children, sum, parent);
            }
            if tree.is_dir(child.node) {
                waiting.push((self.len(), child.node));
            }
            self.push(Some(child.node), parent);
        }
        if larger == children.len() {
            self.push_others(directory, children, sum, parent);
        }
    }

    /// Adds the sum of the others of a directory, where there are any.
    fn push_others(&mut self, directory: N, children: &[Candidate<N>], sum: Rest, parent: u32) {
        let Some(&last) = children.last().filter(|_| !sum.is_empty()) else {
            return;
        };
        let at = self.len();
        self.push(None, parent);
        self.last.others.push(Others {
            at,
            sum,
            directory,
            last,
        });
    }
}
