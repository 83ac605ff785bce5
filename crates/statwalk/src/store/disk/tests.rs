// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use std::os::unix::fs::{chown, symlink};

use statwalk_testkit::unprivileged::is_root;
use statwalk_testkit::{Scratch, Skipped};

fn key(root: &str) -> Key {
    Key {
        host: b"box".to_vec(),
        file_system: b"ext4-c0ffee".to_vec(),
        root: root.into(),
    }
}

/// A folder as a snapshot has it.
fn put(shelf: &Shelf, began_s: i64) -> Stored {
    let stored = shelf.next(began_s * 1_000_000_000).unwrap();
    let folder = shelf.path().join(stored.folder());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    stored
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

#[test]
fn keys_and_snapshots_are_found_again() {
    let scratch = Scratch::new().unwrap();
    let store = Store::at(scratch.path().join("data/statwalk"));
    assert!(store.keys().unwrap().is_empty());
    let long = format!("/{}", "long/".repeat(150));
    let mut expected = Vec::new();
    for root in ["/", "/home", &long] {
        let key = key(root);
        assert!(store.snapshots(&key).unwrap().is_empty());
        let shelf = store.open(&key).unwrap();
        let stored = [put(&shelf, 500), put(&shelf, 100)];
        assert_eq!(store.snapshots(&key).unwrap(), stored);
        assert!(store.folder(&key, stored[0]).join("file").exists());
        expected.push(key);
    }
    // Files of others are no keys.
    fs::create_dir(scratch.path().join("data/statwalk/lost found")).unwrap();
    fs::write(scratch.path().join("data/statwalk/box/file"), "").unwrap();
    expected.sort();
    assert_eq!(store.keys().unwrap(), expected);
}

#[test]
fn a_root_has_one_writer_at_a_time() {
    let scratch = Scratch::new().unwrap();
    let store = Store::at(scratch.path().to_owned());
    let first = store.open(&key("/home")).unwrap();
    let text = store.open(&key("/home")).unwrap_err().to_string();
    assert_eq!(
        text,
        "cannot store /home: another statwalk does it now; try again when it is done"
    );
    // Another root has its own.
    store.open(&key("/srv")).unwrap();
    drop(first);
    store.open(&key("/home")).unwrap();
}

#[test]
fn leftovers_go_and_snapshots_stay() {
    let scratch = Scratch::new().unwrap();
    let store = Store::at(scratch.path().to_owned());
    let shelf = store.open(&key("/home")).unwrap();
    let stored = put(&shelf, 100);
    let (rest, target) = (
        shelf.path().join(Folder::temporary_name(7)),
        scratch.path().join("kept"),
    );
    fs::create_dir(&rest).unwrap();
    fs::create_dir(&target).unwrap();
    fs::write(target.join("file"), "x").unwrap();
    // Not even by a link in it is anything else removed.
    symlink(&target, rest.join("link")).unwrap();
    assert_eq!(shelf.clear().unwrap(), [Folder::temporary_name(7).as_str()]);
    assert!(!rest.exists() && target.join("file").exists());
    assert_eq!(store.snapshots(&key("/home")).unwrap(), [stored]);
    shelf.remove(stored, 9).unwrap();
    assert!(store.snapshots(&key("/home")).unwrap().is_empty());
    assert!(shelf.clear().unwrap().is_empty());
}

#[test]
fn a_number_is_never_given_twice_while_its_snapshot_is_there() {
    let scratch = Scratch::new().unwrap();
    let store = Store::at(scratch.path().to_owned());
    let shelf = store.open(&key("/home")).unwrap();
    // The clock goes back by an hour.
    let numbers = [7200, 3600, 3600].map(|began_s| put(&shelf, began_s).number);
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn nobody_else_enters_the_folders_of_the_store() {
    let scratch = Scratch::new().unwrap();
    let path = scratch.path().join("new/statwalk");
    let store = Store::at(path.clone());
    let shelf = store.open(&key("/home")).unwrap();
    let folder = shelf.path().to_owned();
    assert_eq!((mode(&path), mode(&folder)), (0o700, 0o700));
    drop(shelf);
    // A mode that was loosened is mended, and that of the store is the user's.
    let loosen = |path: &Path| {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    loosen(&path);
    loosen(&folder);
    store.open(&key("/home")).unwrap();
    assert_eq!((mode(&path), mode(&folder)), (0o755, 0o700));
}

#[test]
fn a_store_can_be_a_link_and_its_folders_cannot() {
    let scratch = Scratch::new().unwrap();
    let (disk, link) = (scratch.path().join("disk"), scratch.path().join("statwalk"));
    symlink(&disk, &link).unwrap();
    let store = Store::at(link.clone());
    let text = store.open(&key("/home")).unwrap_err().to_string();
    assert!(text.starts_with("cannot make the store "), "{text}");
    assert!(!disk.exists(), "it was made behind the link");
    fs::create_dir(&disk).unwrap();
    let shelf = store.open(&key("/home")).unwrap();
    assert!(shelf.path().starts_with(disk.canonicalize().unwrap()));
    drop(shelf);
    fs::remove_dir_all(disk.join("box")).unwrap();
    let elsewhere = scratch.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, disk.join("box")).unwrap();
    let text = store.open(&key("/home")).unwrap_err().to_string();
    assert!(text.ends_with("it is no folder"), "{text}");
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
}

#[test]
fn a_folder_of_another_user_is_refused() {
    if !is_root() {
        return Skipped::needs("root").report();
    }
    let scratch = Scratch::new().unwrap();
    let store = Store::at(scratch.path().to_owned());
    let folder = scratch.path().join("box");
    fs::create_dir(&folder).unwrap();
    chown(&folder, Some(1234), None).unwrap();
    let text = store.open(&key("/home")).unwrap_err().to_string();
    assert!(text.ends_with("it belongs to another user"), "{text}");
}
