// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as the map in an inode, and as a block of pointers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::block_map;

fuzz_target!(|bytes: &[u8]| {
    for block_size in [1024, 4096, 65536] {
        let mut next = 0;
        for index in 0..block_map::ROOT_POINTERS + 2 {
            if let Some(root) = block_map::root_pointer(bytes, index, block_size) {
                assert_eq!(root.logical_block, next);
                next += block_map::blocks_below(root.depth, block_size);
            }
        }
    }
    for index in [0, 1, bytes.len() / 4, bytes.len(), usize::MAX] {
        let _ = block_map::pointer(bytes, index);
    }
});
