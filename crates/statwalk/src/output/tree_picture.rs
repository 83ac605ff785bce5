// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as the view draws one.
//!
//! Where the tree keeps no files, the files of a directory are one node: the sums of
//! the directory less those of its subdirectories.

use std::borrow::Cow;

use statwalk_core::Node;
use statwalk_view::{Figures, Tree};

/// The tree below a root.
pub(crate) struct TreePicture<'a> {
    root: Node<'a>,
    has_files: bool,
}

/// A node of the picture.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// A directory, or a file where the tree keeps files.
    Node(Node<'a>),
    /// All entries directly in a directory that are no directories, where the tree
    /// keeps no files.
    Files { count: u64, figures: Figures },
}

impl<'a> TreePicture<'a> {
    /// Takes the tree below `root`; `has_files` where the tree keeps files.
    pub(crate) fn new(root: Node<'a>, has_files: bool) -> TreePicture<'a> {
        TreePicture { root, has_files }
    }
}

impl<'a> Tree for TreePicture<'a> {
    type Node = Part<'a>;

    fn root(&self) -> Part<'a> {
        Part::Node(self.root)
    }

    fn name(&self, part: Part<'a>) -> Cow<'_, [u8]> {
        match part {
            Part::Node(node) => Cow::Borrowed(node.name()),
            Part::Files { .. } => Cow::Borrowed(b""),
        }
    }

    fn is_dir(&self, part: Part<'a>) -> bool {
        match part {
            Part::Node(node) => node.is_dir(),
            Part::Files { .. } => false,
        }
    }

    fn count(&self, part: Part<'a>) -> u64 {
        match part {
            Part::Node(_) => 1,
            Part::Files { count, .. } => count,
        }
    }

    fn figures(&self, part: Part<'a>) -> Figures {
        match part {
            Part::Files { figures, .. } => figures,
            Part::Node(node) => figures_of(&node),
        }
    }

    fn children(&self, part: Part<'a>) -> impl Iterator<Item = Part<'a>> {
        let directory = match part {
            Part::Node(node) => Some(node),
            Part::Files { .. } => None,
        };
        let has_files = self.has_files;
        directory.into_iter().flat_map(move |node| {
            let files = has_files.then(|| node.files()).into_iter().flatten();
            let rest = (!has_files).then(|| files_of(&node)).flatten();
            let nodes = node.children().chain(files).map(Part::Node);
            nodes.chain(rest)
        })
    }
}

fn figures_of(node: &Node<'_>) -> Figures {
    let counts = !node.is_extra_link();
    Figures {
        allocated_bytes: if counts { node.allocated_bytes() } else { 0 },
        apparent_bytes: if counts { node.apparent_bytes() } else { 0 },
        entries: node.entries(),
        newest_mtime_ns: node.newest_mtime_ns(),
        incomplete: node.is_incomplete(),
    }
}

/// The files directly in a directory, if there are any.
///
/// The blocks of the directory itself are in their sum. The newest modification is
/// known only where it is newer than everything below the subdirectories.
fn files_of(node: &Node<'_>) -> Option<Part<'static>> {
    let mut figures = figures_of(node);
    // The directory itself is none of its files.
    let mut count = figures.entries.saturating_sub(1);
    let mut newest_below = None;
    for child in node.children() {
        figures.allocated_bytes = figures
            .allocated_bytes
            .saturating_sub(child.allocated_bytes());
        figures.apparent_bytes = figures
            .apparent_bytes
            .saturating_sub(child.apparent_bytes());
        count = count.saturating_sub(child.entries());
        newest_below = newest_below.max(child.newest_mtime_ns());
    }
    figures.entries = count;
    figures.newest_mtime_ns = figures
        .newest_mtime_ns
        .filter(|_| figures.newest_mtime_ns > newest_below);
    figures.incomplete = false;
    (count > 0).then_some(Part::Files { count, figures })
}
