// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where entries and attributes come from.
//!
//! A source lists what it is told to list. It does not choose the next
//! directory (orders do) and it decides no policy (the terms of the scan do).

pub(crate) mod btrfs;
pub(crate) mod choice;
pub(crate) mod ext4;
pub(crate) mod memory;
mod mount_points;
pub(crate) mod posix;
mod privilege;
pub(crate) mod volumes;
