// SPDX-License-Identifier: MIT OR Apache-2.0

//! A row, before it is a line.

use super::Figures;
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
    /// A node, and whether it is a directory.
    Node(N, bool),
    /// How many children have no row, and how many of these are directories.
    Rest(u64, u64),
}
