// SPDX-License-Identifier: MIT OR Apache-2.0

//! The lines of the journal.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use statwalk_remove::{End, Item, Journal, Manner, Monitor, Now, Operation, Removal};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Scratch, or_skip};

use crate::harness::{bytes, item, make, surroundings};

const NOW: Now = Now {
    seconds: 1_700_000_000,
    offset_s: 0,
};

fn removal(items: Vec<Item>, journal: &Path) -> Removal {
    Removal::new(items, Manner::Permanent, surroundings())
        .journal(Journal::open(bytes(journal)).unwrap())
        .clock(|| NOW)
}

#[test]
fn each_item_has_its_line() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("state/statwalk/removed.jsonl");
    let dir = make(&scratch.path().join("a\nb"), &["x"]);
    let file = scratch.path().join(OsStr::from_bytes(b"f\xff"));
    fs::write(&file, b"data").unwrap();
    let (a, b) = (item(&dir).with_bytes(77), item(&file));
    let changed = item(&make(&scratch.path().join("changed"), &["x"]));
    fs::write(scratch.path().join("changed/y"), b"").unwrap();
    let outcome = removal(vec![a.clone(), b.clone(), changed], &journal).run(&Monitor::new());
    assert_eq!(outcome.items[1].end, End::Removed);
    assert_eq!(outcome.journal, statwalk_remove::JournalReport::default());
    let text = fs::read_to_string(&journal).unwrap();
    let user = rustix::process::geteuid().as_raw();
    let root = scratch.path().to_str().unwrap();
    let mut whole = bytes(scratch.path()).to_vec();
    whole.extend_from_slice(b"/f\xff");
    let code = statwalk_view::json_path(&whole).1.unwrap();
    let expected = format!(
        "{{\"time_s\":1700000000,\"user\":{user},\"kind\":\"permanent\",\"path\":\"{root}/a\\nb\",\
         \"device\":{},\"inode\":{},\"bytes\":77}}\n\
         {{\"time_s\":1700000000,\"user\":{user},\"kind\":\"permanent\",\"path\":\"{root}/f\u{fffd}\",\
         \"path_b64\":\"{code}\",\"device\":{},\"inode\":{},\"bytes\":0}}\n",
        a.identity().device,
        a.identity().inode,
        b.identity().device,
        b.identity().inode,
    );
    // No line for the item that had changed.
    assert_eq!(text, expected);
    let modes = [&journal, &scratch.path().join("state")]
        .map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o600, 0o700]);
}

#[test]
fn a_line_follows_a_cut_off_one_on_a_new_line() {
    let scratch = Scratch::new().unwrap();
    let journal = scratch.path().join("removed.jsonl");
    fs::write(&journal, b"{\"time_s\":1").unwrap();
    let dir = make(&scratch.path().join("dir"), &["x"]);
    let _ = removal(vec![item(&dir)], &journal).run(&Monitor::new());
    let text = fs::read_to_string(&journal).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.starts_with("{\"time_s\":1\n{\"time_s\":17"), "{text}");
}

#[test]
fn a_link_is_no_journal() {
    let scratch = Scratch::new().unwrap();
    symlink("other", scratch.path().join("link")).unwrap();
    assert!(Journal::open(bytes(&scratch.path().join("link"))).is_err());
    assert!(Journal::open(bytes(scratch.path())).is_err());
    assert!(!scratch.path().join("other").exists());
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
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("small") && lines[1].contains("big"),
        "{text}"
    );
    assert!(
        lines.iter().all(|line| line.ends_with(",\"late\":true}")),
        "{text}"
    );
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
        (0, 1)
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
        return statwalk_testkit::Skipped::needs("a writable /proc").report();
    };
    let outcome = Removal::new(vec![item(&dir)], Manner::Permanent, surroundings())
        .journal(journal)
        .run(&Monitor::new());
    assert_eq!(outcome.items[0].end, End::Untouched);
    assert_eq!(outcome.failures.listed[0].operation, Operation::Journal);
    assert!(dir.join("x").exists());
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
