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
}

impl TreeSink {
    /// Keeps directories; nothing is kept for a file.
    #[must_use]
    pub fn of_directories() -> TreeSink {
        TreeSink { files: false }
    }

    /// Keeps files too.
    #[must_use]
    pub fn with_files() -> TreeSink {
        TreeSink { files: true }
    }
}

impl Sink for TreeSink {
    type State = TreeState;
    type Output = Tree;

    fn fields(&self) -> Fields {
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
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TreeState>) -> Tree {
        Tree::merge(context, states)
    }
}
