// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names that are listed and not found: vanished, or lost.

use rustix::io::Errno;
use statwalk_core::{Order, Outcome, RootTotals, Scan, Totals};
use statwalk_testkit::fault_fs::{Changes, FaultFs, FaultMount, Op, When, Where};

use super::{TREE, scan, system, with_each};
use crate::harness::sizes;
use crate::harness::text;

#[test]
fn vanished_names_are_neither_entries_nor_errors() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .vanished("a/x")
        .vanished("b/c");
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        let (found, whole) = (outcome.output[0], mount.expected());
        assert_eq!(outcome.report.sum().vanished, 2);
        assert_eq!(outcome.report.sum().unreadable, 0);
        assert!(outcome.report.is_complete());
        assert_eq!(found.entries, whole.entries - 3, "a/x, b/c and b/c/z");
        assert_eq!(sizes(&found).file_size_bytes, 2_000);
    });
}

/// Scanning a machine at work reported "no such file or directory" as an error
/// and an incomplete answer: the kernel says so when a directory is removed
/// between its opening and its listing. It has vanished, like any other entry.
#[test]
fn a_directory_that_is_removed_before_it_is_listed_has_vanished() {
    let fs = FaultFs::builder().entries(TREE);
    let fs = fs.vanishes_at("b/c", Op::Readdir);
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        let root = outcome.report.roots[0];
        assert_eq!(
            (root.vanished, root.unreadable),
            (1, 0),
            "{threads} workers"
        );
        assert!(outcome.report.is_complete(), "{:?}", outcome.report.errors);
        // Without the directory and the file in it.
        assert_eq!(outcome.output[0].entries + 2, mount.expected().entries);
    });
}

/// A file system that listed names and did not find them lost their contents in
/// silence: they counted as vanished, the answer as complete. du reports them.
#[test]
fn a_name_that_is_listed_and_not_found_is_an_error() {
    for fs in [
        FaultFs::builder().entries(TREE),
        FaultFs::builder()
            .entries(TREE)
            .unknown_types(Where::Everywhere),
        // Listed in pieces, by several workers.
        FaultFs::builder().entries(TREE).files("a", 70_000, 1),
    ] {
        let fs = fs.not_found("a/x").not_found("b/c");
        with_each(&fs, |mount, threads| {
            for order in [Order::Parallel, Order::Inode] {
                let told = format!("{order:?}, {threads} workers");
                let scan = Scan::new(mount.path()).threads(threads).order(order);
                let outcome = scan.run(&Totals::new()).unwrap();
                assert_lost(&outcome, mount, &told);
                let count = scan.run(&Totals::new().without_sizes()).unwrap();
                // Without a stat only what must be opened is met.
                assert!(!count.report.is_complete(), "{told}");
            }
        });
    }
}

/// A name that is made and removed all the time was an error: it was listed again, and
/// removed once more before its stat. Where its directory changed, that proves nothing.
#[test]
fn a_name_that_comes_and_goes_is_no_error() {
    for after in 1..=4 {
        let fs = FaultFs::builder()
            .entries(TREE)
            .attributes_change("a", Changes::Forever)
            .attributes_change("b", Changes::Forever)
            .fail("a/x", Op::Lookup, Errno::NOENT, When::First(after))
            .fail("b/c", Op::Lookup, Errno::NOENT, When::First(after));
        with_each(&fs, |mount, threads| {
            let outcome = scan(mount, threads);
            let sum = outcome.report.sum();
            let told = format!("{after}, {threads} workers: {:?}", outcome.report);
            assert_eq!((sum.vanished, sum.unreadable), (0, 0), "{told}");
            assert_eq!(
                outcome.output[0].entries,
                mount.expected().entries,
                "{told}"
            );
        });
    }
    // But one that is never found is an error, however much its directory changes.
    let fs = FaultFs::builder()
        .entries(TREE)
        .attributes_change("a", Changes::Forever)
        .not_found("a/x");
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        let sum = outcome.report.sum();
        assert_eq!((sum.vanished, sum.unreadable), (0, 1), "{threads} workers");
    });
}

/// A directory that was there at the second look and went away before its opening was an
/// error, although it was made anew all the time.
#[test]
fn a_directory_that_comes_and_goes_is_looked_for_again() {
    for after in 1..=4 {
        let fs = FaultFs::builder().entries(TREE).fail(
            "b/c",
            Op::Opendir,
            Errno::NOENT,
            When::First(after),
        );
        with_each(&fs, |mount, threads| {
            let outcome = scan(mount, threads);
            let told = format!("{after}, {threads} workers: {:?}", outcome.report);
            assert!(outcome.report.is_complete(), "{told}");
            let expected = mount.expected().entries;
            assert_eq!(outcome.output[0].entries, expected, "{told}");
        });
    }
    let fs = FaultFs::builder()
        .entries(TREE)
        .fail("b/c", Op::Opendir, Errno::NOENT, When::Always);
    with_each(&fs, |mount, threads| {
        let sum = scan(mount, threads).report.sum();
        assert_eq!((sum.vanished, sum.unreadable), (0, 1), "{threads} workers");
    });
}

/// `a/x` and `b/c` are errors, and nothing has vanished.
fn assert_lost(outcome: &Outcome<Vec<RootTotals>>, mount: &FaultMount, told: &str) {
    let errors: Vec<_> = (outcome.report.errors.iter())
        .map(|error| (text(&error.path), error.cause))
        .collect();
    let path = |name: &str| mount.join(name).to_str().unwrap().to_owned();
    let expected = ["a/x", "b/c"].map(|name| (path(name), system(Errno::NOENT)));
    assert_eq!(errors, expected, "{told}");
    let sum = outcome.report.sum();
    assert_eq!((sum.vanished, sum.unreadable), (0, 2), "{told}");
    assert!(!outcome.report.is_complete(), "{told}");
    // All but what is in `b/c`.
    let (found, whole) = (outcome.output[0], mount.expected());
    assert_eq!(found.entries, whole.entries - 1, "{told}");
}
