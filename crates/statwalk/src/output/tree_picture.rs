// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as the view draws one.
//!
//! The trees of all roots are one picture, each with a row for its root. Where the tree
//! keeps no files, the files of a directory are one node: the sums of the directory less
//! those of its subdirectories. The blocks of a directory itself are a node of their own
//! where they are many, so that they do not count as the space of its files.

use std::borrow::Cow;

use statwalk_core::{Node, Tree as ScannedTree};
use statwalk_view::{Figures, SizeColumn, Tree};

use crate::output::json::Counted;
use crate::output::rows::roots;

/// The trees of all roots.
pub(crate) struct TreePicture<'a> {
    pub(crate) tree: &'a ScannedTree,
    /// Whether the tree keeps files.
    pub(crate) has_files: bool,
    pub(crate) counted: Counted,
    pub(crate) column: SizeColumn,
}

/// A node of the picture.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// All roots together.
    All,
    /// A directory, or a file where the tree keeps files.
    Node(Node<'a>),
    /// All entries directly in a directory that are no directories, where the tree
    /// keeps no files.
    Files { count: u64, figures: Figures },
    /// The many blocks of a directory itself.
    Blocks(Figures),
}

impl<'a> Tree for TreePicture<'a> {
    type Node = Part<'a>;

    fn root(&self) -> Part<'a> {
        Part::All
    }

    fn is_forest(&self) -> bool {
        true
    }

    fn name(&self, part: Part<'a>) -> Cow<'_, [u8]> {
        match part {
            Part::Node(node) => Cow::Borrowed(node.name()),
            Part::Blocks(_) => Cow::Borrowed(b"(the directory itself)"),
            Part::All | Part::Files { .. } => Cow::Borrowed(b""),
        }
    }

    fn is_dir(&self, part: Part<'a>) -> bool {
        match part {
            Part::All => true,
            Part::Node(node) => node.is_dir(),
            Part::Files { .. } | Part::Blocks(_) => false,
        }
    }

    fn has_row(&self, part: Part<'a>) -> bool {
        match part {
            // A root that is a file has a row, too.
            Part::Node(node) => node.is_dir() || node.parent().is_none(),
            Part::All | Part::Blocks(_) => true,
            Part::Files { .. } => false,
        }
    }

    fn count(&self, part: Part<'a>) -> u64 {
        match part {
            Part::All | Part::Node(_) => 1,
            Part::Files { count, .. } => count,
            Part::Blocks(_) => 0,
        }
    }

    fn figures(&self, part: Part<'a>) -> Figures {
        match part {
            Part::Files { figures, .. } | Part::Blocks(figures) => figures,
            Part::Node(node) => self.figures_of(&node),
            Part::All => {
                let mut sum = Figures::default();
                for root in roots(self.tree).map(|(_, root)| self.figures_of(&root)) {
                    sum.allocated_bytes += root.allocated_bytes;
                    sum.apparent_bytes += root.apparent_bytes;
                    sum.entries += root.entries;
                }
                sum
            }
        }
    }

    fn children(&self, part: Part<'a>) -> impl Iterator<Item = Part<'a>> {
        let (directory, roots) = match part {
            Part::All => (None, Some(roots(self.tree))),
            Part::Node(node) => (Some(node), None),
            Part::Files { .. } | Part::Blocks(_) => (None, None),
        };
        let below = directory.into_iter().flat_map(move |node| {
            let files = self.has_files.then(|| node.files()).into_iter().flatten();
            let blocks = self.blocks_of(&node);
            let rest = (!self.has_files)
                .then(|| self.files_of(&node, blocks))
                .flatten();
            let nodes = node.children().chain(files).map(Part::Node);
            nodes.chain(rest).chain(blocks.map(Part::Blocks))
        });
        let roots = roots.into_iter().flatten();
        roots.map(|(_, root)| Part::Node(root)).chain(below)
    }
}

impl TreePicture<'_> {
    fn figures_of(&self, node: &Node<'_>) -> Figures {
        let counts = !node.is_extra_link();
        let bytes = |bytes: u128| match self.counted {
            Counted::Sizes if counts => bytes,
            Counted::Sizes => 0,
            // The count takes the place of the size.
            Counted::Names => node.entries().into(),
            Counted::Inodes if counts => node.entries().into(),
            Counted::Inodes => 0,
        };
        Figures {
            allocated_bytes: bytes(node.allocated_bytes()),
            apparent_bytes: bytes(node.apparent_bytes()),
            entries: node.entries(),
            newest_mtime_ns: node.newest_mtime_ns(),
            incomplete: node.is_incomplete(),
        }
    }

    /// The blocks of a directory itself, where they are many and count as space.
    fn blocks_of(&self, node: &Node<'_>) -> Option<Figures> {
        let counts = self.column == SizeColumn::Disk && self.counted == Counted::Sizes;
        let own = node.own_allocated_bytes().filter(|_| counts)?;
        Some(Figures {
            allocated_bytes: own.into(),
            entries: 1,
            ..Figures::default()
        })
    }

    /// The files directly in a directory, if there are any.
    ///
    /// A few blocks of the directory itself are in their sum, and many are in `blocks`.
    /// The newest modification is known only where it is newer than everything below
    /// the subdirectories.
    fn files_of<'b>(&self, node: &Node<'_>, blocks: Option<Figures>) -> Option<Part<'b>> {
        let mut figures = self.figures_of(node);
        // The directory itself is none of its files.
        let mut count = figures.entries.saturating_sub(1);
        let mut newest_below = None;
        let others = node.children().map(|child| self.figures_of(&child));
        for other in others.chain(blocks) {
            figures.allocated_bytes = figures
                .allocated_bytes
                .saturating_sub(other.allocated_bytes);
            figures.apparent_bytes = figures.apparent_bytes.saturating_sub(other.apparent_bytes);
            newest_below = newest_below.max(other.newest_mtime_ns);
        }
        for child in node.children() {
            count = count.saturating_sub(child.entries());
        }
        figures.entries = count;
        if self.counted != Counted::Sizes {
            (figures.allocated_bytes, figures.apparent_bytes) = (count.into(), count.into());
        }
        figures.newest_mtime_ns = figures
            .newest_mtime_ns
            .filter(|_| figures.newest_mtime_ns > newest_below);
        figures.incomplete = false;
        (count > 0).then_some(Part::Files { count, figures })
    }
}
