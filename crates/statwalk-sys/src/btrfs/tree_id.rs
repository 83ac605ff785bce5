// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_INO_LOOKUP`, for the one question that everybody may ask with it.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `BTRFS_FIRST_FREE_OBJECTID`: the top directory of every subvolume.
const TOP_DIRECTORY: u64 = 256;

/// `struct btrfs_ioctl_ino_lookup_args`.
#[repr(C)]
struct Argument {
    tree_id: u64,
    objectid: u64,
    name: [u8; 4080],
}

const _: () = assert!(size_of::<Argument>() == 4096);

/// `BTRFS_IOC_INO_LOOKUP`.
const INO_LOOKUP: Opcode = opcode::read_write::<Argument>(super::MAGIC, 18);

/// The number of the subvolume that a file or directory lies in, which is the
/// number of its tree.
///
/// It needs no privilege, because the path that is asked for is that of the top
/// directory, which is empty (`btrfs_ioctl_ino_lookup`).
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs.
pub fn tree_id(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut argument = Argument {
        tree_id: 0,
        objectid: TOP_DIRECTORY,
        name: [0; 4080],
    };
    // SAFETY: the kernel reads and writes one such struct, of plain numbers.
    unsafe { ioctl(fd, Updater::<INO_LOOKUP, Argument>::new(&mut argument))? };
    Ok(argument.tree_id)
}
