// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries and directories that change between two calls.

use statwalk_core::{FileType, Scan};
use statwalk_testkit::EntryType;
use statwalk_testkit::fault_fs::{Changes, FaultFs};

use super::{TREE, exact, scan, with_each};
use crate::harness::agreement::counts;
use crate::harness::listing::Listing;

#[test]
fn what_takes_the_place_of_a_directory_counts_as_what_it_is() {
    for (by, expected) in [
        (EntryType::Symlink, FileType::Symlink),
        (EntryType::File, FileType::File),
        (EntryType::Fifo, FileType::Fifo),
        (EntryType::Directory, FileType::Directory),
    ] {
        for after_lookups in [0, 1] {
            let fs = FaultFs::builder()
                .entries(TREE)
                .replaced("b/c", by, after_lookups);
            with_each(&fs, |mount, threads| {
                let listing = Scan::new(mount.path()).threads(threads);
                let outcome = listing.run(&Listing::with_sizes()).unwrap();
                let path = mount.join("b/c");
                let path = path.to_str().unwrap().as_bytes();
                let found: Vec<_> = (outcome.output.iter())
                    .filter(|entry| entry.path == path)
                    .map(|entry| entry.kind)
                    .collect();
                let told = format!("{by:?} after {after_lookups}, {threads} workers");
                // With one lookup it is opened before it is replaced.
                match after_lookups {
                    0 => assert_eq!(found, [expected], "{told}"),
                    _ => assert_eq!(found, [FileType::Directory], "{told}"),
                }
            });
        }
    }
}

#[test]
fn a_file_that_becomes_a_directory_is_listed_as_one() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .replaced("a/x", EntryType::Directory, 0);
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        assert_eq!(outcome.output[0].dirs, mount.expected().dirs + 1);
        assert_eq!(outcome.output[0].files, mount.expected().files - 1);
        assert!(outcome.report.is_complete());
    });
}

/// A directory that holds still in the end is exact; what was read before is forgotten.
#[test]
fn a_directory_that_changes_for_a_while_is_read_again() {
    for times in 1..=3 {
        let fs = FaultFs::builder()
            .entries(TREE)
            .attributes_change("a", Changes::First(times));
        exact(&fs);
        // A directory of several buffers, which workers share.
        let fs = FaultFs::builder().files("many", 4_000, 1);
        exact(&fs.attributes_change("many", Changes::First(times)));
        // Its names change too: none may be there twice, and all of one listing.
        let fs = FaultFs::builder()
            .files("g", 10, 5)
            .grows("g", 2, Changes::First(times));
        let fs = fs.attributes_change("g", Changes::First(2 * times));
        with_each(&fs, |mount, threads| {
            let scan = Scan::new(mount.path()).threads(threads);
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            assert!(outcome.report.is_complete(), "{:?}", outcome.report);
            let paths = outcome.output.iter().map(|entry| &entry.path);
            let paths: std::collections::BTreeSet<_> = paths.collect();
            assert_eq!(paths.len(), outcome.output.len());
            let grown = paths.len() - 2 - 10;
            let possible = match times {
                1 => 0..=2,
                times => 2..=2 * times as usize,
            };
            assert!(possible.contains(&grown), "{grown}, changed {times} times");
        });
    }
}

/// A server that gives the present as the time of a change, in a small directory and in one of
/// several buffers.
#[test]
fn times_that_move_by_themselves_are_no_change() {
    let fs = FaultFs::builder().entries(TREE).files("many", 4_000, 1);
    for place in ["a", "b/c", "many"] {
        with_each(&fs.clone().times_move(place), |mount, threads| {
            let outcome = scan(mount, threads);
            let sum = outcome.report.sum();
            let told = format!("{place}, {threads} workers");
            assert_eq!((sum.restless_dirs, sum.changed_dirs), (1, 0), "{told}");
            assert!(outcome.report.is_complete(), "{told}");
            let found = counts(&outcome.output[0], &outcome.report.roots[0]);
            assert_eq!(found.totals(), mount.expected(), "{told}");
        });
    }
}

#[test]
fn times_that_move_hide_no_change() {
    for files in [10, 4_000] {
        let fs = FaultFs::builder().files("g", files, 5).times_move("g");
        with_each(&fs.grows("g", 1, Changes::Forever), |mount, threads| {
            let sum = scan(mount, threads).report.sum();
            let told = format!("{files} files, {threads} workers");
            assert_eq!((sum.restless_dirs, sum.changed_dirs), (0, 1), "{told}");
        });
    }
}

#[test]
fn a_directory_that_never_holds_still_is_reported_once() {
    for (place, files) in [("a", 0), ("many", 4_000)] {
        let fs = FaultFs::builder().entries(TREE);
        let fs = if files > 0 {
            fs.files("many", files, 1)
        } else {
            fs
        };
        let fs = fs.attributes_change(place, Changes::Forever);
        with_each(&fs, |mount, threads| {
            let outcome = scan(mount, threads);
            let sum = outcome.report.sum();
            assert_eq!(
                (sum.changed_dirs, sum.unreadable),
                (1, 0),
                "{threads} workers"
            );
            assert!(!outcome.report.is_complete());
            let found = counts(&outcome.output[0], &outcome.report.roots[0]);
            assert_eq!(found.totals(), mount.expected(), "names do not change");
            let reads = mount.counts_of(place).opendir;
            assert_eq!(reads, 1, "it is rewound, not opened again");
        });
    }
}
