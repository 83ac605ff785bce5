// SPDX-License-Identifier: MIT OR Apache-2.0

//! The memory that each order takes: ARCHITECTURE.md has the bounds.

use std::fs::create_dir;
use std::path::Path;

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{DirId, Order, Scan, Totals, TreeSink};
use statwalk_testkit::trees::{WideFiles, make_wide};

use super::harness::{ORDERS, child, scratch_in_memory};

/// Directories of 100 subdirectories each.
fn make(path: &Path, dirs: usize) {
    create_dir(path).unwrap();
    for number in 0..dirs / 101 {
        let above = path.join(format!("directory-{number}"));
        create_dir(&above).unwrap();
        for number in 0..100 {
            create_dir(above.join(format!("directory-{number}"))).unwrap();
        }
    }
}

/// The scan that an argument asks for: the order's name and the path.
fn scan(argument: &str) -> Scan {
    let (order, path) = argument.split_once(' ').unwrap();
    let order = ORDERS.into_iter().find(|known| known.name() == order);
    Scan::new(path).order(order.unwrap())
}

pub(crate) fn scanned_in_an_order(argument: &str) {
    let scan = scan(argument);
    let outcome = scan.run(&TreeSink::new()).unwrap();
    assert!(outcome.report.is_complete());
    let dirs = outcome.output.root(0).unwrap().dir_count();
    println!("dirs={dirs} peak_kib={}", child::peak_kib());
}

/// With a thread for each directory, a tree of 1,041 directories took 82 MiB: each
/// of those threads took 1,024 numbers for directories, and the tree has a record
/// for each number.
#[test]
fn a_directory_takes_the_same_in_every_order() {
    let scratch = scratch_in_memory();
    let trees = [1_010, 20_200].map(|dirs| {
        let path = scratch.path().join(dirs.to_string());
        make(&path, dirs);
        path
    });
    for order in ORDERS {
        let [few, many] = trees.each_ref().map(|path| {
            let argument = format!("{} {}", order.name(), path.display());
            child::run("memory::scanned_in_an_order", &argument)
        });
        assert_eq!((few["dirs"], many["dirs"]), (1_011, 20_201));
        let bytes = many["peak_kib"].saturating_sub(few["peak_kib"]) * 1024;
        let each = bytes / (many["dirs"] - few["dirs"]);
        // 92 for the tree and a name; what waits in the orders that queue a level; and
        // the slack of what doubles. By inode number another worker ends a directory
        // than the one that numbered it, so that there is a table of those besides.
        assert!(each < 640, "{}: {each} bytes a directory", order.name());
        // What 64 workers have is there already with few directories.
        assert!(few["peak_kib"] < 32 << 10, "{}: {few:?}", order.name());
    }
}

pub(crate) fn summed_in_an_order(argument: &str) {
    let outcome = scan(argument).run(&Totals::new()).unwrap();
    child::print_totals(&outcome);
}

/// Entries of the smaller and of the larger directory: both are more than the
/// 65,536 that one directory may withhold.
const COUNTS: [usize; 2] = [70_000, 400_000];

/// What may grow with an entry: 2 MiB with 110,000. Peaks of equal scans differ by 1 MiB, so
/// many entries are needed to tell it.
const MORE_KIB_MAX: u64 = (19 * (COUNTS[1] - COUNTS[0]) as u64) >> 10;

/// How much more memory the larger of two directories takes in each order, in KiB.
///
/// `make` fills a directory with that many entries; `name` is what counts them, with
/// `besides` of the kind above them.
fn more_kib(make: fn(&Path, usize), name: &str, besides: u64) -> [(AnyOrder, u64); ORDERS.len()] {
    let scratch = scratch_in_memory();
    let paths = COUNTS.map(|count| {
        let path = scratch.path().join(count.to_string());
        make(&path, count);
        path
    });
    ORDERS.map(|order| {
        let peaks = [0, 1].map(|index| {
            let argument = format!("{} {}", order.name(), paths[index].display());
            // glibc keeps freed memory in up to eight heaps for each processor, as the
            // threads happen to meet. With one, a peak is what the scan holds.
            let output = child::command(&[], "memory::summed_in_an_order", &argument)
                .env("MALLOC_ARENA_MAX", "1")
                .output();
            let found = child::numbers(&output.expect("it runs"));
            assert_eq!(found["complete"], 1, "{}", order.name());
            assert_eq!(found[name], COUNTS[index] as u64 + besides);
            found["peak_kib"]
        });
        (order, peaks[1].saturating_sub(peaks[0]))
    })
}

#[test]
fn waiting_files_have_a_bound_in_every_order() {
    let make = |path: &Path, count| {
        make_wide(path, count, WideFiles::Empty).unwrap();
    };
    for (order, more_kib) in more_kib(make, "files", 0) {
        // By inode number, sweeps of 65,536 entries and their names.
        let more_kib_max = match order {
            AnyOrder::Order(Order::Inode) => 10 << 10,
            _ => MORE_KIB_MAX,
        };
        assert!(more_kib < more_kib_max, "{}: {more_kib}", order.name());
    }
}

/// Recursion kept the list of what it had visited, 24 bytes for each subdirectory,
/// until the directory was read to its end.
#[test]
fn waiting_directories_have_a_bound_in_every_order_but_by_inode_and_path() {
    let make = |path: &Path, count| {
        create_dir(path).unwrap();
        for number in 0..count {
            create_dir(path.join(format!("directory-{number}"))).unwrap();
        }
    };
    for (order, more_kib) in more_kib(make, "dirs", 1) {
        let more_kib_max = match order {
            // By inode number and by path, all that is known waits, with its name.
            AnyOrder::Order(Order::Inode) | AnyOrder::Sorted => {
                (144 * (COUNTS[1] - COUNTS[0]) as u64) >> 10
            }
            _ => MORE_KIB_MAX,
        };
        assert!(more_kib < more_kib_max, "{}: {more_kib}", order.name());
    }
}

/// The memory of a tree grows with its names and files, and little beside.
#[test]
fn a_tree_knows_its_memory() {
    let scratch = scratch_in_memory();
    let bytes_of = |files: usize, sink: TreeSink| {
        let dir = scratch.path().join(files.to_string());
        make_wide(&dir, files, WideFiles::Empty).unwrap();
        let tree = Scan::new(dir).threads(1).run(&sink).unwrap().output;
        assert_eq!(tree.root(0).unwrap().entries(), files as u64 + 1);
        tree.memory_bytes()
    };
    let (few, many) = (1_000, 41_000);
    let without = bytes_of(many, TreeSink::new());
    // One block of directories, whatever the number of files.
    assert!(
        (DirId::BLOCK as usize * 48..200_000).contains(&without),
        "{without}"
    );
    let grown = bytes_of(many + 1, TreeSink::new().with_files())
        - bytes_of(few, TreeSink::new().with_files());
    let each = grown as f64 / (many - few) as f64;
    // 32 bytes and a name with its length; chunks are full but for the last.
    assert!((32.0..64.0).contains(&each), "{each}");
}
