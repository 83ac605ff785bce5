// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest of many nodes.

use std::cmp::{Ordering, Reverse};
use std::fmt;

use super::rest::Rest;
use crate::Tree;

/// A node that can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<N> {
    /// Its rank, by which the largest is chosen first; at most that of its directory.
    pub key: u128,
    /// The node.
    pub node: N,
}

/// The largest of many candidates.
///
/// Holds at most twice as many as are wanted, whatever their number.
pub struct Best<'a, T: Tree> {
    tree: &'a T,
    wanted: usize,
    candidates: Vec<Candidate<T::Node>>,
    /// The last that was among the largest, once there were more than are wanted.
    bar: Option<Candidate<T::Node>>,
    /// The sum of the others, and of those that are no candidates.
    pub beyond: Rest,
}

impl<'a, T: Tree> Best<'a, T> {
    /// Wants so many.
    #[must_use]
    pub fn new(tree: &'a T, wanted: usize) -> Self {
        Best {
            tree,
            wanted,
            candidates: Vec::new(),
            bar: None,
            beyond: Rest::default(),
        }
    }

    /// Returns whether a candidate with `key` can be among the largest.
    #[must_use]
    pub fn is_wanted(&self, key: u128) -> bool {
        self.bar.as_ref().is_none_or(|bar| key >= bar.key)
    }

    /// Adds a candidate.
    pub fn add(&mut self, candidate: Candidate<T::Node>) {
        let tree = self.tree;
        let is_behind = |bar: &Candidate<_>| before(tree, bar, &candidate).is_lt();
        if self.bar.as_ref().is_some_and(is_behind) {
            let figures = tree.figures(candidate.node);
            self.beyond.add(tree, candidate.node, &figures);
            return;
        }
        self.candidates.push(candidate);
        if self.candidates.len() >= self.wanted.saturating_mul(2).max(64) {
            self.prune();
        }
    }

    /// Leaves the largest, in no order.
    fn prune(&mut self) {
        let Some(last) = self.wanted.checked_sub(1) else {
            return;
        };
        if self.candidates.len() <= self.wanted {
            return;
        }
        let tree = self.tree;
        self.candidates
            .select_nth_unstable_by(last, |a, b| before(tree, a, b));
        self.bar = Some(self.candidates[last]);
        for candidate in self.candidates.drain(self.wanted..) {
            let figures = tree.figures(candidate.node);
            self.beyond.add(tree, candidate.node, &figures);
        }
    }

    /// Returns the largest by rank, and the sum of the others.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Candidate<T::Node>>, Rest) {
        self.prune();
        sort(self.tree, &mut self.candidates);
        (self.candidates, self.beyond)
    }
}

impl<T: Tree> fmt::Debug for Best<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Best")
            .field("wanted", &self.wanted)
            .field("candidate_count", &self.candidates.len())
            .finish_non_exhaustive()
    }
}

/// The order of siblings: the larger first; of equals, the first by name.
pub fn before<T: Tree>(tree: &T, a: &Candidate<T::Node>, b: &Candidate<T::Node>) -> Ordering {
    b.key
        .cmp(&a.key)
        .then_with(|| tree.name(a.node).cmp(&tree.name(b.node)))
}

/// Sorts siblings, as [`before`] has it. A name is looked up once, and only where sizes are
/// equal.
pub fn sort<T: Tree>(tree: &T, siblings: &mut [Candidate<T::Node>]) {
    siblings.sort_unstable_by_key(|sibling| Reverse(sibling.key));
    for equals in siblings.chunk_by_mut(|a, b| a.key == b.key) {
        equals.sort_by_cached_key(|sibling| tree.name(sibling.node));
    }
}
