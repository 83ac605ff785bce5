// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sign that a directory has changed.

/// The attributes of a directory that stay the same while its entries do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeStamp {
    pub(crate) mtime: (i64, u32),
    pub(crate) ctime: (i64, u32),
    pub(crate) links: u32,
    pub(crate) size_bytes: u64,
}
