// SPDX-License-Identifier: MIT OR Apache-2.0

//! The store of snapshots: how one is named, where it lies, and how long it stays.
//!
//! ```text
//! STORE/HOST/FILE-SYSTEM/ROOT/2026-11-29T17-05-12Z-42/
//! ```
//!
//! Each level is a part of a [`key`] in letters that every file system has. A snapshot has the
//! time of its scan and a number, which counts: a clock can go back.

pub(crate) mod disk;
pub(crate) mod key;
pub(crate) mod name;
pub(crate) mod retention;
pub(crate) mod stored;
