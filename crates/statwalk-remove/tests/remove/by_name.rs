// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removals where inode numbers move, as on the file system of IPFS: by name and type, after
//! one more question, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::io::Errno;
use statwalk_remove::{
    Cause, End, Item, Manner, Monitor, Outcome, Refusal, Removal, Trash, survey,
};
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Where};
use statwalk_testkit::{Scratch, Skipped, mounts, or_skip};

use crate::harness::{bytes, causes, make, surroundings};
use crate::scanned::Scanned;

const ENTRIES: &str = "a/\n a/b/\n  a/b/f 10\n  a/b/l -> ../../keep/f\n a/m/\n a/x 10\n \
    f 10 mtime=5\n g 10 mtime=6\n same 10 mtime=5\n keep/\n keep/f 10\n l -> keep/f";

fn moving(entries: &str, place: impl Into<Where>) -> Result<FaultMount, Skipped> {
    let builder = FaultFs::builder().entries(entries).numbers_move(place);
    builder.writable().mount()
}

fn moving_everywhere() -> Result<FaultMount, Skipped> {
    moving(ENTRIES, Where::Everywhere)
}

/// An item that a dialog would show.
fn item(mount: &FaultMount, below: &str) -> Item {
    let sighting = Scanned::new(mount.path(), Path::new(below)).look();
    let item = sighting.unwrap().into_item();
    assert!(item.is_known_by_name(), "{below}");
    item
}

fn permanent(items: Vec<Item>) -> Removal {
    Removal::new(items, Manner::Permanent, surroundings())
}

/// Removes after the second question. `meanwhile` acts between the last look at the item
/// and the removal.
fn remove(items: Vec<Item>, meanwhile: impl FnOnce() + Send + 'static) -> Outcome {
    let meanwhile = Mutex::new(Some(meanwhile));
    let removal = permanent(items).by_name().clock(move || {
        if let Some(act) = meanwhile.lock().unwrap().take() {
            act();
        }
        statwalk_remove::Now::default()
    });
    removal.run(&Monitor::new())
}

/// Nothing could be removed there.
#[test]
fn an_item_whose_number_moves_goes_after_the_second_question_alone() {
    for below in ["f", "l", "a", "a/b/f"] {
        let mount = or_skip!(moving_everywhere());
        let path = mount.join(below);
        let moving = Cause::Refused(Refusal::MovingNumbers {
            path: bytes(&path).to_vec(),
        });
        let scratch = Scratch::new().unwrap();
        let trash = Manner::Trash(Trash::new(bytes(&scratch.path().join("Trash"))));
        for manner in [Manner::Permanent, trash] {
            let items = vec![item(&mount, below)];
            let mut removal = Removal::new(items, manner.clone(), surroundings());
            if manner != Manner::Permanent {
                removal = removal.by_name();
            }
            let outcome = removal.run(&Monitor::new());
            assert_eq!(causes(&outcome), std::slice::from_ref(&moving), "{below}");
            assert!(fs::symlink_metadata(&path).is_ok());
        }
        let shown = item(&mount, below);
        let count = if below == "a" { 6 } else { 1 };
        let numbers = survey(
            std::slice::from_ref(&shown),
            &surroundings(),
            &Monitor::new(),
        );
        assert_eq!(numbers.total.entry_count, count);
        assert_eq!((numbers.refusals.len(), numbers.failures.count), (0, 0));
        let outcome = remove(vec![shown], || {});
        assert_eq!(causes(&outcome), []);
        assert_eq!(
            (outcome.items[0].end, outcome.entry_count),
            (End::Removed, count)
        );
        assert!(fs::symlink_metadata(&path).is_err());
        assert!(mount.join("keep/f").exists());
    }
}

/// The dialog said of the root that it was moved.
#[test]
fn a_root_that_is_a_mount_point_stays_for_that_reason() {
    let mount = or_skip!(moving_everywhere());
    let shown = item(&mount, "");
    let outcome = remove(vec![shown], || {});
    let path = bytes(mount.path()).to_vec();
    assert_eq!(
        causes(&outcome),
        [Cause::Refused(Refusal::MountPoint { path })]
    );
}

/// The kernel keeps the numbers of a scan for a while, and the user must be asked all the same.
#[test]
fn numbers_that_the_kernel_still_has_are_known_to_move() {
    let long = std::time::Duration::from_secs(3_600);
    let builder = FaultFs::builder().entries(ENTRIES).cache(long, long);
    let mount = or_skip!(builder.numbers_move(Where::Everywhere).writable().mount());
    let outcome = remove(vec![item(&mount, "a"), item(&mount, "f")], || {});
    assert_eq!(causes(&outcome), []);
    assert!(!mount.join("a").exists() && !mount.join("f").exists());
}

#[test]
fn numbers_that_hold_need_the_scanned_entry() {
    // None moves, one moves, or only others do.
    for place in ["l", "f", "a", "keep"] {
        let mount = or_skip!(moving(ENTRIES, place));
        let scanned = Scanned::new(mount.path(), Path::new("f"));
        let other = Scanned::new(mount.path(), Path::new("a"));
        fs::rename(mount.join("f"), mount.join("aside")).unwrap();
        fs::rename(mount.join("a"), mount.join("aside-2")).unwrap();
        fs::rename(mount.join("same"), mount.join("f")).unwrap();
        fs::rename(mount.join("keep"), mount.join("a")).unwrap();
        if let Ok(seen) = scanned.look() {
            assert!(!seen.is_known_by_name(), "{place}");
        }
        let refusal = other.look().unwrap_err();
        assert!(
            matches!(refusal, Refusal::Replaced { .. }),
            "{place}: {refusal}"
        );
    }
    // The root alone may have been renamed in a union.
    let mount = or_skip!(moving(ENTRIES, ""));
    let refusal = Scanned::new(mount.path(), Path::new("f"))
        .look()
        .unwrap_err();
    assert!(matches!(refusal, Refusal::RootChanged { .. }), "{refusal}");
    // The same on a real disk.
    let scratch = Scratch::new().unwrap();
    make(scratch.path(), &["tree/d/f", "other/f"]);
    let scanned = Scanned::new(&scratch.path().join("tree"), Path::new("d"));
    assert!(!scanned.look().unwrap().is_known_by_name());
    fs::rename(scratch.path().join("tree/d"), scratch.path().join("aside")).unwrap();
    fs::rename(scratch.path().join("other"), scratch.path().join("tree/d")).unwrap();
    assert!(matches!(scanned.look(), Err(Refusal::Replaced { .. })));
}

/// An exchange for an entry whose number holds takes the evidence away.
#[test]
fn an_item_stays_where_its_number_holds_by_then() {
    let builder = FaultFs::builder().entries(ENTRIES).numbers_move("f");
    let mount = or_skip!(builder.numbers_move("g").writable().mount());
    let shown = Scanned::new(mount.path(), Path::new("f")).look().unwrap();
    assert!(shown.is_known_by_name());
    fs::rename(mount.join("f"), mount.join("aside")).unwrap();
    // It has the type, the time and the length.
    fs::rename(mount.join("same"), mount.join("f")).unwrap();
    let outcome = remove(vec![shown.clone().into_item()], || {});
    let path = bytes(&mount.join("f")).to_vec();
    assert_eq!(
        causes(&outcome),
        [Cause::Refused(Refusal::NumbersHold { path })]
    );
    // A lone witness is none.
    fs::rename(mount.join("f"), mount.join("same")).unwrap();
    fs::rename(mount.join("aside"), mount.join("f")).unwrap();
    fs::remove_file(mount.join("g")).unwrap();
    let outcome = remove(vec![shown.into_item()], || {});
    assert!(matches!(
        causes(&outcome)[..],
        [Cause::Refused(Refusal::NumbersHold { .. })]
    ));
    assert!(mount.join("f").exists() && mount.join("same").exists());
}

/// Another file system came to the path.
#[test]
fn an_item_stays_where_its_mount_is_gone() {
    let mount = or_skip!(moving_everywhere());
    let shown = item(&mount, "f");
    let _other = or_skip!(mounts::bind(mount.path(), mount.path()));
    assert_eq!(causes(&remove(vec![shown], || {})), [Cause::Changed]);
    assert!(mount.join("f").exists());
}

#[test]
fn an_entry_of_another_type_or_time_stays() {
    for (below, other) in [("f", "a"), ("f", "l"), ("f", "g"), ("a", "f"), ("l", "f")] {
        let mount = or_skip!(moving_everywhere());
        let shown = item(&mount, below);
        fs::rename(mount.join(below), mount.join("aside")).unwrap();
        fs::rename(mount.join(other), mount.join(below)).unwrap();
        let outcome = remove(vec![shown], || {});
        assert_eq!(causes(&outcome), [Cause::Changed], "{below} {other}");
        assert_eq!(outcome.items[0].end, End::Untouched);
        assert!(fs::symlink_metadata(mount.join(below)).is_ok());
        assert!(fs::symlink_metadata(mount.join("aside")).is_ok());
    }
}

/// The exchange comes after the look at the item: the last look or the kernel refuses.
#[test]
fn an_entry_of_another_type_stays_at_the_last_moment() {
    for (below, other) in [("f", "a"), ("f", "l"), ("a", "f"), ("a", "l")] {
        let mount = or_skip!(moving_everywhere());
        let [from, aside, other] = [below, "aside", other].map(|name| mount.join(name));
        let outcome = remove(vec![item(&mount, below)], move || {
            fs::rename(&from, aside).unwrap();
            fs::rename(other, from).unwrap();
        });
        assert_eq!(causes(&outcome), [Cause::Changed], "{below}");
        assert!(fs::symlink_metadata(mount.join(below)).is_ok());
        assert!(mount.join("aside").exists());
    }
}

/// A link in the tree goes itself, and so does a file in place of a directory.
#[test]
fn what_is_in_the_tree_by_then_goes_and_no_link_is_followed() {
    let mount = or_skip!(moving_everywhere());
    let [b, aside, link] = ["a/b", "aside", "l"].map(|name| mount.join(name));
    let outcome = remove(vec![item(&mount, "a")], move || {
        fs::rename(&b, aside).unwrap();
        fs::rename(link, b).unwrap();
    });
    assert_eq!(causes(&outcome), []);
    assert!(!mount.join("a").exists());
    assert!(mount.join("aside/f").exists() && mount.join("keep/f").exists());
}

fn mounts_of(mount: &FaultMount, scratch: &Scratch) -> Vec<(PathBuf, &'static str)> {
    let elsewhere = make(&scratch.path().join("elsewhere"), &["f", "d/f"]);
    vec![
        (elsewhere.clone(), "a/m"),
        // The same device on both sides: only the number of the mount tells.
        (mount.join("keep"), "a/m"),
        (mount.join("keep"), "a/b"),
        // A file on a file.
        (elsewhere.join("f"), "a/x"),
        (mount.join("keep/f"), "a/b/f"),
    ]
}

#[test]
fn a_mount_in_the_tree_stays() {
    let scratch = Scratch::new().unwrap();
    for index in 0..5 {
        let mount = or_skip!(moving_everywhere());
        let (source, at) = mounts_of(&mount, &scratch).swap_remove(index);
        let point = mount.join(at);
        let shown = item(&mount, "a");
        // Before the removal: the table tells.
        let bound = or_skip!(mounts::bind(&source, &point));
        let outcome = remove(vec![shown.clone()], || {});
        assert!(
            matches!(
                causes(&outcome)[..],
                [Cause::Refused(Refusal::HoldsMount { .. })]
            ),
            "{at}: {:?}",
            causes(&outcome)
        );
        let found = survey(
            std::slice::from_ref(&shown),
            &surroundings(),
            &Monitor::new(),
        );
        assert!(matches!(
            found.refusals[0].refusal,
            Refusal::HoldsMount { .. }
        ));
        drop(bound);
        // After the table was read.
        let bound = std::sync::Arc::new(Mutex::new(None));
        let keep = bound.clone();
        let outcome = remove(vec![shown], move || {
            *keep.lock().unwrap() = Some(mounts::bind(&source, &point).unwrap());
        });
        let found = causes(&outcome);
        assert!(found.contains(&Cause::Mount), "{at}: {found:?}");
        assert_ne!(outcome.items[0].end, End::Removed);
        assert!(mount.join(at).exists());
        drop(bound.lock().unwrap().take());
        assert!(mount.join("keep/f").exists());
        assert!(scratch.path().join("elsewhere/d/f").exists());
        assert!(scratch.path().join("elsewhere/f").exists());
    }
}

/// A mount on the way to the item, or on the item itself, is none of the scan.
#[test]
fn a_mount_on_the_way_leads_nowhere() {
    let mount = or_skip!(moving(
        "a/\n a/b/\n  a/b/f 10\nkeep/\n keep/b/\n  keep/b/f 10\n keep/f 10",
        Where::Everywhere
    ));
    let scanned = Scanned::new(mount.path(), Path::new("a/b/f"));
    let shown = scanned.look().unwrap().into_item();
    let bound = or_skip!(mounts::bind(&mount.join("keep"), &mount.join("a")));
    assert!(matches!(scanned.look(), Err(Refusal::MovingNumbers { .. })));
    let outcome = remove(vec![shown.clone()], || {});
    assert_eq!(causes(&outcome), [Cause::Changed]);
    drop(bound);
    let bound = or_skip!(mounts::bind(&mount.join("keep/f"), &mount.join("a/b/f")));
    let outcome = remove(vec![shown], || {});
    assert!(matches!(
        causes(&outcome)[..],
        [Cause::Refused(Refusal::MountPoint { .. })]
    ));
    drop(bound);
    assert!(mount.join("keep/b/f").exists() && mount.join("a/b/f").exists());
}

/// Each level stays open, so there is an end to them.
#[test]
fn directories_below_512_levels_stay() {
    let builder = FaultFs::builder().chain("deep", 600).file("deep/c/f", 10);
    let mount = or_skip!(builder.numbers_move(Where::Everywhere).writable().mount());
    let outcome = remove(vec![item(&mount, "deep")], || {});
    assert_eq!(
        causes(&outcome),
        [Cause::Errno(Errno::MFILE.raw_os_error())]
    );
    assert_eq!(
        (outcome.items[0].end, outcome.entry_count),
        (End::Partly, 1)
    );
}

#[test]
fn a_home_with_a_second_path_is_protected() {
    let mount = or_skip!(moving_everywhere());
    let scratch = Scratch::new().unwrap();
    let _bound = or_skip!(mounts::bind(mount.path(), scratch.path()));
    let mut surroundings = surroundings();
    surroundings.protect(bytes(&mount.join("keep")));
    let shown = Scanned::new(scratch.path(), Path::new("keep"))
        .look()
        .unwrap();
    let items = vec![shown.into_item()];
    let removal = Removal::new(items, Manner::Permanent, surroundings).by_name();
    let outcome = removal.run(&Monitor::new());
    assert!(matches!(
        causes(&outcome)[..],
        [Cause::Refused(Refusal::Protected { .. })]
    ));
    assert!(mount.join("keep/f").exists());
}
