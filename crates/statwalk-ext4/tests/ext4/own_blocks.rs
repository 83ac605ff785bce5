// SPDX-License-Identifier: MIT OR Apache-2.0

//! The blocks of the file system itself, where no kernel has to mount it: with all entries
//! they are the blocks that the superblock does not count as free. `variants.rs` compares
//! the same after a mount.

use std::collections::{BTreeMap, BTreeSet};

use statwalk_ext4::{Bytes, Volume, feature};
use statwalk_testkit::mounts::Access;
use statwalk_testkit::{Scratch, ext4_images, or_skip};

use crate::harness::Image;
use crate::harness::listed::{Listing, by_sound_volume};

/// The space in use of a file system that is not mounted, by the superblock.
fn used_bytes(volume: &Volume<impl Bytes>) -> u64 {
    let superblock = volume.superblock();
    let mut raw = [0; 1024];
    volume.bytes().read(1024, &mut raw).unwrap();
    let number = |at: usize| u32::from_le_bytes(raw[at..at + 4].try_into().unwrap());
    // s_free_blocks_count_lo and _hi; blocks even with bigalloc.
    let is_64bit = superblock.features.incompat(feature::INCOMPAT_64BIT);
    let high = if is_64bit { number(0x158) } else { 0 };
    let free = u64::from(high) << 32 | u64::from(number(0xC));
    (superblock.blocks_count - free) * u64::from(superblock.block_size_bytes)
}

/// The space of all entries. One with several names counts once, and so does a block with
/// the attributes of several, which each of them counts.
fn bytes_of_entries(volume: &Volume<impl Bytes>, listing: &Listing) -> u64 {
    let entries = listing.values();
    let blocks: BTreeMap<u64, u64> = entries.map(|l| (l.inode, l.allocated_bytes)).collect();
    let attributes = |&number: &u64| volume.inode(number as u32).unwrap().attribute_block();
    let attributes: Vec<u64> = blocks.keys().map(attributes).filter(|&b| b != 0).collect();
    let distinct: BTreeSet<&u64> = attributes.iter().collect();
    let shared = (attributes.len() - distinct.len()) as u64;
    blocks.values().sum::<u64>() - shared * u64::from(volume.superblock().cluster_size_bytes)
}

/// Compares both with the space in use.
pub(crate) fn assert_all_is_known(volume: &Volume<impl Bytes>, listing: &Listing, what: &str) {
    let parts = volume.own_bytes().unwrap() + bytes_of_entries(volume, listing);
    assert_eq!(parts, used_bytes(volume), "{what}");
}

fn check(image: &Image, what: &str) {
    let volume = Volume::open(image.bytes()).unwrap();
    assert_all_is_known(&volume, &by_sound_volume(&volume), what);
}

#[test]
fn own_blocks_and_those_of_entries_are_the_used_ones() {
    let kinds: [&[&str]; 8] = [
        &["-O", "quota"],
        &["-O", "quota,project", "-I", "256"],
        &["-O", "quota,orphan_file,mmp", "-b", "1024"],
        &["-O", "bigalloc,quota,orphan_file,mmp", "-C", "65536"],
        &["-O", "^has_journal,quota,bigalloc", "-b", "1024"],
        &["-O", "^extents,^64bit,quota", "-b", "1024"],
        &["-O", "meta_bg,^resize_inode", "-b", "1024", "-g", "512"],
        &["-O", "meta_bg,^resize_inode,bigalloc", "-b", "1024"],
    ];
    for arguments in kinds {
        let all = [&["-t", "ext4"], arguments].concat();
        let image = or_skip!(Image::make(48 << 20, &all, None));
        check(&image, &arguments.join(" "));
    }
}

/// A list of bad blocks with a block of pointers, and bad blocks that are free or in a table.
#[test]
fn bad_blocks_are_in_use() {
    let scratch = Scratch::new().unwrap();
    let list = scratch.path().join("list");
    let numbers = (20_000..20_300).map(|block| format!("{block}\n"));
    std::fs::write(&list, numbers.collect::<String>()).unwrap();
    for features in ["^resize_inode", "resize_inode"] {
        let list = list.to_str().unwrap();
        let arguments = ["-t", "ext4", "-b", "1024", "-O", features, "-l", list];
        let image = or_skip!(Image::make(48 << 20, &arguments, None));
        check(&image, features);
    }
}

/// A journal, a list of bad blocks or a file of quotas that was removed has old fields.
#[test]
fn removed_files_have_no_blocks() {
    for (made, removed) in [
        ("has_journal", "^has_journal"),
        ("resize_inode", "^resize_inode"),
        ("quota", "^quota"),
    ] {
        let image = or_skip!(Image::make(48 << 20, &["-t", "ext4", "-O", made], None));
        let mut tune = std::process::Command::new("tune2fs");
        let tuned = tune.args(["-O", removed]).arg(&image.file).output();
        let Ok(tuned) = tuned else {
            return statwalk_testkit::Skipped::needs("tune2fs").report();
        };
        assert!(tuned.status.success(), "{removed}: {tuned:?}");
        // It leaves groups to be counted.
        let checked = std::process::Command::new("e2fsck")
            .args(["-f", "-y"])
            .arg(&image.file)
            .output();
        assert!(checked.is_ok(), "{checked:?}");
        check(&image, removed);
    }
}

#[test]
fn damage_is_no_number() {
    for (script, expected) in [
        ("set_inode_field <8> block[1] 0\n", "inode 8"),
        (
            "set_inode_field <7> block[DIND] 4000000000\n",
            "inode 7: a block is not on the file system",
        ),
        (
            "set_block_group 1 checksum 1\n",
            "the group descriptor's checksum does not match",
        ),
    ] {
        let image = or_skip!(Image::make(48 << 20, &["-t", "ext4", "-b", "1024"], None));
        or_skip!(ext4_images::debugfs(&image.file, Access::ReadWrite, script));
        let volume = Volume::open(image.bytes()).unwrap();
        let damage = volume.own_bytes().unwrap_err().to_string();
        assert!(damage.contains(expected), "{script}: {damage}");
    }
    // Without a checksum the place alone tells.
    for field in ["block_bitmap", "inode_bitmap", "inode_table"] {
        let arguments = [
            "-t",
            "ext4",
            "-b",
            "1024",
            "-O",
            "^metadata_csum,^uninit_bg",
        ];
        let image = or_skip!(Image::make(48 << 20, &arguments, None));
        let script = format!("set_block_group 1 {field} 49152\n");
        let access = Access::ReadWrite;
        or_skip!(ext4_images::debugfs(&image.file, access, &script));
        let volume = Volume::open(image.bytes()).unwrap();
        let damage = volume.own_bytes().unwrap_err().to_string();
        assert_eq!(
            damage, "a block of a group is not on the file system",
            "{field}"
        );
    }
}
