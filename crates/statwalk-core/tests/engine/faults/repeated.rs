// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that lists a name more than once, as mergerfs and two NFS servers did.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;
use statwalk_core::{Report, RootTotals, Scan, SymlinkPolicy, Totals, TreeSink};
use statwalk_testkit::fault_fs::{Changes, FaultFs, FaultFsBuilder, FaultMount, Repetition, Where};
use statwalk_testkit::mounts::bind;
use statwalk_testkit::{Scratch, or_skip};

use super::{TREE, system, with_each};
use crate::harness::ORDERS;
use crate::harness::agreement::counts;
use crate::harness::listing::{Listed, Listing};

const TWICE: [Repetition; 2] = [Repetition::Beside, Repetition::Again];

/// With a directory of several buffers, which workers share.
fn tree() -> FaultFsBuilder {
    FaultFs::builder()
        .entries(TREE)
        .files("many", 100, 3)
        .dirs("many", 10)
}

fn kinds(totals: &RootTotals) -> [u64; 5] {
    let RootTotals {
        entries,
        files,
        dirs,
        symlinks,
        others,
        ..
    } = *totals;
    [entries, files, dirs, symlinks, others]
}

fn paths(rows: &[Listed]) -> BTreeSet<&[u8]> {
    rows.iter().map(|row| row.path.as_slice()).collect()
}

fn check_report(report: &Report, repeated: u64, told: &str) {
    let sum = report.sum();
    assert_eq!(sum.repeated_names, repeated, "{told}");
    assert_eq!((sum.unreadable, sum.changed_dirs), (0, 0), "{told}");
    assert!(report.is_complete(), "{told}: {report:?}");
}

/// Checks every kind of scan against the tree of the mount, in which each name but that of
/// the root comes twice.
fn check_all(mount: &FaultMount, scan: &Scan, told: &str) {
    let expected = mount.expected();
    let repeated = expected.entries - 1;
    let check_rows = |rows: &[Listed]| {
        assert_eq!(rows.len() as u64, expected.entries, "{told}");
        assert_eq!(paths(rows).len(), rows.len(), "{told}");
    };

    let sinks = (
        Totals::new(),
        TreeSink::new().with_files(),
        Listing::with_sizes(),
    );
    let outcome = scan.run(&sinks).unwrap();
    check_report(&outcome.report, repeated, told);
    let (totals, tree, rows) = outcome.output;
    let found = counts(&totals[0], &outcome.report.roots[0]);
    assert_eq!(found.totals(), expected, "{told}");
    assert_eq!(tree.root(0).unwrap().entries(), expected.entries, "{told}");
    check_rows(&rows);

    // Names that are only counted are not kept, and without sizes nothing is stat'ed.
    let shape = scan.run(&Totals::new().without_sizes()).unwrap();
    check_report(&shape.report, repeated, told);
    assert_eq!(kinds(&shape.output[0]), kinds(&totals[0]), "{told}");
    let names = scan.run(&Listing::of_names()).unwrap();
    check_report(&names.report, repeated, told);
    check_rows(&names.output);
}

#[test]
fn a_name_that_is_listed_twice_counts_once() {
    for repetition in TWICE {
        let fs = tree().repeats(Where::Everywhere, repetition);
        let mount = or_skip!(fs.mount());
        for order in ORDERS {
            for threads in [1, 3] {
                let scan = Scan::new(mount.path()).order(order).threads(threads);
                let told = format!("{repetition:?}, {}, {threads} workers", order.name());
                check_all(&mount, &scan, &told);
            }
        }
    }
}

/// Names come again in another buffer, and have no types.
#[test]
fn short_buffers_and_names_without_types_change_nothing() {
    for repetition in TWICE {
        let fs = FaultFs::builder().entries(TREE).dirs("many", 40);
        let fs = fs.repeats(Where::Everywhere, repetition);
        for fs in [
            fs.clone().entries_per_readdir_max(3),
            fs.unknown_types(Where::Everywhere),
        ] {
            with_each(&fs, |mount, threads| {
                let scan = Scan::new(mount.path()).threads(threads);
                check_all(mount, &scan, &format!("{repetition:?}, {threads} workers"));
            });
        }
    }
}

/// More than is withheld: pieces are delivered before the directory has ended.
#[test]
fn a_directory_too_large_to_be_withheld_counts_each_name_once() {
    const FILES: u64 = 70_000;
    let fs = FaultFs::builder().files("many", FILES, 1);
    let mount = or_skip!(fs.repeats("many", Repetition::Again).mount());
    let scan = Scan::new(mount.path()).threads(3);
    let outcome = scan.run(&Totals::new().without_sizes()).unwrap();
    check_report(&outcome.report, FILES, "3 workers");
    assert_eq!(outcome.output[0].files, FILES);
}

/// The file system is found out at its own root, below a mount of another one, and behind a
/// link: for types alone nothing else asks about it.
#[test]
fn the_mount_decides_and_not_the_root_of_the_scan() {
    let fs = tree().repeats(Where::Everywhere, Repetition::Beside);
    let mount = or_skip!(fs.mount());
    let expected = mount.expected();
    let scratch = Scratch::new().unwrap();
    let above = scratch.subdirectory("above").unwrap();
    scratch.subdirectory("above/deep").unwrap();
    let at = scratch.subdirectory("above/deep/place").unwrap();
    let below = or_skip!(bind(mount.path(), &at));
    let linked = scratch.subdirectory("linked").unwrap();
    std::os::unix::fs::symlink(mount.path(), linked.join("link")).unwrap();
    let check = |root: &Path, more: u64| {
        for threads in [1, 3] {
            let scan = Scan::new(root).threads(threads);
            let scan = scan.symlinks(match more {
                1 => SymlinkPolicy::Follow,
                _ => SymlinkPolicy::Keep,
            });
            for sink in [Totals::new(), Totals::new().without_sizes()] {
                let outcome = scan.run(&sink).unwrap();
                let told = format!("{root:?}, {threads} workers");
                let entries = outcome.output[0].entries;
                assert_eq!(entries, expected.entries + more, "{told}");
                let repeated = outcome.report.sum().repeated_names;
                assert_eq!(repeated, expected.entries - 1, "{told}");
            }
        }
    };
    check(&above, 2);
    check(&linked, 1);
    drop(below);
}

/// Whether a directory holds still has nothing to do with its repeated names.
#[test]
fn a_directory_that_changes_or_whose_times_move_tells_that_alone() {
    for files in [10, 300] {
        let fs = FaultFs::builder().files("g", files, 5);
        let fs = fs.repeats("g", Repetition::Again);
        with_each(&fs.clone().times_move("g"), |mount, threads| {
            let scan = Scan::new(mount.path()).threads(threads);
            let outcome = scan.run(&Totals::new()).unwrap();
            check_report(&outcome.report, files, "times move");
            assert_eq!(outcome.report.sum().restless_dirs, 1);
            assert_eq!(outcome.output[0].files, files);
        });
        let fs = fs.grows("g", 3, Changes::First(2));
        let fs = fs.attributes_change("g", Changes::First(4));
        with_each(&fs, |mount, threads| {
            let scan = Scan::new(mount.path()).threads(threads);
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            // The root and the directory come besides.
            let names = outcome.output.len() as u64 - 2;
            check_report(&outcome.report, names, "it grows");
            assert_eq!(paths(&outcome.output).len() as u64, names + 2);
            assert!((files..=files + 6).contains(&names), "{names}");
        });
    }
}

/// A server that does not know where to go on begins again, without end.
#[test]
fn a_listing_in_circles_ends_with_an_error() {
    let fs = FaultFs::builder().entries(TREE).dirs("circle/sub", 3);
    let fs = fs
        .files("circle", 50, 1)
        .repeats("circle", Repetition::Forever);
    let mount = or_skip!(fs.mount());
    for (threads, sink) in [(1, Totals::new().without_sizes()), (3, Totals::new())] {
        let scan = Scan::new(mount.path()).threads(threads);
        let outcome = scan.run(&sink).unwrap();
        assert_eq!(outcome.output[0].entries, mount.expected().entries);
        assert!(!outcome.report.is_complete());
        let errors = &outcome.report.errors;
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].path, mount.join("circle").as_os_str().as_bytes());
        assert_eq!(errors[0].cause, system(Errno::LOOP));
    }
}

#[test]
fn a_file_system_that_lists_each_name_once_says_nothing() {
    let fs = tree();
    with_each(&fs, |mount, threads| {
        let scan = Scan::new(mount.path()).threads(threads);
        let outcome = scan.run(&Totals::new()).unwrap();
        check_report(&outcome.report, 0, "a sound one");
    });
}
