// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree in the form in which the view draws one.
//!
//! Where the tree keeps no files, those of a directory are one node: what its
//! sums have beyond those of its subdirectories.

use std::borrow::Cow;

use statwalk_core::Node;
use statwalk_view::{Figures, Tree};

/// The tree below a root, to be drawn.
pub(crate) struct TreePicture<'a> {
    root: Node<'a>,
    has_files: bool,
}

/// What the picture is made of.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// A directory, or a file where files are kept.
    Node(Node<'a>),
    /// All that is directly in a directory and is none itself, where files are
    /// not kept.
    Files { count: u64, figures: Figures },
}

impl<'a> TreePicture<'a> {
    /// With `has_files` where the tree keeps files.
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

/// What a directory has beyond its subdirectories, if there is any file in it.
///
/// The blocks of the directory itself are among it. The newest modification is
/// known only where it is newer than anything below the subdirectories.
fn files_of(node: &Node<'_>) -> Option<Part<'static>> {
    let mut figures = figures_of(node);
    // The directory itself is no file of it.
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
