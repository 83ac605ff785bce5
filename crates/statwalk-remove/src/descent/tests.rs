// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way stays in the item, whatever other processes rename.

use super::*;
use statwalk_testkit::Scratch;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const DEPTH: usize = 100;

/// A chain of directories `d` in a scratch directory, and a descent to its end.
fn at_the_end(test: impl FnOnce(&mut Descent<'_, ()>, &[PathBuf], &Scratch)) {
    let scratch = Scratch::new().unwrap();
    let mut paths = vec![scratch.path().join("d")];
    for _ in 1..DEPTH {
        paths.push(paths[paths.len() - 1].join("d"));
    }
    fs::create_dir_all(paths.last().unwrap()).unwrap();
    let opening = Opening::probe();
    let base_path = scratch.path().as_os_str().as_bytes();
    let base = opening.path(base_path).unwrap();
    let mut descent = Descent::new(opening, base.as_fd(), base_path, &[]).unwrap();
    for _ in 0..DEPTH {
        let seen = Seen::of(descent.directory(), b"d").unwrap();
        descent.enter(b"d", &seen, ()).unwrap();
    }
    test(&mut descent, &paths, &scratch);
}

fn inode(path: &PathBuf) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::symlink_metadata(path).unwrap())
}

fn here(descent: &Descent<'_, ()>) -> u64 {
    Seen::of_open(descent.directory()).unwrap().identity.inode
}

/// Leaves to the top, and checks that each directory is one of the chain.
fn leave_all(descent: &mut Descent<'_, ()>, chain: &[u64]) -> usize {
    let mut lost_count = 0;
    while let Some(left) = descent.leave() {
        lost_count += usize::from(left.lost.is_some());
        if descent.depth() > 0 {
            assert_eq!(here(descent), chain[descent.depth() - 1]);
        }
    }
    lost_count
}

#[test]
fn closed_levels_are_found_again() {
    for may_go_up in [true, false] {
        at_the_end(|descent, paths, _| {
            descent.may_go_up = may_go_up;
            assert!(descent.open_count() <= OPEN_MAX);
            assert_eq!(descent.path(), paths.last().unwrap().as_os_str().as_bytes());
            let chain: Vec<u64> = paths.iter().map(inode).collect();
            assert_eq!(here(descent), chain[DEPTH - 1]);
            assert_eq!(leave_all(descent, &chain), 0);
        });
    }
}

#[test]
fn a_level_that_moved_away_is_lost_and_not_replaced() {
    for may_go_up in [true, false] {
        at_the_end(|descent, paths, scratch| {
            descent.may_go_up = may_go_up;
            let chain: Vec<u64> = paths.iter().map(inode).collect();
            // Level 20 lies in a directory outside now, and another one in its place.
            let outside = scratch.subdirectory("outside").unwrap();
            fs::rename(&paths[20], outside.join("d")).unwrap();
            fs::create_dir_all(&paths[40]).unwrap();
            // By `..`, the moved levels are found up to level 20, and by names the
            // levels above. By names alone, the moved ones are not.
            let lost_count = leave_all(descent, &chain);
            assert_eq!(lost_count, usize::from(!may_go_up));
        });
    }
}

#[test]
fn a_displaced_level_is_noticed() {
    at_the_end(|descent, paths, scratch| {
        assert_eq!(descent.displaced(), None);
        let outside = scratch.subdirectory("outside").unwrap();
        for (index, name) in [(DEPTH - 1, "a"), (DEPTH - 9, "b"), (0, "c")] {
            let away = outside.join(name);
            fs::rename(&paths[index], &away).unwrap();
            std::thread::sleep(LOOK_INTERVAL);
            assert_eq!(descent.displaced(), Some(index));
            fs::rename(&away, &paths[index]).unwrap();
            std::thread::sleep(LOOK_INTERVAL);
            assert_eq!(descent.displaced(), None);
        }
    });
}

/// A level above the open ones moved out of the item, and nobody noticed until the end.
#[test]
fn a_displaced_level_is_noticed_after_its_descriptor_was_closed() {
    at_the_end(|descent, paths, scratch| {
        let outside = scratch.subdirectory("outside").unwrap();
        let look = |descent: &mut Descent<'_, ()>| {
            // One look has 1 ms, and on a busy machine that is for few levels.
            for _ in 0..200 {
                std::thread::sleep(LOOK_INTERVAL);
                if let Some(index) = descent.displaced() {
                    return Some(index);
                }
                descent.climb.as_ref()?;
            }
            None
        };
        assert_eq!(look(descent), None);
        for index in [1, 20, DEPTH - OPEN_MAX - 1] {
            assert!(descent.levels[index].open.is_none());
            fs::rename(&paths[index], outside.join("d")).unwrap();
            // Another one in its place is no substitute.
            fs::create_dir_all(paths.last().unwrap()).unwrap();
            assert_eq!(look(descent), Some(index));
            fs::remove_dir_all(&paths[index]).unwrap();
            fs::rename(outside.join("d"), &paths[index]).unwrap();
            assert_eq!(look(descent), None);
        }
        // A climb that goes on does not outlive its levels.
        std::thread::sleep(LOOK_INTERVAL);
        let open = descent.opening.above(descent.directory()).unwrap();
        descent.climb = Some(Climb {
            open,
            index: DEPTH - 2,
        });
        descent.leave();
        descent.leave();
        assert!(descent.climb.is_none());
    });
}

#[test]
fn another_directory_or_a_link_is_not_entered() {
    at_the_end(|descent, paths, scratch| {
        let end = paths.last().unwrap();
        fs::create_dir(end.join("x")).unwrap();
        let seen = Seen::of(descent.directory(), b"x").unwrap();
        fs::rename(end.join("x"), end.join("y")).unwrap();
        fs::create_dir(end.join("x")).unwrap();
        assert_eq!(descent.enter(b"x", &seen, ()), Err(Cause::Changed));
        fs::remove_dir(end.join("x")).unwrap();
        std::os::unix::fs::symlink(end.join("y"), end.join("x")).unwrap();
        assert!(descent.enter(b"x", &seen, ()).is_err());
        let id = (seen.identity.device, seen.identity.inode);
        let protected = [id];
        let base = descent.base;
        let path = scratch.path().as_os_str().as_bytes();
        let other = Descent::<()>::new(descent.opening, base, path, &protected);
        assert_eq!(other.unwrap().enter(b"y", &seen, ()), Err(Cause::Protected));
    });
}

/// A chain of levels that are known by their names, in which `act` renames.
fn by_name(act: impl FnOnce(&PathBuf, &PathBuf)) -> Option<usize> {
    let scratch = Scratch::new().unwrap();
    let [inside, outside] = ["a/a/a/a", "other"].map(|name| scratch.path().join(name));
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let opening = Opening::probe();
    let base_path = scratch.path().as_os_str().as_bytes();
    let base = opening.path(base_path).unwrap();
    let descent = Descent::new(opening, base.as_fd(), base_path, &[]).unwrap();
    let mut descent = descent.by(Recognition::Name);
    for _ in 0..4 {
        let seen = Seen::of(descent.directory(), b"a").unwrap();
        descent.enter(b"a", &seen, ()).unwrap();
    }
    assert_eq!(descent.displaced(), None);
    act(&scratch.path().join("a"), &outside);
    std::thread::sleep(2 * LOOK_INTERVAL);
    descent.displaced()
}

#[test]
fn a_level_without_its_name_is_found_where_numbers_move() {
    assert_eq!(by_name(|_, _| {}), None);
    for (below, level) in [("", 0), ("a", 1), ("a/a", 2), ("a/a/a", 3)] {
        let at = |a: &PathBuf| {
            if below.is_empty() {
                a.clone()
            } else {
                a.join(below)
            }
        };
        // All levels below have another path, too.
        let gone = by_name(|a, other| fs::rename(at(a), other.join("x")).unwrap());
        assert!(gone.is_some_and(|found| found >= level), "{below} {gone:?}");
        let exchanged = by_name(|a, other| {
            fs::rename(at(a), other.join("x")).unwrap();
            fs::create_dir(at(a)).unwrap();
        });
        assert!(exchanged.is_some_and(|found| found >= level), "{below}");
    }
}
