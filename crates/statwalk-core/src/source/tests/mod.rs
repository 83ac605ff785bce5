// SPDX-License-Identifier: MIT OR Apache-2.0

//! A source that was written from the page "write a source" alone.

mod tar_index;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tar_index::TarIndex;

use crate::error::Op;
use crate::fields::Fields;
use crate::order::Order;
use crate::report::Outcome;
use crate::scan::Scan;
use crate::sink::{RootTotals, Totals};
use crate::threads;

/// A tree with a link, an empty directory, a large one, and deep ones.
fn make_tree(top: &std::path::Path) {
    for dir in 0..40 {
        let dir = top.join(format!("dir{dir}/deep/er"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("file"), vec![7; 700]).unwrap();
    }
    fs::create_dir(top.join("empty")).unwrap();
    fs::create_dir(top.join("large")).unwrap();
    for file in 0..1000 {
        fs::write(top.join(format!("large/{file}")), [1]).unwrap();
    }
    symlink("large", top.join("link")).unwrap();
}

/// The tree in an archive, and its totals on the disk. Absent without tar.
fn archive() -> Option<(Vec<u8>, RootTotals)> {
    let scratch = tempfile::tempdir().unwrap();
    make_tree(&scratch.path().join("t"));
    let disk = Scan::new(scratch.path().join("t")).run(&Totals::new());
    let mut tar = Command::new("tar");
    tar.args(["--format=ustar", "-cf", "-", "t"]);
    let Ok(made) = tar.current_dir(scratch.path()).output() else {
        println!("skipped: needs tar");
        return None;
    };
    Some((made.stdout, disk.unwrap().output[0]))
}

fn scan_index(scan: &Scan, index: TarIndex) -> (Outcome<Vec<RootTotals>>, u64) {
    let roots = scan.root_paths().unwrap();
    let running = scan.start_on(index, Totals::new(), roots, Vec::new(), threads::now());
    while !running
        .ongoing
        .pool
        .wait(std::time::Duration::from_secs(60))
    {}
    let context = Arc::clone(&running.ongoing.scan_context);
    let outcome = running.finish();
    (outcome, context.source.stats.load(Ordering::Relaxed))
}

/// It gives the answers of the kernel, and its listing spares all stats.
#[test]
fn the_index_of_a_tar_archive_is_a_source() {
    let Some((archive, disk)) = archive() else {
        return;
    };
    for order in [Order::Parallel, Order::Inode, Order::Recursive] {
        let scan = Scan::new("/t").order(order);
        let (outcome, stats) = scan_index(&scan, TarIndex::of(&archive));
        assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        assert_eq!(outcome.report.plan.source, "tar");
        let found = &outcome.output[0];
        assert_eq!(
            (found.entries, found.dirs, found.files, found.symlinks),
            (disk.entries, disk.dirs, disk.files, 1)
        );
        let bytes = |totals: &RootTotals| totals.sizes.unwrap().file_size_bytes;
        assert_eq!(bytes(found), bytes(&disk));
        assert_eq!(stats, 0, "{order:?}");

        // A field that the listing lacks costs a stat of each entry that is no directory.
        let scan = scan.fields(Fields::MTIME);
        let (outcome, stats) = scan_index(&scan, TarIndex::of(&archive));
        assert_eq!(outcome.output[0].entries, disk.entries);
        assert_eq!(stats, disk.entries - disk.dirs, "{order:?}");
    }
}

/// Many more entries than are withheld: the directory is read in pieces.
#[test]
fn a_tar_archive_is_scanned_in_pieces() {
    let Some((archive, disk)) = archive() else {
        return;
    };
    let scan = Scan::new("t/").withheld_max(10).threads(3);
    let (outcome, _) = scan_index(&scan, TarIndex::of(&archive));
    assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    assert_eq!(outcome.output[0].files, disk.files);
}

/// Past the bound of names, a repeated one may go unnoticed: then the directory is an error.
#[test]
fn a_source_that_repeats_names_gives_each_once_or_an_error() {
    let Some((archive, disk)) = archive() else {
        return;
    };
    let index = || {
        let mut index = TarIndex::of(&archive);
        index.repeats = true;
        index
    };
    for withheld_max in [10, 65_536] {
        for threads in [1, 3] {
            let scan = Scan::new("t/").withheld_max(withheld_max).threads(threads);
            let (outcome, _) = scan_index(&scan, index());
            assert!(outcome.report.is_complete(), "{:?}", outcome.report);
            assert_eq!(outcome.output[0].entries, disk.entries);
            assert_eq!(outcome.report.sum().repeated_names, disk.entries - 1);

            let (outcome, _) = scan_index(&scan.names_max(100), index());
            assert!(!outcome.report.is_complete());
            let errors = &outcome.report.errors;
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!(errors[0].path, b"t/large");
            assert_eq!(errors[0].op, Op::Read);
            // The other 900 came twice.
            assert_eq!(outcome.report.sum().repeated_names, disk.entries - 1 - 900);
        }
    }
}
