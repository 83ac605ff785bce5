// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounted file systems below the kernel's calls, for questions that no scan answers.
//!
//! The checks are those of a scan that reads in place: a process gets nothing that its
//! rights do not show it anyway.
//!
//! # Platform behavior
//!
//! Linux.

use std::fmt::Debug;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::StatxFlags;
use statwalk_ext4::{Bytes, Volume};
use statwalk_format::Generation;

use super::btrfs::mounted::open_mounted;
use super::ext4::mounted::open_volume;
use super::{privilege, statx};
use crate::reason::NotInPlace;

/// Opens the ext4 of a mount on its block device, and returns its path, too.
///
/// `number` is that of the device, as `major:minor`, and `top` the topmost directory of the
/// mount, which `point` shows. Unwritten changes are not on the device.
///
/// # Errors
///
/// Returns the reason why this process may not read the device, or why what lies there is
/// not the mounted file system.
pub fn ext4_of_mount(
    number: &str,
    top: BorrowedFd<'_>,
    point: &str,
) -> Result<(Volume<impl Bytes + Debug + use<>>, String), NotInPlace> {
    match privilege::objection(false) {
        Some(objection) => Err(objection),
        None => open_volume(number, top, point),
    }
}

/// Syncs the btrfs that holds an open file. Returns its topmost directory, for searches of
/// its trees, and the last transaction before them.
///
/// # Errors
///
/// Returns an error if the file lies on another file system, or the trees cannot be
/// searched, which needs `CAP_SYS_ADMIN`.
pub fn synced_btrfs(file: BorrowedFd<'_>) -> io::Result<(OwnedFd, Generation)> {
    let mask = statx::IDENTITY | StatxFlags::MNT_ID;
    open_mounted(&statx::by_descriptor(file, mask)?)
}
