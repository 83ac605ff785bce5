// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kinds of items, and the objects that have fixed numbers.

/// `BTRFS_INODE_ITEM_KEY`
pub const INODE_ITEM: u8 = 1;
/// `BTRFS_INODE_REF_KEY`
pub const INODE_REF: u8 = 12;
/// `BTRFS_INODE_EXTREF_KEY`
pub const INODE_EXTREF: u8 = 13;
/// `BTRFS_DIR_ITEM_KEY`
pub const DIR_ITEM: u8 = 84;
/// `BTRFS_DIR_INDEX_KEY`
pub const DIR_INDEX: u8 = 96;
/// `BTRFS_EXTENT_DATA_KEY`
pub const EXTENT_DATA: u8 = 108;
/// `BTRFS_ROOT_ITEM_KEY`
pub const ROOT_ITEM: u8 = 132;
/// `BTRFS_ROOT_BACKREF_KEY`
pub const ROOT_BACKREF: u8 = 144;
/// `BTRFS_ROOT_REF_KEY`
pub const ROOT_REF: u8 = 156;

/// `BTRFS_EXTENT_ITEM_KEY`
pub const EXTENT_ITEM: u8 = 168;

/// `BTRFS_ROOT_TREE_OBJECTID`: the tree of roots.
pub const ROOT_TREE: u64 = 1;
/// `BTRFS_EXTENT_TREE_OBJECTID`: the used parts of the device, by address.
pub const EXTENT_TREE: u64 = 2;
/// `BTRFS_FS_TREE_OBJECTID`: the subvolume at the top.
pub const FS_TREE: u64 = 5;
/// `BTRFS_FIRST_FREE_OBJECTID`: the top directory of a subvolume, and the number
/// of the first subvolume that is not [`FS_TREE`].
pub const FIRST_FREE: u64 = 256;
/// `BTRFS_LAST_FREE_OBJECTID`: the last number that an inode or subvolume can have.
pub const LAST_FREE: u64 = -256_i64 as u64;
