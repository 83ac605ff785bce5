// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::BTreeMap;
use std::time::Duration;

use arrow_array::cast::AsArray;
use statwalk_core::{Attributes, Fields, FileType, Scan, Totals};
use statwalk_testkit::{Scratch, trees};

use crate::feed::Feed;
use crate::{Failure, PATH, Prefixes, Request, Step, Summary, Table, Tables, Walk, arrow};

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

/// Asserts that a directory comes before all that is below it, and the bounds of tables.
fn of_tables(request: &Request) -> Found {
    of_these(Tables::new(request).unwrap(), 4 << 20)
}

fn of_these(mut tables: Tables, prefix_bytes_max: usize) -> Found {
    let mut found = Found::new();
    let mut ids = std::collections::BTreeSet::new();
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) => {
                let columns = table.columns();
                for row in 0..table.directories().len() {
                    let directory = table.directories().row(row);
                    assert!(directory.parent.is_none_or(|parent| ids.contains(&parent)));
                    assert!(ids.insert(directory.id));
                }
                let mut dirs = (0..columns.len()).filter_map(|row| columns.dir(row));
                assert!(dirs.all(|dir| ids.contains(&dir)));
                for row in 0..columns.len() {
                    let path = path_of(&table, row);
                    let paths = table.paths().unwrap();
                    let [begin, end] = [row, row + 1].map(|at| paths.offsets[at] as usize);
                    assert_eq!(path, &paths.bytes[begin..end]);
                    assert!(!path.is_empty());
                    let facts = facts(&columns.entry(row).attributes);
                    assert_eq!(found.insert(path, facts), None);
                }
                let paths = table.paths().map_or(0, |paths| paths.bytes.len());
                let bytes = columns.names.len() + table.prefixes().bytes.len() + paths;
                assert!(columns.len() <= 16_384 && (bytes <= 4 << 20 || columns.len() == 1));
                assert!(table.prefixes().bytes.len() <= prefix_bytes_max || columns.len() == 1);
                let mut prefixes: Vec<&[u8]> = prefixes(&table);
                let count = prefixes.len();
                prefixes.sort_unstable();
                prefixes.dedup();
                assert_eq!(prefixes.len(), count);
            }
            Step::Error(_) | Step::Waiting => {}
            Step::End => break,
        }
    }
    found
}

fn prefixes(table: &Table) -> Vec<&[u8]> {
    let Prefixes { bytes, offsets, .. } = table.prefixes();
    let ranges = offsets.windows(2);
    ranges
        .map(|range| &bytes[range[0] as usize..range[1] as usize])
        .collect()
}

fn path_of(table: &Table, row: usize) -> Vec<u8> {
    let mut path = prefixes(table)[table.prefixes().of_rows[row] as usize].to_vec();
    path.extend_from_slice(table.columns().name(row));
    path
}

#[test]
fn walk_and_tables_have_the_entries_of_the_engine() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        for threads in [1, 4] {
            let mut request = everything(&dir);
            request.threads = threads;
            let expected = of_engine(&request);
            assert_eq!(of_walk(&request), expected, "{name} {threads}");
            assert_eq!(of_tables(&request), expected, "{name} {threads}");
        }
    }
}

#[test]
fn a_directory_comes_before_all_below_it() {
    let mut request = everything(std::path::Path::new("/usr/share"));
    for threads in [1, 2, 8] {
        request.threads = threads;
        // Others write there now and then: a difference counts if a walk sees the same again.
        let is_same = (0..20).any(|_| {
            let found = of_walk(&request);
            assert!(found.len() > 1_000);
            of_tables(&request) == found || {
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
    let found = of_tables(&request);
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
    assert_eq!(of_tables(&request), expected);
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
                assert_eq!(
                    name == "a" && walk.prune().is_ok(),
                    name == "a",
                    "{is_directory}"
                );
                names.push(name);
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(walk.prune().is_err());
    names.remove(0);
    names.sort();
    assert_eq!(names, ["a", "e", "f", "file"]);
    assert!(walk.finish().unwrap().is_complete());
}

/// The only worker waits at what is below a directory until the caller has pruned that.
#[test]
fn no_worker_opens_what_is_below_a_pruned_directory_of_a_table() {
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
    let mut tables = Tables::of(Feed::of(&scan).unwrap(), &Request::new("."));
    assert!(tables.prune(u32::MAX).is_err());
    let mut pruned = Some(pruned);
    let mut names = Vec::new();
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) => {
                let directories = table.directories();
                for (row, &id) in directories.ids.iter().enumerate() {
                    names.push(directories.columns.name(row).to_vec());
                    if names.last().is_some_and(|name| name == b"a") {
                        tables.prune(id).unwrap();
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
    assert!(tables.finish().unwrap().is_complete());
}

/// Paths of 4,000 bytes: a row of the column of paths takes more than the rest of it.
#[test]
fn a_table_ends_before_its_paths_take_too_much() {
    let scratch = Scratch::new().unwrap();
    let mut deep = scratch.path().to_path_buf();
    while deep.as_os_str().len() < 3_700 {
        deep.push("d".repeat(200));
    }
    std::fs::create_dir_all(&deep).unwrap();
    for number in 0..3_000 {
        std::fs::write(deep.join(number.to_string()), "").unwrap();
    }
    let request = everything(scratch.path());
    let found = of_engine(&request);
    assert_eq!(of_tables(&request), found);
    for most in [1, 1_000, 10_000] {
        let tables = Tables::new(&request).unwrap();
        assert_eq!(of_these(tables.with_prefix_bytes_max(most), most), found);
    }
}

/// The rest of a directory is left out that the caller prunes between its tables.
#[test]
fn a_directory_is_pruned_between_two_of_its_tables() {
    let scratch = Scratch::new().unwrap();
    let long = "n".repeat(200);
    for number in 0..30_000 {
        std::fs::write(scratch.path().join(format!("{long}{number}")), "").unwrap();
    }
    let mut tables = Tables::new(&everything(scratch.path())).unwrap();
    let (mut count, mut root) = (0, None);
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) => {
                root = root.or(table.directories().ids.first().copied());
                count += table.columns().len();
                if table.columns().len() > 1 {
                    tables.prune(root.unwrap()).unwrap();
                    assert!(tables.is_skipped(root.unwrap()));
                }
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!((2..=16_385).contains(&count), "{count}");
}

/// The end of each directory comes, whichever worker notes it.
#[test]
fn every_directory_ends_in_some_table() {
    let scratch = Scratch::new().unwrap();
    for number in 0..100 {
        std::fs::create_dir(scratch.path().join(number.to_string())).unwrap();
    }
    let scan = Scan::new(scratch.path()).threads(4).filter_dir(|_| {
        std::thread::sleep(Duration::from_millis(3));
        true
    });
    let request = Request::new(".");
    let mut tables = Tables::of(Feed::of(&scan).unwrap(), &request);
    let (mut ids, mut finished, mut ends) = (Vec::new(), Vec::new(), 0);
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) => {
                let directories = table.directories();
                ids.extend_from_slice(&directories.ids);
                finished.extend_from_slice(&directories.finished);
                assert!(!table.columns().is_empty() || !directories.finished.is_empty());
                ends += usize::from(table.columns().is_empty());
                let table = arrow::TableType::of(&request).table(table);
                let names = table.column_by_name("name").unwrap().as_string::<i32>();
                assert_eq!(names.value_offsets()[0], 0);
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    ids.sort_unstable();
    finished.sort_unstable();
    assert_eq!((ids.len(), &ids), (101, &finished));
    assert!(ends > 0, "no table has ends alone");
    assert!(tables.finish().unwrap().is_complete());
}

#[test]
fn a_worker_that_panics_is_a_failure() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let scan = Scan::new("/usr/share").filter_dir(|_| panic!("no directory"));
    let mut walk = Walk::of(Feed::of(&scan).unwrap());
    let failure = loop {
        match walk.next_within(LONG) {
            Ok(Step::End) => panic!("an end"),
            Ok(_) => {}
            Err(failure) => break failure,
        }
    };
    std::panic::set_hook(hook);
    assert!(
        matches!(&failure, Failure::Panic(words) if words == "no directory"),
        "{failure}"
    );
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
    assert!(!request.set_columns(1 << 30));
    assert!(request.set_columns(PATH));
    assert!(Walk::new(&Request::new("a\0b")).is_err());
}

/// By recursion over sorted names.
fn by_name(path: &std::path::Path, is_contents_first: bool, out: &mut Vec<Vec<u8>>) {
    use std::os::unix::ffi::OsStrExt;
    let own = path.as_os_str().as_bytes().to_vec();
    if !path.symlink_metadata().unwrap().is_dir() {
        return out.push(own);
    }
    if !is_contents_first {
        out.push(own.clone());
    }
    let mut paths: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    paths
        .iter()
        .for_each(|path| by_name(path, is_contents_first, out));
    if is_contents_first {
        out.push(own);
    }
}

/// Paths with their depths, as a walk gives them and as tables do.
fn in_sequence(request: &Request) -> [Vec<Vec<u8>>; 2] {
    let mut walk = Walk::new(request).unwrap();
    let mut of_walk = Vec::new();
    loop {
        match walk.next_within(LONG).unwrap() {
            Step::Value(()) => {
                let entry = walk.entry();
                let is_directory = entry.attributes.kind == FileType::Directory;
                assert_eq!(entry.state.is_some(), is_directory);
                assert!(entry.path().ends_with(entry.name()));
                of_walk.push(entry.path().to_vec());
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    let mut tables = Tables::new(request).unwrap();
    let mut of_tables = Vec::new();
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) => {
                let ids = &table.directories().ids;
                for (row, &id) in ids.iter().enumerate() {
                    let kind = table.columns().kinds[row];
                    assert_eq!(id == u32::MAX, kind != FileType::Directory.number());
                    of_tables.push(path_of(&table, row));
                }
                assert_eq!(ids.len(), table.columns().len());
                let children = arrow::TableType::of(request).table(table);
                let children = children.column_by_name("child").unwrap();
                let nulls = ids_without(children);
                assert!(nulls);
            }
            Step::End => break,
            other => panic!("{other:?}"),
        }
    }
    [of_walk, of_tables]
}

/// Whether no number is that of what is no directory.
fn ids_without(children: &std::sync::Arc<dyn arrow_array::Array>) -> bool {
    let numbers = children.as_primitive::<arrow_array::types::UInt32Type>();
    numbers.iter().flatten().all(|number| number != u32::MAX)
}

#[test]
fn a_sequence_by_path_is_the_same_in_walks_and_tables() {
    let scratch = Scratch::new().unwrap();
    let trees = trees::named().into_iter();
    for (name, tree) in trees.filter(|(name, _)| *name != "deep") {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        for is_contents_first in [false, true] {
            let mut expected = Vec::new();
            by_name(&dir, is_contents_first, &mut expected);
            for threads in [1, 4] {
                let mut request = everything(&dir);
                (request.threads, request.sort) = (threads, !is_contents_first);
                request.contents_first = is_contents_first;
                for found in in_sequence(&request) {
                    assert!(found == expected, "{name} {threads}");
                }
            }
        }
    }
}

#[test]
fn nothing_above_the_least_depth_comes() {
    let scratch = Scratch::new().unwrap();
    for path in ["a/b/c", "d"] {
        std::fs::create_dir_all(scratch.path().join(path)).unwrap();
        std::fs::write(scratch.path().join(path).join("file"), "").unwrap();
    }
    for (min_depth, max_depth, count) in [
        (0, 9, 7),
        (1, 9, 6),
        (2, 9, 4),
        (3, 3, 1),
        (5, 9, 0),
        (3, 1, 0),
    ] {
        let mut request = everything(scratch.path());
        (request.min_depth, request.max_depth) = (min_depth, Some(max_depth));
        let mut walk = Walk::new(&request).unwrap();
        let mut found = 0;
        while let Step::Value(()) = walk.next_within(LONG).unwrap() {
            assert!(walk.entry().depth >= min_depth);
            found += 1;
        }
        assert_eq!(found, count, "{min_depth} {max_depth}");
        assert!(walk.finish().unwrap().is_complete());
        request.sort = true;
        assert_eq!(in_sequence(&request).map(|found| found.len()), [count; 2]);
    }
    let mut request = Request::new(scratch.path());
    request.min_depth = 1;
    assert!(Summary::new(&request, Totals::new()).is_err());
}

#[test]
fn nothing_is_skipped_with_contents_first() {
    let scratch = Scratch::new().unwrap();
    std::fs::create_dir_all(scratch.path().join("a/b")).unwrap();
    let mut request = Request::new(scratch.path());
    request.contents_first = true;
    let mut walk = Walk::new(&request).unwrap();
    assert!(matches!(walk.next_within(LONG).unwrap(), Step::Value(())));
    assert_eq!(walk.entry().name(), b"b");
    let words = walk.prune().unwrap_err().to_string();
    assert!(
        words.starts_with("nothing can be skipped with contents first"),
        "{words}"
    );
    let mut tables = Tables::new(&request).unwrap();
    let Step::Value(table) = tables.next_within(LONG).unwrap() else {
        panic!("there are three rows");
    };
    assert_eq!(
        tables
            .prune(table.directories().ids[0])
            .unwrap_err()
            .to_string(),
        words
    );
}

#[test]
fn what_is_pruned_by_path_does_not_come() {
    let scratch = Scratch::new().unwrap();
    for path in ["a/b/c", "a/d", "e/f"] {
        std::fs::create_dir_all(scratch.path().join(path)).unwrap();
        std::fs::write(scratch.path().join(path).join("file"), "").unwrap();
    }
    let mut request = Request::new(scratch.path());
    request.sort = true;
    let mut walk = Walk::new(&request).unwrap();
    let mut names = Vec::new();
    while let Step::Value(()) = walk.next_within(LONG).unwrap() {
        let name = String::from_utf8_lossy(walk.entry().name()).into_owned();
        assert_eq!(
            walk.entry().name() == b"a",
            name == "a" && walk.prune().is_ok()
        );
        names.push(name);
    }
    assert_eq!(names[1..], ["a", "e", "f", "file"]);
}

/// A shell completes `build/`, and that left out nothing.
#[test]
fn a_pattern_with_a_slash_at_its_end_is_an_error() {
    let mut request = Request::new(".");
    request.exclude(b"build/").unwrap();
    request.exclude(b"*.o").unwrap();
    let words = "a pattern of exclude ends with a slash, and no path does: leave the slash out";
    assert_eq!(Walk::new(&request).unwrap_err().to_string(), words);
    assert_eq!(Tables::new(&request).unwrap_err().to_string(), words);
    let summary = Summary::new(&request, Totals::new());
    assert_eq!(summary.unwrap_err().to_string(), words);
}
