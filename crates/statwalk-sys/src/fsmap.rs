// SPDX-License-Identifier: MIT OR Apache-2.0

//! `FS_IOC_GETFSMAP`: the owner of each part of a file system's devices.
//!
//! Layouts and numbers: include/uapi/linux/fsmap.h, fs/xfs/libxfs/xfs_fs.h and
//! fs/ext4/fsmap.h, all of Linux 6.18; ioctl_getfsmap(2).

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `FMR_OF_SPECIAL_OWNER`: the owner is no inode.
const SPECIAL_OWNER: u32 = 0x10;
/// `FMR_OF_LAST`.
const LAST: u32 = 0x20;

/// The owner of a part of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceOwner {
    /// Nobody.
    Free,
    /// The file system does not know the owner, or does not tell this caller.
    Unknown,
    /// The journal.
    Log,
    /// Copies of shared extents that are about to be written.
    CopyOnWrite,
    /// Other metadata.
    Metadata,
    /// A file or directory: the number of its inode.
    Inode(u64),
}

/// A part of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceExtent {
    /// The device, in the kernel's encoding of 32 bits.
    pub device: u32,
    /// Its first byte.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Its owner. A shared part comes once for each owner.
    pub owner: SpaceOwner,
}

/// `struct fsmap`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

const NONE: Record = Record {
    device: 0,
    flags: 0,
    physical: 0,
    owner: 0,
    offset: 0,
    length: 0,
    reserved: [0; 3],
};

/// The highest key that there is.
const HIGHEST: Record = Record {
    device: u32::MAX,
    flags: u32::MAX,
    physical: u64::MAX,
    owner: u64::MAX,
    offset: u64::MAX,
    length: 0,
    reserved: [0; 3],
};

/// `struct fsmap_head` without its records.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    input_flags: u32,
    output_flags: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [Record; 2],
}

/// 64 KiB of records a call.
const RECORDS: usize = 1024;

#[repr(C)]
struct Argument {
    header: Header,
    records: [Record; RECORDS],
}

const _: () = assert!(size_of::<Record>() == 64 && size_of::<Header>() == 192);

/// `FS_IOC_GETFSMAP`, whose number has the size of the header alone.
const GETFSMAP: Opcode = opcode::read_write::<Header>(b'X', 59);

/// Visits all parts of all devices of a file system, sorted by device and place.
///
/// XFS tells the inodes only if it keeps a reverse map, and only with `CAP_SYS_ADMIN`.
/// ext4 tells no inodes, and its map can have gaps where metadata lies.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` or `EOPNOTSUPP` where the file system has no such map.
pub fn space_map(fd: BorrowedFd<'_>, mut visit: impl FnMut(SpaceExtent)) -> io::Result<()> {
    let mut argument = Box::new(Argument {
        header: Header {
            input_flags: 0,
            output_flags: 0,
            count: RECORDS as u32,
            entries: 0,
            reserved: [0; 6],
            keys: [NONE, HIGHEST],
        },
        records: [NONE; RECORDS],
    });
    loop {
        // SAFETY: the kernel reads the header, and writes it and at most `count` records
        // behind it (ioctl_getfsmap in fs/xfs and fs/ext4). The struct has them all, and
        // they are plain numbers.
        unsafe { ioctl(fd, Updater::<GETFSMAP, Argument>::new(&mut argument))? };
        let count = RECORDS.min(argument.header.entries as usize);
        for record in &argument.records[..count] {
            visit(SpaceExtent {
                device: record.device,
                offset_bytes: record.physical,
                length_bytes: record.length,
                owner: owner(record),
            });
        }
        let Some(last) = argument.records[..count].last().copied() else {
            return Ok(());
        };
        // A kernel that gives the same record again would never end.
        let key = |record: &Record| (record.device, record.physical, record.owner, record.offset);
        let has_moved = key(&last) != key(&argument.header.keys[0]);
        if last.flags & LAST != 0 || !has_moved {
            return Ok(());
        }
        // The kernel goes on behind the key, by its length: fsmap_advance of fsmap.h.
        argument.header.keys[0] = last;
    }
}

/// `FMR_OWNER(type, code)`.
const fn special(kind: u8, code: u32) -> u64 {
    (kind as u64) << 32 | code as u64
}

fn owner(record: &Record) -> SpaceOwner {
    const FREE: u64 = special(0, 1);
    const UNKNOWN: u64 = special(0, 2);
    const LOG: u64 = special(b'X', 2);
    const COPY_ON_WRITE: u64 = special(b'X', 7);
    if record.flags & SPECIAL_OWNER == 0 {
        return SpaceOwner::Inode(record.owner);
    }
    match record.owner {
        FREE => SpaceOwner::Free,
        UNKNOWN => SpaceOwner::Unknown,
        LOG => SpaceOwner::Log,
        COPY_ON_WRITE => SpaceOwner::CopyOnWrite,
        _ => SpaceOwner::Metadata,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    use statwalk_testkit::mounts::FileSystem;
    use statwalk_testkit::{Scratch, or_skip};

    #[test]
    fn the_parts_of_a_device_are_told_once() {
        for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
            let scratch = Scratch::new().unwrap();
            let at = scratch.subdirectory("at").unwrap();
            let mounted = or_skip!(file_system.mount(&at));
            std::fs::write(at.join("file"), vec![1; 3 << 20]).unwrap();
            mounted.settle().unwrap();
            let root = File::open(&at).unwrap();
            let (mut end, mut free, mut held) = (0, 0, 0);
            space_map(root.as_fd(), |extent| {
                // ext4 leaves out some parts with metadata, so there can be gaps.
                assert!(extent.offset_bytes >= end, "{extent:?} twice");
                end = end.max(extent.offset_bytes + extent.length_bytes);
                match extent.owner {
                    SpaceOwner::Free => free += extent.length_bytes,
                    SpaceOwner::Unknown | SpaceOwner::Inode(_) => held += extent.length_bytes,
                    _ => {}
                }
            })
            .unwrap();
            let image = mounted.image().unwrap();
            assert_eq!(end, image.metadata().unwrap().len(), "{file_system:?}");
            assert!(held >= 3 << 20 && free > 0, "{file_system:?}");
            // The journal and, without a reverse map, all metadata have no owner either.
            assert!(held < 256 << 20, "{file_system:?}: {held}");
        }
    }

    #[test]
    fn another_file_system_says_so() {
        let null = File::open("/dev/null").unwrap();
        assert!(space_map(null.as_fd(), |_| {}).is_err());
    }
}
