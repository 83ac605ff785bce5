// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes in, records out: the formats that sources below the system calls read.
//!
//! Pure functions: no I/O, no allocation for an entry, no `unsafe`. Whatever
//! the bytes are, nothing panics, overflows or loops; what cannot be right is
//! [`Malformed`].

#![forbid(unsafe_code)]

pub mod btrfs;

mod malformed;
pub(crate) mod name;

pub use malformed::Malformed;
