// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_GET_SUBVOL_ROOTREF`: the subvolumes below one, without privileges.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// A subvolume that has its name in another one.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootRef {
    /// The number of the inner subvolume.
    pub tree_id: u64,
    /// The directory of the outer one that has its name.
    pub directory: u64,
}

/// `BTRFS_MAX_ROOTREF_BUFFER_NUM`.
const REFS_MAX: usize = 255;

/// `struct btrfs_ioctl_get_subvol_rootref_args`.
#[repr(C)]
struct Argument {
    min_tree_id: u64,
    refs: [RootRef; REFS_MAX],
    num_items: u8,
    align: [u8; 7],
}

const _: () = assert!(size_of::<Argument>() == 4096);

/// `BTRFS_IOC_GET_SUBVOL_ROOTREF`, since Linux 4.18.
const GET_SUBVOL_ROOTREF: Opcode = opcode::read_write::<Argument>(super::MAGIC, 61);

/// Appends up to 255 of the subvolumes that have their names directly in the
/// one that a file or directory lies in, from the number `tree_id_min` on.
///
/// If there are more, the number to ask on from is returned.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs.
pub fn subvol_rootrefs(
    fd: BorrowedFd<'_>,
    tree_id_min: u64,
    into: &mut Vec<RootRef>,
) -> io::Result<Option<u64>> {
    let none = RootRef {
        tree_id: 0,
        directory: 0,
    };
    let mut argument = Argument {
        min_tree_id: tree_id_min,
        refs: [none; REFS_MAX],
        num_items: 0,
        align: [0; 7],
    };
    // SAFETY: the kernel reads and writes one such struct, of plain numbers.
    let answer = unsafe {
        ioctl(
            fd,
            Updater::<GET_SUBVOL_ROOTREF, Argument>::new(&mut argument),
        )
    };
    // It fills the struct with EOVERFLOW too, which says that there are more.
    let has_more = match answer {
        Ok(()) => false,
        Err(Errno::OVERFLOW) => true,
        Err(errno) => return Err(errno.into()),
    };
    into.extend(argument.refs.iter().take(argument.num_items.into()));
    Ok(has_more.then_some(argument.min_tree_id))
}
