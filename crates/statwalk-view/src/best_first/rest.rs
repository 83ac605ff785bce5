// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sum of nodes that are not chosen.

use crate::{Figures, Tree};

/// The part of a directory that is not chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// How many files and directories it stands for.
    pub count: u64,
    /// How many of them are directories.
    pub dir_count: u64,
    figures: Figures,
    /// Whether there are files among it whose time is not known.
    has_unknown_time: bool,
    /// Whether the blocks of a directory itself are among it.
    has_blocks: bool,
}

impl Rest {
    /// Adds a node with its figures.
    pub fn add<T: Tree>(&mut self, tree: &T, node: T::Node, more: &Figures) {
        let is_dir = tree.is_dir(node);
        let count = tree.count(node);
        self.count += count;
        self.dir_count += u64::from(is_dir);
        self.has_blocks |= count == 0;
        // A directory without files has none, but a file always has one.
        self.has_unknown_time |= !is_dir && more.newest_mtime_ns.is_none();
        self.figures.add(more);
    }

    /// Adds the rest of another directory.
    pub fn add_rest(&mut self, more: &Rest) {
        self.count += more.count;
        self.dir_count += more.dir_count;
        self.has_blocks |= more.has_blocks;
        self.has_unknown_time |= more.has_unknown_time;
        self.figures.add(&more.figures);
    }

    /// The sums.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let newest_mtime_ns = self.figures.newest_mtime_ns;
        Figures {
            newest_mtime_ns: newest_mtime_ns.filter(|_| !self.has_unknown_time),
            ..self.figures
        }
    }

    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 && !self.has_blocks
    }

    /// Whether it has files alone, and any.
    #[must_use]
    pub fn is_of_files(&self) -> bool {
        self.count > 0 && self.dir_count == 0 && !self.has_blocks
    }
}
