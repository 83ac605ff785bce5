// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes in, records out: the formats that sources below the system calls read.
//!
//! Pure functions: no I/O, no allocation for an entry, no `unsafe`. Whatever
//! the bytes are, nothing panics, overflows or loops; what cannot be right is
//! [`Malformed`].
//!
//! The crate `statwalk-ext4` has a `Malformed` and a check of names too: neither format
//! depends on the other, and both together are smaller than a crate for them.

#![forbid(unsafe_code)]

pub mod btrfs;

mod malformed;
pub(crate) mod name;

pub use malformed::Malformed;
