// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trash: on the same file system or not at all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use statwalk_remove::{
    Cause, End, Manner, Monitor, Now, Outcome, Refusal, Removal, Restored, Trash, Trashed, restore,
};
use statwalk_testkit::mounts::{self, FileSystem, UserSpace};
use statwalk_testkit::unprivileged::{NOBODY, as_ordinary_user, is_root};
use statwalk_testkit::{Scratch, or_skip};

use crate::harness::{bytes, causes, item, make, snapshot, surroundings};

fn trash_it(path: &Path, home: &Path) -> Outcome {
    let now = Now {
        seconds: 0,
        offset_s: 0,
    };
    let manner = Manner::Trash(Trash::new(bytes(home)));
    Removal::new(vec![item(path)], manner, surroundings())
        .clock(move || now)
        .run(&Monitor::new())
}

fn trashed(outcome: &Outcome) -> Trashed {
    assert_eq!(causes(outcome), []);
    assert_eq!(outcome.items[0].end, End::Removed);
    assert_eq!(outcome.freed_bytes, 0);
    outcome.items[0].trashed.clone().unwrap()
}

#[test]
fn an_item_goes_to_the_home_trash_and_comes_back() {
    let scratch = Scratch::new().unwrap();
    let home = scratch.path().join("share/Trash");
    let before = make(&scratch.path().join("here"), &["a\nb/x", "a\nb/y/z"]);
    let whole = snapshot(&before);
    let dir = before.join("a\nb");
    let first = trashed(&trash_it(&dir, &home));
    assert!(!dir.exists());
    assert_eq!(first.name, b"a\nb");
    let info = fs::read_to_string(home.join("info/a\nb.trashinfo")).unwrap();
    let path = dir.to_str().unwrap().replace('\n', "%0A");
    assert_eq!(
        info,
        format!("[Trash Info]\nPath={path}\nDeletionDate=1970-01-01T00:00:00\n")
    );
    // Another one of the same name, and a file, which may be gone before.
    make(&before, &["a\nb/other"]);
    let second = trashed(&trash_it(&dir, &home));
    assert_eq!(second.name, b"a\nb.2");
    assert_eq!(restore(&first).unwrap(), Restored::Unchanged);
    assert_eq!(snapshot(&before), whole);
    // The place is taken now.
    let failure = restore(&second).unwrap_err();
    let place = bytes(&home.join("files/a\nb.2")).to_vec();
    assert_eq!(failure.cause, Cause::StaysInTrash { place, errno: 17 });
    assert_eq!(snapshot(&before), whole);
    assert!(home.join("files/a\nb.2/other").exists());
    assert!(home.join("info/a\nb.2.trashinfo").exists());
    assert!(!home.join("info/a\nb.trashinfo").exists());
}

/// Each item tried the names of all before it, and the 10,001st of one name did not go.
#[test]
fn many_items_of_one_name_go() {
    let scratch = Scratch::new().unwrap();
    let home = scratch.path().join("Trash");
    // An item can also lie there without its line, and the other way round.
    make(&home, &["info/", "files/same.3"]);
    make(&home, &["info/same.2.trashinfo"]);
    let names = (0..30).map(|number| format!("{number}/same"));
    let names: Vec<String> = names.collect();
    let here = make(
        &scratch.path().join("here"),
        &names.iter().map(|name| &name[..]).collect::<Vec<_>>(),
    );
    let items = names.iter().map(|name| item(&here.join(name))).collect();
    let manner = Manner::Trash(Trash::new(bytes(&home)));
    let outcome = Removal::new(items, manner, surroundings()).run(&Monitor::new());
    assert_eq!(causes(&outcome), []);
    let gone = outcome.items.iter().map(|item| item.trashed.clone());
    let gone: Vec<Trashed> = gone.map(Option::unwrap).collect();
    let is_random = |name: &[u8]| {
        let digits = name.strip_prefix(b"same.");
        digits.is_some_and(|digits| digits.len() == 16)
    };
    let (random, numbered): (Vec<_>, Vec<_>) = gone.iter().partition(|gone| is_random(&gone.name));
    // 16 numbers without the two that are taken.
    assert_eq!((numbered.len(), random.len()), (14, 16));
    for gone in &gone {
        restore(gone).unwrap();
    }
    assert_eq!(snapshot(&here).len(), 60);
}

#[test]
fn a_link_goes_itself() {
    let scratch = Scratch::new().unwrap();
    let kept = make(&scratch.path().join("kept"), &["x"]);
    let link = scratch.path().join("link");
    symlink(&kept, &link).unwrap();
    let gone = trashed(&trash_it(&link, &scratch.path().join("Trash")));
    assert!(kept.join("x").exists() && link.symlink_metadata().is_err());
    restore(&gone).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), kept);
}

#[test]
fn an_item_on_another_file_system_goes_to_the_trash_there() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let home = scratch.path().join("Trash");
    let _mount = or_skip!(FileSystem::Tmpfs.mount(&disk));
    let dir = make(&disk.join("a/dir"), &["x"]);
    let user = rustix::process::geteuid().as_raw();
    let gone = trashed(&trash_it(&dir, &home));
    assert!(!home.exists());
    let own = disk.join(format!(".Trash-{user}"));
    assert_eq!(gone.trash, bytes(&own));
    assert!(own.join("files/dir/x").exists());
    let info = fs::read_to_string(own.join("info/dir.trashinfo")).unwrap();
    assert!(info.contains("\nPath=a/dir\n"), "{info}");
    assert_eq!(
        fs::metadata(&own).unwrap().permissions().mode() & 0o777,
        0o700
    );
    restore(&gone).unwrap();
    assert!(dir.join("x").exists());
    // A directory for all users, sticky as the specification asks.
    let all = make(&disk.join(".Trash"), &["keep/"]);
    fs::set_permissions(&all, PermissionsExt::from_mode(0o1777)).unwrap();
    let gone = trashed(&trash_it(&dir, &home));
    assert_eq!(gone.trash, bytes(&all.join(user.to_string())));
}

#[test]
fn nothing_is_copied_to_another_file_system() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let home = scratch.path().join("Trash");
    let _mount = or_skip!(FileSystem::Tmpfs.mount(&disk));
    let dir = make(&disk.join("dir"), &["x"]);
    let user = rustix::process::geteuid().as_raw();
    // The trash of that file system leads to another one.
    symlink(scratch.path(), disk.join(format!(".Trash-{user}"))).unwrap();
    let before = snapshot(&disk);
    let outcome = trash_it(&dir, &home);
    assert!(
        matches!(
            causes(&outcome)[..],
            [Cause::Refused(Refusal::UnsafeTrash { .. })]
        ),
        "{outcome:?}"
    );
    // An item that is seen through a bind mount, on the device of the home.
    let bound = make(&scratch.path().join("bound"), &["at/", "from/dir/x"]);
    let _bind = or_skip!(mounts::bind(&bound.join("from"), &bound.join("at")));
    let gone = trashed(&trash_it(&bound.join("at/dir"), &home));
    assert!(gone.trash.starts_with(bytes(&bound.join("at"))));
    assert!(!home.exists() && snapshot(&disk) == before);
}

#[test]
fn a_trash_of_another_user_is_refused() {
    if !is_root() {
        return statwalk_testkit::Skipped::needs("root, to give a directory away").report();
    }
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let home = scratch.subdirectory("Trash").unwrap();
    std::os::unix::fs::chown(&home, Some(NOBODY), None).unwrap();
    let outcome = trash_it(&dir, &home);
    assert!(matches!(
        causes(&outcome)[..],
        [Cause::Refused(Refusal::UnsafeTrash { .. })]
    ));
    assert!(dir.join("x").exists());
}

#[test]
fn an_item_that_changed_does_not_go_to_the_trash() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let home = scratch.path().join("Trash");
    let manner = Manner::Trash(Trash::new(bytes(&home)));
    let removal = Removal::new(vec![item(&dir)], manner, surroundings());
    fs::rename(&dir, scratch.path().join("moved")).unwrap();
    make(&dir, &["other"]);
    let outcome = removal.run(&Monitor::new());
    assert_eq!(causes(&outcome), [Cause::Changed]);
    assert!(dir.join("other").exists() && !home.join("info").exists());
}

/// Something else had the item's name in the trash, and undo showed it as the item.
#[test]
fn another_entry_in_place_of_the_item_stays_in_the_trash() {
    let scratch = Scratch::new().unwrap();
    let home = scratch.path().join("Trash");
    for name in ["file", "dir"] {
        let path = scratch.path().join(name);
        let make_item = |at: &Path| match name {
            "file" => fs::write(at, "content").unwrap(),
            _ => drop(make(at, &["x"])),
        };
        make_item(&path);
        let gone = trashed(&trash_it(&path, &home));
        let place = home.join("files").join(name);
        let aside = scratch.path().join("aside");
        // Nothing, another inode of the same kind, and another kind.
        fs::rename(&place, &aside).unwrap();
        assert_eq!(restore(&gone).unwrap_err().cause, Cause::NotInTrash);
        make_item(&place);
        assert_eq!(restore(&gone).unwrap_err().cause, Cause::Replaced);
        let removed = fs::remove_file(&place);
        (removed.or_else(|_| statwalk_testkit::remove_tree(&place))).unwrap();
        symlink("nowhere", &place).unwrap();
        assert_eq!(restore(&gone).unwrap_err().cause, Cause::Replaced);
        assert!(path.symlink_metadata().is_err() && place.symlink_metadata().is_ok());
        fs::remove_file(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
        assert_eq!(restore(&gone).unwrap(), Restored::Unchanged);
    }
}

/// ext4 and tmpfs give the number of a removed inode to the next one: only the time of its
/// creation tells them apart.
#[test]
fn a_successor_with_the_same_number_is_another_item() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let _mount = or_skip!(FileSystem::Ext4.mount(&disk));
    let path = disk.join("file");
    for _ in 0..20 {
        fs::write(&path, "content").unwrap();
        let gone = trashed(&trash_it(&path, &disk.join("Trash")));
        let place = disk.join("Trash/files/file");
        let number =
            |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
        let before = number(&place);
        fs::remove_file(&place).unwrap();
        fs::write(&place, "another").unwrap();
        if number(&place) == before {
            assert_eq!(restore(&gone).unwrap_err().cause, Cause::Replaced);
            return;
        }
        fs::remove_file(&place).unwrap();
    }
    statwalk_testkit::Skipped::needs("a file system that uses inode numbers again").report();
}

#[test]
fn a_change_in_the_trash_is_noticed() {
    let scratch = Scratch::new().unwrap();
    let home = scratch.path().join("Trash");
    let path = scratch.path().join("a/file");
    make(&scratch.path().join("a"), &["file"]);
    let gone = trashed(&trash_it(&path, &home));
    fs::write(home.join("files/file"), "longer than before").unwrap();
    assert_eq!(restore(&gone).unwrap(), Restored::Changed);
    // The item is the same, and its directory is not.
    let gone = trashed(&trash_it(&path, &home));
    fs::rename(scratch.path().join("a"), scratch.path().join("b")).unwrap();
    make(&scratch.path().join("a"), &["other"]);
    assert_eq!(restore(&gone).unwrap(), Restored::Changed);
    assert!(path.exists());
}

/// The trial of a trash, as the dialog does it.
fn try_trash(paths: &[&Path], home: &Path) -> Result<Vec<Vec<u8>>, Refusal> {
    let items: Vec<_> = paths.iter().map(|path| item(path)).collect();
    Trash::new(bytes(home)).try_for(&items, &surroundings())
}

/// Renames with flags fail there, so the dialog offered a trash that took nothing.
#[test]
fn a_file_system_without_flags_of_renames_has_a_trash() {
    for (kind, options) in [
        (UserSpace::Bindfs, ""),
        (UserSpace::Mergerfs, ""),
        (UserSpace::Ntfs, "permissions"),
    ] {
        let scratch = Scratch::new().unwrap();
        let disk = scratch.subdirectory("disk").unwrap();
        let home = scratch.path().join("Trash");
        let _mount = or_skip!(kind.mount(&disk, options));
        make(&disk, &["tree/file", "tree/dir/x", "tree/dir/y/z"]);
        symlink("nowhere", disk.join("tree/link")).unwrap();
        let before = snapshot(&disk);
        for name in ["file", "dir", "link"] {
            let path = disk.join("tree").join(name);
            try_trash(&[&path], &home).unwrap();
            assert_eq!(snapshot(&disk), before, "{kind:?}");
            let gone = trashed(&trash_it(&path, &home));
            assert!(path.symlink_metadata().is_err());
            let place = Path::new(std::str::from_utf8(&gone.trash).unwrap()).join("files");
            let in_trash = String::from_utf8(gone.name.clone()).unwrap();
            let random = in_trash.strip_prefix(&format!("{name}.")).unwrap();
            assert_eq!(random.len(), 16);
            let info = place
                .with_file_name("info")
                .join(format!("{in_trash}.trashinfo"));
            let info = fs::read_to_string(info).unwrap();
            assert!(info.contains(&format!("Path=tree/{name}\n")), "{info}");
            // Another entry has the old name, then the name in the trash.
            make(&path, &["x"]);
            let failure = restore(&gone).unwrap_err();
            let expected = Cause::StaysInTrash {
                place: bytes(&place.join(&in_trash)).to_vec(),
                errno: 17,
            };
            assert_eq!(failure.cause, expected, "{kind:?}");
            statwalk_testkit::remove_tree(&path).unwrap();
            let aside = disk.join("aside");
            fs::rename(place.join(&in_trash), &aside).unwrap();
            make(&place.join(&in_trash), &["other"]);
            assert_eq!(restore(&gone).unwrap_err().cause, Cause::Replaced);
            statwalk_testkit::remove_tree(&place.join(&in_trash)).unwrap();
            // mergerfs: another number, and the same number again.
            fs::rename(&aside, place.join(&in_trash)).unwrap();
            restore(&gone).unwrap();
            statwalk_testkit::remove_tree(&place.with_file_name("")).unwrap();
            assert_eq!(snapshot(&disk), before, "{kind:?}");
        }
    }
}

/// A move made the trash, found that others can write it, and left it there.
#[test]
fn a_trash_that_others_can_write_is_not_offered() {
    for (kind, options) in [(UserSpace::Ntfs, "rw"), (UserSpace::Exfat, "rw")] {
        let scratch = Scratch::new().unwrap();
        let disk = scratch.subdirectory("disk").unwrap();
        let home = scratch.path().join("Trash");
        let _mount = or_skip!(kind.mount(&disk, options));
        let dir = make(&disk.join("dir"), &["x"]);
        let before = snapshot(&disk);
        let refusal = try_trash(&[&dir], &home).unwrap_err();
        assert!(matches!(refusal, Refusal::UnsafeTrash { .. }), "{refusal}");
        assert_eq!(snapshot(&disk), before);
        let outcome = trash_it(&dir, &home);
        assert_eq!(causes(&outcome), [Cause::Refused(refusal)]);
        assert_eq!(snapshot(&disk), before);
    }
}

/// Without links nothing puts a file back without a chance to replace another.
#[test]
fn a_file_stays_in_a_trash_without_links() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let home = scratch.path().join("Trash");
    let _mount = or_skip!(UserSpace::Exfat.mount(&disk, "umask=077"));
    make(&disk, &["file", "dir/x"]);
    let file = disk.join("file");
    try_trash(&[&file], &home).unwrap();
    let gone = trashed(&trash_it(&file, &home));
    let failure = restore(&gone).unwrap_err();
    let text = failure.to_string();
    let place = disk.join(".Trash-0/files/file.");
    assert!(text.contains(place.to_str().unwrap()), "{text}");
    assert!(text.starts_with(&format!("restore {}: ", file.display())));
    assert!(
        matches!(failure.cause, Cause::StaysInTrash { .. }),
        "{text}"
    );
    let gone = trashed(&trash_it(&disk.join("dir"), &home));
    restore(&gone).unwrap();
    assert!(disk.join("dir/x").exists() && !file.exists());
}

#[test]
fn a_top_that_the_user_cannot_write_has_no_trash() {
    if !is_root() {
        return statwalk_testkit::Skipped::needs("root, to mount").report();
    }
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let home = scratch.path().join("Trash");
    let _mount = or_skip!(FileSystem::Tmpfs.mount(&disk));
    fs::set_permissions(&disk, PermissionsExt::from_mode(0o755)).unwrap();
    let dir = make(&disk.join("dir"), &["x"]);
    for path in [&dir, &dir.join("x")] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let refusal = or_skip!(as_ordinary_user(|| try_trash(&[&dir.join("x")], &home))).unwrap_err();
    assert!(
        matches!(refusal, Refusal::TrashFails { errno: 13, .. }),
        "{refusal}"
    );
    let text = format!(
        "the trash {0}/.Trash-{NOBODY} for {0}/dir/x does not work: permission denied",
        disk.display()
    );
    assert_eq!(refusal.to_string(), text);
    assert!(try_trash(&[&dir], &home).is_ok());
    assert_eq!(snapshot(&disk).len(), 2);
}

#[test]
fn a_trial_leaves_nothing_behind() {
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let home = scratch.path().join("home/local/share/Trash");
    let before = snapshot(scratch.path());
    let found = try_trash(&[&dir, &dir.join("x")], &home).unwrap();
    assert_eq!(found, [bytes(&home)]);
    assert_eq!(snapshot(scratch.path()), before);
    // What was there stays.
    make(scratch.path(), &["home/local/share/Trash/info/"]);
    let before = snapshot(scratch.path());
    try_trash(&[&dir], &home).unwrap();
    assert_eq!(snapshot(scratch.path()), before);
    // A file in place of a room.
    make(scratch.path(), &["home/local/share/Trash/files"]);
    let before = snapshot(scratch.path());
    let refusal = try_trash(&[&dir], &home).unwrap_err();
    assert!(
        matches!(refusal, Refusal::TrashFails { errno: 20, .. }),
        "{refusal}"
    );
    assert_eq!(snapshot(scratch.path()), before);
    // A move that fails.
    fs::remove_file(home.join("files")).unwrap();
    fs::remove_dir(home.join("info")).unwrap();
    let outcome = trash_it(&home, &home);
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert_eq!(snapshot(&home), []);
}

/// A trial changes the times of the trash, and a removal compares those of its items.
#[test]
fn an_item_that_holds_the_trash_has_none() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("top");
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let home = make(&top, &["share/"]).join("share/Trash");
    let link = scratch.path().join("link");
    symlink(&top, &link).unwrap();
    let refused = |path: &Path, home: &Path| {
        let mtime = path.metadata().unwrap().modified().unwrap();
        let refusal = try_trash(&[&dir, path], home).unwrap_err();
        assert!(matches!(refusal, Refusal::HoldsTrash { .. }), "{refusal}");
        assert_eq!(path.metadata().unwrap().modified().unwrap(), mtime);
    };
    refused(&top, &home);
    refused(&top.join("share"), &home);
    refused(&top.join("share"), &link.join("share/Trash"));
    make(&home, &["files/x", "info/"]);
    for part in ["", "files", "info"] {
        refused(&home.join(part), &home);
    }
    try_trash(&[&dir, &home.join("files/x")], &home).unwrap();
}
