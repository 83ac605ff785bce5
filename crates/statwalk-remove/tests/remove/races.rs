// SPDX-License-Identifier: MIT OR Apache-2.0

//! Other processes rename while a removal is going on.
//!
//! A thread swaps directories for links, moves directories out of the item and back, and
//! exchanges the directories on the way to the item. After each trial the sentinel
//! beside the item must be whole. `STATWALK_TRIALS` sets the number of trials.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};
use statwalk_remove::{Cause, End, Manner, Monitor, Removal, Trash, restore};

use crate::harness::{bytes, causes, fast_scratch, item, make, removal, snapshot, surroundings};

/// Deeper than the levels that a removal keeps open, so that it has to find them again.
const DEPTH: usize = 70;

fn trial_count() -> usize {
    let set = std::env::var("STATWALK_TRIALS").ok();
    set.and_then(|count| count.parse().ok()).unwrap_or(10_000)
}

/// One marked tree, with a sentinel and a way for the attacker beside it.
struct Arena {
    root: PathBuf,
    marked: PathBuf,
    deep: PathBuf,
    sentinel: Vec<(PathBuf, Vec<u8>)>,
}

impl Arena {
    fn new(root: &Path) -> Arena {
        make(
            root,
            &[
                // The names of the marked tree, so that a wrong turn finds them.
                "keep/a/f",
                "keep/a/s/f",
                "keep/b",
                "keep/f",
                "keep/s/f",
                "keep/d/d/f",
                "out/f",
                "out/s/f",
                "out/d/f",
                "out/marked/a/f",
            ],
        );
        symlink(root.join("keep"), root.join("link")).unwrap();
        let sentinel = Arena::sentinel(root);
        Arena {
            marked: root.join("way/marked"),
            deep: PathBuf::new(),
            root: root.to_owned(),
            sentinel,
        }
    }

    fn sentinel(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = snapshot(&root.join("keep"));
        let is_old = |path: &Path| !path.starts_with(root.join("out/hostage"));
        found.extend((snapshot(&root.join("out")).into_iter()).filter(|(path, _)| is_old(path)));
        found
    }

    fn refill(&mut self, trial: usize) {
        make(&self.marked, &["a/f", "a/s/f", "a/s/g", "b", "s/f"]);
        // In the middle of a deep way is the directory that moves.
        self.deep = match trial % 8 {
            7 => {
                let deep = (0..DEPTH / 2).fold(self.marked.join("d"), |path, _| path.join("d"));
                let end = (0..DEPTH / 2).fold(deep.clone(), |path, _| path.join("d"));
                fs::create_dir_all(&end).unwrap();
                fs::write(end.join("f"), b"").unwrap();
                deep
            }
            _ => self.marked.join("a"),
        };
    }

    /// One attack. Each may fail.
    fn attack(&self, trial: usize) {
        let root = &self.root;
        let exchange = |a: &Path, b: &Path| {
            rustix::fs::renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
        };
        match trial % 4 {
            // A directory within becomes a link, and a directory again.
            0 => {
                exchange(&self.marked.join("a"), &root.join("link"));
            }
            // The item becomes a link.
            1 => {
                exchange(&self.marked, &root.join("link"));
            }
            // The way to the item becomes a link to a directory with the same names.
            2 => {
                let other = root.join("out-link");
                let _ = symlink(root.join("out"), &other);
                exchange(&root.join("way"), &other);
            }
            // A directory moves out of the item, so that its `..` leads outside.
            _ => {
                let hostage = root.join("out/hostage");
                // Every second deep one stays outside.
                if fs::rename(&self.deep, &hostage).is_ok() && trial % 16 != 15 {
                    std::thread::yield_now();
                    let _ = fs::rename(&hostage, &self.deep);
                }
            }
        }
    }

    /// Undoes the attacks of a trial, and removes the rest of the item.
    fn reset(&self) {
        let root = &self.root;
        for name in ["way", "link", "out-link", "out/hostage"] {
            let path = root.join(name);
            match path.symlink_metadata() {
                Ok(found) if found.is_dir() => statwalk_testkit::remove_tree(&path).unwrap(),
                Ok(_) => fs::remove_file(&path).unwrap(),
                Err(_) => {}
            }
        }
        symlink(root.join("keep"), root.join("link")).unwrap();
    }
}

#[test]
fn nothing_outside_the_item_is_touched_in_10_000_races() {
    let scratch = fast_scratch();
    let mut arena = Arena::new(scratch.path());
    let trials = trial_count();
    let (mut disturbed, mut whole) = (0, 0);
    for trial in 0..trials {
        arena.refill(trial);
        let mut removal = removal(&[&arena.marked]);
        if trial % 3 == 0 {
            removal = removal.without_openat2();
        }
        let is_over = AtomicBool::new(false);
        let ready = Barrier::new(2);
        let outcome = std::thread::scope(|scope| {
            let attacker = scope.spawn(|| {
                ready.wait();
                // Different moments of the removal.
                std::thread::sleep(Duration::from_micros((trial as u64 * 7) % 120));
                while !is_over.load(Relaxed) {
                    arena.attack(trial);
                }
            });
            ready.wait();
            let outcome = removal.run(&Monitor::new());
            is_over.store(true, Relaxed);
            attacker.join().unwrap();
            outcome
        });
        match outcome.items[0].end {
            End::Removed => whole += 1,
            End::Partly | End::Untouched => disturbed += 1,
        }
        assert_eq!(
            Arena::sentinel(scratch.path()),
            arena.sentinel,
            "trial {trial}: {outcome:?}"
        );
        arena.reset();
    }
    println!("{trials} trials: {disturbed} disturbed, {whole} whole");
    assert!(
        disturbed > trials / 100,
        "the attacks came too late: {disturbed} of {trials}"
    );
    assert!(
        whole > trials / 100,
        "no removal succeeded beside attacks: {whole} of {trials}"
    );
}

#[test]
fn an_item_that_became_a_link_after_the_confirmation_stays() {
    let scratch = fast_scratch();
    let mut arena = Arena::new(scratch.path());
    for trial in 0..200 {
        arena.refill(trial);
        let removal = removal(&[&arena.marked]);
        arena.attack(1);
        let outcome = removal.run(&Monitor::new());
        assert_eq!(causes(&outcome), [Cause::Changed]);
        assert_eq!(outcome.entry_count, 0);
        assert_eq!(Arena::sentinel(scratch.path()), arena.sentinel);
        arena.reset();
    }
}

#[test]
fn a_directory_that_its_user_moves_to_safety_is_left() {
    // The last one lies above the levels that stay open.
    for depth in [0, 3, 50] {
        let scratch = fast_scratch();
        let dir = scratch.path().join("dir");
        let below = (0..depth).fold(dir.join("p"), |path, _| path.join("q"));
        let mut names = Vec::new();
        for number in 0..20_000 {
            names.push(format!("{number}/"));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        make(&below, &names);
        let safe = scratch.path().join("safe");
        let running = removal(&[&dir]).start().unwrap();
        while running.monitor().entry_count() < 50 {
            std::hint::spin_loop();
        }
        fs::rename(dir.join("p"), &safe).unwrap();
        let outcome = running.wait();
        assert_eq!(causes(&outcome), [Cause::Moved]);
        assert_eq!(outcome.failures.listed[0].path, bytes(&dir.join("p")));
        assert_eq!(outcome.items[0].end, End::Partly);
        let left = snapshot(&safe).len();
        assert!(left > 1_000, "{left} of 20,000 are left at depth {depth}");
    }
}

#[test]
fn the_trash_takes_the_item_or_nothing() {
    let scratch = fast_scratch();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let other = make(&scratch.path().join("other"), &["precious"]);
    let trash = make(&scratch.path().join("Trash"), &["files/", "info/"]);
    fs::set_permissions(&trash, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let exchange = || {
        let flags = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(CWD, &dir, CWD, &other, flags).is_ok()
    };
    let (mut moved, mut kept) = (0, 0);
    for trial in 0..trial_count() as u64 / 10 {
        let manner = Manner::Trash(Trash::new(bytes(&trash)));
        let removal = Removal::new(vec![item(&dir)], manner, surroundings());
        let is_over = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros((trial * 7) % 200));
                while !is_over.load(Relaxed) {
                    exchange();
                }
            });
            let outcome = removal.run(&Monitor::new());
            is_over.store(true, Relaxed);
            outcome
        });
        match &outcome.items[0].trashed {
            Some(trashed) => {
                moved += 1;
                // The attacker's last exchange has failed, and the item is in the trash alone.
                let name = std::ffi::OsStr::from_bytes(&trashed.name);
                assert!(trash.join("files").join(name).join("x").exists());
                restore(trashed).unwrap();
            }
            None => kept += 1,
        }
        if other.join("x").exists() {
            assert!(exchange());
        }
        assert!(
            dir.join("x").exists() && other.join("precious").exists(),
            "{outcome:?}"
        );
        assert_eq!(snapshot(&trash.join("files")), []);
        assert_eq!(snapshot(&trash.join("info")), []);
    }
    println!("{moved} moved, {kept} kept");
    assert!(moved > 0 && kept > 0, "{moved} moved, {kept} kept");
}

/// Between the last comparison and the call another entry got the name, and went.
#[test]
fn the_twin_of_an_item_stays_whatever_their_names_are() {
    let scratch = fast_scratch();
    let (own, twin) = (scratch.path().join("own"), scratch.path().join("twin"));
    let exchange = || {
        let flags = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(CWD, &own, CWD, &twin, flags).is_ok()
    };
    let (mut removed, mut kept) = (0, 0);
    for trial in 0..trial_count() {
        let is_directory = trial % 2 == 0;
        for path in [&own, &twin] {
            match is_directory {
                true => fs::create_dir(path).unwrap(),
                false => fs::write(path, "").unwrap(),
            }
        }
        let inode = fs::symlink_metadata(&twin).unwrap().ino();
        let removal = Removal::new(vec![item(&own)], Manner::Permanent, surroundings());
        let is_over = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    exchange();
                }
            });
            std::thread::sleep(Duration::from_micros(trial as u64 % 50));
            let outcome = removal.run(&Monitor::new());
            is_over.store(true, Relaxed);
            outcome
        });
        match outcome.items[0].end {
            End::Removed => removed += 1,
            _ => kept += 1,
        }
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
        let is_there = left.iter().any(|entry| entry.ino() == inode);
        assert!(is_there, "trial {trial}: {outcome:?}");
        for entry in left {
            match is_directory {
                true => fs::remove_dir(entry.path()).unwrap(),
                false => fs::remove_file(entry.path()).unwrap(),
            }
        }
    }
    println!("{removed} removed, {kept} kept");
    assert!(removed > 0 && kept > 0, "{removed} removed, {kept} kept");
}
