// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sink that keeps the tree.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tree;
use super::names::Names;
use super::state::{Links, TreeState};
use crate::entry::Fields;
use crate::sink::first_names::FirstNames;
use crate::sink::{Context, Sink};

/// Keeps the tree: directories with the sums of their subtrees, and, on
/// request, files.
///
/// ```
/// use statwalk_core::{Scan, TreeSink};
/// let tree = Scan::new(".").run(&TreeSink::of_directories())?.output;
/// let root = tree.root(0).expect("the root was read");
/// let below: u64 = root.children().map(|child| child.entries()).sum();
/// assert!(below < root.entries());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TreeSink {
    files: bool,
    sizes: bool,
}

impl TreeSink {
    /// Keeps directories; nothing is kept for a file.
    #[must_use]
    pub fn of_directories() -> TreeSink {
        TreeSink {
            files: false,
            sizes: true,
        }
    }

    /// Keeps directories with counts alone: sums of bytes are 0, and times are absent.
    ///
    /// Nothing is stat'ed where the listing gives types.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let tree = Scan::new(".").run(&TreeSink::of_counts())?.output;
    /// let root = tree.root(0).expect("the root was read");
    /// assert!(root.entries() > 1 && root.allocated_bytes() == 0);
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn of_counts() -> TreeSink {
        TreeSink {
            files: false,
            sizes: false,
        }
    }

    /// Keeps files too.
    #[must_use]
    pub fn with_files() -> TreeSink {
        TreeSink {
            files: true,
            sizes: true,
        }
    }
}

impl Sink for TreeSink {
    type State = TreeState;
    type Output = Tree;

    fn fields(&self) -> Fields {
        if !self.sizes {
            return Fields::TYPE;
        }
        let fields = Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::LINKS
            | Fields::ID
            | Fields::MTIME;
        // Names of directories come by themselves; those of files decide which
        // of several names is the first.
        fields | Fields::NAME
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TreeState> {
        let links = match self.files {
            true => Links::Files(Arc::new(FirstNames::new(context))),
            false => Links::Bytes(Arc::new(FirstNames::new(context))),
        };
        (0..count)
            .map(|worker| TreeState {
                worker: worker as u16,
                context: context.clone(),
                blocks: Vec::new(),
                foreign: HashMap::new(),
                files: Vec::new(),
                file_runs: Vec::new(),
                names: Names::default(),
                links: links.clone(),
                sizes: self.sizes,
                large_dirs: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TreeState>) -> Tree {
        Tree::merge(context, states)
    }
}
