// SPDX-License-Identifier: MIT OR Apache-2.0

//! Each kind of file system that the kernel mounts: every entry and every
//! attribute as the kernel shows them, and a sample as debugfs does.

use statwalk_ext4::{FileType, Volume};
use statwalk_testkit::ext4_images::{self, Extent};
use statwalk_testkit::mounts::Access;
use statwalk_testkit::{Skipped, or_skip};

use crate::harness::Image;
use crate::harness::image_bytes::ImageBytes;
use crate::harness::listed::{Listing, assert_same, by_kernel, by_sound_volume};
use crate::own_blocks::assert_all_is_known;

/// Fills an image, and compares what the kernel shows with what lies on the
/// device while it is mounted, and in the file when it is not.
fn check(arguments: &[&str], extent: Extent) -> Result<Listing, Skipped> {
    check_filled(arguments, 512 << 20, |root| ext4_images::fill(root, extent))
}

fn check_filled(
    arguments: &[&str],
    bytes: u64,
    fill: impl FnOnce(&std::path::Path) -> std::io::Result<()>,
) -> Result<Listing, Skipped> {
    let what = arguments.join(" ");
    let image = Image::make(bytes, arguments, None)?;
    let mounted = image.mount(Access::ReadWrite)?;
    fill(mounted.path()).expect("all of it can be made");
    // The first listing changes access times.
    by_kernel(mounted.path());
    mounted.settle().expect("a device that takes it");
    mounted.make_read_only().expect("nobody writes");
    let expected = by_kernel(mounted.path());
    let device = ImageBytes::open(mounted.device().expect("it is an image"));
    let volume = Volume::open(device).unwrap();
    assert_same(
        &format!("{what}, mounted"),
        &by_sound_volume(&volume),
        &expected,
    );
    drop(volume);
    mounted.unmount().expect("nobody uses it");
    let volume = Volume::open(ImageBytes::open(&image.file)).unwrap();
    let listing = by_sound_volume(&volume);
    assert_same(&what, &listing, &expected);
    assert!(!volume.superblock().needs_recovery(), "{what}");
    assert_all_is_known(&volume, &listing, &what);
    compare_with_debugfs(&image, &listing)?;
    Ok(listing)
}

/// A sample of 60 entries.
pub(crate) fn compare_with_debugfs(image: &Image, listing: &Listing) -> Result<(), Skipped> {
    let step = (listing.len() / 60).max(1);
    let sample: Vec<_> = listing.iter().step_by(step).collect();
    let inodes: Vec<u32> = sample.iter().map(|(_, l)| l.inode as u32).collect();
    let stats = ext4_images::debugfs_stats(&image.file, &inodes)?;
    for ((path, listed), stat) in sample.iter().zip(stats) {
        let path = path.escape_ascii();
        let kind = match listed.kind {
            FileType::File => "regular",
            FileType::Directory => "directory",
            FileType::Symlink => "symlink",
            FileType::Fifo => "FIFO",
            FileType::Socket => "socket",
            FileType::CharDevice => "character special",
            FileType::BlockDevice => "block special",
            _ => "bad type",
        };
        assert_eq!(stat.inode as u64, listed.inode, "{path}");
        assert_eq!(stat.kind, kind, "{path}");
        assert_eq!(stat.permissions, listed.mode & 0o7777, "{path}");
        assert_eq!((stat.uid, stat.gid), (listed.uid, listed.gid), "{path}");
        assert_eq!(stat.links, listed.links, "{path}");
        assert_eq!(stat.size_bytes, listed.size_bytes, "{path}");
        assert_eq!(stat.blocks_count * 512, listed.allocated_bytes, "{path}");
        let extra = stat.mtime_extra.unwrap_or(0);
        let seconds = i128::from(stat.mtime_low as i32) + (i128::from(extra & 3) << 32);
        let exact = seconds * 1_000_000_000 + i128::from(extra >> 2);
        assert_eq!(exact, listed.mtime.unix_ns(), "{path}");
    }
    Ok(())
}

macro_rules! variant {
    ($($(#[$doc:meta])* $name:ident: $($argument:literal)+;)+) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                let listing = or_skip!(check(&[$($argument),+], Extent::Everything));
                assert!(listing.len() > 3150, "{}", listing.len());
            }
        )+
    };
}

variant! {
    default_4k: "-t" "ext4";
    blocks_of_1k: "-t" "ext4" "-b" "1024";
    blocks_of_2k: "-t" "ext4" "-b" "2048";
    ext2: "-t" "ext2" "-b" "4096";
    ext2_of_1k: "-t" "ext2" "-b" "1024";
    /// Old maps of blocks, three levels deep with 1 KiB.
    ext3: "-t" "ext3" "-b" "4096";
    ext3_of_1k: "-t" "ext3" "-b" "1024";
    without_64bit: "-t" "ext4" "-O" "^64bit";
    with_64bit: "-t" "ext4" "-O" "64bit";
    /// 64 groups, 16 descriptors in a block: the fourth block of descriptors
    /// lies in group 48.
    meta_bg: "-t" "ext4" "-b" "1024" "-O" "meta_bg,^resize_inode";
    meta_bg_without_64bit: "-t" "ext4" "-b" "1024" "-O" "meta_bg,^resize_inode,^64bit";
    meta_bg_without_flex_bg: "-t" "ext4" "-b" "1024" "-O" "meta_bg,^resize_inode,^flex_bg";
    without_flex_bg: "-t" "ext4" "-O" "^flex_bg";
    bigalloc: "-t" "ext4" "-O" "bigalloc" "-C" "65536";
    bigalloc_of_1k: "-t" "ext4" "-b" "1024" "-O" "bigalloc" "-C" "16384";
    without_metadata_csum: "-t" "ext4" "-O" "^metadata_csum";
    crc16_of_groups: "-t" "ext4" "-O" "^metadata_csum,uninit_bg";
    without_any_checksum: "-t" "ext4" "-O" "^metadata_csum,^uninit_bg";
    checksum_seed: "-t" "ext4" "-O" "metadata_csum,metadata_csum_seed" "-U" "random";
    without_filetype: "-t" "ext4" "-O" "^filetype";
    without_index: "-t" "ext4" "-O" "^dir_index";
    without_journal: "-t" "ext4" "-O" "^has_journal";
    without_sparse_super: "-t" "ext4" "-O" "^sparse_super,^resize_inode";
    sparse_super2: "-t" "ext4" "-O" "sparse_super2,^resize_inode";
    fast_commit: "-t" "ext4" "-O" "fast_commit";
    orphan_file: "-t" "ext4" "-O" "orphan_file";
    large_dir: "-t" "ext4" "-O" "large_dir";
    ea_inode: "-t" "ext4" "-O" "ea_inode";
    mmp: "-t" "ext4" "-O" "mmp";
    verity: "-t" "ext4" "-O" "verity";
    encrypt_that_nobody_uses: "-t" "ext4" "-O" "encrypt";
    inodes_of_128: "-t" "ext4" "-I" "128";
    inodes_of_512: "-t" "ext4" "-I" "512";
    inodes_of_1024: "-t" "ext4" "-I" "1024";
    small_groups: "-t" "ext4" "-b" "1024" "-g" "2048" "-N" "16384" "-O" "^resize_inode";
}

/// ext2 as it was at first. Such a mount shows times that do not fit its inodes
/// until it forgets them: it is compared when it is mounted anew.
#[test]
fn revision_0() {
    let image = or_skip!(Image::filled(
        &["-r", "0", "-b", "1024"],
        Extent::Everything
    ));
    let volume = Volume::open(image.bytes()).unwrap();
    let listing = by_sound_volume(&volume);
    let mounted = or_skip!(image.mount(Access::ReadOnly));
    assert_same("revision 0", &listing, &by_kernel(mounted.path()));
    or_skip!(compare_with_debugfs(&image, &listing));
}

/// Leaves below inner nodes, and leaves that were split in any order.
#[test]
fn a_directory_of_50_000() {
    for arguments in [
        &["-t", "ext4", "-b", "4096", "-N", "60000"],
        &["-t", "ext4", "-b", "1024", "-N", "60000"],
    ] {
        let listing = or_skip!(check_filled(arguments, 512 << 20, |root| {
            ext4_images::wide(&root.join("wide"), 50_000)?;
            for number in (0..50_000).step_by(3) {
                let name = format!("wide/file number {number:06} of many");
                std::fs::remove_file(root.join(name))?;
            }
            Ok(())
        }));
        assert_eq!(listing.len(), 50_000 - 16_667 + 3);
    }
}

/// Extent trees with inner nodes in directories: their blocks are not consecutive.
#[test]
fn two_directories_that_grow_in_turn() {
    for arguments in [
        &["-t", "ext4", "-b", "1024", "-N", "60000"][..],
        &["-t", "ext3", "-b", "1024", "-N", "60000"],
    ] {
        let listing = or_skip!(check_filled(arguments, 512 << 20, |root| {
            let directories: Vec<_> = (0..4)
                .map(|d| root.join(format!("directory {d}")))
                .collect();
            for directory in &directories {
                std::fs::create_dir(directory)?;
            }
            for number in 0..8000 {
                for directory in &directories {
                    let name = format!("{number:0100}");
                    let file = std::fs::File::create(directory.join(name))?;
                    if number % 8 == 0 {
                        std::os::unix::fs::FileExt::write_at(&file, b"in between", 0)?;
                    }
                }
            }
            Ok(())
        }));
        assert_eq!(listing.len(), 4 * 8001 + 2);
    }
}

/// More than 65,000 subdirectories: the number of links is 1 from then on.
#[test]
fn more_subdirectories_than_links() {
    let listing = or_skip!(check_filled(
        &["-t", "ext4", "-b", "1024", "-N", "70000"],
        768 << 20,
        |root| {
            (0..65_100).try_for_each(|number| std::fs::create_dir(root.join(format!("{number}"))))
        }
    ));
    assert_eq!(listing[&b""[..]].links, 1);
    assert_eq!(listing.len(), 65_100 + 2);
}
