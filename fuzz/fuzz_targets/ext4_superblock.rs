// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any 1,024 bytes as a superblock, and everything that is computed from one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::{Checksums, Superblock};
use statwalk_ext4::group_descriptor;

fuzz_target!(|bytes: &[u8]| {
    if let Err(unfit) = Superblock::decode(bytes, Checksums::Verified) {
        let _ = unfit.to_string();
    }
    let Ok(superblock) = Superblock::decode(bytes, Checksums::Ignored) else {
        return;
    };
    assert!(superblock.block_size_bytes.is_power_of_two());
    assert!((1024..=65536).contains(&superblock.block_size_bytes));
    assert!((128..=superblock.block_size_bytes).contains(&superblock.inode_size_bytes));
    assert!(superblock.inodes_per_group > 0 && superblock.blocks_per_group > 0);
    let _ = (superblock.inode_format(), superblock.directory_format());
    let last = superblock.groups_count - 1;
    for group in [0, 1, 2, 3, 63, 64, last / 2, last, u32::MAX] {
        let _ = superblock.has_superblock_copy(group);
        let _ = group_descriptor::offset_bytes(group, &superblock);
    }
});
