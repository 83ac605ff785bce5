// SPDX-License-Identifier: MIT OR Apache-2.0

//! What inodes with several names take in memory.

use std::path::Path;

use statwalk_core::{Grouping, Scan, Sink, Stats, Totals, TreeSink};
use statwalk_testkit::Scratch;

use super::harness::{child, scratch_in_memory};

/// The promise of ARCHITECTURE.md, "Bounds": an inode in the set, its first name with
/// what is kept of it, and the name itself, in bytes.
const INODE_BYTES_MAX: u64 = 64;
/// A file where files are kept: the record and the name behind its length.
const FILE_BYTES: u64 = 32 + 8;
/// Two sizes of a tree, the smaller with work for all workers.
const INODES: [u64; 2] = [60_000, 260_000];
const FILES_EACH: u64 = 500;

/// Each name of a directory stands for an inode that has it in another as well.
fn make(inodes: u64) -> Scratch {
    let scratch = scratch_in_memory();
    for dir in 0..inodes / FILES_EACH {
        let [one, other] = ["a", "b"].map(|half| scratch.path().join(format!("{half}{dir}")));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        for file in 0..FILES_EACH {
            // Seven bytes each.
            let name = format!("f{file:04}.x");
            std::fs::write(one.join(&name), b"").unwrap();
            std::fs::hard_link(one.join(&name), other.join(&name)).unwrap();
        }
    }
    scratch
}

/// Each was 280 to 440 bytes for each worker that met the inode: 10 million of them took
/// 4 GB.
#[test]
fn an_inode_with_two_names_takes_little_memory() {
    let trees = INODES.map(make);
    for view in ["totals", "dirs", "files", "stats"] {
        let peak = |tree: &Scratch| {
            let argument = format!("{view} {}", tree.path().display());
            let found = child::run("link_memory::scanned", &argument);
            assert_eq!(found["complete"], 1);
            found["peak_kib"] * 1024
        };
        // Which worker meets which names is chance.
        let least = |tree: &Scratch| (0..3).map(|_| peak(tree)).min().unwrap();
        let [few, many] = trees.each_ref().map(least);
        let more = many.saturating_sub(few);
        let of_files = if view == "files" { 2 * FILE_BYTES } else { 0 };
        let each = more / (INODES[1] - INODES[0]);
        println!("{view}: {each} bytes");
        assert!(each <= INODE_BYTES_MAX + of_files, "{view}: {each} bytes");
    }
}

/// The part of the test above that runs in a child.
pub(crate) fn scanned(argument: &str) {
    let (view, path) = argument.split_once(' ').unwrap();
    let path = Path::new(path);
    let totals = Totals::new();
    match view {
        "totals" => scan(path, &totals),
        "dirs" => scan(path, &(totals, TreeSink::new())),
        "files" => scan(path, &(totals, TreeSink::new().with_files())),
        _ => scan(path, &(totals, Stats::new(Grouping::Type))),
    }
}

fn scan(path: &Path, sink: &impl Sink) {
    let outcome = Scan::new(path).threads(4).run(sink).unwrap();
    println!("complete={}", u64::from(outcome.report.is_complete()));
    println!("peak_kib={}", child::peak_kib());
}
