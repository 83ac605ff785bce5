// SPDX-License-Identifier: MIT OR Apache-2.0

//! Snapshots that are written: their files, their names, and their bytes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::common::{TestMachine, all_fields, part_of, snapshot_of, store};
use statwalk_core::Scan;
use statwalk_snapshot::{ErrorKind, Folder, Manifest, MergeOptions, merge};
use statwalk_testkit::Scratch;
use statwalk_testkit::unprivileged::is_root;

fn tree(at: &Path) {
    fs::create_dir_all(at.join("a/deep")).unwrap();
    fs::create_dir(at.join("a.b")).unwrap();
    fs::write(at.join("a/deep/one.TXT"), "12345").unwrap();
    fs::hard_link(at.join("a/deep/one.TXT"), at.join("a.b/again")).unwrap();
    fs::write(at.join("a.b/CACHEDIR.TAG"), "nothing").unwrap();
    symlink("a", at.join("link")).unwrap();
}

#[test]
fn a_snapshot_has_its_files_and_nothing_else() {
    let scratch = Scratch::new().unwrap();
    let (root, store) = (scratch.path().join("tree"), scratch.path().join("store"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&store).unwrap();
    tree(&root);
    let (path, manifest) = snapshot_of(&root, &store);
    assert_eq!(Manifest::read(&path).unwrap(), manifest);
    assert!(manifest.complete);
    assert_eq!((manifest.counts.entries, manifest.counts.dirs), (8, 4));
    assert_eq!(manifest.counts.files, 3);
    // The link has one byte, and the file of two names counts once.
    assert_eq!(manifest.counts.size_bytes, 5 + 7 + 1);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut names: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    let expected = [
        "_manifest.json",
        "dirs",
        "entries",
        "errors",
        "filesystems",
        "owners",
    ];
    assert_eq!(names, expected);
    for file in manifest
        .tables
        .entries
        .iter()
        .chain(&manifest.tables.filesystems)
    {
        assert_eq!(
            fs::metadata(path.join(&file.name)).unwrap().len(),
            file.bytes
        );
    }
}

#[test]
fn the_number_of_workers_changes_no_byte() {
    let scratch = Scratch::new().unwrap();
    let (root, at) = (scratch.path().join("tree"), scratch.path().join("store"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&at).unwrap();
    tree(&root);
    for number in 0..3000 {
        let dir = root.join(format!("many/{}", number % 97));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("file-{number}")), vec![0; number]).unwrap();
    }
    let of_workers = |workers| {
        let scan = Scan::new(&root).threads(workers);
        let name = root.to_str().unwrap().as_bytes();
        let (part, facts) = part_of(&scan, &[name], all_fields());
        store(&part, facts, &at, &MergeOptions::default()).1.tables
    };
    let first = of_workers(1);
    for workers in [2, 8] {
        assert_eq!(of_workers(workers), first);
    }
}

#[test]
fn a_name_that_is_taken_stays_and_nothing_is_left_behind() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("tree");
    fs::create_dir(&root).unwrap();
    let at = scratch.path().join("store");
    fs::create_dir(&at).unwrap();
    for name in ["folder", "empty", "file"] {
        match name {
            "file" => fs::write(at.join(name), "mine").unwrap(),
            _ => fs::create_dir(at.join(name)).unwrap(),
        }
        if name == "folder" {
            fs::write(at.join("folder/mine"), "mine").unwrap();
        }
        let (part, facts) = part_of(&Scan::new(&root), &[b"tree"], all_fields());
        let folder = Folder::begin(&at, 1).unwrap();
        let options = MergeOptions::default();
        let manifest = merge(&part, facts, &mut TestMachine, &folder, &options).unwrap();
        let error = folder.finish(&manifest, OsStr::new(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exists, "{name}");
    }
    let mut names: Vec<_> = fs::read_dir(&at)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["empty", "file", "folder"]);
    assert_eq!(fs::read(at.join("folder/mine")).unwrap(), b"mine");
}

#[test]
fn leftovers_are_known_by_their_names() {
    let scratch = Scratch::new().unwrap();
    let folder = Folder::begin(scratch.path(), 0xA7).unwrap();
    // As a killed writer does.
    let path = folder.path().to_owned();
    std::mem::forget(folder);
    assert_eq!(
        Folder::begin(scratch.path(), 0xA7).unwrap_err().kind(),
        ErrorKind::Io
    );
    assert!(path.join("entries").is_dir());
    let name = path.file_name().unwrap();
    assert!(Folder::is_leftover(name));
    Folder::remove_leftover(scratch.path(), name).unwrap();
    assert!(!path.exists());
    let error = Folder::remove_leftover(scratch.path(), OsStr::new("mine")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unfit);
}

#[test]
fn an_interrupted_scan_is_stored_on_request_alone() {
    let scratch = Scratch::new().unwrap();
    let (part, mut facts) = part_of(&Scan::new(scratch.path()), &[b"x"], all_fields());
    facts.interrupted = true;
    let folder = Folder::begin(scratch.path(), 1).unwrap();
    let mut options = MergeOptions::default();
    let error = merge(&part, facts.clone(), &mut TestMachine, &folder, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unfit);
    options.partial = true;
    let manifest = merge(&part, facts, &mut TestMachine, &folder, &options).unwrap();
    assert!(manifest.facts.interrupted && !manifest.complete);
}

/// A folder that another user made, with a link in the place of a table, had what the link
/// leads to removed.
#[test]
fn a_leftover_removes_nothing_elsewhere() {
    let scratch = Scratch::new().unwrap();
    let name = OsStr::new(".statwalk-snapshot-00000000000000a7.tmp");
    let leftover = scratch.path().join(name);
    let outside = scratch.path().join("outside");
    fs::create_dir_all(&leftover).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("part-00000.parquet"), "kept").unwrap();
    symlink(&outside, leftover.join("entries")).unwrap();
    Folder::remove_leftover(scratch.path(), name).unwrap_err();
    assert!(outside.join("part-00000.parquet").exists());
    // Nor is a link to a folder one.
    let link = OsStr::new(".statwalk-snapshot-00000000000000a8.tmp");
    symlink(&outside, scratch.path().join(link)).unwrap();
    Folder::remove_leftover(scratch.path(), link).unwrap_err();
    assert!(outside.join("part-00000.parquet").exists());
    fs::remove_file(leftover.join("entries")).unwrap();
    if is_root() {
        chown(&leftover, Some(1234), None).unwrap();
        Folder::remove_leftover(scratch.path(), name).unwrap_err();
        assert!(leftover.exists());
        chown(&leftover, Some(0), None).unwrap();
    }
    Folder::remove_leftover(scratch.path(), name).unwrap();
    assert!(!leftover.exists());
}
