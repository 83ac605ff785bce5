// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that never ends.

use std::time::{Duration, Instant};

use statwalk_core::{Scan, Totals, TreeSink};
use statwalk_testkit::fault_fs::FaultFs;
use statwalk_testkit::{EntryType, or_skip, stretched};

use super::TREE;
use crate::harness::child;

/// The child of the next test: a directory that never ends.
pub(crate) fn scanned_and_stopped(argument: &str) {
    let (what, threads) = argument.split_once(' ').unwrap();
    let of = match what {
        "files" => EntryType::File,
        _ => EntryType::Directory,
    };
    let fs = FaultFs::builder().entries(TREE).endless("never", of);
    let mount = fs.mount().unwrap();
    let sink = (Totals::new(), TreeSink::new());
    let only_totals = Totals::new();
    let scan = Scan::new(mount.path()).threads(threads.parse().unwrap());
    // Directories are kept by a tree, so that only totals are bounded there.
    let mut seen = Vec::new();
    // Until there was time for six looks, and then for the first of what is withheld
    // to come and more after it: on a slow machine that is much later.
    let begun = Instant::now();
    let mut watch = |progress: statwalk_core::Progress| {
        let known = seen.last().copied().unwrap_or(0);
        seen.push(progress.entries);
        let is_enough = seen.len() > 6 && known > 1_000 && progress.entries > known;
        !is_enough && begun.elapsed() < Duration::from_secs(60)
    };
    let entries;
    let start;
    if of == EntryType::File {
        let running = scan.start(&sink).unwrap();
        while watch(running.progress()) {
            assert!(!running.wait_for(Duration::from_millis(500)));
        }
        start = Instant::now();
        let outcome = running.finish();
        assert!(outcome.report.interrupted);
        entries = outcome.output.0[0].entries;
    } else {
        let running = scan.start(&only_totals).unwrap();
        while watch(running.progress()) {
            assert!(!running.wait_for(Duration::from_millis(500)));
        }
        start = Instant::now();
        let outcome = running.finish();
        assert!(outcome.report.interrupted);
        entries = outcome.output[0].entries;
    }
    println!("finish_ms={}", start.elapsed().as_millis());
    println!("entries={entries}");
    println!("seen_first={} seen_last={}", seen[0], seen[seen.len() - 1]);
    println!("peak_kib={}", child::peak_kib());
}

#[test]
fn a_directory_that_never_ends_takes_bounded_memory_and_can_be_stopped() {
    or_skip!(FaultFs::builder().mount().map(drop));
    for argument in ["files 1", "files 4", "dirs 1", "dirs 4"] {
        let numbers = child::run("faults::endless::scanned_and_stopped", argument);
        let took = Duration::from_millis(numbers["finish_ms"]);
        let limit = stretched(Duration::from_millis(500));
        assert!(took < limit, "{argument}: {numbers:?}");
        assert!(
            numbers["seen_last"] > numbers["seen_first"],
            "{argument}: {numbers:?}"
        );
        assert!(numbers["entries"] > 1_000, "{argument}: {numbers:?}");
        // 65,536 entries withheld, with the file system's server in the same process.
        assert!(numbers["peak_kib"] < 96 << 10, "{argument}: {numbers:?}");
    }
}
