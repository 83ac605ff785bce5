// SPDX-License-Identifier: MIT OR Apache-2.0

//! The meaning of the link count of a directory.

/// Whether a file system counts subdirectories in `st_nlink`, by its `f_type` of
/// statfs(2). The link count is two more than the number of subdirectories.
///
/// btrfs, overlayfs, FUSE and NFS give 1, or the number that a server sends. An
/// ext4 directory with too many subdirectories has a link count of 1.
///
/// ```
/// use statwalk_sys::link_counts::are_of_subdirectories;
/// // tmpfs, and btrfs.
/// assert!(are_of_subdirectories(0x0102_1994) && !are_of_subdirectories(0x9123_683e));
/// ```
#[must_use]
pub fn are_of_subdirectories(file_system: u64) -> bool {
    const MAGICS: [u64; 9] = [
        0xef53,      // ext2, ext3, ext4: EXT4_SUPER_MAGIC, include/uapi/linux/magic.h
        0x5846_5342, // XFS_SUPER_MAGIC
        0x3153_464a, // JFS_SUPER_MAGIC, fs/jfs/jfs_superblock.h
        0x5265_4973, // REISERFS_SUPER_MAGIC
        0x137f,      // MINIX_SUPER_MAGIC
        0x138f,      // MINIX_SUPER_MAGIC2
        0x2468,      // MINIX2_SUPER_MAGIC
        0x0001_1954, // UFS_MAGIC, fs/ufs/ufs_fs.h
        0x0102_1994, // TMPFS_MAGIC
    ];
    MAGICS.contains(&file_system)
}
