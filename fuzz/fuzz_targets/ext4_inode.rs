// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as an inode: the first says of what format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::Inode;
use statwalk_ext4::block_range::BlockRange;
use statwalk_ext4::inode;
use statwalk_ext4::inode::InodeFormat;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    let format = InodeFormat {
        size_bytes: 128 << (choice & 3),
        block_size_log2: 10 + u32::from(choice >> 2 & 7).min(6),
        has_huge_files: choice & 32 != 0,
        has_large_directories: choice & 64 != 0,
        is_64bit: choice & 128 != 0,
        has_attribute_inodes: choice & 64 != 0,
        has_casefolding: choice & 32 != 0,
        forbids_indexes: choice & 16 != 0,
        first_inode: 11,
        inodes_count: 1000,
        cluster_size_log2: 10 + u32::from(choice & 7),
        blocks: BlockRange {
            superblock: u32::from(choice & 1),
            end: u64::MAX >> (choice & 63),
        },
    };
    let inode = Inode::from_bytes(bytes, 12, format);
    if inode.check().is_ok() {
        assert!(i64::try_from(inode.size_bytes()).is_ok());
    }
    let _ = (
        inode.kind(),
        inode.mode(),
        inode.uid(),
        inode.gid(),
        inode.links(),
    );
    let _ = (
        inode.allocated_bytes(),
        inode.rdev(),
        inode.attribute_block(),
    );
    let _ = (
        inode.atime(),
        inode.ctime(),
        inode.mtime(),
        inode.btime(),
    );
    let _ = (
        inode.content_location(),
        inode.checksum_seed(1),
        inode.is_free(),
    );
    let _ = inode::is_checksum_right(bytes, 12, 1);
});
