// SPDX-License-Identifier: MIT OR Apache-2.0

//! The parts that decoders of file systems share: the type of an entry, the check of its
//! name, the state of a file system, and the error of malformed bytes. Names have one text
//! here, for all tables, and paths one order.

#![forbid(unsafe_code)]

mod entry_name;
mod file_type;
mod generation;
mod malformed;
mod name_text;
mod path_order;

pub use entry_name::{has_slash_or_nul, is_entry_name, nuls};
pub use file_type::FileType;
pub use generation::{Generation, NoGeneration, Uuid};
pub use malformed::Malformed;
pub use name_text::{bytes_of_text, has_escape, text_of_bytes};
pub use path_order::path_order;
