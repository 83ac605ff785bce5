// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as the view draws one.
//!
//! The trees of all roots are one picture, each with a row for its root. Where the tree
//! keeps no files, the largest of all files are nodes. The other files of a directory are
//! one node: the sums of the directory less those of its other nodes. The blocks of a directory itself are a node of their own
//! where they are many, so that they do not count as the space of its files.

use std::borrow::Cow;
use std::collections::HashMap;

use statwalk_core::{DirId, FileType, Node, TopOf, Tree as ScannedTree};
use statwalk_view::{Figures, SizeColumn, Tree};

use crate::output::json::Counted;
use crate::output::rows::roots;

/// The trees of all roots.
pub(crate) struct TreePicture<'a> {
    pub(crate) tree: &'a ScannedTree,
    /// Whether the tree keeps files.
    pub(crate) has_files: bool,
    /// The largest files, where the tree keeps none.
    pub(crate) large_files: LargeFiles<'a>,
    pub(crate) counted: Counted,
    pub(crate) column: SizeColumn,
    /// Whether directories without any entry have no row: the user filters.
    pub(crate) is_filtered: bool,
    /// The numbers of the roots without a row: an earlier one has their bytes.
    pub(crate) further_names: Vec<usize>,
}

/// The largest files of a scan, by their directory.
#[derive(Default)]
pub(crate) struct LargeFiles<'a>(HashMap<DirId, Vec<&'a TopOf>>);

impl<'a> LargeFiles<'a> {
    pub(crate) fn new(files: &'a [TopOf]) -> Self {
        let mut by_directory: HashMap<DirId, Vec<&TopOf>> = HashMap::new();
        for file in files {
            if let Some(id) = file.dir_id {
                by_directory.entry(id).or_default().push(file);
            }
        }
        LargeFiles(by_directory)
    }

    /// The large files directly in a directory.
    fn of(&self, directory: &Node<'_>) -> impl Iterator<Item = &'a TopOf> + use<'a, '_> {
        let files = directory.dir_id().and_then(|id| self.0.get(&id));
        files.into_iter().flatten().copied()
    }
}

/// A node of the picture.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// All roots together.
    All,
    /// A directory, or a file where the tree keeps files.
    Node(Node<'a>),
    /// A large file, where the tree keeps no files.
    File(&'a TopOf),
    /// All other entries directly in a directory that are no directories, where the tree
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
            Part::File(file) => {
                let name = file.path.rsplit(|&byte| byte == b'/').next();
                Cow::Borrowed(name.unwrap_or_default())
            }
            Part::Blocks(_) => Cow::Borrowed(b"(the directory itself)"),
            Part::All | Part::Files { .. } => Cow::Borrowed(b""),
        }
    }

    fn is_dir(&self, part: Part<'a>) -> bool {
        match part {
            Part::All => true,
            Part::Node(node) => node.is_dir(),
            Part::File(_) | Part::Files { .. } | Part::Blocks(_) => false,
        }
    }

    fn has_row(&self, part: Part<'a>) -> bool {
        match part {
            // A root that is a file has a row, too.
            Part::Node(node) => node.is_dir() || node.parent().is_none(),
            Part::All | Part::File(_) | Part::Blocks(_) => true,
            Part::Files { .. } => false,
        }
    }

    fn count(&self, part: Part<'a>) -> u64 {
        match part {
            Part::All | Part::Node(_) | Part::File(_) => 1,
            Part::Files { count, .. } => count,
            Part::Blocks(_) => 0,
        }
    }

    fn figures(&self, part: Part<'a>) -> Figures {
        match part {
            Part::Files { figures, .. } | Part::Blocks(figures) => figures,
            Part::Node(node) => self.figures_of(&node),
            Part::File(file) => figures_of_file(file),
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
            Part::File(_) | Part::Files { .. } | Part::Blocks(_) => (None, None),
        };
        let below = directory.into_iter().flat_map(move |node| {
            let files = self.has_files.then(|| node.files()).into_iter().flatten();
            let blocks = self.blocks_of(&node);
            let rest = (!self.has_files)
                .then(|| self.files_of(&node, blocks))
                .flatten();
            let dirs = node.children();
            let dirs = dirs.filter(|dir| !self.is_filtered || dir.entries() > 0);
            let nodes = dirs.chain(files).map(Part::Node);
            let large = self.large_files.of(&node).map(Part::File);
            nodes
                .chain(large)
                .chain(rest)
                .chain(blocks.map(Part::Blocks))
        });
        let roots = roots.into_iter().flatten();
        let roots = roots.filter(|(root, _)| !self.further_names.contains(root));
        roots.map(|(_, root)| Part::Node(root)).chain(below)
    }
}

impl TreePicture<'_> {
    fn figures_of(&self, node: &Node<'_>) -> Figures {
        let counts = !node.is_extra_link();
        let bytes = |bytes: Option<u128>| match self.counted {
            // A file that could not be read has a mark.
            Counted::Sizes if counts => bytes.unwrap_or(0),
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

    /// The files directly in a directory that have no node of their own, if there are any.
    ///
    /// A few blocks of the directory itself are in their sum, and many are in `blocks`.
    /// The newest modification is known only where it is newer than everything below
    /// the subdirectories.
    fn files_of<'b>(&self, node: &Node<'_>, blocks: Option<Figures>) -> Option<Part<'b>> {
        let mut figures = self.figures_of(node);
        // The directory itself is none of its files. It counts unless a filter left it out.
        let dirs_below: u64 = node.children().map(|child| child.dir_count()).sum();
        let own = match node.is_dir() {
            true => node.dir_count().saturating_sub(dirs_below),
            false => 1,
        };
        let mut count = figures.entries.saturating_sub(own);
        let mut newest_below = None;
        let others = node.children().map(|child| self.figures_of(&child));
        let large = self.large_files.of(node).map(figures_of_file);
        count = count.saturating_sub(self.large_files.of(node).count() as u64);
        for other in others.chain(large).chain(blocks) {
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

/// The figures of a file. Of one with several names, this name has the bytes: in a tree
/// from the same scan the first name has them, too.
fn figures_of_file(file: &TopOf) -> Figures {
    let attributes = &file.attributes;
    let has_content = matches!(attributes.kind, FileType::File | FileType::Symlink);
    let size_bytes = attributes.size_bytes().filter(|_| has_content);
    Figures {
        allocated_bytes: attributes.allocated_bytes().unwrap_or(0).into(),
        apparent_bytes: size_bytes.unwrap_or(0).into(),
        entries: 1,
        newest_mtime_ns: attributes.mtime_ns(),
        incomplete: false,
    }
}
