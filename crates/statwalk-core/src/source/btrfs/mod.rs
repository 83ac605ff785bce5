// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the directories of a btrfs from its trees, by searches instead of one
//! stat for each entry.
//!
//! A search brings what lies next to each other in a tree: an inode with its
//! names, the entries of a directory, the inodes that were made after it. So one
//! search answers for many files, and for directories that are yet to be read.
//! `windows.rs` keeps what searches brought, `reader.rs` reads one directory for a
//! worker, `mounted.rs` knows what must be asked of the kernel all the same. What
//! the bytes mean is in [`decode::btrfs`](crate::decode::btrfs). `changes.rs` and
//! `extents.rs` are no scans: they find what later transactions wrote, and what
//! files have on the device.
//!
//! The kernel keeps changes in memory for up to 30 seconds before they reach a
//! tree, so the file system is synced when it is opened.

pub(super) mod mounted;

mod attributes;
mod windows;

pub(super) mod reader;

pub(crate) mod changes;
pub(crate) mod extents;
