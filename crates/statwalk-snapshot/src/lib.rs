// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stores a scan of a directory tree as Parquet, and reads it in part.
//!
//! From the top: a [`Spool`] gathers the rows of a scan and writes them into a [`Folder`], which
//! gets its name with the [`Manifest`]. A [`Snapshot`] reads it, and [`check`] verifies it.
//! `docs/snapshot.md` describes the files.

#![forbid(unsafe_code)]

#[cfg(all(doctest, feature = "scan"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod check;
mod disk_sort;
mod error;
mod file_systems;
mod fill;
mod first_names;
mod folder;
mod hex;
mod listing;
mod machine;
mod manifest;
mod merge;
mod numbering;
mod pages;
mod part;
mod regular_file;
mod row_code;
#[cfg(feature = "scan")]
mod scan;
#[cfg(feature = "scan")]
mod scan_rows;
mod schema;
mod scratch_file;
mod snapshot;
mod spilled;
mod spool;
mod sums;
mod table;
mod table_file;
mod table_writer;
#[cfg(all(test, feature = "scan"))]
mod tests;
mod thrift;
mod tree;

pub use check::{Checked, Fault, check};
pub use error::{Error, ErrorKind};
pub use folder::Folder;
pub use machine::{FileSystem, Machine, Space};
pub use manifest::{
    Counts, FORMAT_MAJOR, FORMAT_MINOR, FORMAT_NAME, Facts, FileRecord, Links, MANIFEST_NAME,
    Manifest, Missing, Root, Tables,
};
pub use merge::{MergeOptions, merge};
pub use part::{Class, DirState, Part};
#[cfg(feature = "scan")]
pub use scan::field_names;
#[cfg(feature = "scan")]
pub use scan_rows::ScanRows;
pub use snapshot::{Dir, Entry, ErrorRow, Found, Owners, Snapshot};
pub use spool::Spool;
pub use sums::Sums;
