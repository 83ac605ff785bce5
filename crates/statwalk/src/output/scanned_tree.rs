// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as all views read it.
//!
//! Where the tree keeps no files, the largest of all files can be nodes. The other files of a
//! directory are one node: the sums of the directory less those of its other nodes. The blocks
//! of a directory itself can be a node of their own, so that they do not count as the space of
//! its files.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use statwalk_core::{DirId, DirState, FileType, Node, NodeId, NodeKind, TopOf, Tree, TreeFile};
use statwalk_view::{Details, Figures, Kind, Notes};

use crate::output::json::Counted;
use crate::output::rows::roots;

/// The trees of all roots. `T` has the tree, and `I` is what a report knows of it beside.
pub(crate) struct ScannedTree<'a, T, I = ()> {
    pub(crate) tree: T,
    pub(crate) indices: I,
    /// The whole paths of all roots, in the order of the scan; empty where the names of roots
    /// are as the user gave them.
    pub(crate) paths: Vec<Vec<u8>>,
    /// The node that all others are below.
    pub(crate) top: Part,
    pub(crate) own: Own,
    /// The largest files, where the tree keeps none and its files are nodes all the same.
    pub(crate) large_files: Option<LargeFiles<'a>>,
    pub(crate) counted: Counted,
    /// Whether directories without any entry are no nodes: the user filters.
    pub(crate) is_filtered: bool,
    /// The numbers of the roots that are further names of a file in an earlier one. They are
    /// no children of all roots.
    pub(crate) further_names: Vec<usize>,
}

/// The directories whose own blocks are a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// None.
    Nowhere,
    /// Those where they are many.
    Large,
    /// All with any.
    Everywhere,
}

/// A node of the tree, in 16 bytes: a page has many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// All roots together.
    All,
    /// A root, by its index.
    Root(u32),
    /// A directory or a file.
    Node(NodeId),
    /// So many bytes of a directory itself, as [`u64::to_ne_bytes`] has them: an integer
    /// would have to lie at a multiple of 8, and make all parts larger.
    Itself(DirId, [u8; 8]),
    /// A large file, by its index.
    Large(u32),
    /// All other entries directly in a directory that are no directories, by the index of
    /// their sums.
    Files(u32),
}

const _: () = assert!(size_of::<Option<Part>>() == 16);

/// The largest files of a scan, by their directory.
pub(crate) struct LargeFiles<'a> {
    files: &'a [TopOf],
    by_directory: HashMap<DirId, Vec<u32>>,
    /// The sums of the other files of each directory that somebody looked into: a view asks
    /// for them several times, and a directory can have millions of others.
    others: Mutex<Vec<Figures>>,
}

impl<'a> LargeFiles<'a> {
    pub(crate) fn new(files: &'a [TopOf]) -> Self {
        let mut by_directory: HashMap<DirId, Vec<u32>> = HashMap::new();
        for (index, file) in (0..).zip(files) {
            if let Some(id) = file.dir_id {
                by_directory.entry(id).or_default().push(index);
            }
        }
        LargeFiles {
            files,
            by_directory,
            others: Mutex::default(),
        }
    }

    /// The indices of the large files directly in a directory.
    fn of(&self, directory: &Node<'_>) -> &[u32] {
        let files = directory.dir_id().and_then(|id| self.by_directory.get(&id));
        files.map_or(&[], |files| files)
    }

    fn get(&self, index: u32) -> &'a TopOf {
        &self.files[index as usize]
    }

    /// Keeps the sums of the other files of a directory, and returns their index.
    fn keep_others(&self, sums: Figures) -> u32 {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.push(sums);
        // Fewer than 2^32 directories fit into memory.
        others.len() as u32 - 1
    }

    fn others(&self, index: u32) -> Figures {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others[index as usize]
    }
}

impl<T: Borrow<Tree>> ScannedTree<'_, T> {
    /// All that the tree keeps, with the sizes and paths that it has.
    pub(crate) fn new(tree: T) -> Self {
        ScannedTree {
            tree,
            indices: (),
            paths: Vec::new(),
            top: Part::All,
            own: Own::Nowhere,
            large_files: None,
            counted: Counted::Sizes,
            is_filtered: false,
            further_names: Vec::new(),
        }
    }
}

impl<'a, T: Borrow<Tree>, I> ScannedTree<'a, T, I> {
    fn tree(&self) -> &Tree {
        self.tree.borrow()
    }

    /// A directory or a file that the tree keeps; absent for anything else.
    #[inline]
    pub(crate) fn node(&self, part: Part) -> Option<Node<'_>> {
        match part {
            Part::Root(index) => self.tree().root(index as usize),
            Part::Node(id) => Some(self.tree().node(id)),
            _ => None,
        }
    }

    /// The same with other indices.
    pub(crate) fn with_indices<J>(self, indices: J) -> ScannedTree<'a, T, J> {
        ScannedTree {
            tree: self.tree,
            indices,
            paths: self.paths,
            top: self.top,
            own: self.own,
            large_files: self.large_files,
            counted: self.counted,
            is_filtered: self.is_filtered,
            further_names: self.further_names,
        }
    }

    /// The part of a directory or a file. It looks for a root only where the name depends on
    /// that.
    pub(crate) fn part_of(&self, node: &Node<'_>) -> Part {
        let is_named = !self.paths.is_empty() && node.parent().is_none();
        let mut roots = roots(self.tree()).filter(|_| is_named);
        match roots.find(|(_, root)| root.id() == node.id()) {
            Some((index, _)) => Part::Root(index as u32),
            None => Part::Node(node.id()),
        }
    }

    pub(crate) fn is_further_name(&self, part: Part) -> bool {
        matches!(part, Part::Root(index) if self.further_names.contains(&(index as usize)))
    }

    fn large_file(&self, index: u32) -> Option<&TopOf> {
        Some(self.large_files.as_ref()?.get(index))
    }

    fn figures_of(&self, node: &Node<'_>) -> Figures {
        let (allocated_bytes, apparent_bytes) = match self.counted {
            Counted::Sizes => bytes(node),
            // The count takes the place of the size.
            Counted::Inodes if node.is_extra_link() => (0, 0),
            Counted::Names | Counted::Inodes => (node.entries().into(), node.entries().into()),
        };
        match node.as_file() {
            Some(file) => Figures {
                allocated_bytes,
                apparent_bytes,
                entries: 1,
                newest_mtime_ns: file.mtime_ns(),
                incomplete: file.is_incomplete(),
            },
            None => Figures {
                allocated_bytes,
                apparent_bytes,
                entries: node.entries(),
                newest_mtime_ns: node.newest_mtime_ns(),
                incomplete: node.is_incomplete(),
            },
        }
    }

    /// The first of these sums.
    #[inline]
    fn allocated_of(&self, node: &Node<'_>) -> u128 {
        match node.as_file() {
            Some(file) => self.allocated_of_file(&file),
            None => self.allocated_of_directory(node),
        }
    }

    #[inline]
    fn allocated_of_directory(&self, node: &Node<'_>) -> u128 {
        match self.counted {
            Counted::Sizes => bytes_of_directory(node),
            Counted::Names | Counted::Inodes => node.entries().into(),
        }
    }

    #[inline]
    fn allocated_of_file(&self, file: &TreeFile<'_>) -> u128 {
        match self.counted {
            Counted::Sizes => bytes_of_file(file).0.into(),
            Counted::Names => 1,
            Counted::Inodes => u128::from(!file.is_extra_link()),
        }
    }

    /// The figures of the blocks of a directory itself. Where only many are a node, it has a
    /// row, which counts the directory.
    fn figures_of_blocks(&self, bytes: u64) -> Figures {
        Figures {
            allocated_bytes: bytes.into(),
            entries: u64::from(self.own == Own::Large),
            ..Figures::default()
        }
    }

    /// The sums of the entries directly in a directory that have no node of their own, if there
    /// are any.
    ///
    /// A few blocks of the directory itself are among them, and many are a node. The newest
    /// modification is known only where it is newer than everything below the subdirectories.
    fn others_of(&self, node: &Node<'_>, large: &LargeFiles<'_>) -> Option<Figures> {
        let mut figures = self.figures_of(node);
        let large = large.of(node).iter().map(|&index| large.get(index));
        // The directory itself is none of its files. It counts unless a filter left it out.
        let dirs_below: u64 = node.children().map(|child| child.dir_count()).sum();
        let own = node.dir_count().saturating_sub(dirs_below);
        let mut count = figures.entries.saturating_sub(own);
        count = count.saturating_sub(large.len() as u64);
        for child in node.children() {
            count = count.saturating_sub(child.entries());
        }
        let mut newest_below = None;
        let dirs = node.children().map(|child| self.figures_of(&child));
        let blocks = node.own_allocated_bytes();
        let blocks = blocks.filter(|_| self.own == Own::Large);
        let blocks = blocks.map(|bytes| self.figures_of_blocks(bytes));
        for other in dirs.chain(large.map(figures_of_file)).chain(blocks) {
            figures.take_away(&other);
            newest_below = newest_below.max(other.newest_mtime_ns);
        }
        figures.entries = count;
        if self.counted != Counted::Sizes {
            (figures.allocated_bytes, figures.apparent_bytes) = (count.into(), count.into());
        }
        figures.newest_mtime_ns = figures
            .newest_mtime_ns
            .filter(|_| figures.newest_mtime_ns > newest_below);
        figures.incomplete = false;
        (count > 0).then_some(figures)
    }

    fn others(&self, index: u32) -> Option<Figures> {
        Some(self.large_files.as_ref()?.others(index))
    }
}

impl<T: Borrow<Tree> + Sync, I: Sync> statwalk_view::Tree for ScannedTree<'_, T, I> {
    type Node = Part;

    fn root(&self) -> Part {
        self.top
    }

    fn name(&self, part: Part) -> Cow<'_, [u8]> {
        let name = match part {
            Part::Root(index) if !self.paths.is_empty() => &self.paths[index as usize],
            Part::Root(_) | Part::Node(_) => self.node(part).map_or(&b""[..], |node| node.name()),
            Part::Large(index) => self.large_file(index).map_or(&b""[..], name_of_file),
            Part::Itself(..) if self.own == Own::Large => b"(the directory itself)",
            Part::All | Part::Itself(..) | Part::Files(_) => b"",
        };
        Cow::Borrowed(name)
    }

    fn kind(&self, part: Part) -> Kind {
        match part {
            Part::All => Kind::Roots,
            Part::Root(_) | Part::Node(_) => match self.node(part).map(|node| node.kind()) {
                Some(NodeKind::Directory(_)) => Kind::Directory,
                Some(NodeKind::Other(kind)) => kind_of(kind),
                _ => Kind::Other,
            },
            Part::Itself(..) => Kind::Itself,
            Part::Large(index) => {
                let file = self.large_file(index);
                file.map_or(Kind::Other, |file| kind_of(file.attributes.kind))
            }
            Part::Files(_) => Kind::Rest,
        }
    }

    fn is_dir(&self, part: Part) -> bool {
        match self.node(part) {
            Some(node) => node.is_dir(),
            None => matches!(part, Part::All),
        }
    }

    fn has_row(&self, part: Part) -> bool {
        match part {
            Part::Node(id) => self.tree().node(id).is_dir(),
            // A root that is a file has a row, too.
            Part::All | Part::Root(_) | Part::Large(_) | Part::Itself(..) => true,
            Part::Files(_) => false,
        }
    }

    fn count(&self, part: Part) -> u64 {
        match part {
            Part::All | Part::Root(_) | Part::Node(_) | Part::Large(_) => 1,
            Part::Itself(..) => 0,
            Part::Files(index) => self.others(index).map_or(0, |sum| sum.entries),
        }
    }

    fn figures(&self, part: Part) -> Figures {
        let figures = match part {
            Part::Root(_) | Part::Node(_) => self.node(part).map(|node| self.figures_of(&node)),
            Part::Itself(_, bytes) => Some(self.figures_of_blocks(u64::from_ne_bytes(bytes))),
            Part::Large(index) => self.large_file(index).map(figures_of_file),
            Part::Files(index) => self.others(index),
            Part::All => {
                let mut sum = Figures::default();
                roots(self.tree()).for_each(|(_, root)| sum.add(&self.figures_of(&root)));
                Some(sum)
            }
        };
        figures.unwrap_or_default()
    }

    fn allocated_bytes(&self, part: Part) -> u128 {
        match (self.node(part), part) {
            (Some(node), _) => self.allocated_of(&node),
            (None, Part::Itself(_, bytes)) => u64::from_ne_bytes(bytes).into(),
            (None, _) => self.figures(part).allocated_bytes,
        }
    }

    fn notes(&self, part: Part) -> Notes {
        let Some(node) = self.node(part) else {
            return Notes::default();
        };
        let is_incomplete = node.is_incomplete();
        match node.kind() {
            NodeKind::Directory(state) => Notes {
                is_unreadable: state == DirState::Unreadable,
                is_incomplete,
                is_excluded: state == DirState::Excluded,
                is_mount: state == DirState::Crossing,
                ..Notes::default()
            },
            _ => Notes {
                is_unreadable: is_incomplete,
                counts_elsewhere: node.is_extra_link(),
                has_other_names: node.has_other_names() == Some(true),
                ..Notes::default()
            },
        }
    }

    fn uid(&self, part: Part) -> Option<u32> {
        self.node(part)?.uid()
    }

    fn parent(&self, part: Part) -> Option<Part> {
        Some(self.part_of(&self.node(part)?.parent()?))
    }

    fn details(&self, part: Part) -> Option<Details> {
        let node = self.node(part)?;
        let kind = match node.kind() {
            NodeKind::Other(kind) => kind,
            _ => FileType::Directory,
        };
        Some(Details {
            letter: kind.letter(),
            files: node.file_count(),
            dirs: node.dir_count(),
            knows_bytes: node.is_extra_link() || node.allocated_bytes().is_some(),
            is_further_name: self.is_further_name(part),
            newest_time_ns: node.newest_time_ns(),
        })
    }

    fn for_each_child(&self, part: Part, mut each: impl FnMut(u128, Part)) {
        if let Part::All = part {
            let roots = roots(self.tree());
            let roots = roots.filter(|(index, _)| !self.further_names.contains(index));
            return roots.for_each(|(index, root)| {
                each(self.allocated_of(&root), Part::Root(index as u32));
            });
        }
        let Some(directory) = self.node(part).filter(Node::is_dir) else {
            return;
        };
        // The bytes that no entry so far has.
        let mut rest = self.allocated_of_directory(&directory);
        let mut entry = |bytes: u128, node: Node<'_>| {
            rest = rest.saturating_sub(bytes);
            each(bytes, Part::Node(node.id()));
        };
        for child in directory.children() {
            if !self.is_filtered || child.entries() > 0 {
                entry(self.allocated_of_directory(&child), child);
            }
        }
        directory.for_each_file(|file| entry(self.allocated_of_file(&file), file.node()));
        let Some(id) = directory.dir_id() else {
            return;
        };
        if let Some(large) = &self.large_files {
            for &index in large.of(&directory) {
                each(self.allocated_bytes(Part::Large(index)), Part::Large(index));
            }
            if let Some(others) = self.others_of(&directory, large) {
                let index = large.keep_others(others);
                each(others.allocated_bytes, Part::Files(index));
            }
        }
        let own = match self.own {
            // A directory itself has fewer than 2^64 bytes.
            Own::Everywhere => Some(u64::try_from(rest).unwrap_or(u64::MAX)),
            Own::Large => directory.own_allocated_bytes(),
            Own::Nowhere => None,
        };
        if let Some(bytes) = own.filter(|&bytes| bytes > 0) {
            each(bytes.into(), Part::Itself(id, bytes.to_ne_bytes()));
        }
    }
}

/// The kind of an entry that is no directory.
pub(crate) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::File => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The bytes that count under the name of a file: on disk, and apparent. A file that could
/// not be read has none, and a note that says so.
pub(crate) fn bytes_of_file(file: &TreeFile<'_>) -> (u64, u64) {
    match file.is_extra_link() {
        true => (0, 0),
        false => (
            file.allocated_bytes().unwrap_or(0),
            file.apparent_bytes().unwrap_or(0),
        ),
    }
}

/// The bytes on the disk and the apparent ones of a node, and of all below a directory.
pub(crate) fn bytes(node: &Node<'_>) -> (u128, u128) {
    match node.as_file() {
        Some(file) => {
            let (allocated_bytes, apparent_bytes) = bytes_of_file(&file);
            (allocated_bytes.into(), apparent_bytes.into())
        }
        None => (
            node.allocated_bytes().unwrap_or(0),
            node.apparent_bytes().unwrap_or(0),
        ),
    }
}

/// The first of the [`bytes`] of a directory.
pub(crate) fn bytes_of_directory(node: &Node<'_>) -> u128 {
    node.allocated_bytes().unwrap_or(0)
}

/// The name of a large file.
pub(crate) fn name_of_file(file: &TopOf) -> &[u8] {
    let name = file.path.rsplit(|&byte| byte == b'/').next();
    name.unwrap_or_default()
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
