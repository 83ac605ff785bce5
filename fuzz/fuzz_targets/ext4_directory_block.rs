// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as a directory block; what passes the check holds names only.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::checksum::Crc32c;
use statwalk_ext4::directory_block;
use statwalk_ext4::directory_block::{DirectoryFormat, Part};

fuzz_target!(|bytes: &[u8]| {
    for (block_size_bytes, has_types) in [(1024, true), (4096, false), (65536, true)] {
        let format = DirectoryFormat {
            block_size_bytes,
            inode_max: 1 << 20,
            has_types,
        };
        let is_sound = directory_block::check(bytes, format).is_ok();
        let mut taken = 0;
        for entry in directory_block::entries(bytes, format) {
            taken += 8 + entry.name.len();
            assert!((1..=255).contains(&entry.name.len()));
            if is_sound {
                assert!(!entry.name.contains(&b'/') && !entry.name.contains(&0));
                assert!((1..=1 << 20).contains(&entry.inode));
            }
        }
        assert!(taken <= bytes.len());
        let _ = directory_block::next_record(bytes, bytes.len() / 2, format);
    }
    for part in [Part::Leaf, Part::Root, Part::LeafOrNode] {
        let _ = directory_block::check_checksum(bytes, part, Crc32c(1));
    }
    let _ = directory_block::own_inode(bytes);
});
