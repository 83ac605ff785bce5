// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of this room that callers of the engine have.

/// Questions that only a btrfs can answer: its changes since a generation, and the
/// space of extents that several files share.
///
/// Both need the right to search its trees (`CAP_SYS_ADMIN`).
pub mod btrfs {
    pub use crate::linux::changes::{Change, ChangeKind, Changes, changes_since};
    pub use crate::linux::extent_usage::{
        Compression, CompressionUsage, ExtentDir, ExtentProgress, ExtentSums, ExtentUsage,
        extent_usage,
    };
}
