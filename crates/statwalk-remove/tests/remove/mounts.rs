// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounts within an item are refused, and never entered.

use statwalk_remove::{
    Cause, End, Item, ItemRefusal, Manner, Monitor, Refusal, Removal, Surroundings, Trash, survey,
};
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use crate::harness::{bytes, causes, item, make, removal, snapshot, survey_of};

#[test]
fn an_item_with_a_mount_is_refused_by_survey_and_removal() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["a/b", "mnt/", "z"]);
    let before_mount = removal(&[&dir]);
    let _mount = or_skip!(FileSystem::Tmpfs.mount(&dir.join("mnt")));
    make(&dir.join("mnt"), &["precious"]);
    let refusal = Refusal::HoldsMount {
        path: bytes(&dir).to_vec(),
        mount: bytes(&dir.join("mnt")).to_vec(),
    };
    let other = make(&scratch.path().join("other"), &["x"]);
    let expected = ItemRefusal {
        item: 1,
        refusal: refusal.clone(),
    };
    assert_eq!(survey_of(&[&other, &dir]).refusals, [expected]);
    // The mount came after the confirmation.
    let outcome = before_mount.run(&Monitor::new());
    assert_eq!(causes(&outcome), [Cause::Refused(refusal)]);
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert_eq!(snapshot(&dir).len(), 5);
    let mounted = item(&dir.join("mnt"));
    let survey = survey(
        &[mounted],
        &Surroundings::read(None).unwrap(),
        &Monitor::new(),
    );
    let refusals = survey.refusals.into_iter().map(|found| found.refusal);
    assert!(matches!(
        refusals.collect::<Vec<_>>()[..],
        [Refusal::MountPoint { .. }]
    ));
}

/// A rename takes what is mounted in a directory with it: the rules alone keep the item.
#[test]
fn an_item_with_a_mount_since_its_mark_does_not_go_to_the_trash() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["a/b", "mnt/"]);
    let home = scratch.path().join("Trash");
    let other = make(&scratch.path().join("other"), &["x"]);
    let marked = vec![item(&dir), item(&other)];
    let surroundings = Surroundings::read(None).unwrap();
    let trash = Manner::Trash(Trash::new(bytes(&home)));
    let before_mount = Removal::new(marked, trash, surroundings);
    let elsewhere = Scratch::new().unwrap();
    make(elsewhere.path(), &["precious"]);
    let _mount = or_skip!(mounts::bind(elsewhere.path(), &dir.join("mnt")));
    let outcome = before_mount.run(&Monitor::new());
    let refusal = Refusal::HoldsMount {
        path: bytes(&dir).to_vec(),
        mount: bytes(&dir.join("mnt")).to_vec(),
    };
    assert_eq!(causes(&outcome), [Cause::Refused(refusal)]);
    let ends: Vec<End> = outcome.items.iter().map(|item| item.end).collect();
    assert_eq!(ends, [End::Untouched, End::Removed]);
    assert!(dir.join("mnt/precious").exists() && !other.exists());
}

/// Mounts within `dir/deep` while the removal is going on, so that no table shows it before.
fn mount_while_removing(
    mount: impl FnOnce(&std::path::Path) -> Result<mounts::Mounted, Skipped> + Send,
    without_openat2: bool,
) -> Result<(), Skipped> {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["b", "mnt/"]);
    let mut removal = removal(&[&dir]);
    if without_openat2 {
        removal = removal.without_openat2();
    }
    // The clock runs after the table was read, and before the act.
    let (sender, receiver) = std::sync::mpsc::channel();
    let (ask, asked) = std::sync::mpsc::channel::<()>();
    let point = dir.join("mnt");
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = asked.recv();
            let _ = sender.send(mount(&point));
        });
        let (keep, kept) = std::sync::mpsc::channel();
        let removal = removal.clock(move || {
            let _ = ask.send(());
            let _ = keep.send(receiver.recv().unwrap());
            statwalk_remove::Now::default()
        });
        let outcome = removal.run(&Monitor::new());
        let mounted = kept.recv().unwrap();
        mounted.map(|mounted| {
            assert_eq!(snapshot(mounted.path()).len(), 2);
            outcome
        })
    });
    let outcome = outcome?;
    assert_eq!(causes(&outcome), [Cause::Mount]);
    assert_eq!(outcome.items[0].end, End::Partly);
    assert!(!dir.join("b").exists() && dir.join("mnt").exists());
    Ok(())
}

#[test]
fn a_mount_that_appears_during_a_removal_is_not_entered() {
    for without in [false, true] {
        or_skip!(mount_while_removing(
            |point| {
                let mounted = FileSystem::Tmpfs.mount(point)?;
                make(point, &["x/y"]);
                Ok(mounted)
            },
            without,
        ));
        // The same device on both sides: only the number of the mount tells.
        let elsewhere = Scratch::new().unwrap();
        make(elsewhere.path(), &["x/y"]);
        or_skip!(mount_while_removing(
            |point| mounts::bind(elsewhere.path(), point),
            without,
        ));
        assert!(elsewhere.path().join("x/y").exists());
    }
}

#[test]
fn a_survey_without_a_mount_table_meets_the_mount_itself() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["a/mnt/", "b"]);
    let two = make(&scratch.path().join("two"), &["m/", "n/"]);
    let other = make(&scratch.path().join("other"), &["x"]);
    let _mount = or_skip!(mounts::bind(&other, &dir.join("a/mnt")));
    let _mounts = ["m", "n"].map(|name| mounts::bind(&other, &two.join(name)).unwrap());
    let items = [item(&dir), item(&two)];
    let survey = survey(&items, &Surroundings::default(), &Monitor::new());
    let found: Vec<_> = survey.refusals.iter().map(|found| found.item).collect();
    // One of the second item suffices.
    assert_eq!(found, [0, 1]);
    let path = bytes(&dir.join("a/mnt")).to_vec();
    assert_eq!(survey.refusals[0].refusal, Refusal::MountPoint { path });
    assert_eq!(survey.total.entry_count, 4);
}

#[test]
fn the_home_by_another_path_is_protected() {
    let scratch = Scratch::new().unwrap();
    let home = make(&scratch.path().join("home"), &["kim/x"]);
    let again = make(&scratch.path().join("again"), &["y/"]);
    let _mount = or_skip!(mounts::bind(scratch.path(), &again.join("y")));
    let path = again.join("y/home");
    let kim = home.join("kim");
    let surroundings = Surroundings::read(Some(bytes(&kim))).unwrap();
    let items: Vec<Item> = vec![item(&path.join("kim")), item(&path)];
    let survey = survey(&items, &surroundings, &Monitor::new());
    for (item, found) in survey.refusals.iter().enumerate() {
        let is_protected = matches!(found.refusal, Refusal::Protected { .. });
        assert!(is_protected && found.item == item, "{found:?}");
    }
    assert_eq!(survey.refusals.len(), 2);
    let outcome = Removal::new(items, Manner::Permanent, surroundings).run(&Monitor::new());
    assert_eq!(outcome.entry_count, 0);
    assert!(kim.join("x").exists());
}

#[test]
fn a_home_that_is_a_bind_mount_is_met_within_the_item() {
    let scratch = Scratch::new().unwrap();
    let data = make(&scratch.path().join("data"), &["kim/x", "other"]);
    let home = make(&scratch.path().join("home"), &["kim/"]).join("kim");
    let _mount = or_skip!(mounts::bind(&data.join("kim"), &home));
    let surroundings = Surroundings::read(Some(bytes(&home))).unwrap();
    let path = bytes(&data.join("kim")).to_vec();
    let found = survey(&[item(&data)], &surroundings, &Monitor::new());
    let refusal = Refusal::Protected { path };
    assert_eq!(found.refusals, [ItemRefusal { item: 0, refusal }]);
    let items = vec![item(&data)];
    let outcome = Removal::new(items, Manner::Permanent, surroundings).run(&Monitor::new());
    assert_eq!(causes(&outcome), [Cause::Protected]);
    assert!(home.join("x").exists() && !data.join("other").exists());
}
