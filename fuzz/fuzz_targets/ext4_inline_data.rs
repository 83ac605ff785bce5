// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as an inode with a directory in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::Inode;
use statwalk_ext4::block_range::BlockRange;
use statwalk_ext4::inline_data;
use statwalk_ext4::inode::InodeFormat;

fuzz_target!(|bytes: &[u8]| {
    let format = InodeFormat {
        size_bytes: 256,
        block_size_log2: 12,
        has_huge_files: true,
        has_large_directories: true,
        is_64bit: true,
        has_attribute_inodes: false,
        has_casefolding: false,
        forbids_indexes: false,
        first_inode: 11,
        inodes_count: 1000,
        cluster_size_log2: 12,
        blocks: BlockRange {
            superblock: 0,
            end: 1 << 20,
        },
    };
    let inode = Inode::from_bytes(bytes, 12, format);
    if let Ok(found) = inline_data::directory(&inode, bytes) {
        assert_eq!(found.first.len(), 56);
        assert!(found.rest.len() <= bytes.len());
    }
});
