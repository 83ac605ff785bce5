// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers before a removal.

use std::fs;
use std::os::unix::fs::symlink;

use statwalk_remove::{Item, Monitor, Operation, Surroundings, survey};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::unprivileged::{NOBODY, as_ordinary_user, is_root};
use statwalk_testkit::{Scratch, or_skip, trees};

use crate::harness::{bytes, item, make, surroundings, survey_of};

#[test]
fn a_survey_counts_as_the_model_does() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        let survey = survey_of(&[&dir]);
        let totals = tree.totals();
        let own = fs::symlink_metadata(&dir).unwrap();
        assert!(own.is_dir());
        assert_eq!(survey.total.entry_count, totals.entries, "{name}");
        assert_eq!(survey.total.directory_count, totals.dirs, "{name}");
        assert_eq!(survey.items.len(), 1, "{name}");
        assert_eq!(survey.items[0], survey.total, "{name}");
        assert!(survey.is_complete && survey.refusals.is_empty(), "{name}");
        statwalk_testkit::remove_tree(&dir).unwrap();
    }
}

#[test]
fn bytes_are_freed_when_all_links_are_marked() {
    let scratch = Scratch::new().unwrap();
    let a = make(&scratch.path().join("a"), &["x"]);
    let b = make(&scratch.path().join("b"), &["y"]);
    fs::write(a.join("data"), vec![1; 1 << 20]).unwrap();
    fs::hard_link(a.join("data"), b.join("data")).unwrap();
    rustix::fs::syncfs(fs::File::open(&a).unwrap()).unwrap();
    let both = survey_of(&[&a, &b]);
    assert_eq!(both.total.freed_bytes, both.total.allocated_bytes);
    for one in &both.items {
        assert_eq!(one.allocated_bytes - one.freed_bytes, 1 << 20);
    }
    let sum: u64 = both.items.iter().map(|item| item.allocated_bytes).sum();
    assert_eq!(sum - both.total.allocated_bytes, 1 << 20);
    // A third link elsewhere.
    fs::hard_link(a.join("data"), scratch.path().join("c")).unwrap();
    let both = survey_of(&[&a, &b]);
    assert_eq!(both.total.allocated_bytes - both.total.freed_bytes, 1 << 20);
}

#[test]
fn extents_of_others_are_not_freed() {
    for file_system in [FileSystem::Btrfs, FileSystem::Xfs] {
        let scratch = Scratch::new().unwrap();
        let mounted = or_skip!(file_system.mount(scratch.path()));
        let dir = make(&scratch.path().join("dir"), &["x"]);
        let (own, cloned) = (dir.join("own"), dir.join("cloned"));
        fs::write(&own, vec![1; 1 << 20]).unwrap();
        fs::write(&cloned, vec![2; 3 << 20]).unwrap();
        let source = fs::File::open(&cloned).unwrap();
        let copy = fs::File::create(scratch.path().join("copy")).unwrap();
        rustix::fs::ioctl_ficlone(&copy, &source).unwrap();
        rustix::fs::syncfs(&copy).unwrap();
        let total = survey_of(&[&dir]).total;
        assert_eq!(total.shared_bytes, 3 << 20, "{file_system:?}");
        let freed = total.allocated_bytes - (3 << 20);
        assert_eq!(total.freed_bytes, freed, "{file_system:?}");
        assert!(freed >= 1 << 20, "{file_system:?}");
        drop((source, copy));
        mounted.unmount().unwrap();
    }
}

#[test]
fn the_newest_entry_and_foreign_owners_are_found() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["a/b/new", "c"]);
    symlink("nowhere", dir.join("link")).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1_000);
    let new = dir.join("a/b/new");
    fs::File::options()
        .write(true)
        .open(&new)
        .unwrap()
        .set_modified(later)
        .unwrap();
    let survey = survey_of(&[&dir]);
    assert_eq!(survey.total.newest.unwrap().path, bytes(&new));
    assert_eq!(survey.total.foreign_count, 0);
    if is_root() {
        std::os::unix::fs::chown(&new, Some(NOBODY), None).unwrap();
        assert_eq!(survey_of(&[&dir]).total.foreign_count, 1);
    }
}

#[test]
fn unreadable_directories_are_failures() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["closed/x", "open/y"]);
    let closed = dir.join("closed");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    if is_root() {
        std::os::unix::fs::chown(&closed, Some(1), None).unwrap();
    }
    let survey = or_skip!(as_ordinary_user(|| survey_of(&[&dir])));
    assert_eq!(survey.failures.count, 1);
    assert_eq!(survey.failures.listed[0].path, bytes(&closed));
    assert_eq!(survey.failures.listed[0].operation, Operation::Open);
    assert_eq!(survey.total.entry_count, 4);
}

#[test]
fn a_survey_stops_and_notices_a_changed_item() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let monitor = Monitor::new();
    monitor.stop();
    let items: Vec<Item> = vec![item(&dir)];
    assert!(!survey(&items, &surroundings(), &monitor).is_complete);
    fs::write(dir.join("y"), b"").unwrap();
    let survey = survey(&items, &Surroundings::default(), &Monitor::new());
    assert_eq!((survey.failures.count, survey.total.entry_count), (1, 0));
}
