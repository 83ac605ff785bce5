// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows and blocks of a scan while it goes on: the same as a sink gets.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use rustix::io::Errno;
use statwalk_core::{Fields, FileType, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::trees::{WideFiles, make_wide};
use statwalk_testkit::{or_skip, strategy, trees};

use super::harness::listing::{Listed, Listing};
use super::harness::scratch_in_memory;

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
        assert!(begun.elapsed() < Duration::from_secs(5));
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
    let files = scan.run(&Totals::with_sizes()).unwrap().output[0].files;
    assert_eq!(folded.unwrap().output, files);
    assert!(files > 0);
}
