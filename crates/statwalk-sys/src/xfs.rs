// SPDX-License-Identifier: MIT OR Apache-2.0

//! `XFS_IOC_FSGEOMETRY_V1` and `XFS_IOC_FSCOUNTS`: the layout of an XFS, and its counters.
//!
//! Layouts: fs/xfs/libxfs/xfs_fs.h of Linux 6.18.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

/// The layout of an XFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// The size of a block.
    pub block_bytes: u32,
    /// The number of allocation groups.
    pub group_count: u32,
    /// The size of a sector: a group begins with four of them.
    pub sector_bytes: u32,
    /// The size of an inode.
    pub inode_bytes: u32,
    /// Whether files can share extents.
    pub shares_extents: bool,
}

/// `struct xfs_fsop_geom_v1`.
#[repr(C)]
struct GeometryV1 {
    block_size: u32,
    rt_extent_size: u32,
    ag_blocks: u32,
    ag_count: u32,
    log_blocks: u32,
    sector_size: u32,
    inode_size: u32,
    inode_max_percent: u32,
    /// Data blocks, real-time blocks and extents, the start of the log.
    places: [u64; 4],
    uuid: [u8; 16],
    /// Stripe unit and width, and the version.
    stripes: [u32; 3],
    flags: u32,
    /// The sizes of sectors of the log and of real time, and of blocks of directories.
    sizes: [u32; 3],
}

/// `XFS_FSOP_GEOM_FLAGS_REFLINK`.
const REFLINK: u32 = 1 << 20;

/// `struct xfs_fsop_counts`.
#[repr(C)]
struct Counts {
    free_data: u64,
    free_rt_extents: u64,
    free_inodes: u64,
    allocated_inodes: u64,
}

const _: () = assert!(size_of::<GeometryV1>() == 112 && size_of::<Counts>() == 32);

/// `XFS_IOC_FSGEOMETRY_V1`.
const GEOMETRY: Opcode = opcode::read::<GeometryV1>(b'X', 100);
/// `XFS_IOC_FSCOUNTS`.
const COUNTS: Opcode = opcode::read::<Counts>(b'X', 113);

/// Asks for the layout.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no XFS.
pub fn geometry(fd: BorrowedFd<'_>) -> io::Result<Geometry> {
    // SAFETY: the kernel writes one such struct, of plain numbers (xfs_ioc_fsgeometry,
    // fs/xfs/xfs_ioctl.c).
    let found = unsafe { ioctl(fd, Getter::<GEOMETRY, GeometryV1>::new())? };
    Ok(Geometry {
        block_bytes: found.block_size,
        group_count: found.ag_count,
        sector_bytes: found.sector_size,
        inode_bytes: found.inode_size,
        shares_extents: found.flags & REFLINK != 0,
    })
}

/// Asks for the number of inodes that have a place, used or not.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no XFS.
pub fn inodes_with_place(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: the kernel writes one such struct, of plain numbers (xfs_ioctl_fs_counts,
    // fs/xfs/xfs_ioctl.c).
    let found = unsafe { ioctl(fd, Getter::<COUNTS, Counts>::new())? };
    Ok(found.allocated_inodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    use statwalk_testkit::mounts::FileSystem;
    use statwalk_testkit::{Scratch, or_skip};

    #[test]
    fn the_layout_and_the_inodes_are_told() {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let _mounted = or_skip!(FileSystem::Xfs.mount(&at));
        let root = File::open(&at).unwrap();
        let found = geometry(root.as_fd()).unwrap();
        assert_eq!((found.block_bytes, found.inode_bytes), (4096, 512));
        // The default since xfsprogs 5.1.
        assert!(found.shares_extents);
        assert!(found.group_count > 1 && found.sector_bytes >= 512);
        // They come in chunks of 64.
        let inodes = inodes_with_place(root.as_fd()).unwrap();
        assert!(inodes >= 64 && inodes.is_multiple_of(64), "{inodes}");
    }

    #[test]
    fn another_file_system_says_so() {
        let null = File::open("/dev/null").unwrap();
        assert!(geometry(null.as_fd()).is_err());
        assert!(inodes_with_place(null.as_fd()).is_err());
    }
}
