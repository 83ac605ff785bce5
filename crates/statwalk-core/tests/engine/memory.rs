// SPDX-License-Identifier: MIT OR Apache-2.0

//! The memory that a directory takes in each order: ARCHITECTURE.md has the bounds.

use std::fs::create_dir;
use std::path::Path;

use statwalk_core::{Scan, TreeSink};

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

pub(crate) fn scanned_in_an_order(argument: &str) {
    let (order, path) = argument.split_once(' ').unwrap();
    let order = ORDERS.into_iter().find(|known| known.name() == order);
    let scan = Scan::new(path).order(order.unwrap());
    let outcome = scan.run(&TreeSink::of_directories()).unwrap();
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
