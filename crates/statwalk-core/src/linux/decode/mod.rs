// SPDX-License-Identifier: MIT OR Apache-2.0

//! The formats of file systems: bytes in, records out.
//!
//! Pure functions: no I/O, no allocation for an entry, no `unsafe`. On any input
//! they neither panic nor overflow, and they end. For bytes that cannot be right
//! they return [`Malformed`].
//!
//! The crate `statwalk-ext4` has a `Malformed` and a check of names too. Neither
//! format depends on the other, and a shared crate would be larger than both copies.

#![forbid(unsafe_code)]

pub mod btrfs;

mod malformed;

pub use malformed::Malformed;
