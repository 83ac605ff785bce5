// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes are in the file, where not all are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use statwalk_view::best_first::{Best, BestFirst, Candidate, Rest, before};

use crate::tree::ReportTree;

/// How many children a directory shows at least: with one alone, its table would say
/// nothing.
const AT_ONCE: usize = 20;

/// The chosen nodes, by their number.
pub(crate) struct Choice<'a, T: ReportTree> {
    tree: &'a T,
    best: BestFirst<'a, T>,
    /// The node of each number.
    pub(crate) nodes: Vec<T::Node>,
    bar: Bar,
}

impl<'a, T: ReportTree> Choice<'a, T> {
    /// Chooses about so many nodes, the largest first. The sum of a directory's other
    /// children counts as one.
    pub(crate) fn new(tree: &'a T, nodes_max: usize) -> Self {
        let mut choice = Choice {
            tree,
            best: BestFirst::new(tree),
            nodes: vec![tree.root()],
            bar: Bar::new(nodes_max),
        };
        choice.open(0);
        let mut used = 1;
        while used < nodes_max
            && let Some(step) = choice.best.next_step()
        {
            let count = if step.children == 0 { AT_ONCE } else { 1 };
            let before = choice.nodes.len();
            for _ in 0..count {
                choice.choose(step.parent);
            }
            used += choice.nodes.len() - before;
            // The sum of the others is one node until all are chosen.
            let is_rest = choice.best.hidden_count(step.parent) > 0;
            match step.children {
                0 => used += usize::from(is_rest),
                _ => used -= usize::from(!is_rest),
            }
            choice.best.wait(step.parent);
        }
        // The sum of one child can as well be that child.
        for number in 0..choice.nodes.len() {
            if choice.is_open(number) && choice.best.hidden_count(number) == 1 {
                choice.choose(number);
            }
        }
        choice
    }

    /// Chooses the next child of a directory, if there is one.
    fn choose(&mut self, parent: usize) {
        let Some(next) = self.best.next_child(parent) else {
            return;
        };
        self.best.choose(parent);
        self.nodes.push(next.node);
        self.open(self.nodes.len() - 1);
    }

    /// Finds the children of a chosen directory that can be chosen, unless so many larger
    /// nodes are known that none of them will be.
    fn open(&mut self, number: usize) {
        let node = self.nodes[number];
        let tree = self.tree;
        if !tree.is_dir(node) || self.bar.is_below(tree.allocated_bytes(node)) {
            return;
        }
        let mut large = Best::new(tree, usize::MAX);
        // One more: a sum of one child is that child.
        let mut small = Best::new(tree, AT_ONCE + 1);
        for node in tree.children(node) {
            let key = tree.allocated_bytes(node);
            self.bar.note(key);
            match self.bar.is_below(key) {
                false => large.add(Candidate { key, node }),
                true if small.is_wanted(key) => small.add(Candidate { key, node }),
                true => small.beyond.add(tree, node, &tree.figures(node)),
            }
        }
        let (mut candidates, _) = large.finish();
        // The bar rose meanwhile.
        while let Some(last) = candidates.pop_if(|last| self.bar.is_below(last.key)) {
            small.add(last);
        }
        let (small, mut beyond) = small.finish();
        let mut small = small.into_iter();
        let missing = AT_ONCE.saturating_sub(candidates.len());
        candidates.extend(small.by_ref().take(missing));
        if small.len() == 1 && beyond.count == 0 {
            candidates.extend(small.by_ref());
        }
        for candidate in small {
            beyond.add(tree, candidate.node, &tree.figures(candidate.node));
        }
        self.best.open(number, (candidates, beyond));
    }

    /// Whether children of a node are chosen.
    pub(crate) fn is_open(&self, number: usize) -> bool {
        !self.best.children(number).is_empty()
    }

    /// The numbers of the chosen children, the largest first.
    pub(crate) fn children(&self, number: usize) -> &[usize] {
        self.best.children(number)
    }

    /// The sum of the other children.
    pub(crate) fn rest(&self, number: usize) -> Rest {
        self.best.hidden(number)
    }

    /// Whether all children are chosen.
    pub(crate) fn is_whole(&self, number: usize) -> bool {
        self.best.is_whole(number)
    }

    /// The other children.
    pub(crate) fn hidden(&self, number: usize) -> impl Iterator<Item = T::Node> {
        let tree = self.tree;
        let candidate = |node| Candidate {
            key: tree.allocated_bytes(node),
            node,
        };
        let last = self.best.children(number).last();
        let last = last.map(|&last| candidate(self.nodes[last]));
        let children = tree.children(self.nodes[number]);
        children.filter(move |&child| {
            last.is_none_or(|last| before(tree, &last, &candidate(child)).is_lt())
        })
    }
}

/// The size that a node must have at least to be among the largest.
///
/// It only grows, and keeps the candidates of directories few.
struct Bar {
    count: usize,
    /// The largest sizes so far, the smallest first.
    largest: BinaryHeap<Reverse<u128>>,
}

impl Bar {
    fn new(count: usize) -> Bar {
        Bar {
            count,
            largest: BinaryHeap::new(),
        }
    }

    fn is_below(&self, bytes: u128) -> bool {
        let is_full = self.largest.len() >= self.count;
        is_full && self.largest.peek().is_some_and(|least| bytes < least.0)
    }

    fn note(&mut self, bytes: u128) {
        if self.is_below(bytes) {
            return;
        }
        self.largest.push(Reverse(bytes));
        if self.largest.len() > self.count {
            self.largest.pop();
        }
    }
}
