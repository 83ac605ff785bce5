// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_SPACE_INFO`: the space of each kind and profile.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `BTRFS_BLOCK_GROUP_DATA`.
const DATA: u64 = 1 << 0;
/// `BTRFS_BLOCK_GROUP_METADATA`.
const METADATA: u64 = 1 << 2;
/// `BTRFS_BLOCK_GROUP_RAID1`, `_DUP` and `_RAID10`: each byte lies there twice.
const TWICE: u64 = 1 << 4 | 1 << 5 | 1 << 6;
/// `BTRFS_BLOCK_GROUP_RAID1C3`.
const THREE_TIMES: u64 = 1 << 9;
/// `BTRFS_BLOCK_GROUP_RAID1C4`.
const FOUR_TIMES: u64 = 1 << 10;
/// `BTRFS_SPACE_INFO_GLOBAL_RSV`.
const GLOBAL_RESERVE: u64 = 1 << 49;

/// The space of one kind and profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct SpaceInfo {
    /// Its kind and profile, as bits.
    pub flags: u64,
    /// The bytes given to it.
    pub total_bytes: u64,
    /// The bytes of these that are in use.
    pub used_bytes: u64,
}

impl SpaceInfo {
    /// Whether it can hold the data of files.
    #[must_use]
    pub fn holds_data(&self) -> bool {
        self.flags & DATA != 0
    }

    /// Whether it holds data and metadata together: `mkfs.btrfs --mixed`.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.flags & (DATA | METADATA) == DATA | METADATA
    }

    /// Whether it is the reserve for metadata, which lies in no place of its own.
    #[must_use]
    pub fn is_global_reserve(&self) -> bool {
        self.flags & GLOBAL_RESERVE != 0
    }

    /// How often each byte lies on devices: `btrfs_bg_type_to_factor`, in which parity
    /// does not count.
    #[must_use]
    pub fn copies(&self) -> u64 {
        match self.flags {
            flags if flags & FOUR_TIMES != 0 => 4,
            flags if flags & THREE_TIMES != 0 => 3,
            flags if flags & TWICE != 0 => 2,
            _ => 1,
        }
    }
}

/// The most kinds and profiles that this asks for: there are 4 kinds and 9 profiles.
const SLOTS: usize = 64;

/// `struct btrfs_ioctl_space_args` without its slots.
#[repr(C)]
struct Header {
    slots: u64,
    total: u64,
}

#[repr(C)]
struct Argument {
    header: Header,
    infos: [SpaceInfo; SLOTS],
}

const _: () = assert!(size_of::<Header>() == 16 && size_of::<SpaceInfo>() == 24);

/// `BTRFS_IOC_SPACE_INFO`, whose number has the size of the header alone.
const SPACE_INFO: Opcode = opcode::read_write::<Header>(super::MAGIC, 20);

/// Asks for the space of each kind and profile.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs.
pub fn space_info(fd: BorrowedFd<'_>) -> io::Result<Vec<SpaceInfo>> {
    let nothing = SpaceInfo {
        flags: 0,
        total_bytes: 0,
        used_bytes: 0,
    };
    let mut argument = Argument {
        header: Header {
            slots: SLOTS as u64,
            total: 0,
        },
        infos: [nothing; SLOTS],
    };
    // SAFETY: the kernel reads the header, and writes it and at most `slots` slots behind
    // it (btrfs_ioctl_space_info, fs/btrfs/ioctl.c), all of which the struct has, and
    // plain numbers.
    unsafe { ioctl(fd, Updater::<SPACE_INFO, Argument>::new(&mut argument))? };
    let count = SLOTS.min(usize::try_from(argument.header.total).unwrap_or(SLOTS));
    Ok(argument.infos[..count].to_vec())
}
