// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer of the oracle: counts, entries and the sums of each directory.

use std::collections::BTreeMap;

use crate::model::{EntryType, Totals};

/// The answer.
#[derive(Debug, Clone)]
pub struct NaiveReport {
    /// One for each argument, in their order.
    pub roots: Vec<RootReport>,
    /// All entries: by argument, then in path order.
    pub entries: Vec<NaiveEntry>,
    /// The sums of each directory, by its path; directories that were not entered are among them.
    pub subtrees: BTreeMap<Vec<u8>, Subtree>,
}

/// The answer for one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootReport {
    /// As it was given.
    pub path: Vec<u8>,
    /// Nothing is there; the counts are 0.
    pub missing: bool,
    /// Its entries that no earlier argument holds.
    pub counts: Counts,
}

/// The fields of `roots` in the JSON document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All names.
    pub entries: u64,
    /// Names of regular files.
    pub files: u64,
    /// Directories.
    pub dirs: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Names of everything else.
    pub others: u64,
    /// `st_size` of regular files.
    pub file_size_bytes: u128,
    /// `st_size` of regular files and symbolic links.
    pub apparent_bytes: u128,
    /// 512 × `st_blocks` of everything.
    pub allocated_bytes: u128,
    /// Names beyond the first of their inode.
    pub extra_hard_links: u64,
    /// Entries whose attributes or whose content could not be read.
    pub unreadable: u64,
    /// Entries that were listed and then gone.
    pub vanished: u64,
    /// Kernel file systems, and entries that [`Options::exclude`](super::Options::exclude) excludes.
    pub excluded: u64,
    /// Mounts that were not entered.
    pub crossings: u64,
}

impl Counts {
    /// The part that a [`crate::model::Model`] knows.
    pub fn totals(&self) -> Totals {
        Totals {
            entries: self.entries,
            files: self.files,
            dirs: self.dirs,
            symlinks: self.symlinks,
            others: self.others,
            file_size_bytes: self.file_size_bytes,
            apparent_bytes: self.apparent_bytes,
            extra_hard_links: self.extra_hard_links,
        }
    }

    pub(super) fn add_totals(&mut self, totals: Totals) {
        self.entries += totals.entries;
        self.files += totals.files;
        self.dirs += totals.dirs;
        self.symlinks += totals.symlinks;
        self.others += totals.others;
        self.file_size_bytes += totals.file_size_bytes;
        self.apparent_bytes += totals.apparent_bytes;
        self.extra_hard_links += totals.extra_hard_links;
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NaiveEntry {
    /// Index of the argument that it belongs to.
    pub root: usize,
    /// The path, beginning with the argument as it was given.
    pub path: Vec<u8>,
    /// Its type; of a followed link the type of the target.
    pub entry_type: EntryType,
    /// Absent if they could not be read.
    pub attributes: Option<NaiveAttributes>,
    /// Whether its bytes are in the sums here: not those of a second name or of a directory that was not entered.
    pub counted: bool,
    /// Why it counts as unreadable.
    pub error: Option<i32>,
    /// Why it is a directory (or a mount) without content.
    pub not_entered: Option<NotEntered>,
}

/// The attributes of an entry, from stat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NaiveAttributes {
    /// `st_size`
    pub size_bytes: u64,
    /// `st_blocks`, in units of 512 bytes.
    pub blocks: u64,
    /// `st_nlink`
    pub nlink: u64,
    /// `st_ino`
    pub ino: u64,
    /// `st_dev`
    pub dev: u64,
    /// Nanoseconds since 1970; absent where they do not fit (before 1677, after 2262).
    pub mtime_ns: Option<i64>,
    /// `st_uid`
    pub uid: u32,
    /// `st_gid`
    pub gid: u32,
    /// `st_mode`, with the type.
    pub mode: u32,
}

/// Why an entry has no content and no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotEntered {
    /// A mount: under `-x`, or of a directory that was listed elsewhere.
    Crossing,
    /// A kernel file system.
    KernelFileSystem,
    /// A directory that was listed elsewhere, met again by a link.
    ListedElsewhere,
}

/// The sums of a directory and all below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Subtree {
    /// Regular files and symbolic links.
    pub apparent_bytes: u128,
    /// 512 × `st_blocks` of everything, the directory itself included.
    pub allocated_bytes: u128,
    /// All names, the directory itself included.
    pub entries: u64,
    /// Names of regular files.
    pub files: u64,
    /// Directories, itself included.
    pub dirs: u64,
    /// The latest time of an entry that is not a directory. Absent if none fits.
    pub newest_mtime_ns: Option<i64>,
}

impl NaiveReport {
    /// The sums over all arguments.
    pub fn total(&self) -> Counts {
        let mut sum = Counts::default();
        for root in &self.roots {
            let counts = root.counts;
            sum.add_totals(counts.totals());
            sum.allocated_bytes += counts.allocated_bytes;
            sum.unreadable += counts.unreadable;
            sum.vanished += counts.vanished;
            sum.excluded += counts.excluded;
            sum.crossings += counts.crossings;
        }
        sum
    }

    /// The entry of this path.
    pub fn entry(&self, path: &[u8]) -> Option<&NaiveEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// The entries that could not be read, with the error number, in their order.
    pub fn errors(&self) -> Vec<(&[u8], i32)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.path.as_slice(), entry.error?)))
            .collect()
    }

    /// The entries of one argument by their path below it (its own is empty), as [`crate::model::Model::entries`] gives them.
    pub fn relative_entries(&self, root: usize) -> Vec<(Vec<u8>, EntryType)> {
        let prefix = self.roots[root].path.len();
        let below = |path: &[u8]| {
            let rest = &path[prefix..];
            rest.strip_prefix(b"/").unwrap_or(rest).to_vec()
        };
        let of_root = self.entries.iter().filter(|entry| entry.root == root);
        of_root
            .map(|entry| (below(&entry.path), entry.entry_type))
            .collect()
    }
}
