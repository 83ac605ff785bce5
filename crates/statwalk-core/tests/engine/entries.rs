// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows and blocks of a scan while it goes on: the same as a sink gets.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustix::io::Errno;
use statwalk_core::{Fields, FileType, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::trees::{WideFiles, make_wide};
use statwalk_testkit::{or_skip, strategy, stretched, trees};

use super::harness::listing::{Listed, Listing};
use super::harness::{ORDERS, scratch_in_memory};

/// What the rows say, in the order of paths.
fn rows(scan: &Scan) -> Vec<Listed> {
    let mut rows: Vec<Listed> = (scan.entries().unwrap())
        .filter_map(Result::ok)
        .map(|entry| Listed {
            root: entry.root(),
            path: entry.path(),
            kind: entry.file_type(),
            size_bytes: match entry.file_type() {
                FileType::Directory => None,
                _ => entry.attributes().size_bytes(),
            },
        })
        .collect();
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_a_sink(tree in strategy::model(), threads in 1..5_usize) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let scan = Scan::new(&dir).threads(threads).fields(Fields::SIZE);
        prop_assert_eq!(rows(&scan), scan.run(&Listing::with_sizes()).unwrap().output);
        let depths = scan.entries().unwrap().map(Result::unwrap).map(|entry| {
            let below = &entry.path()[dir.as_os_str().len()..];
            (entry.depth(), below.iter().filter(|&&byte| byte == b'/').count() as u32)
        });
        for (depth, slashes) in depths {
            prop_assert_eq!(depth, slashes);
        }
    }
}

#[test]
fn a_root_that_is_a_file_is_a_row() {
    let scratch = scratch_in_memory();
    let file = scratch.path().join("file");
    std::fs::write(&file, [0; 70]).unwrap();
    let scan = Scan::of([&file, &scratch.path().join("missing")]).fields(Fields::SIZE);
    let mut entries = scan.entries().unwrap();
    let entry = entries.next().unwrap().unwrap();
    assert_eq!(entry.path(), file.as_os_str().as_encoded_bytes());
    assert_eq!(
        (entry.depth(), entry.attributes().size_bytes()),
        (0, Some(70))
    );
    let error = entries.next().unwrap().unwrap_err();
    assert!(
        error.path.ends_with(b"/missing") && error.root == 1,
        "{error}"
    );
    assert!(entries.next().is_none() && entries.next().is_none());
    assert!(entries.report().unwrap().roots[1].missing.is_some());
}

#[test]
fn dropping_the_rows_ends_the_scan() {
    let scratch = scratch_in_memory();
    for dir in 0..400 {
        let dir = scratch.path().join(dir.to_string());
        make_wide(&dir, 20, WideFiles::Empty).unwrap();
    }
    for threads in [1, 4] {
        let mut entries = Scan::new(scratch.path())
            .threads(threads)
            .entries()
            .unwrap();
        assert!(entries.next().is_some());
        let begun = Instant::now();
        drop(entries);
        let took = begun.elapsed();
        assert!(took < stretched(Duration::from_secs(5)), "{took:?}");
    }
    // A caller who takes none for a while slows the scan down: it does not go on in
    // memory, and nothing is lost.
    let scan = Scan::new(scratch.path()).threads(4);
    let mut entries = scan.entries().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(entries.report().is_none());
    assert_eq!(entries.by_ref().filter(Result::is_ok).count(), 1 + 400 * 21);
    let report = entries.report().unwrap();
    assert!(report.is_complete() && !report.interrupted);
}

#[test]
fn an_entry_that_cannot_be_read_is_an_error_and_a_row() {
    let fault = FaultFs::builder().file("d/good", 1).file("d/bad", 1);
    let fault = fault.fail("d/bad", Op::Getattr, Errno::IO, When::Always);
    let mounted = or_skip!(fault.mount());
    let scan = Scan::new(mounted.path()).fields(Fields::SIZE);
    let (good, bad): (Vec<_>, Vec<_>) = scan.entries().unwrap().partition(Result::is_ok);
    assert_eq!((good.len(), bad.len()), (4, 1));
    let error = bad.into_iter().next().unwrap().unwrap_err();
    assert!(error.path.ends_with(b"d/bad"), "{error}");
}

#[test]
fn a_fold_adds_up_what_a_sink_does() {
    let scratch = scratch_in_memory();
    trees::basic()
        .materialise(&scratch.path().join("t"))
        .unwrap();
    let scan = Scan::new(scratch.path());
    let folded = scan.fold(
        Fields::TYPE,
        || 0,
        |files: &mut u64, _, batch| {
            let kinds = batch.kinds().iter();
            *files += kinds.filter(|&&kind| kind == FileType::File).count() as u64;
        },
        |a, b| a + b,
    );
    let files = scan.run(&Totals::new()).unwrap().output[0].files;
    assert_eq!(folded.unwrap().output, files);
    assert!(files > 0);
}

/// The rows of a model, as a naive filter has them: the directories that `passes`
/// refuses are missing, with all that is below them.
fn filtered(all: &[Listed], root: &[u8], passes: impl Fn(&[u8]) -> bool) -> Vec<Listed> {
    let is_refused =
        |dir: &Listed| dir.kind == FileType::Directory && dir.path != root && !passes(&dir.path);
    let refused: Vec<&Listed> = all.iter().filter(|dir| is_refused(dir)).collect();
    let is_below = |path: &[u8], dir: &[u8]| {
        path == dir
            || path
                .strip_prefix(dir)
                .is_some_and(|rest| rest.starts_with(b"/"))
    };
    all.iter()
        .filter(|entry| !refused.iter().any(|dir| is_below(&entry.path, &dir.path)))
        .cloned()
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn directories_that_are_refused_are_missing(
        tree in strategy::model(),
        threads in 1..4_usize,
        modulus in 2..5_usize,
    ) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let passes = move |path: &[u8]| path.iter().map(|&it| it as usize).sum::<usize>() % modulus != 0;
        for order in ORDERS {
            for count_only in [false, true] {
                let sink = || if count_only { Listing::of_names() } else { Listing::with_sizes() };
                let scan = Scan::new(&dir).threads(threads).order(order);
                let mut all = scan.run(&sink()).unwrap().output;
                all.sort();
                let expected = filtered(&all, dir.as_os_str().as_encoded_bytes(), passes);
                let scan = scan.filter_dir(move |dir| passes(&dir.path()));
                let outcome = scan.run(&sink()).unwrap();
                let mut found = outcome.output;
                found.sort();
                prop_assert_eq!(&found, &expected);
                let is_whole = outcome.report.roots[0].excluded == 0;
                prop_assert_eq!(is_whole, expected.len() == all.len());
                prop_assert!(outcome.report.is_complete());
            }
        }
    }

    #[test]
    fn skipped_subtrees_do_not_come(tree in strategy::model(), modulus in 2..5_usize) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let wanted = move |path: &[u8]| path.iter().map(|&it| it as usize).sum::<usize>() % modulus != 0;
        let all = rows(&Scan::new(&dir).fields(Fields::SIZE));
        let root = dir.as_os_str().as_encoded_bytes();
        // Below a directory that is skipped nothing comes, but it comes itself.
        let is_below_skipped = |entry: &Listed| {
            let mut above = entry.path.as_slice();
            while let Some(slash) = above.iter().rposition(|&byte| byte == b'/') {
                above = &above[..slash];
                if above.len() > root.len() && !wanted(above) {
                    return true;
                }
            }
            false
        };
        // One worker has each directory before what is below it.
        let mut entries = Scan::new(&dir).threads(1).entries().unwrap();
        let mut found = Vec::new();
        while let Some(entry) = entries.next() {
            let path = entry.unwrap().path();
            if path != root && !wanted(&path) {
                entries.skip_subtree();
            }
            found.push(path);
        }
        found.sort();
        let expected: Vec<Vec<u8>> = (all.iter().filter(|entry| !is_below_skipped(entry)))
            .map(|entry| entry.path.clone())
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn workers_leave_a_skipped_subtree() {
    let scratch = scratch_in_memory();
    std::fs::create_dir(scratch.path().join("large")).unwrap();
    for dir in 0..3_000 {
        let dir = scratch.path().join("large").join(dir.to_string());
        make_wide(&dir, 2, WideFiles::Empty).unwrap();
    }
    std::fs::create_dir(scratch.path().join("small")).unwrap();
    let leaves = || {
        let mut entries = Scan::new(scratch.path()).threads(4).entries().unwrap();
        let mut found = 0;
        let mut is_skipped = false;
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            let path = entry.path();
            let is_below = path.windows(7).any(|part| part == b"/large/");
            assert!(!(is_skipped && is_below), "{}", path.escape_ascii());
            found += 1;
            if entry.name() == b"large" {
                entries.skip_subtree();
                is_skipped = true;
            }
        }
        assert!(is_skipped);
        let report = entries.report().unwrap();
        assert!(report.is_complete(), "what the caller skips is not missing");
        found < 6_000 && report.roots[0].excluded > 1_000
    };
    // On a busy machine workers can have read all of it before the caller runs at all.
    assert!(
        (0..50).any(|_| leaves()),
        "they read on below what is skipped"
    );
}

/// A directory that is refused is not opened.
#[test]
fn a_refused_directory_costs_no_call() {
    let fault = FaultFs::builder()
        .file("a/file", 1)
        .file("b/c/file", 1)
        .file("b/file", 1);
    let mounted = or_skip!(fault.mount());
    let scan = Scan::new(mounted.path()).threads(1);
    let opened = |scan: &Scan| {
        let before = mounted.counts().opendir;
        scan.run(&Totals::new()).unwrap();
        mounted.counts().opendir - before
    };
    assert_eq!(opened(&scan), 4);
    assert_eq!(
        opened(&scan.clone().filter_dir(|dir| dir.name() != b"b")),
        2
    );
    let twice = scan
        .filter_dir(|dir| dir.name() != b"a")
        .filter_dir(|dir| dir.depth() < 2);
    assert_eq!(opened(&twice), 2);
}
