// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories with two names, which only damage makes: one that holds itself, one
//! that lies in two directories, one that lies in one directory twice.
//!
//! A directory that held itself was counted some hundred thousand times, or without
//! end, where an ext4 was read from its device, and the answer was said to be complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::Errno;
use statwalk_core::{Cause, Op, Order, Scan, Source, Totals};
use statwalk_testkit::mounts::{self, Access, Mounted};
use statwalk_testkit::{Scratch, Skipped, ext4_images, or_skip};

use super::devices::needs_device;
use super::harness::{THREADS, text};

/// A damaged image, and where it is mounted.
struct Damaged {
    image: PathBuf,
    mounted: Mounted,
    // Goes last.
    _home: Scratch,
}

/// An ext4 with `a/b/c/f`, `d/` and many other directories, changed by debugfs.
fn damaged(commands: &str) -> Result<Damaged, Skipped> {
    let home = Scratch::new().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("a/b/c")).unwrap();
    fs::create_dir_all(tree.join("d")).unwrap();
    fs::write(tree.join("a/b/c/f"), [0; 3_000]).unwrap();
    // So many that the default source looks for the device.
    for number in 0..200 {
        fs::create_dir_all(tree.join(format!("more/{number}"))).unwrap();
    }
    let image = home.path().join("image");
    let arguments = ["-t", "ext4", "-O", "^metadata_csum,^has_journal"];
    ext4_images::make(&image, 32 << 20, &arguments, Some(&tree))?;
    ext4_images::debugfs(&image, Access::ReadWrite, commands)?;
    let at = home.subdirectory("at").unwrap();
    let mounted = mounts::image(&image, "ext4", &at, Access::ReadOnly, "")?;
    needs_device(&mounted)?;
    Ok(Damaged {
        image,
        mounted,
        _home: home,
    })
}

/// Each of them meets a circle. The kernel lists a directory that lies in two places
/// in both, as du and find do.
const ALL: [Source; 3] = [Source::Posix, Source::Ext4, Source::Auto];

/// The names of all that is there once: the root, `a` with what is in it, `d`,
/// `more` and what is in it, `lost+found`.
const ENTRIES: u64 = 1 + 4 + 1 + 201 + 1;

/// `lost`, the further name, is an error, and all else counts once.
fn check(damaged: &Damaged, lost: &str, mounted_errno: Errno, sources: &[Source]) {
    let at = damaged.mounted.path();
    for threads in THREADS {
        for &source in sources {
            check_scan(at, lost, source, threads, mounted_errno);
        }
        check_scan(&damaged.image, lost, Source::Ext4, threads, Errno::UCLEAN);
    }
}

fn check_scan(root: &Path, lost: &str, source: Source, threads: usize, errno: Errno) {
    let told = format!("{}, {source:?}, {threads} workers", root.display());
    for sink in [Totals::new(), Totals::new().without_sizes()] {
        let scan = Scan::new(root).source(source).threads(threads);
        let outcome = scan.run(&sink).unwrap();
        let found = outcome.output[0];
        assert_eq!((found.entries, found.files), (ENTRIES + 1, 1), "{told}");
        let expected = root.join(lost);
        let errors: Vec<_> = (outcome.report.errors.iter())
            .map(|error| (text(&error.path), error.op, error.cause))
            .collect();
        let cause = Cause::System(statwalk_core::Errno(errno.raw_os_error()));
        let expected = (expected.to_str().unwrap().to_owned(), Op::Open, cause);
        assert_eq!(errors, [expected], "{told}");
        assert_eq!(outcome.report.sum().crossings, 0, "{told}");
        assert!(!outcome.report.is_complete(), "{told}");
    }
}

#[test]
fn a_directory_that_holds_itself_is_an_error() {
    let damaged = or_skip!(damaged("ln /a /a/b/loop\n"));
    check(&damaged, "a/b/loop", Errno::LOOP, &ALL);
    let at = damaged.mounted.path();
    // find says so too, and has all the other names.
    let find = Command::new("find").arg(at).output().unwrap();
    assert_eq!(find.status.code(), Some(1));
    let lines = find.stdout.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(lines as u64, ENTRIES);
}

/// The kernel has listed `a` for its names alone when the device is found, and what is
/// below `a` is read from it. The circle was gone through once more, on every second
/// file system: the seed of its hash decides whether `a` or `more` comes first.
#[test]
fn a_circle_that_begins_before_the_device_is_found_is_seen_at_its_end() {
    for _ in 0..8 {
        let damaged = or_skip!(damaged("ln /a /a/b/loop\n"));
        let at = damaged.mounted.path();
        let scan = Scan::new(at).order(Order::Queue);
        let outcome = scan.run(&Totals::new().without_sizes()).unwrap();
        assert_eq!(outcome.output[0].entries, ENTRIES + 1);
        let errors: Vec<_> = (outcome.report.errors.iter())
            .map(|error| text(&error.path))
            .collect();
        assert_eq!(errors, [at.join("a/b/loop").to_str().unwrap()]);
    }
}

#[test]
fn a_root_that_lies_in_itself_is_an_error() {
    let damaged = or_skip!(damaged("ln / /d/root\n"));
    check(&damaged, "d/root", Errno::LOOP, &ALL);
}

#[test]
fn a_directory_in_two_places_counts_in_its_own() {
    let damaged = or_skip!(damaged("ln /a/b /d/again\n"));
    check(&damaged, "d/again", Errno::UCLEAN, &[Source::Ext4]);
}

#[test]
fn a_directory_with_two_names_in_one_place_counts_by_the_first() {
    let damaged = or_skip!(damaged("ln /a/b /a/z\n"));
    check(&damaged, "a/z", Errno::UCLEAN, &[Source::Ext4]);
}

/// Its own entry for its parent is wrong, but it has one name.
#[test]
fn a_directory_whose_parent_is_elsewhere_is_no_error() {
    let damaged = or_skip!(damaged("ln /a/b /d/moved\nunlink /a/b\n"));
    for root in [damaged.mounted.path(), &damaged.image] {
        for threads in THREADS {
            let scan = Scan::new(root).source(Source::Ext4).threads(threads);
            let outcome = scan.run(&Totals::new()).unwrap();
            assert_eq!(outcome.output[0].entries, ENTRIES, "{}", root.display());
            assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        }
    }
}

/// The size of a node of a tree, mkfs.btrfs(8).
const NODE_BYTES: usize = 16 << 10;

/// Lets the entry of a directory of a btrfs lead to another directory, in all places
/// where it stands, and makes the checksums right again.
///
/// `struct btrfs_dir_item` and `struct btrfs_header`, include/uapi/linux/btrfs_tree.h.
fn lead_elsewhere(image: &mut [u8], name: &[u8], to: &[u8]) {
    let target = dir_items(image, to)[0];
    let inode: [u8; 8] = image[target..target + 8].try_into().unwrap();
    for item in dir_items(image, name) {
        image[item..item + 8].copy_from_slice(&inode);
        let node = item / NODE_BYTES * NODE_BYTES;
        let sum = crc32c::crc32c(&image[node + 32..node + NODE_BYTES]);
        image[node..node + 4].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Where entries of this name lie that lead to a directory's inode.
fn dir_items(image: &[u8], name: &[u8]) -> Vec<usize> {
    const HEADER_BYTES: usize = 30;
    const INODE_ITEM: u8 = 1;
    const DIRECTORY: u8 = 2;
    let is_item = |&at: &usize| {
        let header = &image[at..at + HEADER_BYTES];
        let name_bytes = usize::from(u16::from_le_bytes([header[27], header[28]]));
        (header[8], header[29], name_bytes) == (INODE_ITEM, DIRECTORY, name.len())
    };
    let windows = image.windows(name.len()).enumerate().skip(HEADER_BYTES);
    let found = windows.filter(|(_, bytes)| *bytes == name);
    found
        .map(|(at, _)| at - HEADER_BYTES)
        .filter(is_item)
        .collect()
}

/// It did not end: 15 GB were counted in ten seconds.
#[test]
fn a_directory_of_a_btrfs_that_holds_itself_is_an_error() {
    let home = Scratch::new().unwrap();
    let tree = home.path().join("tree");
    fs::create_dir_all(tree.join("outer/b/inner")).unwrap();
    fs::create_dir_all(tree.join("outer/b/c")).unwrap();
    fs::write(tree.join("outer/b/c/f"), [0; 3_000]).unwrap();
    let image = home.path().join("image");
    fs::File::create(&image)
        .unwrap()
        .set_len(128 << 20)
        .unwrap();
    let mut mkfs = Command::new("mkfs.btrfs");
    mkfs.args(["-q", "-m", "single", "-d", "single", "-r"]);
    let made = mkfs.arg(&tree).arg(&image).output();
    or_skip!(made.map_err(|_| Skipped::needs("mkfs.btrfs")));
    let mut bytes = fs::read(&image).unwrap();
    lead_elsewhere(&mut bytes, b"inner", b"outer");
    fs::write(&image, bytes).unwrap();
    let at = home.subdirectory("at").unwrap();
    let mounted = or_skip!(mounts::image(&image, "btrfs", &at, Access::ReadOnly, ""));
    let root = mounted.path();
    for source in [Source::Posix, Source::Btrfs, Source::Auto] {
        for threads in THREADS {
            let told = format!("{source:?}, {threads} workers");
            let scan = Scan::new(root).source(source).threads(threads);
            let outcome = scan.run(&Totals::new()).unwrap();
            let found = outcome.output[0];
            assert_eq!((found.dirs, found.files), (5, 1), "{told}");
            let errors: Vec<_> = (outcome.report.errors.iter())
                .map(|error| (text(&error.path), error.cause))
                .collect();
            let path = root.join("outer/b/inner").to_str().unwrap().to_owned();
            let cause = Cause::System(statwalk_core::Errno(Errno::LOOP.raw_os_error()));
            assert_eq!(errors, [(path, cause)], "{told}");
        }
    }
}
