// SPDX-License-Identifier: MIT OR Apache-2.0

//! A superblock, and behind it a descriptor that it describes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::{Checksums, Superblock};
use statwalk_ext4::group_descriptor::GroupDescriptor;
use statwalk_ext4::superblock::SUPERBLOCK_BYTES;

fuzz_target!(|bytes: &[u8]| {
    let Some((superblock, descriptor)) = bytes.split_at_checked(SUPERBLOCK_BYTES) else {
        return;
    };
    let Ok(mut superblock) = Superblock::decode(superblock, Checksums::Ignored) else {
        return;
    };
    for checksums in [Checksums::Ignored, Checksums::Verified] {
        superblock.checksums = checksums;
        for group in [0, 5, u32::MAX] {
            if let Ok(found) = GroupDescriptor::decode(descriptor, group, &superblock) {
                assert!(found.initialised_inodes <= superblock.inodes_per_group);
            }
        }
    }
});
