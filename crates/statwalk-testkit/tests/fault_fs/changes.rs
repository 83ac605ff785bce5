// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is listed is not what is found, or is another thing the next time.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;
use statwalk_testkit::EntryType;
use statwalk_testkit::fault_fs::{Changes, FaultFs, Repetition};
use statwalk_testkit::or_skip;

use super::{list, names, open, read_on, stat};

#[test]
fn types_are_unknown_where_asked_for() {
    let fs = FaultFs::builder()
        .entries("u/\nu/d/\nu/f 1\nu/l -> f\nk/\nk/d/\nk/f 1\nk/l -> f")
        .unknown_types("u");
    let mount = or_skip!(fs.mount());
    let types = |path| {
        list(&mount.join(path))
            .0
            .into_iter()
            .map(|(_, of)| of)
            .collect::<Vec<_>>()
    };
    assert_eq!(types("u"), [FileType::Unknown; 3]);
    assert_eq!(
        types("k"),
        [
            FileType::Directory,
            FileType::RegularFile,
            FileType::Symlink
        ]
    );
    assert!(stat(&mount.join("u/d")).unwrap().is_dir());
}

#[test]
fn names_vanish_between_listing_and_lookup() {
    let fs = FaultFs::builder()
        .entries("d/\nd/gone 1\nd/stays 1\ndir/")
        .vanished("d/gone")
        .vanished("dir");
    let mount = or_skip!(fs.mount());
    assert_eq!(names(mount.path()), ["d", "dir"]);
    assert_eq!(names(&mount.join("d")), ["gone", "stays"]);
    assert_eq!(stat(&mount.join("d/gone")).unwrap_err(), Errno::NOENT);
    stat(&mount.join("d/stays")).unwrap();
    assert_eq!(open(&mount.join("dir")).unwrap_err(), Errno::NOENT);
}

#[test]
fn an_endless_directory_goes_on() {
    let fs = FaultFs::builder()
        .entries("files/\nfiles/first 1")
        .endless("files", EntryType::File)
        .endless("dirs", EntryType::Directory);
    assert_eq!(fs.expected().entries, 4);
    let mount = or_skip!(fs.mount());
    let mut last = String::new();
    let mut entries = fs::read_dir(mount.join("files")).unwrap();
    assert_eq!(entries.next().unwrap().unwrap().file_name(), "first");
    for _ in 0..100_000 {
        let name = entries.next().expect("it never ends").unwrap().file_name();
        let name = name.into_string().unwrap();
        assert!(name > last, "{name} after {last}");
        last = name;
    }
    assert!(stat(&mount.join("files").join(&last)).unwrap().is_file());

    for entry in fs::read_dir(mount.join("dirs")).unwrap().take(1000) {
        let entry = entry.unwrap();
        assert!(entry.file_type().unwrap().is_dir());
        assert_eq!(names(&entry.path()), [""; 0]);
    }
}

#[test]
fn names_come_again_where_asked_for() {
    let listed = |repetition| {
        let fs = FaultFs::builder()
            .entries("d/\nd/x 1\nd/y 1\nonce 1")
            .repeats("d", repetition);
        fs.mount().map(|mount| {
            assert_eq!(names(mount.path()), ["d", "once"]);
            let entries = fs::read_dir(mount.join("d")).unwrap().take(100);
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect::<Vec<_>>()
        })
    };
    let beside = or_skip!(listed(Repetition::Beside));
    assert_eq!(beside, ["x", "x", "y", "y"]);
    let again = or_skip!(listed(Repetition::Again));
    assert_eq!(again, ["x", "y", "x", "y"]);
    let forever = or_skip!(listed(Repetition::Forever));
    assert_eq!(forever, ["x", "y"].repeat(50));
}

#[test]
fn attributes_change_until_they_hold_still() {
    let fs = FaultFs::builder()
        .entries("some/\nalways/\nnever/")
        .attributes_change("some", Changes::First(3))
        .attributes_change("always", Changes::Forever);
    let mount = or_skip!(fs.mount());
    // How many different values six looks have seen.
    let distinct = |path: &str| {
        let seen: Vec<_> = (0..6).map(|_| stat(&mount.join(path)).unwrap()).collect();
        let count =
            |value: fn(&fs::Metadata) -> i64| seen.iter().map(value).collect::<BTreeSet<_>>().len();
        [
            count(|m| m.mtime()),
            count(|m| m.ctime()),
            count(|m| m.nlink() as i64),
        ]
    };
    assert_eq!(distinct("some"), [3; 3]);
    assert_eq!(distinct("some"), [1; 3], "it holds still by now");
    assert_eq!(distinct("always"), [6; 3]);
    assert_eq!(distinct("never"), [1; 3]);
}

#[test]
fn a_directory_grows_between_listings() {
    let fs = FaultFs::builder()
        .files("d", 2, 0)
        .files("once", 2, 0)
        .grows("d", 2, Changes::Forever)
        .grows("once", 1, Changes::First(1));
    let mount = or_skip!(fs.mount());
    let mut dir = Dir::new(open(&mount.join("d")).unwrap()).unwrap();
    assert_eq!(read_on(&mut dir).0.len(), 2);
    dir.rewind();
    let (listed, _) = read_on(&mut dir);
    let listed: Vec<_> = listed.into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, ["g000000", "g000001", "f000000", "f000001"]);
    assert_eq!(names(&mount.join("d")).len(), 6);
    assert!(stat(&mount.join("d/g000003")).unwrap().is_file());
    let lengths = [(); 4].map(|()| names(&mount.join("once")).len());
    assert_eq!(lengths, [2, 3, 3, 3]);
}

#[test]
fn a_listing_under_way_does_not_grow() {
    let fs = FaultFs::builder()
        .files("d", 50, 0)
        .grows("d", 5, Changes::Forever)
        .entries_per_readdir_max(10);
    let mount = or_skip!(fs.mount());
    let mut dir = Dir::new(open(&mount.join("d")).unwrap()).unwrap();
    for _ in 0..20 {
        dir.read().unwrap().unwrap();
    }
    assert_eq!(names(&mount.join("d")).len(), 55);
    assert_eq!(read_on(&mut dir).0.len(), 50 + 2 - 20);
}

#[test]
fn what_is_listed_as_a_directory_is_something_else() {
    let fs = FaultFs::builder()
        .entries("link/\nlink/x 1\nfile/\ndir 5\nlater/")
        .replaced("link", EntryType::Symlink, 0)
        .replaced("file", EntryType::File, 0)
        .replaced("dir", EntryType::Directory, 0)
        .replaced("later", EntryType::Symlink, 1);
    let mount = or_skip!(fs.mount());
    let (listed, _) = list(mount.path());
    let listed: BTreeMap<_, _> = listed.into_iter().collect();
    assert_eq!(listed["link"], FileType::Directory);
    assert_eq!(listed["file"], FileType::Directory);
    assert_eq!(listed["dir"], FileType::RegularFile);

    let numbers: BTreeMap<_, _> = fs::read_dir(mount.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name(), entry.ino()))
        .collect();
    let link = stat(&mount.join("link")).unwrap();
    assert!(link.is_symlink());
    assert_ne!(link.ino(), numbers[OsStr::new("link")]);
    assert_eq!(open(&mount.join("link")).unwrap_err(), Errno::NOTDIR);
    assert!(stat(&mount.join("file")).unwrap().is_file());
    assert_eq!(open(&mount.join("file")).unwrap_err(), Errno::NOTDIR);
    assert!(stat(&mount.join("dir")).unwrap().is_dir());
    assert_eq!(names(&mount.join("dir")), [""; 0]);

    assert!(stat(&mount.join("later")).unwrap().is_dir());
    assert_eq!(open(&mount.join("later")).unwrap_err(), Errno::NOTDIR);
    assert!(stat(&mount.join("later")).unwrap().is_symlink());
}

#[test]
fn names_go_come_and_move() {
    let fs = FaultFs::builder()
        .file("a/one", 3)
        .file("a/two", 4)
        .dir("b");
    let fs = fs.file("c/x", 5).writable();
    let mount = or_skip!(fs.mount());
    let path = |name: &str| mount.join(name);
    let code = |result: std::io::Result<()>| result.unwrap_err().raw_os_error().unwrap();
    let names = |name: &str| {
        let mut names = names(&path(name));
        names.sort();
        names
    };
    assert_eq!(
        code(fs::remove_dir(path("a"))),
        Errno::NOTEMPTY.raw_os_error()
    );
    assert_eq!(
        code(fs::remove_file(path("b"))),
        Errno::ISDIR.raw_os_error()
    );
    fs::remove_file(path("a/one")).unwrap();
    assert_eq!(names("a"), ["two"]);
    fs::rename(path("c"), path("b/d")).unwrap();
    assert_eq!(
        (names("b"), names("b/d")),
        (vec!["d".into()], vec!["x".into()])
    );
    assert_eq!(fs::metadata(path("b/d/x")).unwrap().len(), 5);
    assert!(fs::metadata(path("c")).is_err());
    fs::write(path("a/new"), "forgotten").unwrap();
    assert_eq!(names("a"), ["new", "two"]);
    fs::rename(path("b/d"), path("c")).unwrap();
    assert_eq!((names("b"), names("c")), (vec![], vec!["x".into()]));
    fs::remove_file(path("a/new")).unwrap();
    fs::remove_dir_all(path("a")).unwrap();
    fs::remove_dir(path("b")).unwrap();
    assert_eq!(names(""), ["c"]);
}
