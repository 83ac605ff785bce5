// SPDX-License-Identifier: MIT OR Apache-2.0

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use statwalk_testkit::Scratch;

use super::*;
use crate::identity::EntryType;
use crate::opening::Opening;

type Other = Box<dyn FnMut(u32)>;

thread_local! {
    /// Another process, which gets the number of the step.
    static OTHER: RefCell<(u32, Option<Other>)> = const { RefCell::new((0, None)) };
}

pub(super) fn step() {
    let (number, mut other) = OTHER.with_borrow_mut(|(number, other)| {
        *number += 1;
        (*number, other.take())
    });
    if let Some(other) = &mut other {
        other(number);
    }
    OTHER.with_borrow_mut(|(_, kept)| *kept = other);
}

/// Runs `act` while `other` acts before and after each call. Answers with the steps, too.
fn beside<T>(other: impl FnMut(u32) + 'static, act: impl FnOnce() -> T) -> (T, u32) {
    OTHER.set((0, Some(Box::new(other))));
    let outcome = act();
    let (steps, _) = OTHER.take();
    (outcome, steps)
}

struct Place {
    scratch: Scratch,
}

impl Place {
    fn new() -> Place {
        let scratch = Scratch::new().unwrap();
        for name in ["here", "own"] {
            let made = scratch.subdirectory(name).unwrap();
            fs::set_permissions(made, PermissionsExt::from_mode(0o700)).unwrap();
        }
        Place { scratch }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    fn open(&self, path: &str) -> OwnedFd {
        let path = self.at(path);
        Opening::probe()
            .path(path.as_os_str().as_encoded_bytes())
            .unwrap()
    }

    fn seen(&self, directory: &str, name: &str) -> Seen {
        Seen::of(self.open(directory), name.as_bytes()).unwrap()
    }

    fn make(&self, path: &str, entry_type: EntryType) {
        make(&self.at(path), entry_type);
    }

    /// Each entry with its inode number; a directory that is empty has none.
    fn entries(&self) -> BTreeMap<u64, PathBuf> {
        ["here", "own"]
            .iter()
            .flat_map(|directory| fs::read_dir(self.at(directory)).unwrap())
            .map(|entry| {
                let entry = entry.unwrap();
                (entry.metadata().unwrap().ino(), entry.path())
            })
            .collect()
    }
}

fn make(path: &Path, entry_type: EntryType) {
    match entry_type {
        EntryType::File => fs::write(path, path.as_os_str().as_encoded_bytes()).unwrap(),
        EntryType::Link => symlink("nowhere", path).unwrap(),
        _ => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("content"), "").unwrap();
        }
    }
}

const TYPES: [EntryType; 3] = [EntryType::File, EntryType::Directory, EntryType::Link];

fn move_in(place: &Place, expected: &Identity) -> Result<Seen, Cause> {
    let (here, own) = (place.open("here"), place.open("own"));
    rename_in(here.as_fd(), b"item", expected, own.as_fd(), b"item.1")
}

fn move_out(place: &Place, expected: &Seen) -> Result<(), Cause> {
    let (here, own) = (place.open("here"), place.open("own"));
    rename_out(own.as_fd(), b"item.1", expected, here.as_fd(), b"item")
}

#[test]
fn an_entry_goes_in_and_out_without_flags() {
    for entry_type in TYPES {
        let place = Place::new();
        place.make("here/item", entry_type);
        let before = place.seen("here", "item");
        let seen = move_in(&place, &before.identity).unwrap_or_else(|_| panic!("{entry_type:?}"));
        assert!(seen.is_same_inode(&before));
        assert!(place.at("here/item").symlink_metadata().is_err());
        move_out(&place, &seen).unwrap_or_else(|_| panic!("{entry_type:?}"));
        assert!(place.seen("here", "item").is_same_inode(&before));
        assert_eq!(place.entries().len(), 1);
    }
}

/// Another process exchanges the item before each call, for an entry of each type. Nobody
/// loses an entry, and only the item stays in the trash.
#[test]
fn an_exchanged_entry_is_never_lost() {
    for (own_type, other_type) in TYPES
        .iter()
        .flat_map(|own| TYPES.map(|other| (*own, other)))
    {
        for at in 1.. {
            let place = Place::new();
            place.make("here/item", own_type);
            place.make("here/other", other_type);
            let item = place.seen("here", "item");
            let before = place.entries();
            let (from, to, aside) = (
                place.at("here/other"),
                place.at("here/item"),
                place.at("here/aside"),
            );
            let exchange = move |step| {
                if step == at {
                    // The item can be in the trash by then.
                    let _ = fs::rename(&to, &aside);
                    fs::rename(&from, &to).unwrap();
                }
            };
            let (moved, steps) = beside(exchange, || move_in(&place, &item.identity));
            if steps < at {
                assert!(moved.is_ok() && at > 3);
                break;
            }
            let after = place.entries();
            let what = format!("{own_type:?} {other_type:?} {at}: {moved:?} {after:?}");
            assert!(
                before.keys().all(|inode| after.contains_key(inode)),
                "{what}"
            );
            assert_eq!(after.len(), 2, "{what}");
            let in_own: Vec<_> = (after.iter())
                .filter(|(_, path)| path.starts_with(place.at("own")))
                .collect();
            match moved {
                Ok(_) => assert_eq!(in_own.first().unwrap().0, &item.identity.inode, "{what}"),
                Err(cause) => {
                    assert_eq!(cause, Cause::Changed, "{what}");
                    assert!(in_own.is_empty(), "{what}");
                }
            }
        }
    }
}

/// The other entry is in the trash already, and its old name is taken at each step.
#[test]
fn an_entry_that_cannot_go_back_stays_in_the_trash() {
    for (other_type, taken_by) in TYPES
        .iter()
        .flat_map(|own| TYPES.map(|other| (*own, other)))
    {
        let mut stayed = 0;
        for at in 3.. {
            let place = Place::new();
            place.make("here/item", EntryType::File);
            place.make("here/other", other_type);
            let item = place.seen("here", "item");
            let other = place.seen("here", "other");
            let before = place.entries();
            let (to, aside) = (place.at("here/item"), place.at("here/aside"));
            let from = place.at("here/other");
            let attack = move |step| {
                if step == 2 {
                    fs::rename(&to, &aside).unwrap();
                    fs::rename(&from, &to).unwrap();
                }
                if step == at {
                    // Over an empty directory of another process, or beside.
                    let _ = fs::remove_dir(&to);
                    if to.symlink_metadata().is_err() {
                        make(&to, taken_by);
                    }
                }
            };
            let (moved, steps) = beside(attack, || move_in(&place, &item.identity));
            if steps < at {
                break;
            }
            let after = place.entries();
            let what = format!("{other_type:?} {taken_by:?} {at}: {moved:?} {after:?}");
            assert!(
                before.keys().all(|inode| after.contains_key(inode)),
                "{what}"
            );
            match moved {
                Err(Cause::Moved) => {
                    stayed += 1;
                    let path = &after[&other.identity.inode];
                    assert_eq!(path, &place.at("own/item.1"), "{what}");
                }
                Err(Cause::Changed) => {
                    let path = &after[&other.identity.inode];
                    assert!(path.starts_with(place.at("here")), "{what}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
        assert!(stayed > 0);
    }
}

#[test]
fn nothing_takes_a_name_that_is_taken_on_the_way_out() {
    for (own_type, taken_by) in TYPES
        .iter()
        .flat_map(|own| TYPES.map(|other| (*own, other)))
    {
        for at in 1.. {
            let place = Place::new();
            place.make("own/item.1", own_type);
            let item = place.seen("own", "item.1");
            let to = place.at("here/item");
            let take = move |step| {
                if step == at {
                    let _ = fs::remove_dir(&to);
                    if to.symlink_metadata().is_err() {
                        make(&to, taken_by);
                    }
                }
            };
            let (moved, steps) = beside(take, || move_out(&place, &item));
            if steps < at {
                break;
            }
            let after = place.entries();
            let what = format!("{own_type:?} {taken_by:?} {at}: {moved:?} {after:?}");
            assert!(after.contains_key(&item.identity.inode), "{what}");
            let is_back = after[&item.identity.inode] == place.at("here/item");
            assert_eq!(moved.is_ok(), is_back, "{what}");
            assert!(is_back || place.at("here/item").symlink_metadata().is_ok());
        }
    }
}

/// The directory that is made at the old path goes, where the rename fails.
#[test]
fn a_failure_leaves_no_empty_directory() {
    let place = Place::new();
    place.make("own/item.1", EntryType::Directory);
    let item = place.seen("own", "item.1");
    let at = place.at("own/item.1");
    let vanish = move |step| {
        if step == 2 {
            statwalk_testkit::remove_tree(&at).unwrap();
        }
    };
    let (moved, _) = beside(vanish, || move_out(&place, &item));
    assert_eq!(moved, Err(Errno::NOENT.into()));
    assert!(place.entries().is_empty());
}

#[test]
fn a_directory_that_others_can_write_takes_nothing_without_flags() {
    for mode in [0o720, 0o702, 0o1777] {
        let place = Place::new();
        place.make("here/item", EntryType::File);
        let item = place.seen("here", "item");
        fs::set_permissions(place.at("own"), PermissionsExt::from_mode(mode)).unwrap();
        let moved = move_in(&place, &item.identity);
        assert_eq!(moved, Err(Errno::PERM.into()));
        place.make("own/item.1", EntryType::File);
        let other = place.seen("own", "item.1");
        assert_eq!(move_out(&place, &other), Err(Errno::PERM.into()));
        assert_eq!(place.entries().len(), 2);
    }
}
