// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory or file of the tree.

use std::cmp::Ordering;
use std::fmt;

use super::Tree;
use super::file::TreeFile;
use super::link_names::{LinkName, identity_of};
use super::record::{DirRecord, FileRecord, FileRun, NOWHERE, Sums, Traits};
use super::state::{BLOCK, TreeState};
use crate::directory::{DirState, join};
use crate::entry::{DirId, FileId, FileType};
use crate::path::path_buf;
use crate::time::is_time;

/// A directory of a [`Tree`], or a file where files are kept.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(super) tree: &'a Tree,
    pub(super) at: At,
}

/// The number of a node within its tree, in 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(At);

/// Where its record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Dir(u32),
    File { dir: u32, number: u64 },
}

/// The kind of entry that a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeKind {
    /// A directory, and how far it was read.
    Directory(DirState),
    /// Anything else.
    Other(FileType),
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("path", &path_buf(self.path()))
            .field("kind", &self.kind())
            .field("entries", &self.entries())
            .field("allocated_bytes", &self.allocated_bytes())
            .field("apparent_bytes", &self.apparent_bytes())
            .field("is_incomplete", &self.is_incomplete())
            .finish_non_exhaustive()
    }
}

impl<'a> Node<'a> {
    #[inline]
    fn dir(&self) -> Option<&'a DirRecord> {
        match self.at {
            At::Dir(id) => self.tree.record(id),
            At::File { .. } => None,
        }
    }

    /// The record of a directory, and of no root that is a file.
    #[inline]
    fn directory(&self) -> Option<&'a DirRecord> {
        self.dir().filter(|dir| !dir.kind.is_root_file())
    }

    #[inline]
    fn file(&self) -> Option<&'a FileRecord> {
        match self.at {
            At::Dir(_) => self.root_file(),
            At::File { number, .. } => Some(self.tree.file(number)),
        }
    }

    /// The record of a root that is a file, where files are kept.
    ///
    /// A function of its own, as is what else is for directories alone: so the others are
    /// short enough to be inlined. A caller asks for several attributes of a file, and its
    /// record is looked up once then.
    fn root_file(&self) -> Option<&'a FileRecord> {
        self.root_file_number().map(|number| self.tree.file(number))
    }

    fn root_file_number(&self) -> Option<u64> {
        if !self.dir()?.kind.is_root_file() {
            return None;
        }
        self.entries_kept().next()
    }

    /// The kind of entry that it stands for.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> NodeKind {
        match self.at {
            At::Dir(_) => self.dir_kind(),
            At::File { number, .. } => NodeKind::Other(self.tree.file(number).traits.kind()),
        }
    }

    fn dir_kind(&self) -> NodeKind {
        let unknown = NodeKind::Other(FileType::Unknown);
        self.dir().map_or(unknown, |dir| dir.kind.node_kind())
    }

    /// Its number within its tree. [`Tree::node`](super::Tree::node) finds it by that.
    #[must_use]
    #[inline]
    pub fn id(&self) -> NodeId {
        NodeId(self.at)
    }

    /// The number of a directory in its scan, as other sinks of the scan have it; absent
    /// for files.
    #[must_use]
    pub fn dir_id(&self) -> Option<DirId> {
        match self.at {
            At::Dir(id) => Some(DirId(id)),
            At::File { .. } => None,
        }
    }

    /// The number of a file in its tree, below [`Tree::file_number_end`]; absent for
    /// directories, and for a root that is a file.
    ///
    /// With it a caller keeps something of its own for each file in a list.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new().with_files())?;
    /// let tree = outcome.output;
    /// let mut is_met = vec![false; tree.file_number_end()];
    /// for file in tree.root(0).expect("the root was read").files() {
    ///     let number = file.file_number().expect("it is below a directory");
    ///     assert!(!std::mem::replace(&mut is_met[number], true));
    /// }
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn file_number(&self) -> Option<usize> {
        match self.at {
            At::Dir(_) => None,
            // Its record is in memory.
            At::File { number, .. } => Some(number as usize),
        }
    }

    /// Whether it is a directory.
    #[must_use]
    #[inline]
    pub fn is_dir(&self) -> bool {
        match self.at {
            At::Dir(_) => self.directory().is_some(),
            At::File { .. } => false,
        }
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        match self.at {
            At::Dir(id) => self.dir_name(id),
            At::File { number, .. } => self.tree_file(number).name(),
        }
    }

    fn dir_name(&self, id: u32) -> &'a [u8] {
        let Some(record) = self.tree.record(id) else {
            return &[];
        };
        if record.parent == NOWHERE {
            return &self.tree.roots[record.root()];
        }
        let worker = self.tree.foreign_names.get(&id).copied();
        let worker = worker.unwrap_or(self.tree.block_names[id as usize / BLOCK]);
        self.tree.names[usize::from(worker)].get(record.name)
    }

    /// The directory that holds it; absent for a root.
    #[must_use]
    pub fn parent(&self) -> Option<Node<'a>> {
        let parent = match self.at {
            At::Dir(id) => self.tree.record(id).map_or(NOWHERE, |dir| dir.parent),
            At::File { dir, .. } => dir,
        };
        (parent != NOWHERE).then_some(Node {
            tree: self.tree,
            at: At::Dir(parent),
        })
    }

    /// The path, beginning with the root as the caller gave it.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        let mut names = vec![self.name()];
        let mut node = *self;
        while let Some(parent) = node.parent() {
            node = parent;
            names.push(node.name());
        }
        names.into_iter().rev().fold(Vec::new(), join)
    }

    /// Subdirectories, in no particular order.
    #[inline]
    pub fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let tree = self.tree;
        let range = self.dir().map_or(0..0, |dir| {
            dir.children_start as usize..(dir.children_start + dir.children_count) as usize
        });
        tree.children[range].iter().map(move |&id| Node {
            tree,
            at: At::Dir(id),
        })
    }

    /// The entries that are no directories, in no particular order; none where files
    /// were not kept.
    #[inline]
    pub fn files(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let (tree, dir) = (self.tree, self.number());
        let numbers = self.is_dir().then(|| self.entries_kept());
        (numbers.into_iter().flatten()).map(move |number| Node {
            tree,
            at: At::File { dir, number },
        })
    }

    /// Calls `each` with the entries of [`files`](Self::files).
    ///
    /// Each record is looked up once.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new("src").run(&TreeSink::new().with_files())?;
    /// let root = outcome.output.root(0).expect("the root was read");
    /// let mut sum = 0;
    /// root.for_each_file(|file| sum += file.apparent_bytes().unwrap_or(0));
    /// let files = root.files().filter_map(|file| file.apparent_bytes());
    /// assert_eq!(files.sum::<u128>(), sum.into());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[inline]
    pub fn for_each_file(&self, mut each: impl FnMut(TreeFile<'a>)) {
        if !self.is_dir() {
            return;
        }
        let (tree, dir) = (self.tree, self.number());
        for run in self.runs() {
            let (mut number, end) = (run.start, run.start + u64::from(run.count));
            while number < end {
                let chunk = &tree.files[number as usize / TreeState::FILE_CHUNK];
                let first = number as usize % TreeState::FILE_CHUNK;
                let count = (chunk.len() - first).min((end - number) as usize);
                for record in &chunk[first..first + count] {
                    let at = At::File { dir, number };
                    each(TreeFile::new(Node { tree, at }, number, record));
                    number += 1;
                }
            }
        }
    }

    /// The same entry with its record; absent for directories, and where files were not
    /// kept.
    #[must_use]
    #[inline]
    pub fn as_file(&self) -> Option<TreeFile<'a>> {
        match self.at {
            At::Dir(_) => self.root_file_number().map(|number| self.tree_file(number)),
            At::File { number, .. } => Some(self.tree_file(number)),
        }
    }

    #[inline]
    fn tree_file(&self, number: u64) -> TreeFile<'a> {
        TreeFile::new(*self, number, self.tree.file(number))
    }

    /// The number of the directory; of a file none.
    #[inline]
    fn number(&self) -> u32 {
        match self.at {
            At::Dir(id) => id,
            At::File { .. } => NOWHERE,
        }
    }

    /// The numbers of the files that its record brings; of a root file its own.
    #[inline]
    fn entries_kept(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.runs()
            .flat_map(|run| run.start..run.start + u64::from(run.count))
    }

    #[inline]
    fn runs(&self) -> impl Iterator<Item = &'a FileRun> + use<'a> {
        self.tree.file_runs.of(self.number())
    }

    /// The entry at a place among [`files`](Self::files); absent where there are fewer.
    ///
    /// With it a caller keeps a number for an entry and not a reference.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new().with_files())?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// for (place, file) in root.files().enumerate() {
    ///     assert_eq!(root.file_at(place).map(|file| file.name()), Some(file.name()));
    /// }
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn file_at(&self, place: usize) -> Option<Node<'a>> {
        if !self.is_dir() {
            return None;
        }
        let mut left = place as u64;
        let number = self.runs().find_map(|run| {
            let count = u64::from(run.count);
            let is_here = left < count;
            let number = run.start + left;
            left = left.saturating_sub(count);
            is_here.then_some(number)
        })?;
        Some(Node {
            tree: self.tree,
            at: At::File {
                dir: self.number(),
                number,
            },
        })
    }

    /// The user that owns it; absent where it is unknown, and where the sink keeps no owners
    /// ([`TreeSink::with_owners`](super::TreeSink::with_owners)).
    #[must_use]
    #[inline]
    pub fn uid(&self) -> Option<u32> {
        match self.at {
            At::Dir(id) => self.dir_uid(id),
            At::File { number, .. } => self.tree_file(number).uid(),
        }
    }

    fn dir_uid(&self, id: u32) -> Option<u32> {
        match self.root_file_number() {
            Some(number) => self.tree_file(number).uid(),
            None => self.tree.owners.of_dir(id),
        }
    }

    /// The device and the inode number of a directory; absent for files, where they are
    /// unknown, and where the sink keeps none
    /// ([`TreeSink::with_identities`](super::TreeSink::with_identities)).
    #[must_use]
    pub fn identity(&self) -> Option<FileId> {
        let identity = match self.at {
            At::Dir(id) => self.tree.identities.get(id as usize)?,
            At::File { .. } => return None,
        };
        identity.file_id(&self.tree.devices)
    }

    /// The inode of a file that has several names, and how many it had; absent for others,
    /// and where the sink keeps none
    /// ([`TreeSink::with_link_names`](super::TreeSink::with_link_names)).
    #[must_use]
    pub fn inode(&self) -> Option<(FileId, u32)> {
        let (dir, file) = match self.at {
            At::Dir(id) => (id, self.root_file_number()?),
            At::File { dir, number } => (dir, number),
        };
        let name = self.tree.link_names.of_file(dir, file)?;
        Some(({ name.identity }.file_id(&self.tree.devices)?, name.links))
    }

    /// The entries of [`files`](Self::files) that have an [`inode`](Self::inode), in no
    /// particular order. They are found without a look at the others.
    pub fn linked_files(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let tree = self.tree;
        let names = match self.is_dir() {
            true => tree.link_names.of_dir(self.number()),
            false => &[],
        };
        names.iter().map(move |name| tree.link_name(name))
    }

    /// The place of a file among [`files`](Self::files) of its directory, by which
    /// [`file_at`](Self::file_at) finds it; absent for directories, and for a root.
    #[must_use]
    pub fn file_place(&self) -> Option<usize> {
        let At::File { dir, number } = self.at else {
            return None;
        };
        let mut before = 0;
        self.tree.file_runs.of(dir).find_map(|run| {
            let is_here = (run.start..run.start + u64::from(run.count)).contains(&number);
            let place = before + number.wrapping_sub(run.start);
            before += u64::from(run.count);
            // Its record is in memory.
            is_here.then_some(place as usize)
        })
    }

    /// Compares the places of two nodes of one tree: the roots in the order of the scan,
    /// then the paths as [`path_order`](crate::path_order) does.
    #[must_use]
    pub fn cmp_path(&self, other: &Node<'_>) -> Ordering {
        let (mut a, mut b) = (*self, *other);
        let (mut a_below, mut b_below) = (None, None);
        let (a_depth, b_depth) = (a.depth(), b.depth());
        for _ in b_depth..a_depth {
            a_below = Some(a.name());
            a = a.parent().unwrap_or(a);
        }
        for _ in a_depth..b_depth {
            b_below = Some(b.name());
            b = b.parent().unwrap_or(b);
        }
        // Both are at one depth now, and the names below their lowest common directory decide.
        while a.at != b.at {
            let (Some(a_parent), Some(b_parent)) = (a.parent(), b.parent()) else {
                return a.root_index().cmp(&b.root_index());
            };
            (a_below, b_below) = (Some(a.name()), Some(b.name()));
            (a, b) = (a_parent, b_parent);
        }
        a_below.cmp(&b_below).then(a_depth.cmp(&b_depth))
    }

    fn depth(&self) -> u32 {
        match self.at {
            At::Dir(id) => self.tree.record(id).map_or(0, |dir| dir.depth),
            At::File { dir, .. } => 1 + self.tree.record(dir).map_or(0, |dir| dir.depth),
        }
    }

    fn root_index(&self) -> Option<usize> {
        self.dir().map(DirRecord::root)
    }

    #[inline]
    fn sum<T>(&self, of_dir: impl Fn(&Sums) -> T, of_file: impl Fn(&FileRecord) -> T) -> T {
        if let Some(dir) = self.directory() {
            return of_dir(&dir.sums);
        }
        match (self.file(), self.dir()) {
            (Some(file), _) => of_file(file),
            (None, Some(dir)) => of_dir(&dir.sums),
            (None, None) => of_dir(&Sums::NOTHING),
        }
    }

    #[inline]
    fn bytes(
        &self,
        of_dir: impl Fn(&Sums) -> u128,
        of_file: impl Fn(&FileRecord) -> u64,
    ) -> Option<u128> {
        if let Some(dir) = self.directory() {
            return self.tree.knows_sizes.then(|| of_dir(&dir.sums));
        }
        let is_known = self.tree.knows_sizes && !self.is_unread_file();
        is_known.then(|| self.sum(of_dir, |file| of_file(file).into()))
    }

    /// The space taken by the whole subtree, in bytes; absent where the sink keeps no sizes
    /// ([`TreeSink::without_sizes`](super::TreeSink::without_sizes)), and of a file that
    /// could not be read.
    #[must_use]
    #[inline]
    pub fn allocated_bytes(&self) -> Option<u128> {
        self.bytes(|dir| dir.allocated.get(), |file| file.allocated_bytes)
    }

    /// The space that a directory takes itself, without anything in it, in bytes; absent
    /// where that is less than 16 KiB, and for files.
    #[must_use]
    pub fn own_allocated_bytes(&self) -> Option<u64> {
        match self.at {
            At::Dir(id) => self.tree.large_dirs.get(&id).copied(),
            At::File { .. } => None,
        }
    }

    /// The `st_size` of all regular files and links of the subtree, in bytes; absent as
    /// [`allocated_bytes`](Self::allocated_bytes) is.
    #[must_use]
    #[inline]
    pub fn apparent_bytes(&self) -> Option<u128> {
        self.bytes(|dir| dir.apparent.get(), |file| file.size_bytes)
    }

    /// The names in the subtree, its own among them; or its inodes, where the sink
    /// counts them ([`TreeSink::with_inode_counts`](super::TreeSink::with_inode_counts)).
    #[must_use]
    #[inline]
    pub fn entries(&self) -> u64 {
        self.sum(|dir| dir.entries, |_| 1)
    }

    /// The regular files in the subtree.
    #[must_use]
    pub fn file_count(&self) -> u64 {
        self.sum(
            |dir| dir.files,
            |file| u64::from(file.traits.kind() == FileType::File),
        )
    }

    /// The directories in the subtree, itself among them unless a filter left it out.
    #[must_use]
    pub fn dir_count(&self) -> u64 {
        self.sum(|dir| u64::from(dir.dirs), |_| 0)
    }

    /// The newest modification of anything in the subtree that is not a
    /// directory, in nanoseconds since 1970. Absent where there is nothing, and in a tree
    /// that keeps another time ([`TreeSink::with_newest`](super::TreeSink::with_newest)).
    ///
    /// Times before 1677 and after 2262 do not fit, and are left out. Of a directory so
    /// are times that lie an hour or more after the beginning of the scan: one wrong clock
    /// would hide all others.
    #[must_use]
    #[inline]
    pub fn newest_mtime_ns(&self) -> Option<i64> {
        let newest = self.newest_time_ns();
        newest.filter(|_| self.tree.time.is_none())
    }

    /// The newest time in the subtree, in nanoseconds since 1970: the one that
    /// [`TreeSink::with_newest`](super::TreeSink::with_newest) names, else that of
    /// [`newest_mtime_ns`](Self::newest_mtime_ns). Absent where there is none.
    #[must_use]
    #[inline]
    pub fn newest_time_ns(&self) -> Option<i64> {
        let newest = self.sum(|dir| dir.newest_ns, |file| file.time_ns);
        is_time(newest).then_some(newest)
    }

    /// Whether something in the subtree could not be read.
    #[must_use]
    #[inline]
    pub fn is_incomplete(&self) -> bool {
        match self.at {
            At::Dir(_) => {
                self.is_unread_root_file() || self.dir().is_some_and(|dir| dir.sums.incomplete)
            }
            At::File { .. } => self.is_unread_file(),
        }
    }

    /// Whether something of it could not be read by itself: the directory, an entry in it that
    /// is no directory, or the file. Each directory below answers for itself, so a caller
    /// that drops one learns whether the others are complete.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new())?;
    /// let root = outcome.output.root(0).expect("the root was read");
    /// let lacks = root.lacks_itself() || root.children().any(|child| child.is_incomplete());
    /// assert_eq!(lacks, root.is_incomplete());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn lacks_itself(&self) -> bool {
        match self.directory().is_some() {
            true => self.dir().is_some_and(|dir| { dir.kind }.is_lacking()),
            false => self.is_incomplete(),
        }
    }

    #[inline]
    fn is_unread_file(&self) -> bool {
        match self.at {
            At::Dir(_) => self.is_unread_root_file(),
            At::File { number, .. } => self.tree.file(number).traits.has(Traits::UNKNOWN),
        }
    }

    fn is_unread_root_file(&self) -> bool {
        if self.directory().is_some() {
            return false;
        }
        match (self.root_file(), self.dir()) {
            (Some(file), _) => file.traits.has(Traits::UNKNOWN),
            // Files are not kept.
            (None, Some(dir)) => !self.is_dir() && dir.sums.incomplete,
            (None, None) => false,
        }
    }

    /// Whether it is a further name of an inode whose bytes count elsewhere.
    #[must_use]
    #[inline]
    pub fn is_extra_link(&self) -> bool {
        self.file()
            .is_some_and(|file| file.traits.has(Traits::EXTRA_LINK))
    }

    /// Whether its inode has other names, within the scan or elsewhere; absent for
    /// directories.
    #[must_use]
    pub fn has_other_names(&self) -> Option<bool> {
        let file = self.file().filter(|_| self.tree.knows_links)?;
        Some(file.traits.has(Traits::LINKED))
    }
}

impl Tree {
    /// The names of an inode that has several, in no particular order; none where the sink
    /// keeps none ([`TreeSink::with_link_names`](super::TreeSink::with_link_names)).
    pub fn names_of(&self, id: FileId) -> impl Iterator<Item = Node<'_>> {
        let identity = identity_of(id, &self.devices);
        let names = identity.map(|identity| self.link_names.of_inode(identity));
        (names.into_iter().flatten()).map(|name| self.link_name(name))
    }

    /// Whether an inode with several names was kept.
    #[must_use]
    pub fn has_link_names(&self) -> bool {
        !self.link_names.is_empty()
    }

    fn link_name(&self, name: &LinkName) -> Node<'_> {
        let (dir, number) = (name.dir, name.file);
        let is_root = self.record(dir).is_some_and(|dir| dir.kind.is_root_file());
        let at = match is_root {
            true => At::Dir(dir),
            false => At::File { dir, number },
        };
        Node { tree: self, at }
    }

    /// The node with a number of [`Node::id`]. That of another tree gives any node, or one
    /// that is not there.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new("src").run(&TreeSink::new().with_files())?;
    /// let tree = outcome.output;
    /// let ids: Vec<_> = tree.root(0).expect("it was read").files().map(|file| file.id()).collect();
    /// assert!(ids.into_iter().any(|id| tree.node(id).name() == b"lib.rs"));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// The node of another tree can panic when it is asked for something.
    #[must_use]
    #[inline]
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node {
            tree: self,
            at: id.0,
        }
    }
}
