// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_GET_SUBVOL_INFO`: facts about a subvolume, without privileges.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// A subvolume or snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubvolInfo {
    /// Its number, which is that of its tree.
    pub tree_id: u64,
    /// The subvolume that it has its name in. Absent for the top of the file
    /// system and for what was deleted.
    pub parent_tree_id: Option<u64>,
    /// The directory in there that has its name.
    pub directory: u64,
    /// The last transaction that changed its tree.
    pub generation: u64,
    /// `BTRFS_ROOT_SUBVOL_RDONLY` is 1.
    pub flags: u64,
    /// Its UUID.
    pub uuid: [u8; 16],
    /// The UUID of its origin if it is a snapshot; else zeros.
    pub parent_uuid: [u8; 16],
    /// The last transaction that changed an inode of it.
    pub changed_transid: u64,
    /// The transaction that made it.
    pub made_transid: u64,
    name: [u8; 256],
}

impl SubvolInfo {
    /// Its name in its directory. Empty at the top and after a deletion.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        let end = self.name.iter().position(|&byte| byte == 0);
        &self.name[..end.unwrap_or(self.name.len())]
    }
}

/// `struct btrfs_ioctl_timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Time {
    sec: u64,
    nsec: u32,
}

/// `struct btrfs_ioctl_get_subvol_info_args`.
#[repr(C)]
struct Argument {
    tree_id: u64,
    name: [u8; 256],
    parent_id: u64,
    dir_id: u64,
    generation: u64,
    flags: u64,
    uuid: [u8; 16],
    parent_uuid: [u8; 16],
    received_uuid: [u8; 16],
    ctransid: u64,
    otransid: u64,
    stransid: u64,
    rtransid: u64,
    times: [Time; 4],
    reserved: [u64; 8],
}

// Where a u64 is aligned to four bytes, the kernel's struct is smaller too.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Argument>() == 504);

/// `BTRFS_IOC_GET_SUBVOL_INFO`, since Linux 4.18.
const GET_SUBVOL_INFO: Opcode = opcode::read::<Argument>(super::MAGIC, 60);

/// Asks for the subvolume that a file or directory lies in.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs, `ENOENT` while the
/// subvolume is being made.
pub fn subvol_info(fd: BorrowedFd<'_>) -> io::Result<SubvolInfo> {
    let mut argument = Argument {
        tree_id: 0,
        name: [0; 256],
        parent_id: 0,
        dir_id: 0,
        generation: 0,
        flags: 0,
        uuid: [0; 16],
        parent_uuid: [0; 16],
        received_uuid: [0; 16],
        ctransid: 0,
        otransid: 0,
        stransid: 0,
        rtransid: 0,
        times: [Time { sec: 0, nsec: 0 }; 4],
        reserved: [0; 8],
    };
    // SAFETY: the kernel writes one such struct, of plain numbers.
    unsafe { ioctl(fd, Updater::<GET_SUBVOL_INFO, Argument>::new(&mut argument))? };
    Ok(SubvolInfo {
        tree_id: argument.tree_id,
        parent_tree_id: (argument.parent_id != 0).then_some(argument.parent_id),
        directory: argument.dir_id,
        generation: argument.generation,
        flags: argument.flags,
        uuid: argument.uuid,
        parent_uuid: argument.parent_uuid,
        changed_transid: argument.ctransid,
        made_transid: argument.otransid,
        name: argument.name,
    })
}
