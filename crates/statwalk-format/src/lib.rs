// SPDX-License-Identifier: MIT OR Apache-2.0

//! The parts that decoders of file systems share: the type of an entry, the check of its
//! name, the state of a file system, and the error of malformed bytes.

#![forbid(unsafe_code)]

mod entry_name;
mod file_type;
mod generation;
mod malformed;

pub use entry_name::{has_slash_or_nul, is_entry_name, nuls};
pub use file_type::FileType;
pub use generation::{Generation, NoGeneration, Uuid};
pub use malformed::Malformed;
