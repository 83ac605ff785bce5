// SPDX-License-Identifier: MIT OR Apache-2.0

//! The `Debug` of values, as a caller's `dbg!` and failed assertions print them.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::time::Duration;

use statwalk_core::{
    Context, Fields, Fill, Grouping, Largest, LiveTree, MemoryEntry, MemoryTree, Next, Replay,
    Scan, Sink, Stats, Top, Totals, TreeSink,
};
use statwalk_space::btrfs::Inodes;

const DIRS: usize = 10;
const FILES: usize = 100;

/// The most that a value of any size prints.
const PRINTED_MAX: usize = 2_000;

/// A failed assertion printed each of the entries of a tree. Now values print their counts.
#[track_caller]
fn print(value: impl Debug) -> String {
    let printed = format!("{value:?}");
    assert!(printed.len() < PRINTED_MAX, "{printed}");
    printed
}

fn on_disk() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for dir in 0..DIRS {
        let dir = root.path().join(format!("dir{dir}"));
        fs::create_dir(&dir).unwrap();
        for file in 0..FILES {
            fs::write(dir.join(format!("file{file}")), "x").unwrap();
        }
    }
    root
}

fn in_memory() -> MemoryTree {
    let mut tree = MemoryTree::new();
    for dir in 0..DIRS {
        for file in 0..FILES {
            let path = format!("t/dir{dir}/file{file}");
            tree.insert(path, MemoryEntry::file(1)).unwrap();
        }
    }
    tree
}

/// Prints the sink and the answer, and, while the scan goes on, a state and the handle.
#[track_caller]
fn print_all<S>(root: &Path, sink: S) -> String
where
    S: Sink + Clone + Debug,
    S::State: Debug,
    S::Output: Debug,
{
    print(&sink);
    let running = Scan::new(root).start(sink.clone()).unwrap();
    print(&running);
    running.wait();
    let done = print(&running);
    let entries = 1 + DIRS + DIRS * FILES;
    assert!(done.contains("is_over: true"), "{done}");
    assert!(done.contains(&format!("entries: {entries}")), "{done}");
    running.peek(|state| {
        print(state);
    });
    print(running.canceller());
    let outcome = Scan::new("/t").run_in_memory(in_memory(), &sink).unwrap();
    print(&outcome.report);
    print(&outcome.output)
}

#[test]
fn sinks_and_their_answers_print_counts() {
    let root = on_disk();
    let entries = 1 + DIRS + DIRS * FILES;
    let tree = print_all(root.path(), TreeSink::new().with_files());
    assert!(tree.contains(r#"path: "/t""#), "{tree}");
    assert!(tree.contains(&format!("entries: {entries}")), "{tree}");
    let inodes = print_all(root.path(), Inodes::new());
    assert!(inodes.contains("dir_count: 11"), "{inodes}");
    assert!(inodes.contains("file_count: 1000"), "{inodes}");
    let live = LiveTree::new();
    Scan::new("/t").run_in_memory(in_memory(), &live).unwrap();
    let live = print(live);
    assert!(live.contains(&format!("entries: {entries}")), "{live}");
    print_all(root.path(), LiveTree::new());
    print_all(root.path(), Totals::new());
    print_all(
        root.path(),
        Totals::new().with_filter(Fields::NAME, |_, _| true),
    );
    print_all(root.path(), Top::new(5, Largest::Allocated));
    print_all(
        root.path(),
        Stats::new(Grouping::Size).with_size_histograms(),
    );
    let memory = print(in_memory());
    assert!(memory.contains("inode_count: 1012"), "{memory}");
}

#[test]
fn an_entry_prints_itself_and_not_its_directory() {
    let root = on_disk();
    let scan = Scan::new(root.path()).fields(Fields::SIZE);
    let mut entries = scan.entries().unwrap();
    let mut is_seen = false;
    while let Some(entry) = entries.next() {
        let printed = print(entry.unwrap());
        is_seen |= printed.contains("file7\"") && printed.contains("size_bytes: 1,");
        print(&entries);
    }
    assert!(is_seen);
    print(entries.finish());
}

#[test]
fn rows_and_gathered_values_print_counts() {
    let root = on_disk();
    let scan = Scan::new(root.path());
    let mut all = scan.rows().unwrap();
    let mut entries = 0;
    let mut replay = Replay::new(Totals::new().without_sizes(), Context::new(["/t"], 0));
    while let Some(rows) = all.next() {
        let rows = rows.unwrap();
        assert!(print(&rows).contains(&format!("len: {}", rows.len())));
        entries += rows.len();
        print(&all);
        assert!(replay.rows(&rows).is_continue());
    }
    let dirs = DIRS + 1;
    assert!(print(&replay).contains(&format!("directories: {dirs}")));
    assert_eq!(entries, DIRS * FILES);

    let each = |count: &mut u64, _: statwalk_core::Found<'_>| {
        *count += 1;
        Fill::Some
    };
    let mut gathered = scan.gather(Fields::NONE, each).unwrap();
    loop {
        print(&gathered);
        let next = gathered.next_within(Duration::from_secs(10));
        if let Next::End = print_next(next) {
            break;
        }
    }
    assert!(print(&gathered).contains("report: Some("));
}

fn print_next(next: Next<u64>) -> Next<u64> {
    print(next.clone());
    next
}
