// SPDX-License-Identifier: MIT OR Apache-2.0

//! EXTENT_ITEM: the number of users of an extent, `struct btrfs_extent_item`.

use crate::Malformed;
use crate::reader::Reader;

/// An extent of data or of a tree.
///
/// The object of its key is its address, and the offset its length. Its users follow,
/// as many as fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentItem {
    /// The number of tree items that use it. An item that a snapshot shares with its
    /// origin counts once.
    pub refs: u64,
    /// The transaction that made it.
    pub generation: u64,
    /// `BTRFS_EXTENT_FLAG_DATA` is 1, `BTRFS_EXTENT_FLAG_TREE_BLOCK` 2.
    pub flags: u64,
}

impl ExtentItem {
    /// Reads the item.
    pub fn parse(bytes: &[u8]) -> Result<ExtentItem, Malformed> {
        let mut reader = Reader::new(bytes, "EXTENT_ITEM");
        Ok(ExtentItem {
            refs: reader.u64()?,
            generation: reader.u64()?,
            flags: reader.u64()?,
        })
    }
}
