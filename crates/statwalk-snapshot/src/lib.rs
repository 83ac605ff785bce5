// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stores a scan of a directory tree as Parquet, and reads it in part.

#![forbid(unsafe_code)]
#![allow(dead_code, reason = "the reader is not there yet")]

mod error;
mod first_names;
mod folder;
mod hex;
mod listing;
mod machine;
mod manifest;
mod merge;
mod numbering;
mod part;
#[cfg(feature = "scan")]
mod scan;
mod schema;
mod sums;
mod table_writer;

pub use error::{Error, ErrorKind};
pub use folder::Folder;
pub use machine::{FileSystem, Machine, Space};
pub use manifest::{
    Counts, FORMAT_MAJOR, FORMAT_MINOR, FORMAT_NAME, Facts, FileRecord, Links, MANIFEST_NAME,
    Manifest, Missing, Root, Tables,
};
pub use merge::{MergeOptions, merge};
pub use part::{Class, DirState, Part, type_word};
#[cfg(feature = "scan")]
pub use scan::field_names;
pub use sums::Sums;
