// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the directories of a btrfs from its trees, by searches instead of one
//! stat for each entry.
//!
//! A search returns neighbours in a tree: an inode with its names, the entries of a
//! directory, the inodes that were made after it. So one search reads many files, and
//! directories whose turn comes later.
//!
//! `windows.rs` keeps the results of searches, and `reader.rs` reads one directory for
//! a worker. `mounted.rs` syncs the file system and searches its trees.
//! The crate `statwalk-btrfs` decodes the bytes.
//!
//! The kernel keeps changes in memory for up to 30 seconds before they reach a tree.
//! So statwalk syncs the file system when it opens it.

pub(super) mod mounted;

mod attributes;
mod windows;

pub(super) mod reader;
