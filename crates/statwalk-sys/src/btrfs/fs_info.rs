// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_FS_INFO`: the sizes and the number of a file system.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `BTRFS_FS_INFO_FLAG_GENERATION`, since Linux 5.10.
const FLAG_GENERATION: u64 = 1 << 1;

/// The facts that a file system states about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsInfo {
    /// Its UUID.
    pub fsid: [u8; 16],
    /// How many devices it is made of.
    pub device_count: u64,
    /// The size of a node of its trees; no item is larger.
    pub node_bytes: u32,
    /// The unit in which space is given to files.
    pub sector_bytes: u32,
    /// The last transaction that was committed. Absent before Linux 5.10.
    pub generation: Option<u64>,
}

/// `struct btrfs_ioctl_fs_info_args`.
#[repr(C)]
struct Argument {
    max_id: u64,
    num_devices: u64,
    fsid: [u8; 16],
    nodesize: u32,
    sectorsize: u32,
    clone_alignment: u32,
    csum_type: u16,
    csum_size: u16,
    flags: u64,
    generation: u64,
    metadata_uuid: [u8; 16],
    reserved: [u8; 944],
}

const _: () = assert!(size_of::<Argument>() == 1024);

/// `BTRFS_IOC_FS_INFO`: its number says that it only writes, and it reads `flags`.
const FS_INFO: Opcode = opcode::read::<Argument>(super::MAGIC, 31);

/// Asks a file system for its sizes.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs.
pub fn fs_info(fd: BorrowedFd<'_>) -> io::Result<FsInfo> {
    let mut argument = Argument {
        max_id: 0,
        num_devices: 0,
        fsid: [0; 16],
        nodesize: 0,
        sectorsize: 0,
        clone_alignment: 0,
        csum_type: 0,
        csum_size: 0,
        flags: FLAG_GENERATION,
        generation: 0,
        metadata_uuid: [0; 16],
        reserved: [0; 944],
    };
    // SAFETY: the kernel reads and writes one such struct, of plain numbers.
    unsafe { ioctl(fd, Updater::<FS_INFO, Argument>::new(&mut argument))? };
    // The kernel clears the flags that it does not know.
    let has_generation = argument.flags & FLAG_GENERATION != 0;
    Ok(FsInfo {
        fsid: argument.fsid,
        device_count: argument.num_devices,
        node_bytes: argument.nodesize,
        sector_bytes: argument.sectorsize,
        generation: has_generation.then_some(argument.generation),
    })
}
