// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees of all kinds go whole, and nothing beside them goes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{AtFlags, CWD, Mode};
use statwalk_remove::{Cause, End, Monitor, Removal};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::unprivileged::as_ordinary_user;
use statwalk_testkit::{Scratch, or_skip, trees};

use crate::harness::{bytes, causes, item, make, removal, remove, snapshot, surroundings};

#[test]
fn named_trees_go_whole() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        for without in [false, true] {
            let dir = scratch.path().join(name);
            tree.materialise(&dir).unwrap();
            let removal = removal(&[&dir]);
            let removal = match without {
                true => removal.without_openat2(),
                false => removal,
            };
            let outcome = removal.run(&Monitor::new());
            assert_eq!(causes(&outcome), [], "{name}");
            assert_eq!(outcome.items[0].end, End::Removed, "{name}");
            assert_eq!(outcome.entry_count, tree.totals().entries, "{name}");
            assert!(dir.symlink_metadata().is_err(), "{name}");
        }
    }
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn links_go_and_their_targets_stay() {
    let scratch = Scratch::new().unwrap();
    let kept = make(&scratch.path().join("kept"), &["a", "b/c"]);
    let before = snapshot(&kept);
    let dir = make(&scratch.path().join("dir"), &["x"]);
    symlink(&kept, dir.join("link")).unwrap();
    symlink(kept.join("a"), dir.join("file")).unwrap();
    fs::hard_link(kept.join("a"), dir.join("hard")).unwrap();
    let link = scratch.path().join("itself");
    symlink(&kept, &link).unwrap();
    let outcome = remove(&[&dir, &link]);
    assert_eq!(causes(&outcome), []);
    assert!(!dir.exists() && link.symlink_metadata().is_err());
    assert_eq!(snapshot(&kept), before);
}

#[test]
fn hard_links_outside_are_not_freed() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &[]);
    fs::create_dir(&dir).unwrap();
    let data = vec![7; 1 << 20];
    for name in ["outside", "dir/own"] {
        fs::write(scratch.path().join(name), &data).unwrap();
    }
    fs::hard_link(scratch.path().join("outside"), dir.join("linked")).unwrap();
    fs::hard_link(dir.join("own"), dir.join("again")).unwrap();
    rustix::fs::syncfs(fs::File::open(&dir).unwrap()).unwrap();
    let survey = crate::harness::survey_of(&[&dir]);
    let outcome = remove(&[&dir]);
    assert_eq!(outcome.items[0].end, End::Removed);
    assert_eq!(outcome.freed_bytes, survey.total.freed_bytes);
    assert!(
        (1 << 20..2 << 20).contains(&outcome.freed_bytes),
        "{outcome:?}"
    );
    assert_eq!(fs::read(scratch.path().join("outside")).unwrap(), data);
}

#[test]
fn hostile_names_go_and_are_shown_escaped() {
    let scratch = Scratch::new().unwrap();
    let names: [&[u8]; 5] = [b"new\nline", b"\x1b[2J", b"\xff\xfe", b"-rf", b" "];
    for name in names {
        let dir = scratch.path().join(OsStr::from_bytes(name));
        fs::create_dir(&dir).unwrap();
        for inner in names {
            fs::write(dir.join(OsStr::from_bytes(inner)), b"x").unwrap();
        }
        let outcome = remove(&[&dir]);
        assert_eq!((causes(&outcome), outcome.entry_count), (vec![], 6));
    }
    let dir = make(&scratch.path().join("a\nb"), &["x"]);
    let item = item(&dir);
    fs::write(dir.join("y"), b"").unwrap();
    let removal = Removal::new(
        vec![item],
        statwalk_remove::Manner::Permanent,
        surroundings(),
    );
    let outcome = removal.run(&Monitor::new());
    let text = outcome.failures.listed[0].to_string();
    assert!(
        text.ends_with(r"/a\nb: it changed after the confirmation"),
        "{text}"
    );
}

#[test]
fn what_changed_after_the_confirmation_stays() {
    let scratch = Scratch::new().unwrap();
    let check = |change: &dyn Fn()| {
        let dir = make(&scratch.path().join("dir"), &["a/b", "c"]);
        let file = make(scratch.path(), &["file"]).join("file");
        let removal = removal(&[&dir, &file]);
        change();
        let before = snapshot(scratch.path());
        let outcome = removal.run(&Monitor::new());
        let ends: Vec<End> = outcome.items.iter().map(|item| item.end).collect();
        (ends, snapshot(scratch.path()) == before)
    };
    let path = |name: &str| scratch.path().join(name);
    use End::{Removed, Untouched};
    // Nothing changed.
    assert_eq!(check(&|| ()), (vec![Removed, Removed], false));
    // A new entry in the item, and new content of the file.
    let (ends, is_same) = check(&|| {
        fs::write(path("dir/new"), b"").unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH;
        fs::File::options()
            .write(true)
            .open(path("file"))
            .unwrap()
            .set_modified(time)
            .unwrap();
    });
    assert_eq!((ends, is_same), (vec![Untouched, Untouched], true));
    statwalk_testkit::remove_tree(&path("dir")).unwrap();
    // Both are links to other things now.
    make(&path("other"), &["keep/x"]);
    let (ends, is_same) = check(&|| {
        fs::rename(path("dir"), path("moved")).unwrap();
        symlink(path("other"), path("dir")).unwrap();
        fs::remove_file(path("file")).unwrap();
        symlink(path("other/keep/x"), path("file")).unwrap();
    });
    assert_eq!((ends, is_same), (vec![Untouched, Untouched], true));
}

#[test]
fn a_directory_on_the_way_that_became_a_link_is_not_followed() {
    let scratch = Scratch::new().unwrap();
    make(scratch.path(), &["way/item/x", "way/file"]);
    let path = |name: &str| scratch.path().join(name);
    for without in [false, true] {
        let mut removal = removal(&[&path("way/item"), &path("way/file")]);
        // The very inodes that were confirmed, by another way.
        fs::rename(path("way"), path("real")).unwrap();
        symlink(path("real"), path("way")).unwrap();
        let before = snapshot(scratch.path());
        if without {
            removal = removal.without_openat2();
        }
        let outcome = removal.run(&Monitor::new());
        assert_eq!(outcome.entry_count, 0, "{outcome:?}");
        assert_eq!(snapshot(scratch.path()), before);
        fs::remove_file(path("way")).unwrap();
        fs::rename(path("real"), path("way")).unwrap();
    }
}

#[test]
fn read_only_directories_stay_with_their_names_and_the_rest_goes() {
    let scratch = Scratch::new().unwrap();
    rustix::fs::chmod(scratch.path(), Mode::from_raw_mode(0o777)).unwrap();
    let dir = scratch.path().join("dir");
    or_skip!(as_ordinary_user(|| {
        make(
            &dir,
            &["a", "closed/x", "closed/y", "unread/z", "hollow/", "b/c"],
        );
        let mode = |name: &str, mode| {
            fs::set_permissions(dir.join(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        mode("closed", 0o500);
        mode("unread", 0o300);
        mode("hollow", 0o000);
        let outcome = remove(&[&dir]);
        assert_eq!(outcome.items[0].end, End::Partly);
        let mut failed: Vec<String> = (outcome.failures.listed.iter())
            .map(|failure| failure.to_string().replace(dir.to_str().unwrap(), "DIR"))
            .collect();
        failed.sort();
        let expected = [
            "open DIR/unread: permission denied",
            "remove DIR/closed/x: permission denied",
            "remove DIR/closed/y: permission denied",
        ];
        assert_eq!(failed, expected);
        // The empty directory went, although nobody could read it.
        assert_eq!(outcome.entry_count, 4);
    }));
    assert_eq!(snapshot(&dir).len(), 5);
}

#[test]
fn an_immutable_file_stays() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["a", "b/fixed"]);
    let fixed = fs::File::open(dir.join("b/fixed")).unwrap();
    let flags = rustix::fs::IFlags::IMMUTABLE;
    if rustix::fs::ioctl_setflags(&fixed, flags).is_err() {
        return statwalk_testkit::Skipped::needs("root and chattr +i").report();
    }
    let outcome = remove(&[&dir]);
    rustix::fs::ioctl_setflags(&fixed, rustix::fs::IFlags::empty()).unwrap();
    assert_eq!(causes(&outcome), [Cause::Errno(1)]);
    assert_eq!(
        (outcome.items[0].end, outcome.entry_count),
        (End::Partly, 1)
    );
    assert!(dir.join("b/fixed").exists());
}

#[test]
fn a_removal_stops_between_entries() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("dir");
    for number in 0..200 {
        fs::create_dir_all(dir.join(format!("{number}/x"))).unwrap();
    }
    let other = make(&scratch.path().join("other"), &["x"]);
    let running = removal(&[&dir, &other]).start().unwrap();
    while running.monitor().entry_count() < 3 {
        std::thread::yield_now();
    }
    running.monitor().stop();
    let seen = running.monitor().entry_count();
    let outcome = running.wait();
    assert!(outcome.is_stopped && outcome.entry_count >= seen);
    if outcome.items[0].end == End::Partly {
        assert!(other.exists());
        assert_eq!(outcome.items[1].end, End::Untouched);
        assert_eq!(causes(&outcome), []);
        assert_eq!(snapshot(&dir).len() as u64, 400 - outcome.entry_count);
    }
}

#[test]
fn a_removal_that_is_stopped_before_touches_nothing() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let monitor = Monitor::new();
    monitor.stop();
    let outcome = removal(&[&dir]).run(&monitor);
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert!(dir.join("x").exists() && outcome.is_stopped);
}

#[test]
fn a_directory_of_200_000_entries_goes() {
    let scratch = crate::harness::fast_scratch();
    let dir = scratch.subdirectory("dir").unwrap();
    let open = fs::File::open(&dir).unwrap();
    for number in 0..200_000 {
        let name = format!("{number}");
        // More subdirectories than one pass takes.
        let made = match number % 2 {
            0 => rustix::fs::mkdirat(&open, name, Mode::RWXU),
            _ => rustix::fs::mknodat(
                &open,
                name,
                rustix::fs::FileType::RegularFile,
                Mode::RUSR,
                0,
            ),
        };
        made.unwrap();
    }
    let outcome = remove(&[&dir]);
    assert_eq!((causes(&outcome), outcome.entry_count), (vec![], 200_001));
    assert!(rustix::fs::statat(CWD, &dir, AtFlags::SYMLINK_NOFOLLOW).is_err());
}

#[test]
fn items_that_are_refused_stay() {
    let scratch = Scratch::new().unwrap();
    let home = make(&scratch.path().join("home"), &["kim/x"]);
    let mut surroundings = surroundings();
    surroundings.home = Some(bytes(&home.join("kim")).to_vec());
    let items = vec![item(&home)];
    let removal = Removal::new(items, statwalk_remove::Manner::Permanent, surroundings);
    let outcome = removal.run(&Monitor::new());
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert!(matches!(causes(&outcome)[..], [Cause::Refused(_)]));
    assert!(home.join("kim/x").exists());
}

#[test]
fn large_directories_go_on_every_file_system() {
    for file_system in FileSystem::ALL {
        let scratch = Scratch::new().unwrap();
        let mount = match file_system.mount(scratch.path()) {
            Ok(mount) => mount,
            Err(skipped) => {
                skipped.report();
                continue;
            }
        };
        let dir = mount.path().join("dir");
        for number in 0..3_000 {
            let name = format!("a name that fills more than one block {number}");
            match number % 3 {
                0 => fs::create_dir_all(dir.join(name).join("x/y")).unwrap(),
                1 => fs::write(dir.join(name), b"").unwrap(),
                _ => symlink("nowhere", dir.join(name)).unwrap(),
            }
        }
        let survey = crate::harness::survey_of(&[&dir]);
        let outcome = remove(&[&dir]);
        assert_eq!(causes(&outcome), [], "{file_system:?}");
        assert_eq!(outcome.items[0].end, End::Removed, "{file_system:?}");
        assert_eq!(outcome.entry_count, 5_001, "{file_system:?}");
        assert_eq!(survey.total.entry_count, 5_001, "{file_system:?}");
    }
}
