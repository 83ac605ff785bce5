// SPDX-License-Identifier: MIT OR Apache-2.0

#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! A search answers with items, each behind a header ([`search_items`], [`inode_index`]). The key of an
//! item has its type ([`kind`]). In a subvolume's tree the object is an inode number.
//! All items of an inode follow each other, first its attributes, then its names.
//!
//! ```text
//! (inode, INODE_ITEM, 0)            InodeItem
//! (inode, INODE_REF, directory)     names in that directory
//! (inode, INODE_EXTREF, hash)       names that found no place there
//! (directory, DIR_ITEM, hash)       entries by name
//! (directory, DIR_INDEX, sequence)  entries in the order they were made
//! (inode, EXTENT_DATA, offset)      a part of the file on the device
//! ```
//!
//! In the tree of roots the object is a subvolume's number, with a ROOT_ITEM, a
//! ROOT_BACKREF for its own name and a ROOT_REF for each subvolume in it.
//!
//! The header is the kernel's and in the order of this machine; items are as
//! they lie on the device, little-endian. Layouts:
//! include/uapi/linux/btrfs_tree.h and btrfs.h of Linux 6.1.

#![forbid(unsafe_code)]

pub mod inode_index;
pub mod kind;
pub mod search_items;

pub mod inode_item;
pub mod inode_ref;

pub mod dir_item;
pub mod extent_data;
pub mod extent_item;

pub mod root_item;
pub mod root_ref;

mod key;
mod reader;

#[cfg(test)]
mod tests;

pub use key::Key;
pub use statwalk_format::Malformed;
