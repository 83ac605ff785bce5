// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest nodes of a tree, as many as a bound allows.
//!
//! A node can be chosen once its directory is, and the largest of those comes next. The
//! choice begins at the root. Of a tree of millions it looks only at the children of
//! chosen directories. The caller has the bound, and decides which directories it opens.

mod best;
mod rest;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(crate) use self::best::{Best, Candidate};
pub(crate) use self::rest::Rest;
use crate::Tree;

/// The nodes that were chosen by now; the root is the first.
pub(crate) struct BestFirst<'a, T: Tree> {
    tree: &'a T,
    chosen: Vec<Chosen<T::Node>>,
    steps: BinaryHeap<Step>,
    steps_count: usize,
}

/// A chosen node.
struct Chosen<N> {
    /// The children that can be chosen, in the order in which they will be.
    candidates: Vec<Candidate<N>>,
    /// The numbers of the first of the candidates.
    children: Vec<usize>,
    /// The children that cannot be chosen.
    beyond: Rest,
}

/// The next choice: that of the largest node comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    /// The rank of the node.
    pub(crate) key: u128,
    /// Of equals, the first in the tree wins.
    age: Reverse<usize>,
    /// The chosen directory whose next candidate can be chosen.
    pub(crate) parent: usize,
    /// The number of its chosen children at that time.
    pub(crate) children: usize,
}

impl<'a, T: Tree> BestFirst<'a, T> {
    /// Chooses the root, with the number 0.
    pub(crate) fn new(tree: &'a T) -> Self {
        let mut choice = BestFirst {
            tree,
            chosen: Vec::new(),
            steps: BinaryHeap::new(),
            steps_count: 0,
        };
        choice.add();
        choice
    }

    fn add(&mut self) -> usize {
        self.chosen.push(Chosen {
            candidates: Vec::new(),
            children: Vec::new(),
            beyond: Rest::default(),
        });
        self.chosen.len() - 1
    }

    /// Gives a chosen directory the children that can be chosen, by rank, and the sum of
    /// the others.
    pub(crate) fn open(
        &mut self,
        number: usize,
        (candidates, beyond): (Vec<Candidate<T::Node>>, Rest),
    ) {
        self.chosen[number].candidates = candidates;
        self.chosen[number].beyond = beyond;
        self.wait(number);
    }

    /// Lets the next child of a directory wait for its choice.
    pub(crate) fn wait(&mut self, parent: usize) {
        if let Some(next) = self.next_child(parent) {
            let age = Reverse(self.steps_count);
            self.steps_count += 1;
            self.steps.push(Step {
                key: next.key,
                age,
                parent,
                children: self.chosen[parent].children.len(),
            });
        }
    }

    /// Takes the largest node that waits; absent where none does.
    pub(crate) fn next_step(&mut self) -> Option<Step> {
        loop {
            let step = self.steps.pop()?;
            // The child can have been chosen meanwhile.
            if self.chosen[step.parent].children.len() == step.children {
                return Some(step);
            }
        }
    }

    /// Lets a node wait on in its place.
    pub(crate) fn put_back(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The child of a directory that can be chosen next.
    pub(crate) fn next_child(&self, number: usize) -> Option<Candidate<T::Node>> {
        let chosen = &self.chosen[number];
        chosen.candidates.get(chosen.children.len()).copied()
    }

    /// Chooses the next child of a directory, and returns its number.
    pub(crate) fn choose(&mut self, parent: usize) -> Option<usize> {
        self.next_child(parent)?;
        let child = self.add();
        self.chosen[parent].children.push(child);
        Some(child)
    }

    /// The chosen children of a directory, by rank.
    pub(crate) fn children(&self, number: usize) -> &[usize] {
        &self.chosen[number].children
    }

    /// How many files and directories directly in a directory are not chosen.
    pub(crate) fn hidden_count(&self, number: usize) -> u64 {
        let chosen = &self.chosen[number];
        let candidates = chosen.candidates.len() - chosen.children.len();
        chosen.beyond.count + candidates as u64
    }

    /// The sum of the children of a directory that are not chosen.
    pub(crate) fn hidden(&self, number: usize) -> Rest {
        let chosen = &self.chosen[number];
        let mut rest = chosen.beyond;
        for candidate in &chosen.candidates[chosen.children.len()..] {
            let figures = self.tree.figures(candidate.node);
            rest.add(self.tree, candidate.node, &figures);
        }
        rest
    }
}
