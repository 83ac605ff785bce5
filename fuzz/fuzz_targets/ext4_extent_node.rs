// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as a node of an extent tree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::checksum::Crc32c;
use statwalk_ext4::extent_node::DEPTH_MAX;
use statwalk_ext4::extent_node::ExtentNode;

fuzz_target!(|bytes: &[u8]| {
    let Ok(node) = ExtentNode::decode(bytes) else {
        return;
    };
    assert!(node.depth() <= DEPTH_MAX);
    assert!((node.records_count() + 1) * 12 <= bytes.len());
    for index in 0..=node.records_count() {
        if let Ok(extent) = node.extent(index) {
            assert!((1..=32768).contains(&extent.blocks_count));
        }
        let _ = node.index(index);
    }
    let _ = node.is_checksum_right(Crc32c(1));
});
