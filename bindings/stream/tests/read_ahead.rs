// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks in any order, by directories that were read ahead.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use statwalk_core::{EntryError, Errno, FileType};
use statwalk_stream::{Part, ReadAhead, Request, Table};
use statwalk_testkit::{Random, Scratch};

const LONG: Duration = Duration::from_secs(60);

/// Which directory a walk enters next.
#[derive(Clone, Copy, Debug)]
enum Order {
    DepthFirst,
    BreadthFirst,
    Any,
}

const ORDERS: [Order; 3] = [Order::DepthFirst, Order::BreadthFirst, Order::Any];

/// A walk that asserts of each directory that its names are those of the system.
struct Walk {
    read: ReadAhead,
    chance: Random,
    tables: Vec<Weak<Table>>,
    seen: BTreeSet<PathBuf>,
    errors: Vec<PathBuf>,
}

impl Walk {
    fn new(seed: u64) -> Walk {
        Walk {
            read: ReadAhead::default(),
            chance: Random::new(seed),
            tables: Vec::new(),
            seen: BTreeSet::new(),
            errors: Vec::new(),
        }
    }

    /// Takes a directory, and reads it if it is not at hand.
    fn take(&mut self, path: &Path) -> Result<Vec<Part>, EntryError> {
        let bytes = path.as_os_str().as_bytes();
        if let Some(listing) = self.read.take(bytes) {
            return listing;
        }
        self.read.begin(Request::new(path)).unwrap();
        while !self.read.is_read_within(LONG).unwrap() {}
        self.read.take(bytes).unwrap()
    }

    /// Leaves out one directory in some number, and gives up one reading in some number.
    fn all(&mut self, tops: &[&Path], order: Order, left_out: u64, given_up: u64) {
        let mut open: Vec<_> = tops.iter().map(|top| top.to_path_buf()).collect();
        while !open.is_empty() {
            let path = match order {
                Order::DepthFirst => open.pop().unwrap(),
                Order::BreadthFirst => open.remove(0),
                Order::Any => open.swap_remove(self.chance.below(open.len() as u64) as usize),
            };
            if self.chance.one_in(given_up) {
                self.read.begin(Request::new(&path)).unwrap();
                let _ = self.read.is_read_within(LONG).unwrap();
            }
            let listing = self.take(&path);
            let parts = match listing {
                Ok(parts) => parts,
                Err(error) => {
                    assert_eq!(error.cause.errno(), Some(Errno(2)), "{error}");
                    self.errors.push(path);
                    continue;
                }
            };
            let directories = self.checked(&path, &parts);
            assert!(self.seen.insert(path.clone()), "{path:?} came twice");
            let mut others = Vec::new();
            for directory in directories {
                match self.chance.one_in(left_out) {
                    true => others.push(directory.into_os_string().into_vec()),
                    false => open.push(directory),
                }
            }
            self.read.forget(others);
        }
    }

    /// The directories in one, whose names are compared with those of the system.
    fn checked(&mut self, path: &Path, parts: &[Part]) -> BTreeSet<PathBuf> {
        let (mut names, mut directories) = (BTreeSet::new(), BTreeSet::new());
        for (table, rows) in parts {
            self.tables.push(Arc::downgrade(table));
            for row in rows.clone() {
                let entry = table.columns().entry(row);
                let name = path.join(std::ffi::OsStr::from_bytes(entry.name));
                let is_directory = entry.attributes.kind == FileType::Directory;
                assert_eq!(is_directory, !table.directories().is_empty());
                if is_directory {
                    directories.insert(name.clone());
                }
                assert!(names.insert(name), "{entry:?} is in {path:?} twice");
            }
        }
        let of_system = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        assert_eq!(names, of_system.collect());
        directories
    }

    fn has_tables(&self) -> bool {
        self.tables.iter().any(|table| table.strong_count() > 0)
    }
}

/// A tree that is flat, deep or in between, and how many directories it has.
fn make(top: &Path, chance: &mut Random) -> usize {
    let mut all = vec![top.to_path_buf()];
    let share_deep = chance.share();
    for number in 0..*chance.pick(&[3, 12, 60, 150]) {
        let above = match chance.share() < share_deep {
            true => all.last().unwrap(),
            false => chance.pick(&all),
        };
        let path = above.join(number.to_string());
        fs::create_dir(&path).unwrap();
        all.push(path);
    }
    for number in 0..all.len() {
        let above = chance.pick(&all);
        fs::write(above.join(format!("f{number}")), "").unwrap();
        let _ = std::os::unix::fs::symlink("f0", above.join("link"));
    }
    all.len()
}

#[test]
fn each_directory_comes_once_in_any_order_of_taking() {
    for seed in 0..15 {
        let scratch = Scratch::new().unwrap();
        let count = make(scratch.path(), &mut Random::new(seed));
        for order in ORDERS {
            let mut walk = Walk::new(seed);
            walk.all(&[scratch.path()], order, u64::MAX, u64::MAX);
            assert_eq!(walk.seen.len(), count, "{seed} {order:?}");
            assert!(
                walk.read.scans() <= 20,
                "{seed} {order:?}: {}",
                walk.read.scans()
            );
            assert!(!walk.has_tables(), "{seed} {order:?}");
            let mut walk = Walk::new(seed);
            walk.all(&[scratch.path()], order, 4, u64::MAX);
            assert!(!walk.has_tables(), "{seed} {order:?}");
            for left_out in [u64::MAX, 8] {
                Walk::new(seed).all(&[scratch.path()], order, left_out, 4);
            }
        }
    }
}

/// A walk that has gone up again: no scan may meet a directory by both of its paths, because
/// it lists a directory once.
#[test]
fn a_directory_comes_by_each_of_its_paths() {
    for seed in 0..5 {
        let scratch = Scratch::new().unwrap();
        let count = make(scratch.path(), &mut Random::new(seed));
        for order in ORDERS {
            let mut walk = Walk::new(seed);
            let by_another_path = scratch.path().join("0/..");
            walk.all(
                &[scratch.path(), &by_another_path],
                order,
                u64::MAX,
                u64::MAX,
            );
            assert_eq!(walk.seen.len(), 2 * count, "{seed} {order:?}");
        }
    }
}

#[test]
fn nothing_is_at_hand_of_a_scan_that_was_given_up() {
    let scratch = Scratch::new().unwrap();
    for number in 0..9 {
        fs::create_dir_all(scratch.path().join(format!("{number}/below"))).unwrap();
        fs::write(scratch.path().join(format!("{number}/file")), "").unwrap();
    }
    let mut walk = Walk::new(0);
    let top = walk.take(scratch.path()).unwrap();
    let directories = walk.checked(scratch.path(), &top);
    walk.read
        .begin(Request::new(directories.first().unwrap()))
        .unwrap();
    assert!(!walk.read.is_read_within(LONG).unwrap());
    for path in &directories {
        walk.all(&[path], Order::DepthFirst, u64::MAX, u64::MAX);
    }
}

#[test]
fn a_large_tree_is_read_in_few_scans() {
    let scratch = Scratch::new().unwrap();
    for number in 0..1_000 {
        let path = format!("{}/{number}/below/deep", number % 25);
        fs::create_dir_all(scratch.path().join(path)).unwrap();
    }
    for order in ORDERS {
        let mut walk = Walk::new(0);
        walk.all(&[scratch.path()], order, u64::MAX, u64::MAX);
        assert_eq!(walk.seen.len(), 1 + 25 + 3_000);
        assert!(
            (2..12).contains(&walk.read.scans()),
            "{}",
            walk.read.scans()
        );
    }
}

#[test]
fn a_table_goes_when_all_of_its_directories_were_taken() {
    let scratch = Scratch::new().unwrap();
    for path in ["a/b", "a/c"] {
        fs::create_dir_all(scratch.path().join(path)).unwrap();
        fs::write(scratch.path().join(path).join("file"), "").unwrap();
    }
    let mut walk = Walk::new(0);
    drop(walk.take(scratch.path()));
    drop(walk.take(&scratch.path().join("a")));
    let taken = walk.take(&scratch.path().join("a/b")).unwrap();
    walk.checked(&scratch.path().join("a/b"), &taken);
    drop(taken);
    assert!(walk.has_tables());
    drop(walk.take(&scratch.path().join("a/c")));
    assert!(!walk.has_tables());
}

#[test]
fn no_scan_reads_a_directory_that_is_left_out() {
    let scratch = Scratch::new().unwrap();
    for number in 0..9 {
        fs::create_dir_all(scratch.path().join(format!("{number}/below"))).unwrap();
    }
    let mut walk = Walk::new(0);
    let top = walk.take(scratch.path()).unwrap();
    let mut directories = walk.checked(scratch.path(), &top);
    let (entered, kept) = (
        directories.pop_last().unwrap(),
        directories.pop_last().unwrap(),
    );
    let left: Vec<_> = (directories.into_iter())
        .map(|path| path.into_os_string().into_vec())
        .collect();
    walk.read.forget(left.clone());
    walk.take(&entered).unwrap();
    assert!(walk.read.take(kept.as_os_str().as_bytes()).is_some());
    assert!(left.iter().all(|path| walk.read.take(path).is_none()));
}

#[test]
fn a_directory_that_goes_away_before_its_turn_is_an_error() {
    let scratch = Scratch::new().unwrap();
    for number in 0..100 {
        fs::create_dir_all(scratch.path().join(format!("{number}/below"))).unwrap();
    }
    let mut walk = Walk::new(0);
    let top = walk.take(scratch.path()).unwrap();
    let directories = walk.checked(scratch.path(), &top);
    fs::remove_dir_all(scratch.path().join("7")).unwrap();
    for path in directories {
        walk.all(&[&path], Order::DepthFirst, u64::MAX, u64::MAX);
    }
    assert_eq!(walk.errors, [scratch.path().join("7")]);
    assert_eq!(walk.seen.len(), 198);
}

#[test]
fn paths_are_the_same_with_a_slash_at_their_end() {
    let scratch = Scratch::new().unwrap();
    fs::create_dir_all(scratch.path().join("a/b")).unwrap();
    let mut path = scratch.path().as_os_str().as_bytes().to_vec();
    path.extend(b"//");
    let mut read = ReadAhead::default();
    let root = std::ffi::OsString::from_vec(path.clone());
    for way in [&path[..], &path[..path.len() - 1], &path[..path.len() - 2]] {
        read.begin(Request::new(root.clone())).unwrap();
        while !read.is_read_within(LONG).unwrap() {}
        assert_eq!(read.take(way).unwrap().unwrap().len(), 1);
    }
    path.extend(b"a/");
    assert!(read.take(&path).is_some());
    assert!(read.take(&path).is_none());
}
