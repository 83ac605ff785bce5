// SPDX-License-Identifier: MIT OR Apache-2.0

//! A row, before it is a line.

use crate::Figures;
use crate::charset::Position;

/// The content of one line.
pub(super) struct Row<N> {
    /// 1 for the children of the root.
    pub(super) depth: usize,
    pub(super) position: Position,
    pub(super) figures: Figures,
    pub(super) label: Label<N>,
}

/// The node or nodes that a row stands for.
pub(super) enum Label<N> {
    /// A node.
    Nodes {
        /// A directory and the chain of its only children, or a file alone.
        chain: Vec<N>,
        is_dir: bool,
        /// The part of an open directory that no row below it has, or of a closed chain
        /// the part that is not in its last directory.
        hidden: Option<(Names, Figures)>,
    },
    /// The children of a directory that have no row of their own.
    Rest(Names),
}

/// The name of what has no row of its own.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// So many files.
    Files(u64),
    /// So many directories and files.
    Any(u64),
    /// Nothing but the blocks of the directory itself.
    Itself,
}
