// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::BTreeMap;
use std::time::Duration;

use statwalk_core::{Attributes, Fields, FileType, Scan, Totals};
use statwalk_testkit::{Scratch, trees};

use crate::feed::Feed;
use crate::{Batches, Failure, PATH, Request, Step, Summary, Walk};

const LONG: Duration = Duration::from_secs(3600);

/// Type, inode number, size, seconds of the last change, owner and permission bits.
type Facts = (FileType, [Option<u128>; 3], Option<i64>, Option<u16>);
type Found = BTreeMap<Vec<u8>, Facts>;

fn facts(attributes: &Attributes) -> Facts {
    let inode = attributes.id().map(|id| id.ino());
    let size = attributes.size_bytes().map(u128::from);
    let owner = attributes.uid().map(u128::from);
    let numbers = [inode, size, owner];
    (
        attributes.kind,
        numbers,
        attributes.mtime_s(),
        attributes.mode(),
    )
}

fn everything(root: &std::path::Path) -> Request {
    let mut request = Request::new(root);
    assert!(request.set_columns(Fields::ALL.bits() | PATH));
    request
}

/// By the engine's own iterator.
fn of_engine(request: &Request) -> Found {
    let mut found = Found::new();
    // Errors are part of other tests.
    for entry in request.scan().entries().unwrap().flatten() {
        assert_eq!(found.insert(entry.path(), facts(&entry.attributes())), None);
    }
    found
}

fn of_walk(request: &Request) -> Found {
    let mut found = Found::new();
    let mut walk = Walk::new(request).unwrap();
    loop {
        match walk.next_within(LONG).unwrap() {
            Step::Value(()) => {
                let entry = walk.entry();
                let path = entry.path();
                if entry.depth > 0 {
                    let above = &path[..entry.name_at];
                    let above = above.strip_suffix(b"/").unwrap_or(above);
                    assert!(found.contains_key(above), "{above:?} came later");
                    assert!(path.ends_with(entry.name()));
                }
                let facts = facts(entry.attributes);
                assert_eq!(found.insert(path.to_vec(), facts), None);
            }
            Step::Error(_) | Step::Waiting => {}
            Step::End => break,
        }
    }
    assert!(walk.report().is_some());
    found
}

/// Asserts that a directory comes before all that is below it.
fn of_batches(request: &Request) -> Found {
    let mut found = Found::new();
    let mut batches = Batches::new(request).unwrap();
    let mut ids = std::collections::BTreeSet::new();
    loop {
        match batches.next_within(LONG).unwrap() {
            Step::Value(batch) => {
                let [entries, directory_paths] = batch.paths().unwrap();
                let rows = batch.rows();
                let directories = rows.directories();
                for row in (0..directories.len()).map(|row| directories.row(row)) {
                    assert!(row.parent.is_none_or(|parent| ids.contains(&parent)));
                    assert!(ids.insert(row.id));
                }
                let mut dirs = (0..rows.len()).filter_map(|row| rows.entries().dir(row));
                assert!(dirs.all(|dir| ids.contains(&dir)));
                let own = &directories.columns;
                for (columns, paths) in [(rows.entries(), entries), (own, directory_paths)] {
                    for row in 0..columns.len() {
                        let [begin, end] = [row, row + 1].map(|at| paths.offsets[at] as usize);
                        let path = paths.bytes[begin..end].to_vec();
                        assert!(!path.is_empty());
                        let facts = facts(&columns.entry(row).attributes);
                        assert_eq!(found.insert(path, facts), None);
                    }
                }
            }
            Step::Error(_) | Step::Waiting => {}
            Step::End => break,
        }
    }
    found
}

#[test]
fn walk_and_batches_have_the_entries_of_the_engine() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        for threads in [1, 4] {
            let mut request = everything(&dir);
            request.threads = Some(threads);
            let expected = of_engine(&request);
            assert_eq!(of_walk(&request), expected, "{name} {threads}");
            assert_eq!(of_batches(&request), expected, "{name} {threads}");
        }
    }
}

#[test]
fn a_directory_comes_before_all_below_it() {
    let mut request = everything(std::path::Path::new("/usr/share"));
    for threads in [1, 2, 8] {
        request.threads = Some(threads);
        // Others write there now and then: a difference counts if a walk sees the same again.
        let is_same = (0..20).any(|_| {
            let found = of_walk(&request);
            assert!(found.len() > 1_000);
            of_batches(&request) == found || {
                assert!(of_walk(&request) != found);
                false
            }
        });
        assert!(is_same, "/usr/share changes all the time");
    }
}

#[test]
fn a_time_that_nanoseconds_do_not_hold_keeps_its_seconds() {
    let scratch = Scratch::new().unwrap();
    for (name, seconds) in [("a", 10_413_792_000), ("b", 7), ("c", 10_413_792_001)] {
        let path = scratch.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(seconds);
        std::fs::File::open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let request = everything(scratch.path());
    let found = of_batches(&request);
    assert_eq!(found, of_engine(&request));
    assert_eq!(
        found
            .values()
            .filter(|facts| facts.2 > Some(10_000_000_000))
            .count(),
        2
    );
}

#[test]
fn a_root_can_be_a_file_or_missing_or_end_with_a_slash() {
    let scratch = Scratch::new().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "1234").unwrap();
    let mut request = everything(&file);
    let mut slash = scratch.path().to_path_buf().into_os_string();
    slash.push("/");
    request.add_root(slash);
    request.add_root("/absent");
    let expected = of_engine(&request);
    assert_eq!(expected.len(), 2);
    assert_eq!(of_walk(&request), expected);
    assert_eq!(of_batches(&request), expected);
}

#[test]
fn nothing_below_a_pruned_directory_comes() {
    let scratch = Scratch::new().unwrap();
    for path in ["a/b/c", "a/d", "e/f"] {
        std::fs::create_dir_all(scratch.path().join(path)).unwrap();
        std::fs::write(scratch.path().join(path).join("file"), "").unwrap();
    }
    let mut walk = Walk::new(&Request::new(scratch.path())).unwrap();
    let mut names = Vec::new();
    loop {
        match walk.next_within(LONG).unwrap() {
            Step::Value(()) => {
                let name = String::from_utf8_lossy(walk.entry().name()).into_owned();
                let is_directory = walk.entry().state.is_some();
                assert_eq!(name == "a" && walk.prune(), name == "a", "{is_directory}");
                names.push(name);
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(!walk.prune());
    names.remove(0);
    names.sort();
    assert_eq!(names, ["a", "e", "f", "file"]);
    assert!(walk.finish().unwrap().is_complete());
}

/// The only worker waits at what is below a directory until the caller has pruned that.
#[test]
fn no_worker_opens_what_is_below_a_pruned_directory_of_a_batch() {
    let scratch = Scratch::new().unwrap();
    for number in 0..100 {
        let path = scratch.path().join(format!("a/{number}/b"));
        std::fs::create_dir_all(path).unwrap();
    }
    let (pruned, is_pruned) = std::sync::mpsc::channel::<()>();
    let is_pruned = std::sync::Mutex::new(is_pruned);
    let scan = Scan::new(scratch.path()).threads(1).filter_dir(move |dir| {
        if dir.depth() == 2 {
            // Fails at once when the sender is gone.
            let _ = is_pruned.lock().unwrap().recv_timeout(LONG);
        }
        true
    });
    let mut batches = Batches::of(Feed::of(&scan, true).unwrap());
    assert!(!batches.prune(u32::MAX));
    let mut pruned = Some(pruned);
    let mut names = Vec::new();
    loop {
        match batches.next_within(LONG).unwrap() {
            Step::Value(batch) => {
                let directories = batch.rows().directories();
                for (row, &id) in directories.ids.iter().enumerate() {
                    names.push(directories.columns.name(row).to_vec());
                    if names.last().is_some_and(|name| name == b"a") {
                        assert!(batches.prune(id));
                        pruned = None;
                    }
                }
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(pruned.is_none());
    assert!(!names.contains(&b"b".to_vec()), "{}", names.len());
    assert!(batches.finish().unwrap().is_complete());
}

#[test]
fn batches_without_paths_know_no_directory() {
    let mut request = Request::new("/usr/include");
    assert!(request.set_columns(Fields::NAME.bits()));
    let mut batches = Batches::new(&request).unwrap();
    while !matches!(batches.next_within(LONG).unwrap(), Step::End) {}
    assert!(!batches.prune(0));
}

/// Workers that are slow are swept: what one has can be the end of a directory alone.
#[test]
fn a_batch_has_an_entry_or_a_directory() {
    let scratch = Scratch::new().unwrap();
    for number in 0..100 {
        std::fs::create_dir(scratch.path().join(number.to_string())).unwrap();
    }
    let scan = Scan::new(scratch.path()).threads(4).filter_dir(|_| {
        std::thread::sleep(Duration::from_millis(3));
        true
    });
    let mut batches = Batches::of(Feed::of(&scan, true).unwrap());
    let mut count = 0;
    loop {
        match batches.next_within(LONG).unwrap() {
            Step::Value(batch) => {
                let rows = batch.rows();
                assert!(!rows.is_empty() || !rows.directories().is_empty());
                count += rows.directories().len();
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, 101);
    assert!(batches.finish().unwrap().is_complete());
}

#[test]
fn a_worker_that_panics_is_a_failure() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let scan = Scan::new("/usr/share").filter_dir(|_| panic!("no directory"));
    let mut walk = Walk::of(Feed::of(&scan, true).unwrap());
    let failure = loop {
        match walk.next_within(LONG) {
            Ok(Step::End) => panic!("an end"),
            Ok(_) => {}
            Err(failure) => break failure,
        }
    };
    std::panic::set_hook(hook);
    assert!(matches!(failure, Failure::Panic(_)), "{failure}");
    // It stays so, for a caller who does not look.
    assert!(matches!(walk.next_within(LONG), Err(Failure::Panic(_))));
    assert!(matches!(walk.finish(), Err(Failure::Panic(_))));
}

#[test]
fn a_summary_is_stopped_from_outside() {
    // The scan can be over before this thread runs again.
    let is_interrupted = (0..20).any(|_| {
        let summary = Summary::new(&Request::new("/usr"), Totals::new()).unwrap();
        summary.canceller().unwrap().cancel();
        assert!(summary.wait_for(LONG).unwrap());
        summary.finish().unwrap().report.interrupted
    });
    assert!(is_interrupted);
}

#[test]
fn unknown_columns_are_refused() {
    let mut request = Request::new(".");
    assert!(!request.set_columns(1 << 14));
    assert!(request.set_columns(PATH));
    assert!(Walk::new(&Request::new("a\0b")).is_err());
}
