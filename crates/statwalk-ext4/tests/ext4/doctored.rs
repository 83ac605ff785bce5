// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rare states of inodes, made with debugfs and shown by the kernel.

use std::sync::atomic::{AtomicU32, Ordering};

use statwalk_ext4::{Bytes, ReadError, Volume};
use statwalk_testkit::ext4_images::{self, Extent};
use statwalk_testkit::mounts::Access;
use statwalk_testkit::or_skip;

use crate::harness::Image;
use crate::harness::listed::{assert_same, by_kernel, by_sound_volume};

/// Making these would take terabytes or old kernels: huge files counted in blocks,
/// and inodes whose extra fields are unused or short. Devices and times come in
/// either encoding, and a pipe has a size.
#[test]
fn rare_inodes_are_shown_as_the_kernel_does() {
    let image = or_skip!(Image::filled(&["-t", "ext4", "-b", "4096"], Extent::Small));
    let script = [
        // EXT4_HUGE_FILE_FL and EXT4_EXTENTS_FL.
        "names/a flags 0xC0000",
        "names/a blocks 1000000",
        "names/a blocks_hi 2",
        "links/one extra_isize 0",
        "links/one crtime 1234567890",
        "special/null extra_isize 4",
        "special/zero extra_isize 16",
        "special/pipe extra_isize 20",
        "special/socket extra_isize 24",
        "deep extra_isize 28",
        "special/pipe size 5",
        "special/pipe size_high 1",
        "deleted/moved size_high 77",
        "deleted size_high 3",
        "deep atime_extra 0xFFFFFFFF",
        "deep mtime 0xFFFFFFFF",
        "deep mtime_extra 3",
        "deep ctime_extra 2",
        "deep links_count 1",
        "attributes block_count 0",
        "attributes uid 0xFFFFFFFE",
    ]
    .map(|change| format!("set_inode_field /{change}\n"))
    .concat();
    or_skip!(ext4_images::debugfs(
        &image.file,
        Access::ReadWrite,
        &script
    ));
    let volume = Volume::open(image.bytes()).unwrap();
    let listing = by_sound_volume(&volume);
    let mounted = or_skip!(image.mount(Access::ReadOnly));
    let expected = by_kernel(mounted.path());
    assert_same("doctored", &listing, &expected);
    let huge = &listing[&b"names/a"[..]];
    assert_eq!(huge.allocated_bytes, (1_000_000 | 2 << 32) * 4096);
    assert_eq!(listing[&b"special/zero"[..]].btime, None);
    let only_seconds = listing[&b"special/pipe"[..]].btime.unwrap();
    assert_eq!(only_seconds.nanoseconds, 0);
}

/// A journal that was not replayed is named, and what is in place is read.
#[test]
fn a_dirty_journal_is_no_obstacle() {
    let image = or_skip!(Image::filled(&["-t", "ext4"], Extent::Small));
    let before = by_sound_volume(&Volume::open(image.bytes()).unwrap());
    let script = "feature needs_recovery\n";
    or_skip!(ext4_images::debugfs(&image.file, Access::ReadWrite, script));
    let volume = Volume::open(image.bytes()).unwrap();
    assert!(volume.superblock().needs_recovery());
    assert_same("dirty", &by_sound_volume(&volume), &before);
}

/// A superblock that the kernel is changing: so many reads see what it holds
/// already, and the checksum of before.
#[derive(Debug)]
struct BeingWritten {
    bytes: Vec<u8>,
    reads_before: AtomicU32,
}

impl Bytes for BeingWritten {
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        self.bytes.read(offset_bytes, into)?;
        let before = self.reads_before.load(Ordering::Relaxed);
        if offset_bytes == 1024 && before > 0 {
            self.reads_before.store(before - 1, Ordering::Relaxed);
            // s_last_orphan.
            into[0xE8] ^= 1;
        }
        Ok(())
    }

    fn length_bytes(&self) -> u64 {
        self.bytes.length_bytes()
    }
}

/// While files were created and deleted as fast as they could be, a scan ended with
/// "the superblock's checksum does not match".
#[test]
fn a_superblock_that_is_being_written_is_waited_for() {
    let image = or_skip!(Image::filled(&["-t", "ext4"], Extent::Small));
    let bytes = std::fs::read(&image.file).unwrap();
    let being_written = |reads_before| BeingWritten {
        bytes: bytes.clone(),
        reads_before: AtomicU32::new(reads_before),
    };
    let unfit = "the superblock's checksum does not match";
    for reads in [0, 1, 7] {
        Volume::open_mounted(being_written(reads)).unwrap();
    }
    let never = Volume::open_mounted(being_written(u32::MAX));
    assert_eq!(never.unwrap_err().to_string(), unfit);
    // Nobody writes an image, so there is nothing to wait for.
    let image = Volume::open(being_written(1));
    assert_eq!(image.unwrap_err().to_string(), unfit);
}
