// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as a whole image, walked from its root as a scan would.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use statwalk_ext4::{Checksums, DirectoryScratch, FileType, ROOT_INODE, Volume};

fuzz_target!(|bytes: &[u8]| {
    let _ = Volume::open(bytes).map_err(|refusal| refusal.to_string());
    let Ok(volume) = Volume::open_with(bytes, Checksums::Ignored) else {
        return;
    };
    let _ = volume.own_bytes();
    if let Ok(unlinked) = volume.unlinked_inodes() {
        assert!(unlinked.iter().all(|inode| inode.links() == 0));
    }
    let mut scratch = DirectoryScratch::new();
    let mut seen = HashSet::from([ROOT_INODE]);
    let mut waiting = vec![ROOT_INODE];
    let mut entries = 0_u64;
    while let Some(number) = waiting.pop() {
        let Ok(directory) = volume.inode(number) else {
            continue;
        };
        let outcome = volume.read_directory_and_inodes(&directory, &mut scratch, |entry, inode| {
            entries += 1;
            let Ok(inode) = inode else {
                return;
            };
            assert_eq!(inode.number(), entry.inode);
            let _ = (inode.mtime(), inode.btime(), inode.rdev());
            if inode.kind() == FileType::Directory && seen.insert(entry.inode) {
                waiting.push(entry.inode);
            }
        });
        if let Err(damage) = outcome {
            let _ = damage.to_string();
        }
    }
    // An entry takes 12 bytes, and the device is read four times at most; a
    // directory in its inode is read again for each of its blocks.
    assert!(entries <= 4 * bytes.len() as u64 + 65536);
});
