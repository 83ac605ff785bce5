// SPDX-License-Identifier: MIT OR Apache-2.0

//! The portable source: any mounted file system, no privileges, blocking system
//! calls on the calling thread.
//!
//! For each directory: open, statx, getdents64 until empty, one statx for each
//! entry that is not a directory, statx, close. With only types wanted it stats
//! nothing.

pub(crate) mod open;
pub(crate) mod stat;
pub(crate) mod survey;
