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
use statwalk::{Cause, Op, Scan, Source, Totals};
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
    for sink in [Totals::with_sizes(), Totals::of_types()] {
        let scan = Scan::new(root).source(source).threads(threads);
        let outcome = scan.run(&sink).unwrap();
        let found = outcome.output[0];
        assert_eq!((found.entries, found.files), (ENTRIES + 1, 1), "{told}");
        let expected = root.join(lost);
        let errors: Vec<_> = (outcome.report.errors.iter())
            .map(|error| (text(&error.path), error.op, error.cause))
            .collect();
        let cause = Cause::System(statwalk::Errno(errno.raw_os_error()));
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
            let outcome = scan.run(&Totals::with_sizes()).unwrap();
            assert_eq!(outcome.output[0].entries, ENTRIES, "{}", root.display());
            assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        }
    }
}
