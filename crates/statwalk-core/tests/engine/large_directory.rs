// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory of a million files, which workers read together.

use statwalk_core::{GroupKey, Grouping, Largest, Scan, Stats, Top, Totals, TreeSink};
use statwalk_testkit::trees::{WideFiles, make_wide};

use super::harness::{child, scratch_in_memory};

const COUNT: u64 = 1_000_000;

/// The most memory that a scan for totals, statistics and the largest may take.
const PEAK_KIB_MAX: u64 = 64 << 10;

pub(crate) fn scanned_in_a_child(argument: &str) {
    let words: Vec<_> = argument.split(' ').collect();
    let scan = Scan::new(words[0]).threads(words[1].parse().unwrap());
    match words[2] {
        "sizes" => child::print_totals(&scan.run(&Totals::new()).unwrap()),
        "types" => child::print_totals(&scan.run(&Totals::new().without_sizes()).unwrap()),
        _ => {
            let top = Top::new(10, Largest::Apparent);
            let sinks = (Stats::new(Grouping::Depth), top, TreeSink::new());
            let outcome = scan.run(&sinks).unwrap();
            let (stats, top, tree) = outcome.output;
            let tally = |depth| {
                let mut all = stats.iter();
                all.find(|group| group.keys == [GroupKey::Depth(depth)])
                    .unwrap()
                    .tally
            };
            assert_eq!((tally(0).entries, tally(1).entries), (1, COUNT));
            let root = tree.root(0).unwrap();
            assert_eq!((root.entries(), root.file_count()), (COUNT + 1, COUNT));
            assert_eq!(Some(tally(1).apparent_bytes), root.apparent_bytes());
            // Equals are in path order: the first names.
            let names: Vec<_> = top.iter().map(|top| top.path.clone()).collect();
            let prefix = format!("{}/file-", words[0]);
            for (number, name) in names.iter().enumerate().skip(2) {
                let number = number - 2;
                assert_eq!(*name, format!("{prefix}{number:07}").into_bytes());
            }
            assert_eq!(names[0], format!("{prefix}0777777").into_bytes());
            assert_eq!(names[1], format!("{prefix}0333333").into_bytes());
            println!(
                "files={} complete={}",
                root.file_count(),
                u64::from(outcome.report.is_complete())
            );
            println!(
                "file_size_bytes={} peak_kib={}",
                root.apparent_bytes().unwrap(),
                child::peak_kib()
            );
        }
    }
}

#[test]
fn a_million_files_are_counted_exactly_in_bounded_memory() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("million");
    make_wide(&path, COUNT as usize, WideFiles::Empty).unwrap();
    let grow = |number: u32, bytes| {
        let file = path.join(format!("file-{number:07}"));
        let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
        file.set_len(bytes).unwrap();
    };
    // Two of them are larger than the others.
    grow(777_777, 3_000);
    grow(333_333, 2_000);
    for (threads, sinks) in [
        (1, "sizes"),
        (2, "sizes"),
        (8, "sizes"),
        (2, "types"),
        (8, "others"),
    ] {
        let argument = format!("{} {threads} {sinks}", path.display());
        let found = child::run("large_directory::scanned_in_a_child", &argument);
        assert_eq!(found["files"], COUNT, "{argument}: {found:?}");
        assert_eq!(found["complete"], 1, "{argument}: {found:?}");
        if sinks != "types" {
            assert_eq!(found["file_size_bytes"], 5_000, "{argument}: {found:?}");
        }
        assert!(found["peak_kib"] < PEAK_KIB_MAX, "{argument}: {found:?}");
    }
}
