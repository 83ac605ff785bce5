// SPDX-License-Identifier: MIT OR Apache-2.0

//! The structures of ext2, ext3 and ext4 as they lie on the device.
//!
//! All numbers are little-endian. The names in capitals are those of
//! fs/ext4/ext4.h of Linux 6.18; layouts are described in
//! Documentation/filesystems/ext4 and, for what is older than ext4, in
//! lib/ext2fs/ext2_fs.h of e2fsprogs 1.47.
//!
//! In reading order: the superblock says how the rest is laid out, a group
//! descriptor where inodes lie, an inode where a directory's blocks lie (by an
//! extent tree, an old block map, or in itself), a directory block what is in
//! it. Reading them from a device is not done here.

#![forbid(unsafe_code)]

pub mod superblock;

pub mod feature;

pub mod group_descriptor;

pub mod inode;

pub mod extent_node;

pub mod block_map;

pub mod directory_block;

pub mod inline_data;

pub mod checksum;

mod bytes;
mod damage;
mod directory_reader;
mod group_table;
mod inode_kind;
mod little_endian;
mod malformed;
mod name;
mod timestamp;
mod volume;

pub use bytes::{Bytes, ReadError};
pub use damage::{Damage, Fault};
pub use directory_block::{DirectoryEntries, DirectoryEntry};
pub use directory_reader::{Ahead, DirectoryScratch};
pub use inode::{Inode, ROOT_INODE};
pub use inode_kind::InodeKind;
pub use malformed::Malformed;
pub use superblock::{Checksums, Superblock, Unfit};
pub use timestamp::Timestamp;
pub use volume::{Refusal, Volume};
