// SPDX-License-Identifier: MIT OR Apache-2.0

#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! [`Volume`] reads a whole file system. Each module decodes one structure, as a
//! pure function of its bytes. In reading order:
//!
//! | Module | Answers |
//! |---|---|
//! | [`superblock`], [`feature`] | the layout of everything else |
//! | [`group_descriptor`] | the place of an inode table |
//! | [`inode`] | attributes, and the root of the content |
//! | [`extent_node`], [`block_map`], [`inline_data`] | the place of the content |
//! | [`block_range`] | the blocks that a file may have |
//! | [`directory_block`] | the entries of a directory |
//! | [`checksum`] | the sums of all of them |
//!
//! All numbers are little-endian. The names in capitals are those of
//! fs/ext4/ext4.h of Linux 6.18. Documentation/filesystems/ext4 describes the
//! layouts; lib/ext2fs/ext2_fs.h of e2fsprogs 1.47 has those before ext4.

#![forbid(unsafe_code)]

pub mod superblock;

pub mod feature;

pub mod group_descriptor;

pub mod inode;

pub mod extent_node;

pub mod block_map;

pub mod block_range;

pub mod directory_block;

pub mod inline_data;

pub mod checksum;

mod attributes;
mod block_set;
mod bytes;
mod damage;
mod directory_reader;
mod group_table;
mod little_endian;
mod orphan;
mod own_blocks;
mod system_zones;
mod timestamp;
mod volume;

pub use bytes::{Bytes, ReadError};
pub use damage::{Damage, Fault};
pub use directory_block::{DirectoryEntries, DirectoryEntry};
pub use directory_reader::{Ahead, DirectoryScratch};
pub use inode::{Inode, ROOT_INODE};
pub use statwalk_format::{FileType, Malformed};
pub use superblock::{Checksums, Superblock, Unfit};
pub use timestamp::Timestamp;
pub use volume::{Refusal, Volume};
