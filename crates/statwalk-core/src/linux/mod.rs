// SPDX-License-Identifier: MIT OR Apache-2.0

//! All that is Linux alone: the kernel as a source, and file systems that are read in
//! place of it.
//!
//! The rest of the engine names of this room what stands in `lib.rs`, and no source.

pub(crate) mod machine;
pub(crate) mod native;
pub(crate) mod numbers;
pub(crate) mod text_file;
pub(crate) mod threads;

mod mounts;
mod posix;
mod stacked;
mod statx;

mod btrfs;
mod ext4;
mod failure;
mod mount_points;
mod mount_view;
mod privilege;
mod sync;
mod volume;
mod volumes;

pub mod in_place;
