// SPDX-License-Identifier: MIT OR Apache-2.0

//! The machine: its clock, its accounts, its terminals, its signals and its file systems.

pub(crate) mod accounts;
pub(crate) mod cache_tag;
pub(crate) mod clock;
#[cfg(feature = "snapshot")]
pub(crate) mod file_system_identity;
pub(crate) mod file_systems;
pub(crate) mod last_resort;
pub(crate) mod open_files;
pub(crate) mod panics;
pub(crate) mod places;
pub(crate) mod programs;
pub(crate) mod random;
pub(crate) mod real_path;
pub(crate) mod screen;
pub(crate) mod signals;
pub(crate) mod stdio;
pub(crate) mod used_inodes;
pub(crate) mod whole_file;
