// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of a survey.

/// The entry that was modified last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Seconds of the modification time since 1970.
    pub mtime_s: i64,
    /// Its nanoseconds.
    pub mtime_ns: u32,
    /// The entry.
    pub path: Vec<u8>,
}

/// Numbers of one item, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Entries, the items themselves and directories too.
    pub entry_count: u64,
    /// Directories among them.
    pub directory_count: u64,
    /// Lengths of the files. A hard link counts with each name.
    pub apparent_bytes: u64,
    /// Allocated bytes. An inode counts once.
    pub allocated_bytes: u64,
    /// Allocated bytes of inodes all of whose links were met.
    ///
    /// A file that a process holds open is freed when the process closes it. Extents that
    /// are shared with other files or snapshots are left out, as far as
    /// [`shared_bytes`](Self::shared_bytes) knows them.
    pub freed_bytes: u64,
    /// Allocated bytes that files share with others: on btrfs, XFS and bcachefs, and 0
    /// elsewhere. Files that share with each other alone count, too.
    pub shared_bytes: u64,
    /// Entries of other owners.
    pub foreign_count: u64,
    /// The newest entry; nothing where nothing was met.
    pub newest: Option<Newest>,
}
