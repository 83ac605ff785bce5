// SPDX-License-Identifier: MIT OR Apache-2.0

//! Very deep and very wide trees with 64 open files at most: whole, and in
//! bounded memory.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::process::{Resource, Rlimit, setrlimit};
use statwalk_core::{Scan, Totals, TreeSink};

use super::harness::{child, scratch_in_memory};

const LIMIT: u64 = 64;

fn open(dir: impl std::os::fd::AsFd, name: &str) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty()).unwrap()
}

fn make_dir(dir: &OwnedFd, name: &str) {
    mkdirat(dir, name, Mode::from_raw_mode(0o755)).unwrap();
}

fn make_file(dir: &OwnedFd, name: &str, size_bytes: u64) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = openat(dir, name, flags, Mode::from_raw_mode(0o644)).unwrap();
    File::from(file).set_len(size_bytes).unwrap();
}

fn top(path: &Path) -> OwnedFd {
    std::fs::create_dir(path).unwrap();
    open(CWD, path.to_str().unwrap())
}

/// One directory in the other, with a file in the last.
fn make_chain(path: &Path, depth: usize) {
    let mut dir = top(path);
    for _ in 0..depth {
        make_dir(&dir, "d");
        dir = open(&dir, "d");
    }
    make_file(&dir, "f", 7);
}

/// At each level two subdirectories and a file; one of the two goes on.
fn make_comb(path: &Path, depth: usize) {
    let mut dir = top(path);
    for level in 0..depth {
        make_dir(&dir, "side");
        make_dir(&dir, "way-on-with-a-longer-name");
        make_file(&dir, "f", 3);
        if level % 2 == 0 {
            let side = open(&dir, "side");
            make_file(&side, "f", 1);
        }
        dir = open(&dir, "way-on-with-a-longer-name");
    }
}

/// Many subdirectories in one, some of them with something in them.
fn make_wide(path: &Path, count: usize) {
    let dir = top(path);
    for number in 0..count {
        let name = format!("d{number:06}");
        make_dir(&dir, &name);
        if number % 100 == 0 {
            let sub = open(&dir, &name);
            make_file(&sub, "f", 2);
            make_dir(&sub, "deeper");
        }
    }
}

/// Scans under the limit, and looks meanwhile how many descriptors are open.
pub(crate) fn scanned_with_few_descriptors(argument: &str) {
    let words: Vec<_> = argument.split(' ').collect();
    let (path, threads, sink) = (words[0], words[1].parse().unwrap(), words[2]);
    let limit = Some(words[3].parse().unwrap());
    let (current, maximum) = (limit, limit);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(child::open_descriptors());
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
            most
        });
        let scan = Scan::new(path).threads(threads);
        match sink {
            "sizes" => child::print_totals(&scan.run(&Totals::new()).unwrap()),
            "types" => child::print_totals(&scan.run(&Totals::new().without_sizes()).unwrap()),
            _ => {
                let outcome = scan.run(&TreeSink::new()).unwrap();
                let root = outcome.output.root(0).unwrap();
                println!("entries={} dirs={}", root.entries(), root.dir_count());
                println!(
                    "files={} file_size_bytes={}",
                    root.file_count(),
                    root.apparent_bytes().unwrap()
                );
                println!("complete={}", u64::from(outcome.report.is_complete()));
                println!("workers_max={}", outcome.report.plan.workers_max);
                println!("peak_kib={}", child::peak_kib());
            }
        }
        done.store(true, Ordering::Relaxed);
        watch.join().unwrap()
    });
    println!("descriptors={most}");
}

/// Entries, directories, files and their bytes that a scan must find.
struct Expected {
    dirs: u64,
    files: u64,
    bytes: u64,
    peak_kib_max: u64,
}

fn check(path: &Path, expected: &Expected, ways: &[(usize, &str)]) {
    check_within(LIMIT, path, expected, ways);
}

fn check_within(limit: u64, path: &Path, expected: &Expected, ways: &[(usize, &str)]) {
    for &(threads, sink) in ways {
        let argument = format!("{} {threads} {sink} {limit}", path.display());
        let found = child::run("descriptors::scanned_with_few_descriptors", &argument);
        let told = format!("{argument}: {found:?}");
        assert_eq!(found["dirs"], expected.dirs, "{told}");
        assert_eq!(found["files"], expected.files, "{told}");
        assert_eq!(found["entries"], expected.dirs + expected.files, "{told}");
        if sink != "types" {
            assert_eq!(found["file_size_bytes"], expected.bytes, "{told}");
        }
        assert_eq!(found["complete"], 1, "{told}");
        assert!(found["descriptors"] <= limit, "{told}");
        assert!(found["peak_kib"] < expected.peak_kib_max, "{told}");
        assert!((found["workers_max"] as usize) <= threads.min(limit as usize / 4));
    }
}

#[test]
fn a_chain_of_100_000_directories() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("chain");
    make_chain(&path, 100_000);
    // Every directory on the way is an ancestor of what is found last, so each
    // stays: a node, its name and its descriptor's place, some 300 bytes.
    let expected = Expected {
        dirs: 100_001,
        files: 1,
        bytes: 7,
        peak_kib_max: 80 << 10,
    };
    check(
        &path,
        &expected,
        &[(1, "sizes"), (2, "types"), (64, "sizes"), (2, "tree")],
    );
}

#[test]
fn a_comb_of_5_000_levels() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("comb");
    make_comb(&path, 5_000);
    let expected = Expected {
        dirs: 1 + 2 * 5_000,
        files: 5_000 + 2_500,
        bytes: 3 * 5_000 + 2_500,
        peak_kib_max: 32 << 10,
    };
    check(
        &path,
        &expected,
        &[(1, "sizes"), (2, "sizes"), (3, "types"), (64, "tree")],
    );
}

#[test]
fn a_directory_of_300_000_subdirectories() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("wide");
    make_wide(&path, 300_000);
    // 65,536 names and what is queued; the tree keeps 96 bytes and a name for each.
    let expected = Expected {
        dirs: 1 + 300_000 + 3_000,
        files: 3_000,
        bytes: 6_000,
        peak_kib_max: 64 << 10,
    };
    check(
        &path,
        &expected,
        &[(1, "sizes"), (2, "types"), (64, "sizes")],
    );
    let with_tree = Expected {
        peak_kib_max: 128 << 10,
        ..expected
    };
    check(&path, &with_tree, &[(2, "tree")]);
}

/// Large directories one in the other: each is left half read while what is
/// below it is scanned.
#[test]
fn nested_large_directories() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("nested");
    let (levels, files) = (70, 3_000);
    let mut dir = top(&path);
    for _ in 0..levels {
        for number in 0..files {
            make_file(&dir, &format!("f{number}"), 1);
            if number == files / 2 {
                make_dir(&dir, "d");
                make_dir(&dir, "e");
            }
        }
        dir = open(&dir, "d");
    }
    let expected = Expected {
        dirs: 1 + 2 * levels,
        files: levels * files,
        bytes: levels * files,
        peak_kib_max: 64 << 10,
    };
    check(
        &path,
        &expected,
        &[(1, "sizes"), (3, "sizes"), (64, "sizes"), (4, "types")],
    );
}

/// Directories of more entries than are withheld, one in the other: the right to
/// read on in each waits below its subdirectories. There was no bound on their
/// descriptors, and with more of them than files may be opened the rest of the
/// tree could not be read. 64 descriptors would take three times the entries.
#[test]
fn nested_directories_that_are_larger_than_what_is_withheld() {
    let scratch = scratch_in_memory();
    let path = scratch.path().join("nested");
    let (levels, files) = (18, 66_000);
    let mut dir = top(&path);
    for _ in 0..levels {
        // tmpfs lists what came last first: some is left when `d` is met.
        for number in 0..files {
            if number == 100 {
                make_dir(&dir, "d");
            }
            make_file(&dir, &format!("f{number}"), 1);
        }
        dir = open(&dir, "d");
    }
    let expected = Expected {
        dirs: 1 + levels,
        files: levels * files,
        bytes: levels * files,
        peak_kib_max: 64 << 10,
    };
    check_within(24, &path, &expected, &[(1, "sizes"), (1, "types")]);
    // So many that there may be two workers.
    check_within(32, &path, &expected, &[(2, "sizes")]);
}
