// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sources of entries and attributes.
//!
//! A source answers the questions of a lister. It does not choose the next directory:
//! orders do. It decides no policy: the options of the scan do.

pub(crate) mod btrfs;
pub(crate) mod choice;
pub(crate) mod ext4;
mod failure;
pub(crate) mod memory;
mod mount_points;
mod mount_view;
pub(crate) mod native;
pub(crate) mod posix;
mod privilege;
mod sync;
mod volume;
pub(crate) mod volumes;
