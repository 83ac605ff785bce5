// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lines of the journal.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use statwalk_remove::{
    End, Item, Journal, JournalReport, Manner, Monitor, Now, Operation, Outcome, Removal, Running,
};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::unprivileged::{NOBODY, is_root};
use statwalk_testkit::{Scratch, Skipped, or_skip};

use crate::harness::{bytes, item, make, snapshot, surroundings};

const NOW: Now = Now {
    seconds: 1_700_000_000,
    offset_s: 0,
};

fn removal(items: Vec<Item>, journal: &Path) -> Removal {
    Removal::new(items, Manner::Permanent, surroundings())
        .journal(Journal::open(bytes(journal)).unwrap())
        .clock(|| NOW)
}

fn lines(journal: &Path) -> Vec<Value> {
    let text = fs::read_to_string(journal).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn each_item_has_its_lines() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("state/statwalk/removed.jsonl");
    let dir = make(&scratch.path().join("a\nb"), &["x"]);
    let file = scratch.path().join(OsStr::from_bytes(b"f\xff"));
    fs::write(&file, b"data").unwrap();
    let (a, b) = (item(&dir).with_bytes(77), item(&file));
    let changed = item(&make(&scratch.path().join("changed"), &["x"]));
    fs::write(scratch.path().join("changed/y"), b"").unwrap();
    let items = vec![a.clone(), b.clone(), changed.clone()];
    let outcome = removal(items, &journal).run(&Monitor::new());
    assert_eq!(outcome.items[1].end, End::Removed);
    assert_eq!(outcome.journal, statwalk_remove::JournalReport::default());
    let user = rustix::process::geteuid().as_raw();
    let root = scratch.path().to_str().unwrap();
    let mut whole = bytes(scratch.path()).to_vec();
    whole.extend_from_slice(b"/f\xff");
    let code = statwalk_view::json_path(&whole).1.unwrap();
    let lines = lines(&journal);
    let id = |line: usize| lines[line]["id"].as_str().unwrap();
    let run = id(0).strip_suffix("-1").unwrap();
    let end = |number: usize, freed: u64, entries: u64| {
        json!({
            "id": format!("{run}-{number}"), "time_s": NOW.seconds, "end": "removed",
            "entries": entries, "freed": freed, "errors": 0,
        })
    };
    let begin = |number: usize, item: &Item, path: String, bytes: u64| {
        json!({
            "id": format!("{run}-{number}"), "time_s": NOW.seconds, "user": user,
            "kind": "permanent", "path": path, "bytes": bytes,
            "device": item.identity().device, "inode": item.identity().inode,
        })
    };
    let mut second = begin(2, &b, format!("{root}/f\u{fffd}"), 0);
    second["path_b64"] = code.into();
    // An item that is refused has one line, with all.
    let mut third = begin(3, &changed, format!("{root}/changed"), 0);
    let reason = format!("stat {root}/changed: it changed after the confirmation");
    for (key, value) in [("end", json!("stayed")), ("reason", reason.into())] {
        third[key] = value;
    }
    for (key, number) in [("entries", 0), ("freed", 0), ("errors", 1)] {
        third[key] = number.into();
    }
    let [first, other] = [0, 1].map(|index| &outcome.items[index]);
    let expected = [
        begin(1, &a, format!("{root}/a\nb"), 77),
        end(1, first.freed_bytes, 2),
        second,
        end(2, other.freed_bytes, 1),
        third,
    ];
    assert_eq!(lines, expected);
    let modes = [&journal, &scratch.path().join("state")]
        .map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o600, 0o700]);
}

/// Only items that were refused after the confirmation had a line.
#[test]
fn items_that_nobody_could_confirm_have_a_line_each() {
    let scratch = Scratch::new().unwrap();
    let path = scratch.path().join("removed.jsonl");
    let mut journal = Journal::open(bytes(&path)).unwrap();
    let monitor = Monitor::new();
    journal.refuse([], NOW, &monitor).unwrap();
    assert!(lines(&path).is_empty());
    let refused = [(&b"/a\nb"[..], "it is a mount point"), (b"/f\xff", "why")];
    journal.refuse(refused, NOW, &monitor).unwrap();
    let lines = lines(&path);
    let run = lines[0]["id"].as_str().unwrap().strip_suffix("-1").unwrap();
    let user = rustix::process::geteuid().as_raw();
    let line = |number: usize, path: &str, reason: &str| {
        json!({
            "id": format!("{run}-{number}"), "time_s": NOW.seconds, "user": user, "path": path,
            "end": "stayed", "entries": 0, "freed": 0, "errors": 1, "reason": reason,
        })
    };
    let mut second = line(2, "/f\u{fffd}", "why");
    second["path_b64"] = statwalk_view::json_path(b"/f\xff").1.unwrap().into();
    assert_eq!(lines, [line(1, "/a\nb", "it is a mount point"), second]);
}

/// The journal said "permanent" of items that stayed, for instance for want of permission.
#[test]
fn the_end_of_an_item_that_stays_is_told() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    let dir = make(&scratch.path().join("dir"), &["fixed", "a"]);
    let fixed = File::open(dir.join("fixed")).unwrap();
    let flags = rustix::fs::ioctl_getflags(&fixed);
    let Ok(flags) = flags else {
        return Skipped::needs("a file system with flags").report();
    };
    let set = |flags| rustix::fs::ioctl_setflags(&fixed, flags);
    if set(flags | rustix::fs::IFlags::IMMUTABLE).is_err() {
        return Skipped::needs("root and immutable files").report();
    }
    let whole = item(&dir.join("fixed"));
    let outcomes =
        [vec![whole], vec![item(&dir)]].map(|items| removal(items, &journal).run(&Monitor::new()));
    set(flags).unwrap();
    assert_eq!(outcomes[0].items[0].end, End::Untouched);
    let lines = lines(&journal);
    assert_eq!(lines.len(), 4);
    let path = dir.join("fixed").display().to_string();
    for (end, word, entries) in [(1, "stayed", 0), (3, "partly", 1)] {
        let (begin, end) = (&lines[end - 1], &lines[end]);
        assert_eq!(begin["id"], end["id"]);
        assert_eq!(
            (&begin["kind"], &begin["end"]),
            (&json!("permanent"), &Value::Null)
        );
        assert_eq!(
            (&end["end"], &end["entries"]),
            (&json!(word), &json!(entries))
        );
        assert_eq!(
            end["reason"],
            format!("remove {path}: operation not permitted")
        );
        assert_eq!(end["errors"], 1);
    }
    assert_ne!(lines[0]["id"], lines[2]["id"]);
}

#[test]
fn the_place_in_the_trash_and_a_stop_are_told() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let trash = make(&scratch.path().join("Trash"), &["files/", "info/"]);
    fs::set_permissions(&trash, PermissionsExt::from_mode(0o700)).unwrap();
    let manner = Manner::Trash(statwalk_remove::Trash::new(bytes(&trash)));
    let _ = Removal::new(vec![item(&dir)], manner, surroundings())
        .journal(Journal::open(bytes(&journal)).unwrap())
        .run(&Monitor::new());
    let place = trash.join("files/dir").display().to_string();
    let moved = lines(&journal);
    assert_eq!((moved.len(), &moved[1]["trash"]), (2, &json!(place)));
    assert_eq!(
        (&moved[0]["kind"], &moved[1]["end"]),
        (&json!("trash"), &json!("removed"))
    );
    // The clock runs between the first look and the act, and stops the removal there.
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let monitor = std::sync::Arc::new(Monitor::new());
    let own = std::sync::Arc::clone(&monitor);
    let other = make(&scratch.path().join("other"), &["x"]);
    let stopped = Removal::new(
        vec![item(&dir), item(&other)],
        Manner::Permanent,
        surroundings(),
    )
    .journal(Journal::open(bytes(&journal)).unwrap())
    .clock(move || {
        own.stop();
        NOW
    });
    let _ = stopped.run(&monitor);
    let lines = lines(&journal);
    // No line for the item that was never begun.
    assert_eq!(lines.len(), 4);
    assert_eq!(
        (&lines[3]["end"], &lines[3]["reason"]),
        (&json!("stayed"), &json!("stopped"))
    );
}

#[test]
fn a_line_follows_a_cut_off_one_on_a_new_line() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    fs::write(&journal, b"{\"time_s\":1").unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let _ = removal(vec![item(&dir)], &journal).run(&Monitor::new());
    let text = fs::read_to_string(&journal).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert!(text.starts_with("{\"time_s\":1\n{\"id\":"), "{text}");
}

#[test]
fn a_link_is_no_journal() {
    let scratch = Scratch::new().unwrap();
    symlink("other", scratch.path().join("link")).unwrap();
    assert!(Journal::open(bytes(&scratch.path().join("link"))).is_err());
    assert!(Journal::open(bytes(scratch.path())).is_err());
    assert!(!scratch.path().join("other").exists());
}

/// A link of another user chose the file to which root appended.
#[test]
fn nothing_of_another_user_is_on_the_way_to_a_journal() {
    if !is_root() {
        return statwalk_testkit::Skipped::needs("root, to give entries away").report();
    }
    let scratch = Scratch::new().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let open = |path: &Path| Journal::open(bytes(path)).map(drop);
    let refused = |path: &Path, noun: &str| {
        let before = snapshot(scratch.path());
        let error = open(path).unwrap_err().to_string();
        let words = [
            format!("the {noun} {}", scratch.path().display()),
            "another user".into(),
        ];
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert_eq!(snapshot(scratch.path()), before);
    };
    make(scratch.path(), &["all/", "victim/", "own/"]);
    fs::set_permissions(at("all"), PermissionsExt::from_mode(0o1777)).unwrap();
    for (link, target) in [
        ("all/link", "../victim"),
        ("all/absolute", at("victim").to_str().unwrap()),
    ] {
        symlink(target, at(link)).unwrap();
        lchown(at(link), Some(NOBODY), None).unwrap();
        refused(&at(link).join("removed.jsonl"), "link");
        refused(&at(link).join("new/removed.jsonl"), "link");
        // By another link, and by a way up.
        let further = at("own").join(link.replace('/', "-"));
        symlink(at(link), &further).unwrap();
        refused(&further.join("removed.jsonl"), "link");
        refused(&at("own/..").join(link).join("removed.jsonl"), "link");
        // The owner of the directory has placed it.
        std::os::unix::fs::chown(at("all"), Some(NOBODY), None).unwrap();
        open(&further.join("removed.jsonl")).unwrap();
        fs::remove_file(at("victim/removed.jsonl")).unwrap();
        std::os::unix::fs::chown(at("all"), Some(0), None).unwrap();
        // The caller has.
        lchown(at(link), Some(0), None).unwrap();
        open(&further.join("deep/er/removed.jsonl")).unwrap();
        statwalk_testkit::remove_tree(&at("victim/deep")).unwrap();
    }
    fs::write(at("own/removed.jsonl"), "").unwrap();
    std::os::unix::fs::chown(at("own/removed.jsonl"), Some(NOBODY), None).unwrap();
    refused(&at("own/removed.jsonl"), "file");
    std::os::unix::fs::chown(at("victim"), Some(NOBODY), None).unwrap();
    refused(&at("victim/removed.jsonl"), "directory");
    symlink("loop", at("own/loop")).unwrap();
    let error = open(&at("own/loop/removed.jsonl")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(40));
}

#[test]
fn on_a_full_disk_the_line_comes_after_the_act() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let _mount = or_skip!(FileSystem::Tmpfs.mount_sized(&disk, 1 << 20));
    let journal = disk.join("removed.jsonl");
    let small = scratch.path().join("small");
    fs::write(&small, b"").unwrap();
    let opened = Journal::open(bytes(&journal)).unwrap();
    let big = disk.join("big");
    // Until the disk is full.
    let _ = fs::write(&big, vec![1; 2 << 20]);
    assert_eq!(fs::metadata(&big).unwrap().size(), 1 << 20);
    // The first item frees nothing on this disk, so its line has to wait for the second.
    let items = vec![item(&small), item(&big)];
    let outcome = Removal::new(items, Manner::Permanent, surroundings())
        .journal(opened)
        .clock(|| NOW)
        .run(&Monitor::new());
    assert!(outcome.items.iter().all(|item| item.end == End::Removed));
    assert_eq!(
        (outcome.journal.late_count, outcome.journal.lost_count),
        (2, 0)
    );
    // All lines in their order.
    let lines = lines(&journal);
    let parts = lines.iter().map(|line| {
        let path = line["path"].as_str().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap().to_owned();
        let end = line["end"].as_str().unwrap_or_default().to_owned();
        (name, end, line["late"] == true)
    });
    let part = |name: &str, end: &str, is_late| (name.to_owned(), end.to_owned(), is_late);
    let expected = [
        part("small", "", true),
        part("", "removed", false),
        part("big", "", true),
        part("", "removed", false),
    ];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
}

#[test]
fn on_a_disk_that_stays_full_the_line_is_lost_and_counted() {
    let scratch = Scratch::new().unwrap();
    let disk = scratch.subdirectory("disk").unwrap();
    let _mount = or_skip!(FileSystem::Tmpfs.mount_sized(&disk, 1 << 20));
    let journal = disk.join("removed.jsonl");
    let opened = Journal::open(bytes(&journal)).unwrap();
    let _ = fs::write(disk.join("big"), vec![1; 2 << 20]);
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let outcome = Removal::new(vec![item(&dir)], Manner::Permanent, surroundings())
        .journal(opened)
        .run(&Monitor::new());
    assert_eq!(outcome.items[0].end, End::Removed);
    assert_eq!(
        (outcome.journal.late_count, outcome.journal.lost_count),
        (0, 2)
    );
    assert_eq!(fs::metadata(&journal).unwrap().size(), 0);
}

#[test]
fn a_journal_that_cannot_be_written_keeps_the_item() {
    let full = Path::new("/proc/self/oom_score_adj");
    let scratch = Scratch::new().unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    // The kernel takes numbers alone here, and answers EINVAL to a line.
    let Ok(journal) = Journal::open(bytes(full)) else {
        return Skipped::needs("a writable /proc").report();
    };
    let outcome = Removal::new(vec![item(&dir)], Manner::Permanent, surroundings())
        .journal(journal)
        .run(&Monitor::new());
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert_eq!(outcome.failures.listed[0].operation, Operation::Journal);
    assert!(dir.join("x").exists());
}

/// Another descriptor with the lock, as another process has it.
fn locked(journal: &Path) -> File {
    let other = File::open(journal).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    other
}

/// The end of a removal that a test stops, or a panic where it does not come.
fn end_of(running: Running) -> Outcome {
    let begin = Instant::now();
    while !running.is_finished() {
        assert!(begin.elapsed() < Duration::from_secs(20), "it waits on");
        sleep(Duration::from_millis(1));
    }
    running.wait()
}

/// A stopped removal waited in the kernel for as long as another process had the lock.
#[test]
fn a_stop_ends_the_wait_for_the_lock() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let prepared = removal(vec![item(&dir)], &journal);
    let other = locked(&journal);
    let running = prepared.start().unwrap();
    sleep(Duration::from_millis(100));
    assert!(!running.is_finished() && dir.join("x").exists());
    running.monitor().stop();
    let outcome = end_of(running);
    drop(other);
    assert!(outcome.is_stopped && dir.join("x").exists());
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert_eq!((outcome.entry_count, outcome.failures.count), (0, 0));
    // Nothing happened, so no line lacks.
    assert_eq!(outcome.journal, JournalReport::default());
    assert!(lines(&journal).is_empty());

    let monitor = Monitor::new();
    monitor.stop();
    let mut opened = Journal::open(bytes(&journal)).unwrap();
    let _other = locked(&journal);
    let refused = [(&b"/a"[..], "why")];
    let error = opened.refuse(refused, NOW, &monitor).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn without_a_stop_the_line_comes_when_the_lock_is_free() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let prepared = removal(vec![item(&dir)], &journal);
    let other = locked(&journal);
    let running = prepared.start().unwrap();
    sleep(Duration::from_millis(100));
    assert!(!running.is_finished() && dir.join("x").exists());
    drop(other);
    let outcome = end_of(running);
    assert_eq!(outcome.items[0].end, End::Removed);
    assert_eq!(outcome.journal, JournalReport::default());
    assert_eq!(lines(&journal).len(), 2);
}

/// The item is gone, so its line counts, whether it is written or not.
#[test]
fn a_stop_loses_no_line_of_an_act_without_a_word() {
    for is_freed in [true, false] {
        let scratch = Scratch::new().unwrap();
        let journal = scratch.path().join("removed.jsonl");
        let dir = make(&scratch.path().join("dir"), &["x"]);
        let prepared = removal(vec![item(&dir)], &journal);
        // The clock is asked before the first line, and before the line of the end.
        let (asked, at) = channel();
        let (go, going) = channel::<()>();
        let clock = move || {
            asked.send(()).unwrap();
            going.recv().unwrap();
            NOW
        };
        let running = prepared.clock(clock).start().unwrap();
        at.recv().unwrap();
        go.send(()).unwrap();
        at.recv().unwrap();
        assert!(!dir.exists());
        let other = locked(&journal);
        running.monitor().stop();
        go.send(()).unwrap();
        if is_freed {
            sleep(Duration::from_millis(100));
            drop(other);
        }
        let outcome = end_of(running);
        assert_eq!(outcome.items[0].end, End::Removed);
        let lost = u64::from(!is_freed);
        assert_eq!(outcome.journal.lost_count, lost);
        assert_eq!(lines(&journal).len() as u64, 2 - lost);
    }
}

#[test]
fn a_directory_with_the_journal_stays() {
    let scratch = Scratch::new().unwrap();
    let state = make(&scratch.path().join("state"), &["x"]);
    let journal = Journal::open(bytes(&state.join("removed.jsonl"))).unwrap();
    let outcome = Removal::new(vec![item(&state)], Manner::Permanent, surroundings())
        .journal(journal)
        .run(&Monitor::new());
    let text = outcome.failures.listed[0].to_string();
    assert!(text.ends_with("which statwalk uses"), "{text}");
    assert!(state.join("x").exists());
}

/// A umask without the owner's bits shut the directories of the journal and of the trash, in
/// later sessions too.
#[test]
fn the_owner_can_use_what_is_made_whatever_the_umask() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().to_owned();
    // The umask of this thread alone.
    let thread = std::thread::spawn(move || {
        #[expect(
            deprecated,
            reason = "unsafe for descriptors alone, and tests have no unsafe"
        )]
        rustix::thread::unshare(rustix::thread::UnshareFlags::FS).unwrap();
        for mask in [0o177, 0o777, 0o022] {
            let state = top.join(format!("{mask:o}"));
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
            drop(Journal::open(bytes(&state.join("deep/removed.jsonl"))).unwrap());
            let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
            assert_eq!(mode(&state), 0o700, "{mask:o}");
            assert_eq!(mode(&state.join("deep")), 0o700, "{mask:o}");
            assert_eq!(mode(&state.join("deep/removed.jsonl")), 0o600, "{mask:o}");
        }
    });
    thread.join().unwrap();
}
