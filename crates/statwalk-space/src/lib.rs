// SPDX-License-Identifier: MIT OR Apache-2.0

//! Accounts for the used bytes of a file system, beside a scan of it.
//!
//! `df` asks the file system, and `du` adds up its entries. The two disagree where files
//! have no name, where mounts hide entries, and where the file system needs space for
//! itself. Here both numbers meet: `table.rs` makes the table from numbers alone, and the
//! other files gather these numbers.
//!
//! The crate uses the public doors of `statwalk-core` and has no scan of its own. On
//! systems other than Linux it is empty.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod file_system;
mod mount_table;
mod mounted;
mod nameless;
mod open_files;
mod own_space;
mod table;

mod changes;
mod extent_usage;
mod extents;
mod inodes;
mod trees;

mod path;
mod stat;

pub use file_system::{
    Capacity, FileSystem, HiddenDirectory, Holder, SpaceAccount, UnknownPart, UnnamedFile,
};
pub use mount_table::MountTable;
pub use table::UsedPart;

/// Questions that only a btrfs can answer: its changes since a generation, and the
/// space of extents that several files share.
///
/// Both need the right to search its trees (`CAP_SYS_ADMIN`).
pub mod btrfs {
    pub use crate::changes::{Change, ChangeKind, Changes, changes_since};
    pub use crate::extent_usage::{
        Compression, CompressionUsage, ExtentDir, ExtentProgress, ExtentSums, ExtentUsage,
        extent_usage,
    };
    pub use crate::inodes::{InodeTable, Inodes, InodesState};
}
