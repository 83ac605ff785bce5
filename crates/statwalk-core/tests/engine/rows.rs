// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows in bulk: the same as a sink gets, in columns that Arrow takes without a copy.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arrow_array::{Array, BinaryArray, Int64Array, UInt32Array, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use proptest::prelude::*;
use rustix::io::Errno;
use statwalk_core::{
    Bits, Columns, DirState, Directories, DirectoryRow, Fields, Next, Rows, Scan, Sink, Time,
};
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::trees::{WideFiles, make_wide};
use statwalk_testkit::{or_skip, strategy, stretched, trees};

use super::harness::records::{Record, Records};
use super::harness::scratch_in_memory;

/// All rows of a scan that meets no error.
fn all_rows(scan: &Scan) -> Vec<Rows> {
    let mut all = scan.rows().unwrap();
    let rows = all.by_ref().map(Result::unwrap).collect();
    assert!(all.report().unwrap().is_complete());
    rows
}

/// All rows of a scan in order. Asserts that they are, and that nothing of a directory stays.
fn all_ordered(scan: &Scan) -> Vec<Rows> {
    let mut all = scan.ordered_rows().unwrap();
    let (mut known, mut rows) = (HashSet::new(), Vec::new());
    loop {
        match all.next_within(Duration::from_secs(60)) {
            Next::Value(next) => {
                let directories = next.directories();
                for row in 0..directories.len() {
                    let DirectoryRow { id, parent, .. } = directories.row(row);
                    assert!(parent.is_none_or(|parent| known.contains(&parent)));
                    assert!(known.insert(id), "{id:?} twice");
                }
                let entries = next.entries();
                let mut dirs = (0..entries.len()).filter_map(|row| entries.dir(row));
                assert!(dirs.all(|id| known.contains(&id) && all.depth(id).is_some()));
                rows.push(next);
            }
            Next::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(known.iter().all(|&id| all.depth(id).is_none()));
    assert!(all.report().unwrap().is_complete());
    rows
}

/// The rows as the sink of the tests has them, by paths that the numbers lead to.
fn records(all: &[Rows]) -> BTreeMap<Vec<u8>, Record> {
    let mut directories = BTreeMap::new();
    for rows in all {
        let of = rows.directories();
        for row in (0..of.len()).map(|row| of.row(row)) {
            assert!(directories.insert(row.id, row).is_none(), "{row:?} twice");
        }
    }
    let path = |mut id, name: &[u8]| {
        let mut names = vec![name];
        loop {
            let row = &directories[&id];
            names.push(row.name);
            match row.parent {
                Some(parent) => id = parent,
                None => break,
            }
        }
        names.retain(|name| !name.is_empty());
        names.reverse();
        names.join(&b'/')
    };
    let mut records = BTreeMap::new();
    for row in directories.values() {
        records.insert(path(row.id, b""), Record::of(&row.attributes));
    }
    for rows in all {
        let entries = rows.entries();
        assert!(entries.len() == rows.len() && rows.len() <= Rows::MAX);
        for row in 0..entries.len() {
            let entry = entries.entry(row);
            let record = Record::of(&entry.attributes);
            let path = match entries.dir(row) {
                Some(id) => path(id, entry.name),
                None => entry.name.to_vec(),
            };
            let before = records.insert(path, record);
            assert!(before.is_none(), "{entry:?} twice");
        }
    }
    records
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_a_sink(tree in strategy::model(), threads in 1..5_usize) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, [0; 70]).unwrap();
        let scan = Scan::of([&dir, &file]).threads(threads).fields(Records.fields());
        let all = all_rows(&scan);
        let expected = scan.run(&Records).unwrap().output;
        prop_assert_eq!(&records(&all), &expected);
        prop_assert_eq!(records(&all_ordered(&scan)), expected);
        let ids = |of: &dyn Fn(&Rows) -> Vec<u32>| all.iter().flat_map(of).collect::<HashSet<_>>();
        let began = ids(&|rows| rows.directories().ids.clone());
        let finished = ids(&|rows| rows.directories().finished.clone());
        prop_assert_eq!(finished, began);
        prop_assert!(all.iter().all(|rows| rows.directories().incomplete.is_empty()));
    }
}

#[test]
fn a_large_directory_is_cut_and_buffers_are_used_again() {
    const FILES: usize = 150_000;
    let scratch = scratch_in_memory();
    make_wide(&scratch.path().join("wide"), FILES, WideFiles::Empty).unwrap();
    for threads in [1, 3] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let scan = scan.fields(Fields::NAME | Fields::ID);
        let (mut names, mut buffers, mut count) = (HashSet::new(), HashSet::new(), 0);
        for rows in scan.rows().unwrap() {
            let rows = rows.unwrap();
            let entries = rows.entries();
            assert!(entries.len() <= Rows::MAX);
            assert_eq!(entries.name_offsets.len(), entries.len() + 1);
            assert_eq!(entries.name_offsets[0], 0);
            assert_eq!(entries.attributes.inos.len(), entries.len());
            assert!(entries.attributes.size_bytes.is_empty());
            names.extend((0..entries.len()).map(|row| entries.name(row).to_vec()));
            if entries.len() > 1_000 {
                count += 1;
                buffers.insert(entries.kinds.as_ptr());
            }
        }
        assert_eq!(names.len(), FILES, "{threads} workers");
        let buffers = buffers.len();
        assert!(count > 2 && buffers < count, "{buffers} of {count}");
    }
}

#[test]
fn a_large_directory_comes_before_what_several_workers_find_in_it() {
    let scratch = scratch_in_memory();
    let wide = scratch.path().join("wide");
    make_wide(&wide, 100_000, WideFiles::Empty).unwrap();
    for number in 0..300 {
        std::fs::create_dir_all(wide.join(format!("{number}/below"))).unwrap();
    }
    for threads in [1, 2, 8] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let scan = scan.fields(Fields::NAME | Fields::SIZE);
        let all = all_ordered(&scan);
        let sum = |count: fn(&Rows) -> usize| all.iter().map(count).sum::<usize>();
        let directories = sum(|rows| rows.directories().len());
        assert_eq!((sum(Rows::len), directories), (100_000, 602));
    }
}

#[test]
fn buffers_that_were_given_away_come_back() {
    let scratch = scratch_in_memory();
    make_wide(&scratch.path().join("wide"), 150_000, WideFiles::Empty).unwrap();
    let mut all = Scan::new(scratch.path()).threads(1).rows().unwrap();
    let (mut buffers, mut count) = (HashSet::new(), 0);
    for rows in &mut all {
        let mut rows = rows.unwrap();
        // Those of directories go back by themselves.
        drop(rows.split_off_directories());
        assert!(rows.directories().is_empty());
        if rows.len() > 1_000 {
            count += 1;
            buffers.insert(rows.entries().kinds.as_ptr());
        }
        let given = rows.with_columns(Columns::default(), Directories::default());
        let (entries, directories) = rows.into_columns();
        drop(given.with_columns(entries, directories));
    }
    let buffers = buffers.len();
    assert!(count > 2 && buffers < count, "{buffers} of {count}");
}

#[test]
fn a_caller_who_takes_no_rows_slows_the_scan_down() {
    let scratch = scratch_in_memory();
    for dir in 0..40 {
        let dir = scratch.path().join(dir.to_string());
        make_wide(&dir, 10_000, WideFiles::Empty).unwrap();
    }
    let mut all = Scan::new(scratch.path()).threads(2).rows().unwrap();
    let mut count = all.next().unwrap().unwrap().len();
    std::thread::sleep(Duration::from_millis(500));
    let entries = all.progress().unwrap().entries;
    // Two workers, each with up to 26,384 of its own, and four of them that wait.
    assert!(entries < 200_000, "{entries}");
    let rest = all.by_ref().map(|rows| rows.unwrap().len());
    count += rest.sum::<usize>();
    assert_eq!(count, 400_000);
    assert!(all.finish().is_complete());

    let mut all = Scan::new(scratch.path()).threads(2).rows().unwrap();
    assert!(all.next().is_some());
    let begun = Instant::now();
    drop(all);
    let took = begun.elapsed();
    assert!(took < stretched(Duration::from_secs(5)), "{took:?}");
}

#[test]
fn arrow_takes_the_buffers_without_a_copy() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("t");
    trees::times().materialise(&dir).unwrap();
    let scan = Scan::new(&dir).fields(Fields::NAME | Fields::SIZE | Fields::MTIME);
    let validity = |bits: Bits| {
        let len = bits.len();
        let bytes = bits.into_bytes()?;
        Some(NullBuffer::new(BooleanBuffer::new(bytes.into(), 0, len)))
    };
    let (mut names_found, mut odd) = (Vec::new(), 0);
    for rows in all_rows(&scan) {
        let (entries, of) = rows.into_columns();
        let count = entries.len();
        let buffers = (entries.names.as_ptr(), entries.name_offsets.as_ptr());
        let offsets = OffsetBuffer::new(entries.name_offsets.into());
        let names = BinaryArray::new(offsets, entries.names.into(), None);
        let taken = (names.value_data().as_ptr(), names.value_offsets().as_ptr());
        assert_eq!(taken, buffers);
        let buffer = entries.attributes.size_bytes.as_ptr();
        let sizes = entries.attributes.size_bytes.into();
        let sizes = UInt64Array::new(sizes, validity(entries.is_known));
        assert_eq!((sizes.values().as_ptr(), sizes.null_count()), (buffer, 0));
        let [mtimes, ..] = entries.attributes.times_ns;
        let mtimes = mtimes.into();
        let [mtime_is_known, ..] = entries.times_are_known;
        let mtimes = Int64Array::new(mtimes, validity(mtime_is_known));
        for time in &entries.attributes.odd_times {
            let row = time.row as usize;
            assert!(mtimes.is_null(row) && time.time == Time::Modified);
            assert_eq!(names.value(row), b"year-2400");
            assert_eq!(time.seconds, 13_569_465_600);
        }
        assert_eq!(mtimes.null_count(), entries.attributes.odd_times.len());
        odd += mtimes.null_count();
        assert_eq!(UInt32Array::from(entries.dirs).len(), count);
        names_found.extend(names.iter().map(|name| name.unwrap().to_vec()));
        let offsets = OffsetBuffer::new(of.columns.name_offsets.into());
        let names = BinaryArray::new(offsets, of.columns.names.into(), None);
        names_found.extend(names.iter().map(|name| name.unwrap().to_vec()));
    }
    let entries = trees::times().entries().len();
    assert_eq!((names_found.len(), odd), (entries, 1));
}

#[test]
fn an_entry_that_cannot_be_read_is_an_error_and_a_row_without_attributes() {
    let fault = FaultFs::builder()
        .file("d/good", 1)
        .file("d/bad", 1)
        .file("e/f", 1);
    let fault = fault.fail("d/bad", Op::Getattr, Errno::IO, When::Always);
    let fault = fault.fail("e", Op::Opendir, Errno::IO, When::Always);
    let mounted = or_skip!(fault.mount());
    let scan = Scan::new(mounted.path()).fields(Fields::NAME | Fields::SIZE | Fields::MTIME);
    let (good, bad): (Vec<_>, Vec<_>) = scan.rows().unwrap().partition(Result::is_ok);
    assert_eq!(bad.len(), 2);
    let (mut known, mut incomplete) = (BTreeMap::new(), HashSet::new());
    let mut unreadable = HashSet::new();
    for rows in good.into_iter().map(Result::unwrap) {
        let (entries, of) = rows.into_columns();
        for row in 0..entries.len() {
            let is_known = entries.is_known.get(row);
            let both = [
                is_known,
                entries.times_are_known[Time::Modified.index()].get(row),
            ];
            known.insert(entries.name(row).to_vec(), both);
            let size_bytes = entries.entry(row).attributes.size_bytes();
            assert_eq!(size_bytes.is_some(), is_known);
        }
        incomplete.extend(of.incomplete.iter().copied());
        let rows = (0..of.len()).map(|row| of.row(row));
        let rows = rows.filter(|row| row.state == DirState::Unreadable);
        unreadable.extend(rows.map(|row| row.name.to_vec()));
    }
    assert_eq!(known[&b"good"[..]], [true; 2]);
    assert_eq!(known[&b"bad"[..]], [false; 2]);
    assert_eq!(incomplete.len(), 2);
    assert_eq!(unreadable, HashSet::from([b"e".to_vec()]));
}

#[test]
fn nothing_below_a_skipped_directory_comes_or_is_an_error() {
    let mut fault = FaultFs::builder();
    for number in 0..300 {
        for top in ["skipped", "wanted"] {
            let below = format!("{top}/{number}/below");
            fault = fault.file(format!("{below}/{top}"), 1);
            if number % 10 == 0 {
                fault = fault.fail(below.as_str(), Op::Opendir, Errno::IO, When::Always);
            }
        }
    }
    let mounted = or_skip!(fault.mount());
    for threads in [1, 4] {
        let scan = Scan::new(mounted.path()).threads(threads);
        let mut all = scan.errors_kept(1_000).ordered_rows().unwrap();
        let (mut known, mut entries, mut errors) = (HashSet::new(), 0, 0);
        let (mut skipped, mut next_skipped) = (None, None);
        loop {
            match all.next_within(Duration::from_secs(60)) {
                Next::Value(rows) => {
                    let of = rows.directories();
                    for row in (0..of.len()).map(|row| of.row(row)) {
                        assert!(skipped.is_none() || row.parent != skipped, "{row:?}");
                        let mut path = Vec::new();
                        assert!(all.push_path(row.id, &mut path));
                        known.insert(PathBuf::from(OsString::from_vec(path)));
                        next_skipped = next_skipped.or((row.name == b"skipped").then_some(row.id));
                    }
                    if let Some(dir) = next_skipped.filter(|_| skipped.is_none()) {
                        assert!(all.skip(dir));
                        skipped = Some(dir);
                    }
                    let of = rows.entries();
                    let dirs = (0..of.len()).filter_map(|row| of.dir(row));
                    entries += dirs.filter(|&dir| !all.is_skipped(dir)).count();
                }
                Next::Failed(error) => {
                    // After the directory above it.
                    let above = error.to_path_buf();
                    assert!(known.contains(above.parent().unwrap()), "{error}");
                    assert!(!error.to_string().contains("skipped"), "{error}");
                    errors += 1;
                }
                Next::End => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((entries, errors), (270, 30), "{threads} workers");
        let report = all.finish();
        assert_eq!((report.sum().unreadable, report.errors.len()), (30, 30));
        assert_eq!(
            report.error_counts.iter().map(|count| count.2).sum::<u64>(),
            30
        );
    }
}

/// Whether a skip took a root below along was a matter of time: the workers had read it, or
/// they had not.
#[test]
fn a_skip_leaves_other_roots_alone() {
    let scratch = scratch_in_memory();
    let above = scratch.path().join("a");
    let (root, other) = (above.join("x/root"), above.join("mounted"));
    for dir in [&root, &other] {
        std::fs::create_dir_all(dir).unwrap();
    }
    for file in [above.join("file"), above.join("entry"), root.join("entry")] {
        std::fs::write(file, "").unwrap();
    }
    let bound = statwalk_testkit::mounts::bind(&root, &other);
    let roots = [above.clone(), root.clone(), above.join("file")];
    for threads in [1, 4] {
        for is_late in [false, true] {
            let scan = Scan::of(&roots).fields(Fields::NAME).threads(threads);
            let mut all = scan.ordered_rows().unwrap();
            if is_late {
                std::thread::sleep(Duration::from_millis(20));
            }
            let mut found = Vec::new();
            loop {
                let rows = match all.next_within(Duration::from_secs(60)) {
                    Next::Value(rows) => rows,
                    Next::End => break,
                    other => panic!("{other:?}"),
                };
                let of = rows.directories();
                for row in (0..of.len()).map(|row| of.row(row)) {
                    found.extend(row.parent.is_none().then(|| row.name.to_vec()));
                    if row.name == above.as_os_str().as_encoded_bytes() {
                        assert!(all.skip(row.id));
                    }
                }
                let of = all.without_skipped(rows);
                let of = of.entries();
                found.extend((0..of.len()).map(|row| of.name(row).to_vec()));
            }
            let paths = roots.iter().map(|root| root.as_os_str());
            let mut expected: Vec<_> = paths.map(|path| path.as_encoded_bytes().to_vec()).collect();
            expected.push(b"entry".to_vec());
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{threads} workers, late: {is_late}");
            assert!(all.finish().is_complete());
        }
    }
    drop(bound);
}
