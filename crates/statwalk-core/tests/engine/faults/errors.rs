// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls and listings that fail.

use std::time::Duration;

use rustix::io::Errno;
use statwalk_core::{Fields, MountCrossing, Next, Op as EngineOp, Outcome, Scan, Totals, TreeSink};
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Op, When};

use super::{TREE, scan, system, with_each};
use crate::harness::listing::Listing;
use crate::harness::text;

#[test]
fn failing_calls_are_errors_of_their_entries() {
    // Place, call, error, what the engine was doing.
    let cases = [
        ("a/x", Op::Lookup, Errno::IO, EngineOp::Stat),
        ("a/x", Op::Getattr, Errno::IO, EngineOp::Stat),
        ("a/l", Op::Getattr, Errno::ACCESS, EngineOp::Stat),
        ("a", Op::Lookup, Errno::IO, EngineOp::Open),
        ("a", Op::Opendir, Errno::ACCESS, EngineOp::Open),
        ("b/c", Op::Opendir, Errno::IO, EngineOp::Open),
        ("a", Op::Opendir, Errno::STALE, EngineOp::Open),
        ("a/x", Op::Getattr, Errno::STALE, EngineOp::Stat),
        ("b/c", Op::Readdir, Errno::IO, EngineOp::Read),
        ("b/c", Op::Readdir, Errno::STALE, EngineOp::Read),
        ("", Op::Readdir, Errno::IO, EngineOp::Read),
    ];
    for (place, op, errno, engine_op) in cases {
        let fs = FaultFs::builder()
            .entries(TREE)
            .fail(place, op, errno, When::Always);
        with_each(&fs, |mount, threads| {
            let outcome = scan(mount, threads);
            let told = format!("{op:?} of {place}, {threads} workers");
            let errors = &outcome.report.errors;
            assert_eq!(errors.len(), 1, "{told}: {errors:?}");
            assert_eq!(errors[0].cause, system(errno), "{told}");
            assert_eq!(errors[0].op, engine_op, "{told}");
            let expected = match place {
                "" => mount.path().to_path_buf(),
                place => mount.join(place),
            };
            assert_eq!(text(&errors[0].path), expected.to_str().unwrap(), "{told}");
            assert_eq!(outcome.report.sum().unreadable, 1, "{told}");
            assert!(!outcome.report.is_complete());
            // What failed is still an entry, of the type that the listing gave.
            let (found, whole) = (outcome.output[0], mount.expected());
            match place {
                "a/x" => assert_eq!((found.entries, found.files), (whole.entries, whole.files)),
                "a/l" => assert_eq!(found.symlinks, whole.symlinks),
                "" => assert_eq!(found.entries, 1),
                _ => assert_eq!(found.dirs, whole.dirs, "{told}"),
            }
        });
    }
}

/// Who asks for the attributes of a row hears why there are none.
#[test]
fn a_row_without_attributes_has_the_error() {
    let cases = [
        ("a/x", Op::Getattr, Errno::IO),
        ("a/x", Op::Lookup, Errno::STALE),
        ("a/l", Op::Getattr, Errno::ACCESS),
        ("b/c", Op::Lookup, Errno::IO),
    ];
    for (place, op, errno) in cases {
        let fs = FaultFs::builder()
            .entries(TREE)
            .fail(place, op, errno, When::Always);
        with_each(&fs, |mount, threads| {
            let told = format!("{op:?} of {place}, {threads} workers");
            let scan = Scan::new(mount.path()).threads(threads);
            let mut all = scan
                .fields(Fields::STAT | Fields::NAME)
                .ordered_rows()
                .unwrap();
            let (mut refused, mut rows_seen) = (Vec::new(), 0);
            loop {
                let rows = match all.next_within(Duration::MAX) {
                    Next::Value(rows) => rows,
                    Next::Failed(_) => continue,
                    Next::End => break,
                    next => panic!("{next:?}"),
                };
                // Copies have it too.
                let mut copy = rows.entries().clone();
                for row in 0..rows.len() {
                    copy.push_row(rows.entries(), row);
                }
                for row in 0..rows.len() {
                    assert_eq!(copy.refusal(row), copy.refusal(rows.len() + row), "{told}");
                }
                for columns in [rows.entries(), &rows.directories().columns] {
                    rows_seen += columns.len();
                    for row in 0..columns.len() {
                        let is_known = columns.is_known.get(row);
                        assert_eq!(columns.refusal(row).is_none(), is_known, "{told}");
                        let refusal = columns.refusal(row);
                        refused.extend(refusal.map(|of| (text(columns.name(row)).to_owned(), of)));
                    }
                }
            }
            let name = place.rsplit('/').next().unwrap().to_owned();
            let number = statwalk_core::Errno(errno.raw_os_error());
            assert_eq!(refused, [(name, number)], "{told}");
            assert!(rows_seen > 4);
        });
    }
}

/// A file of a tree had 0 bytes, whether it was empty or could not be read.
#[test]
fn a_file_that_cannot_be_read_has_no_bytes() {
    let fs = FaultFs::builder().entries(TREE).file("a/empty", 0);
    let fs = fs.fail("a/x", Op::Getattr, Errno::IO, When::Always);
    with_each(&fs, |mount, threads| {
        let scan = Scan::new(mount.path()).threads(threads);
        let outcome = scan.run(&TreeSink::new().with_files()).unwrap();
        let root = outcome.output.root(0).unwrap();
        assert!(root.allocated_bytes() > Some(0));
        let dir = root.children().find(|dir| dir.name() == b"a").unwrap();
        assert_eq!(dir.apparent_bytes(), Some(2001));
        assert!(root.is_incomplete() && !root.lacks_itself() && dir.lacks_itself());
        for file in dir.files() {
            assert_eq!(file.lacks_itself(), file.is_incomplete());
            let bytes = (file.apparent_bytes(), file.allocated_bytes());
            match file.name() {
                b"x" => assert_eq!((bytes, file.is_incomplete()), ((None, None), true)),
                b"empty" => assert_eq!(bytes, (Some(0), Some(0))),
                _ => assert!(bytes.0 > Some(0) && !file.is_incomplete()),
            }
        }
    });
}

/// What a listing gave before it failed is counted.
#[test]
fn a_listing_that_fails_midway_keeps_what_it_gave() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .files("many", 5_000, 10)
        .fail_readdir_after("many", 4_000, Errno::IO, When::Always);
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        assert_eq!(outcome.report.sum().unreadable, 1);
        assert_eq!(outcome.report.errors[0].op, EngineOp::Read);
        let whole = mount.expected();
        assert_eq!(
            outcome.output[0].files,
            whole.files - 1_000,
            "{threads} workers"
        );
        let tree = Scan::new(mount.path())
            .threads(threads)
            .run(&TreeSink::new());
        let tree = tree.unwrap().output;
        let root = tree.root(0).unwrap();
        let incomplete: Vec<_> = root
            .children()
            .filter(|child| child.is_incomplete() && child.lacks_itself())
            .map(|child| text(child.name()))
            .collect();
        assert_eq!(incomplete, ["many"]);
        assert!(root.is_incomplete() && !root.lacks_itself());
    });
}

/// What always answers that it is a link or no directory, and is one to every
/// stat, has not vanished either, and nor has what always says that it was removed.
#[test]
fn a_directory_that_never_opens_is_an_error() {
    let cases = [
        (Op::Opendir, Errno::LOOP, EngineOp::Open),
        (Op::Opendir, Errno::NOTDIR, EngineOp::Open),
        (Op::Opendir, Errno::NOENT, EngineOp::Open),
        (Op::Opendir, Errno::XDEV, EngineOp::Open),
        (Op::Lookup, Errno::LOOP, EngineOp::Open),
        (Op::Lookup, Errno::NOTDIR, EngineOp::Open),
        (Op::Readdir, Errno::NOENT, EngineOp::Read),
    ];
    for place in ["b", ""] {
        for (op, errno, engine_op) in cases {
            if place.is_empty() && (op == Op::Lookup || errno == Errno::NOENT && op == Op::Opendir)
            {
                continue;
            }
            let fs = FaultFs::builder()
                .entries(TREE)
                .fail(place, op, errno, When::Always);
            with_each(&fs, |mount, threads| {
                for crossing in [MountCrossing::Enter, MountCrossing::Stay] {
                    let scan = Scan::new(mount.path()).threads(threads).crossing(crossing);
                    for sizes in [true, false] {
                        let sink = match sizes {
                            true => Totals::new(),
                            false => Totals::new().without_sizes(),
                        };
                        let outcome = scan.run(&sink).unwrap();
                        let told = format!("{op:?} {errno:?} of {place}, {crossing:?}, {sizes}");
                        let sum = outcome.report.sum();
                        assert_eq!((sum.unreadable, sum.vanished), (1, 0), "{told}");
                        assert_eq!((sum.crossings, sum.changed_dirs), (0, 0), "{told}");
                        let error = &outcome.report.errors[0];
                        let expected = (engine_op, system(errno));
                        assert_eq!((error.op, error.cause), expected, "{told}");
                        assert!(!outcome.report.is_complete(), "{told}");
                    }
                }
            });
        }
    }
}

/// An entry without a name was shown as its directory with a slash, or was lost.
#[test]
fn a_name_that_begins_with_nul_is_a_fault_of_its_directory() {
    for fs in [
        FaultFs::builder().entries(TREE).nul_before("a/x"),
        FaultFs::builder()
            .entries(TREE)
            .dir("a/d")
            .nul_before("a/d"),
    ] {
        let told = |outcome: &Outcome<_>, mount: &FaultMount| {
            let errors: Vec<_> = (outcome.report.errors.iter())
                .map(|error| (text(&error.path), error.op, error.cause))
                .collect();
            let path = mount.join("a").to_str().unwrap().to_owned();
            assert_eq!(errors, [(path, EngineOp::Read, system(Errno::UCLEAN))]);
            assert!(!outcome.report.is_complete());
        };
        with_each(&fs, |mount, threads| {
            let scan = Scan::new(mount.path()).threads(threads);
            let outcome = scan.run(&Listing::with_sizes()).unwrap();
            told(&outcome, mount);
            // All the others are there, and nothing without a name.
            let paths = outcome.output.iter().map(|entry| &entry.path);
            assert!(paths.into_iter().all(|path| path.last() != Some(&b'/')));
            assert_eq!(outcome.output.len() as u64, mount.expected().entries - 1);
            told(&scan.run(&Listing::of_names()).unwrap(), mount);
        });
    }
}
