// SPDX-License-Identifier: MIT OR Apache-2.0

//! Images that nobody would make: an answer with its damage, or a refusal,
//! in bounded time, and never a panic.

use std::fs::File;
use std::time::{Duration, Instant};

use statwalk_ext4::group_descriptor;
use statwalk_ext4::group_descriptor::GroupDescriptor;
use statwalk_ext4::{Bytes, Checksums, Damage, Fault, Refusal, Superblock, Volume};
use statwalk_testkit::{Scratch, Skipped, ext4_images, is_within, or_skip};

use crate::harness::Image;
use crate::harness::image_bytes::ImageBytes;
use crate::harness::listed::{Listing, by_sound_volume, by_volume};
use crate::harness::random::Random;

/// Kinds of images whose structures differ; each of 4 MiB.
const KINDS: [&[&str]; 5] = [
    &["-t", "ext4", "-b", "1024"],
    &["-t", "ext4", "-b", "1024", "-O", "^metadata_csum"],
    &[
        "-t",
        "ext4",
        "-b",
        "1024",
        "-O",
        "^metadata_csum,inline_data",
    ],
    &["-t", "ext2", "-b", "1024"],
    &[
        "-t",
        "ext4",
        "-b",
        "4096",
        "-O",
        "^metadata_csum,meta_bg,^resize_inode",
    ],
];

/// Needs no root, so that it is tested everywhere.
fn image(arguments: &[&str]) -> Result<Vec<u8>, Skipped> {
    let home = Scratch::new().expect("a temporary directory");
    let tree = home.path().join("tree");
    std::fs::create_dir_all(tree.join("a/b/c/d")).expect("a temporary directory");
    std::fs::write(tree.join("a/b/file"), vec![1; 3000]).expect("a temporary directory");
    std::os::unix::fs::symlink("x".repeat(100), tree.join("a/link")).expect("a link");
    ext4_images::wide(&tree.join("wide"), 300).expect("a temporary directory");
    Ok(Image::make(4 << 20, arguments, Some(&tree))?.bytes())
}

fn walk(bytes: &[u8], checksums: Checksums) -> Result<(Listing, Vec<Damage>), Refusal> {
    let begin = Instant::now();
    let outcome = Volume::open_with(bytes, checksums).map(|volume| {
        let _ = (volume.unlinked_inodes(), volume.own_bytes());
        by_volume(&volume)
    });
    let elapsed = begin.elapsed();
    assert!(is_within(elapsed, Duration::from_secs(20)), "{elapsed:?}");
    outcome
}

/// Where an inode lies in an image.
fn inode_offset(bytes: &[u8], number: u32) -> usize {
    let superblock = Superblock::decode(&bytes[1024..], Checksums::Ignored).unwrap();
    let group = (number - 1) / superblock.inodes_per_group;
    let within = (number - 1) % superblock.inodes_per_group;
    let at = group_descriptor::offset_bytes(group, &superblock).unwrap() as usize;
    let descriptor = GroupDescriptor::decode(&bytes[at..], group, &superblock).unwrap();
    let table = descriptor.inode_table_block * u64::from(superblock.block_size_bytes);
    table as usize + within as usize * superblock.inode_size_bytes as usize
}

fn number_of(bytes: &[u8], path: &[u8]) -> u32 {
    let listing = by_sound_volume(&Volume::open(bytes).unwrap());
    listing[path].inode as u32
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    bytes[offset..offset + value.len()].copy_from_slice(value);
}

#[test]
fn cut_images_are_refused_or_damaged() {
    for kind in KINDS {
        let bytes = or_skip!(image(kind));
        let whole = by_sound_volume(&Volume::open(bytes.as_slice()).unwrap());
        let mut lengths: Vec<usize> = vec![0, 1, 1023, 1025, 1500, 2047];
        for block in 1..bytes.len() / 1024 {
            let end = block * 1024;
            lengths.extend([end, end + 1]);
        }
        for length in lengths.into_iter().filter(|&length| length < bytes.len()) {
            let Ok(volume) = Volume::open(&bytes[..length]) else {
                assert!(length < 2048, "{length}");
                continue;
            };
            assert!(volume.is_cut());
            let (listing, damages) = by_volume(&volume);
            assert!(
                listing.len() == whole.len() || !damages.is_empty(),
                "{length}"
            );
        }
    }
}

/// Where everything has a checksum, an answer without damage is the right one.
#[test]
fn flipped_bits_are_found_by_checksums() {
    let mut bytes = or_skip!(image(KINDS[0]));
    let whole = by_sound_volume(&Volume::open(bytes.as_slice()).unwrap());
    let used_bytes = 1 << 20;
    let (mut harmless, mut found) = (0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let offset = 1024 + random.below(used_bytes) as usize;
        let bit = 1 << random.below(8);
        bytes[offset] ^= bit;
        match walk(&bytes, Checksums::Verified) {
            Ok((listing, damages)) if damages.is_empty() => {
                harmless += 1;
                assert!(listing == whole, "seed {seed}: wrong without damage");
            }
            _ => found += 1,
        }
        bytes[offset] ^= bit;
    }
    println!("{found} found, {harmless} where nothing is in use");
    assert!(found > 50);
}

/// Without checksums the structures have to hold by themselves.
#[test]
fn any_bytes_may_stand_anywhere() {
    for (index, kind) in KINDS.into_iter().enumerate() {
        let original = or_skip!(image(kind));
        for seed in 0..1500 {
            let mut bytes = original.clone();
            let mut random = Random(seed * 5 + index as u64);
            for _ in 0..=random.below(40) {
                // The beginning holds most of the metadata.
                let end = 1 << (11 + random.below(12));
                let offset = random.below(end.min(bytes.len() as u64)) as usize;
                let value = match random.below(4) {
                    0 => 0,
                    1 => 0xFF,
                    2 => bytes[offset] ^ 1 << random.below(8),
                    _ => random.next() as u8,
                };
                bytes[offset] = value;
            }
            let _ = walk(&bytes, Checksums::Ignored);
        }
    }
}

#[test]
fn noise_behind_a_superblock_is_damage() {
    for kind in KINDS {
        let mut bytes = or_skip!(image(kind));
        let mut random = Random(7);
        for byte in &mut bytes[2048..] {
            *byte = random.next() as u8;
        }
        for checksums in [Checksums::Verified, Checksums::Ignored] {
            let (listing, damages) = walk(&bytes, checksums).unwrap();
            assert!(listing.len() <= 1 && damages.len() <= 2);
        }
        bytes[2048..].fill(0);
        let (listing, damages) = walk(&bytes, Checksums::Ignored).unwrap();
        assert!(listing.is_empty() && damages.len() == 1);
    }
}

/// An index node that is its own child, at each depth that it may claim.
#[test]
fn an_extent_tree_that_loops_ends() {
    let original = or_skip!(image(KINDS[1]));
    let number = number_of(&original, b"wide");
    for depth in 1..=7_u16 {
        let mut bytes = original.clone();
        let area = inode_offset(&bytes, number) + 0x28;
        // The last block of the image becomes a node full of indexes of itself.
        let block = (bytes.len() / 1024 - 1) as u32;
        let node = block as usize * 1024;
        for (at, count, max, depth) in [(area, 4, 4, depth), (node, 84, 84, depth - 1)] {
            put(&mut bytes, at, &0xF30A_u16.to_le_bytes());
            put(&mut bytes, at + 2, &u16::to_le_bytes(count));
            put(&mut bytes, at + 4, &u16::to_le_bytes(max));
            put(&mut bytes, at + 6, &u16::to_le_bytes(depth));
            for index in 1..=usize::from(count) {
                put(&mut bytes, at + index * 12 + 4, &block.to_le_bytes());
            }
        }
        let (listing, damages) = walk(&bytes, Checksums::Ignored).unwrap();
        assert!(listing.contains_key(&b"a/b/file"[..]), "the rest is read");
        assert!(!damages.is_empty(), "depth {depth}");
    }
}

/// A journal whose nodes lead to the same few blocks again and again, on a file system
/// that claims a terabyte in one group.
#[test]
fn a_journal_that_claims_a_terabyte_ends() {
    let mut bytes = or_skip!(image(KINDS[1]));
    // Clusters of 1 GiB allow a group of 2^30 blocks: RO_COMPAT_BIGALLOC.
    put(&mut bytes, 1024 + 4, &(1_u32 << 30).to_le_bytes());
    put(&mut bytes, 1024 + 0x20, &(1_u32 << 30).to_le_bytes());
    put(&mut bytes, 1024 + 0x1C, &20_u32.to_le_bytes());
    bytes[1024 + 0x65] |= 2;
    let last = (bytes.len() / 1024 - 1) as u32;
    let root = inode_offset(&bytes, 8) + 0x28;
    for depth in 0..=5_u16 {
        let (at, count) = match depth {
            5 => (root, 4),
            _ => ((last - u32::from(depth)) as usize * 1024, 84),
        };
        let words = [0xF30A, count, count, depth].map(u16::to_le_bytes);
        put(&mut bytes, at, &words.concat());
        for index in 0..u32::from(count) {
            let record = match depth {
                // One block, that of every second extent in another cluster.
                0 => [index, 1, (index % 2 + 2) << 21],
                _ => [index, last - u32::from(depth - 1), 0],
            };
            let place = at + (index as usize + 1) * 12;
            put(&mut bytes, place, &record.map(u32::to_le_bytes).concat());
        }
    }
    let begin = Instant::now();
    let volume = Volume::open_with(bytes.as_slice(), Checksums::Ignored).unwrap();
    let damage = volume.own_bytes().unwrap_err();
    assert_eq!((damage.inode, damage.fault), (8, Fault::TooMuchWork));
    let elapsed = begin.elapsed();
    assert!(is_within(elapsed, Duration::from_secs(10)), "{elapsed:?}");
}

/// All of a directory of a terabyte lies in the same blocks.
#[test]
fn extents_that_share_blocks_end() {
    let original = or_skip!(image(KINDS[1]));
    let number = number_of(&original, b"wide");
    let mut bytes = original.clone();
    let inode = inode_offset(&bytes, number);
    put(&mut bytes, inode + 4, &u32::MAX.to_le_bytes());
    let first: [u8; 12] = bytes[inode + 0x34..inode + 0x40].try_into().unwrap();
    for index in 0..4_u32 {
        let at = inode + 0x34 + index as usize * 12;
        put(&mut bytes, at, &first);
        put(&mut bytes, at, &(index * 32768).to_le_bytes());
        put(&mut bytes, at + 4, &32768_u16.to_le_bytes());
    }
    put(&mut bytes, inode + 0x2A, &4_u16.to_le_bytes());
    let (_, damages) = walk(&bytes, Checksums::Ignored).unwrap();
    assert!(!damages.is_empty());
}

/// The three trees of an old map, whose pointers all lead to one block of pointers.
#[test]
fn a_block_map_that_loops_ends() {
    let original = or_skip!(image(KINDS[3]));
    let number = number_of(&original, b"wide");
    let mut bytes = original.clone();
    let inode = inode_offset(&bytes, number);
    put(&mut bytes, inode + 4, &u32::MAX.to_le_bytes());
    let block = (bytes.len() / 1024 - 1) as u32;
    for at in (0..1024).step_by(4) {
        put(&mut bytes, block as usize * 1024 + at, &block.to_le_bytes());
    }
    for index in 12..15 {
        put(&mut bytes, inode + 0x28 + index * 4, &block.to_le_bytes());
    }
    let (_, damages) = walk(&bytes, Checksums::Ignored).unwrap();
    assert!(!damages.is_empty());
    // The same without a wrong block: all of the trees is holes.
    put(&mut bytes, block as usize * 1024, &[0; 1024]);
    let (_, damages) = walk(&bytes, Checksums::Ignored).unwrap();
    assert!(!damages.is_empty());
}

/// Directories that all claim the same blocks: each for itself is bounded by
/// the device, and all together are too.
#[test]
fn many_directories_of_the_same_blocks_end() {
    // Without types in the entries, whatever the inode says is believed.
    let arguments = ["-t", "ext4", "-b", "1024", "-O", "^metadata_csum,^filetype"];
    let mut bytes = or_skip!(image(&arguments));
    let number = number_of(&bytes, b"wide");
    let inode = inode_offset(&bytes, number);
    let size = 256;
    let claim: Vec<u8> = bytes[inode..inode + size].to_vec();
    let files: Vec<u32> = by_sound_volume(&Volume::open(bytes.as_slice()).unwrap())
        .into_iter()
        .filter(|(path, _)| path.starts_with(b"wide/"))
        .map(|(_, listed)| listed.inode as u32)
        .collect();
    for file in files {
        let at = inode_offset(&bytes, file);
        put(&mut bytes, at, &claim);
    }
    let (_, damages) = walk(&bytes, Checksums::Ignored).unwrap();
    assert!(damages.len() >= 300);
}

/// The bound on all directories together, reached by reading one again and again.
#[test]
fn reading_without_end_ends() {
    let bytes = or_skip!(image(KINDS[1]));
    let volume = Volume::open(bytes.as_slice()).unwrap();
    let inode = volume.inode(number_of(&bytes, b"wide")).unwrap();
    let mut scratch = Default::default();
    let last = (0..100_000)
        .map(|_| volume.read_directory(&inode, &mut scratch, |_| {}))
        .find_map(Result::err);
    assert_eq!(last.unwrap().fault, Fault::TooMuchWork);
}

/// A superblock may claim anything; what is read and kept follows the device.
#[test]
fn absurd_counts_cost_nothing() {
    let original = or_skip!(image(KINDS[1]));
    let begin = Instant::now();
    for (blocks_high, blocks_per_group) in [(0x7FFF, 8192), (0x7, 8192), (0, 8), (0xFFFF, 8)] {
        let mut bytes = original.clone();
        put(&mut bytes, 1024 + 4, &u32::MAX.to_le_bytes());
        put(&mut bytes, 1024 + 0x150, &u32::to_le_bytes(blocks_high));
        put(&mut bytes, 1024 + 0x20, &u32::to_le_bytes(blocks_per_group));
        put(&mut bytes, 1024, &u32::MAX.to_le_bytes());
        // In memory, and as a file of a terabyte with nothing behind it.
        let _ = walk(&bytes, Checksums::Ignored);
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("image");
        std::fs::write(&path, &bytes).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        let bytes = ImageBytes::open(&path);
        assert_eq!(bytes.length_bytes(), 1 << 40);
        if let Ok(volume) = Volume::open_with(&bytes, Checksums::Ignored) {
            let _ = volume.own_bytes();
            by_volume(&volume);
        }
    }
    let elapsed = begin.elapsed();
    assert!(is_within(elapsed, Duration::from_secs(30)), "{elapsed:?}");
}
