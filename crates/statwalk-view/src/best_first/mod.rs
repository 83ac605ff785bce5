// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest nodes of a tree, as many as a bound allows.
//!
//! A node can be chosen once its directory is, and the largest of those comes next. The
//! choice begins at the root. Of a tree of millions it looks only at the children of
//! chosen directories. The caller has the bound, and decides which directories it opens.
//!
//! ```
//! use std::borrow::Cow;
//! use statwalk_view::best_first::{Best, BestFirst, Candidate};
//! use statwalk_view::{Figures, Kind, Tree};
//!
//! /// A directory with files of these sizes.
//! struct Files([u64; 4]);
//!
//! impl Tree for Files {
//!     type Node = Option<usize>;
//!     fn root(&self) -> Option<usize> { None }
//!     fn name(&self, _: Option<usize>) -> Cow<'_, [u8]> { b"file".into() }
//!     fn kind(&self, node: Option<usize>) -> Kind {
//!         node.map_or(Kind::Directory, |_| Kind::File)
//!     }
//!     fn figures(&self, node: Option<usize>) -> Figures {
//!         let bytes = node.map_or(self.0.iter().sum(), |index| self.0[index]);
//!         Figures { allocated_bytes: bytes.into(), ..Figures::default() }
//!     }
//!     fn for_each_child(&self, _: Option<usize>, mut each: impl FnMut(u128, Option<usize>)) {
//!         (0..4).for_each(|index| each(self.0[index].into(), Some(index)));
//!     }
//! }
//!
//! let files = Files([3, 70, 20, 7]);
//! let mut largest = Best::new(&files, 3);
//! files.for_each_child(None, |key, node| largest.add(Candidate { key, node }));
//! let mut choice = BestFirst::new(&files);
//! choice.open(0, largest.finish());
//! while choice.children(0).len() < 2 && let Some(step) = choice.next_step() {
//!     choice.choose(step.parent);
//!     choice.wait(step.parent);
//! }
//! assert_eq!(choice.hidden(0).figures().allocated_bytes, 7 + 3);
//! ```

mod best;
mod rest;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

pub use self::best::{Best, Candidate, before, sort};
pub use self::rest::Rest;
use crate::Tree;

/// The nodes that were chosen by now; the root is the first.
pub struct BestFirst<'a, T: Tree> {
    tree: &'a T,
    /// Of each chosen node its place in `opened`, or [`CLOSED`]. Most are files, and take
    /// four bytes here.
    chosen: Vec<u32>,
    opened: Vec<Opened<T::Node>>,
    steps: BinaryHeap<Step>,
    steps_count: usize,
}

/// The place of a node that was not opened.
const CLOSED: u32 = u32::MAX;

/// A chosen directory whose children can be chosen.
struct Opened<N> {
    /// The children that can be chosen, in the order in which they will be.
    candidates: Vec<Candidate<N>>,
    /// The numbers of the first of the candidates.
    children: Vec<usize>,
    /// The children that cannot be chosen.
    beyond: Rest,
}

/// The next choice: that of the largest node comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The rank of the node.
    pub key: u128,
    /// Of equals, the first in the tree wins.
    age: Reverse<usize>,
    /// The chosen directory whose next candidate can be chosen.
    pub parent: usize,
    /// The number of its chosen children at that time.
    pub children: usize,
}

impl<T: Tree> fmt::Debug for BestFirst<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BestFirst")
            .field("chosen_count", &self.chosen.len())
            .finish_non_exhaustive()
    }
}

impl<'a, T: Tree> BestFirst<'a, T> {
    /// Chooses the root, with the number 0.
    #[must_use]
    pub fn new(tree: &'a T) -> Self {
        BestFirst {
            tree,
            chosen: vec![CLOSED],
            opened: Vec::new(),
            steps: BinaryHeap::new(),
            steps_count: 0,
        }
    }

    fn opened(&self, number: usize) -> Option<&Opened<T::Node>> {
        self.opened.get(self.chosen[number] as usize)
    }

    /// Gives a chosen directory the children that can be chosen, by rank, and the sum of
    /// the others.
    pub fn open(&mut self, number: usize, (candidates, beyond): (Vec<Candidate<T::Node>>, Rest)) {
        // Fewer than 2^32 directories fit into memory.
        self.chosen[number] = self.opened.len() as u32;
        self.opened.push(Opened {
            candidates,
            children: Vec::new(),
            beyond,
        });
        self.wait(number);
    }

    /// Lets the next child of a directory wait for its choice.
    pub fn wait(&mut self, parent: usize) {
        if let Some(next) = self.next_child(parent) {
            let age = Reverse(self.steps_count);
            self.steps_count += 1;
            self.steps.push(Step {
                key: next.key,
                age,
                parent,
                children: self.children(parent).len(),
            });
        }
    }

    /// Takes the largest node that waits; absent where none does.
    pub fn next_step(&mut self) -> Option<Step> {
        loop {
            let step = self.steps.pop()?;
            // The child can have been chosen meanwhile.
            if self.children(step.parent).len() == step.children {
                return Some(step);
            }
        }
    }

    /// Lets a node wait on in its place.
    pub fn put_back(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The child of a directory that can be chosen next.
    #[must_use]
    pub fn next_child(&self, number: usize) -> Option<Candidate<T::Node>> {
        let opened = self.opened(number)?;
        opened.candidates.get(opened.children.len()).copied()
    }

    /// Chooses the next child of a directory, and returns its number.
    pub fn choose(&mut self, parent: usize) -> Option<usize> {
        self.next_child(parent)?;
        let child = self.chosen.len();
        self.chosen.push(CLOSED);
        let opened = self.opened.get_mut(self.chosen[parent] as usize)?;
        opened.children.push(child);
        Some(child)
    }

    /// The chosen children of a directory, by rank.
    #[must_use]
    pub fn children(&self, number: usize) -> &[usize] {
        self.opened(number).map_or(&[], |opened| &opened.children)
    }

    /// How many files and directories directly in a directory are not chosen.
    #[must_use]
    pub fn hidden_count(&self, number: usize) -> u64 {
        let Some(opened) = self.opened(number) else {
            return 0;
        };
        let candidates = opened.candidates.len() - opened.children.len();
        opened.beyond.count + candidates as u64
    }

    /// Whether all children of a directory are chosen.
    #[must_use]
    pub fn is_whole(&self, number: usize) -> bool {
        let opened = self.opened(number);
        opened.is_some_and(|opened| {
            opened.candidates.len() == opened.children.len() && opened.beyond.is_empty()
        })
    }

    /// The sum of the children of a directory that are not chosen.
    #[must_use]
    pub fn hidden(&self, number: usize) -> Rest {
        let Some(opened) = self.opened(number) else {
            return Rest::default();
        };
        let mut rest = opened.beyond;
        for candidate in &opened.candidates[opened.children.len()..] {
            let figures = self.tree.figures(candidate.node);
            rest.add(self.tree, candidate.node, &figures);
        }
        rest
    }
}
