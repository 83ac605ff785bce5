// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers, times and shapes at the ends of what there is.

use std::os::unix::ffi::OsStrExt;

use statwalk_core::{
    Columns, Context, Directories, Fields, FileType, OddTime, Replay, Scan, Time, Totals,
};
use statwalk_snapshot::{
    ErrorKind, Facts, Folder, Found, MergeOptions, Part, Root, Snapshot, Spool, check, field_names,
};
use statwalk_testkit::{Scratch, trees};

use crate::common::{TestMachine, part_of, store};

/// A row with all attributes, of which the size and the inode number are the caller's.
fn push(columns: &mut Columns, dir: Option<u32>, name: &str, kind: FileType, numbers: [u64; 2]) {
    if columns.name_offsets.is_empty() {
        columns.name_offsets.push(0);
    }
    columns.dirs.push(dir.unwrap_or(0));
    columns.has_dir.push(dir.is_some());
    columns.names.extend_from_slice(name.as_bytes());
    columns.name_offsets.push(columns.names.len() as i32);
    columns.kinds.push(kind.number());
    columns.is_direct.push(true);
    columns.is_known.push(true);
    let of = &mut columns.attributes;
    let [size, ino] = numbers;
    of.size_bytes.push(size);
    of.allocated_bytes.push(size);
    of.links.push(1);
    of.uids.push(u32::MAX);
    of.gids.push(u32::MAX);
    of.modes.push(u16::MAX);
    of.rdevs.push(u64::MAX);
    of.flags.push(u32::MAX);
    of.flags_masks.push(u32::MAX);
    of.inos.push(ino);
    of.devs.push(u64::MAX);
}

/// Adds the times of the last row, in seconds: nanoseconds hold some of them.
fn push_times(columns: &mut Columns, seconds: i64) {
    let row = columns.kinds.len() as u32 - 1;
    let ns = seconds.checked_mul(1_000_000_000);
    for time in Time::ALL {
        columns.times_are_known[time.index()].push(ns.is_some());
        let mark = if seconds < 0 { i64::MIN } else { i64::MAX };
        columns.attributes.times_ns[time.index()].push(ns.unwrap_or(mark));
        if ns.is_none() {
            let odd = OddTime::new(row, time, seconds);
            columns.attributes.odd_times.push(odd);
        }
    }
}

#[test]
fn numbers_beyond_63_bits_and_odd_times_come_back() {
    let mut directories = Directories::default();
    directories.ids = vec![5, 7];
    directories.roots = vec![0, 0];
    directories.states = vec![0, 0];
    directories.finished = vec![7, 5];
    let of = &mut directories.columns;
    for (dir, name) in [(None, "/far"), (Some(5), "below")] {
        push(of, dir, name, FileType::Directory, [1 << 52, u64::MAX]);
        push_times(of, -1);
    }
    let mut entries = Columns::default();
    let seconds = [
        i64::MIN,
        -9_223_372_037,
        -9_223_372_036,
        0,
        9_223_372_036,
        9_223_372_037,
        i64::MAX,
    ];
    for (at, seconds) in seconds.into_iter().enumerate() {
        let size = [u64::MAX, 1 << 53, 1 << 63, (1 << 63) - 1][at % 4];
        push(
            &mut entries,
            Some(7),
            &format!("{at}"),
            FileType::File,
            [size, u64::MAX - 1 - at as u64],
        );
        push_times(&mut entries, seconds);
    }
    let mut part = Part::new();
    part.add_columns(&entries, &directories).unwrap();
    let facts = Facts {
        roots: vec![Root {
            path: b"/far".to_vec(),
            absolute: b"/far".to_vec(),
            ..Root::default()
        }],
        fields: field_names(Fields::ALL),
        ..Facts::default()
    };
    let at = Scratch::new().unwrap();
    let options = MergeOptions {
        access_times: true,
        ..MergeOptions::default()
    };
    let (path, manifest) = store(&part, facts, at.path(), &options);
    assert_eq!(check(&path).unwrap().faults, []);
    let sum = entries
        .attributes
        .size_bytes
        .iter()
        .map(|&size| u128::from(size))
        .sum();
    assert_eq!(manifest.counts.size_bytes, sum);
    assert!(sum > 1 << 64);
    let snapshot = Snapshot::open(&path).unwrap();
    let mut found = snapshot.scan_rows(None, Fields::ALL).unwrap();
    let (rows, dirs) = found.next().unwrap().unwrap();
    for (found, expected) in [(&rows, &entries), (&dirs.columns, &directories.columns)] {
        assert_eq!(found.names, expected.names);
        assert_eq!(found.times_are_known, expected.times_are_known);
        let [a, b] = [&found.attributes, &expected.attributes];
        assert_eq!(
            (&a.size_bytes, &a.inos, &a.devs),
            (&b.size_bytes, &b.inos, &b.devs)
        );
        assert_eq!((&a.rdevs, &a.modes, &a.uids), (&b.rdevs, &b.modes, &b.uids));
        assert_eq!((&a.flags, &a.flags_masks), (&b.flags, &b.flags_masks));
        assert_eq!((&a.times_ns, &a.odd_times), (&b.times_ns, &b.odd_times));
    }
    let dir = snapshot.dir(0).unwrap();
    assert_eq!(dir.sums.size_bytes, sum);
    assert_eq!(dir.sums.allocated_bytes, sum + (1 << 52));
    let mut replay = Replay::new(Totals::new(), Context::new(["/far"], 0));
    for rows in snapshot.scan_rows(None, Fields::ALL).unwrap() {
        let (entries, directories) = rows.unwrap();
        assert!(replay.columns(&entries, &directories).is_continue());
    }
    let sizes = replay.finish().unwrap()[0].sizes.unwrap();
    assert_eq!(sizes.apparent_bytes, sum);
}

/// A worker that hangs keeps directories to itself. What lies below is left out of a partial
/// snapshot, and an error in a whole one.
#[test]
fn rows_without_their_directory_are_left_out_of_a_partial_snapshot() {
    let mut directories = Directories::default();
    directories.ids = vec![5, 7, 8, 10, 11];
    directories.roots = vec![0; 5];
    directories.states = vec![0; 5];
    directories.finished = vec![7, 8, 99];
    directories.incomplete = vec![98, 5];
    let of = &mut directories.columns;
    // 8 lies in one that did not come; 10 and 11 lie in each other.
    let parents = [
        (None, "/far"),
        (Some(5), "below"),
        (Some(6), "a"),
        (Some(11), "b"),
        (Some(10), "c"),
    ];
    for (dir, name) in parents {
        push(of, dir, name, FileType::Directory, [0, 1]);
        push_times(of, 0);
    }
    let mut entries = Columns::default();
    for (at, dir) in [7, 6, 8, 10, 5, 7].into_iter().enumerate() {
        push(
            &mut entries,
            Some(dir),
            &format!("{at}"),
            FileType::File,
            [1, 50 + at as u64],
        );
        push_times(&mut entries, if at == 5 { i64::MAX } else { 1 });
    }
    let mut facts = Facts {
        roots: vec![Root {
            path: b"/far".to_vec(),
            interrupted: true,
            ..Root::default()
        }],
        fields: field_names(Fields::ALL),
        interrupted: true,
        ..Facts::default()
    };
    let options = MergeOptions {
        partial: true,
        ..MergeOptions::default()
    };
    let at = Scratch::new().unwrap();
    let mut all = Vec::new();
    for rows_max in [1, 1000] {
        let folder = Folder::begin(at.path(), 9).unwrap();
        let mut spool = Spool::new(&folder).with_rows_max(rows_max);
        spool.add_columns(&entries, &directories).unwrap();
        let manifest = spool
            .merge(facts.clone(), &mut TestMachine, &options)
            .unwrap();
        let path = folder
            .finish(&manifest, format!("{rows_max}").as_ref())
            .unwrap();
        assert_eq!(check(&path).unwrap().faults, []);
        let snapshot = Snapshot::open(&path).unwrap();
        let names = snapshot.entries(0..manifest.counts.entries).unwrap();
        let names: Vec<_> = names.into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, [&b"/far"[..], b"4", b"below", b"0", b"5"]);
        assert!(!manifest.complete && !snapshot.dir(0).unwrap().is_finished);
        assert!(snapshot.dir(0).unwrap().is_incomplete && snapshot.dir(1).unwrap().is_finished);
        all.push(manifest);
    }
    assert_eq!(all[0], all[1]);
    facts.interrupted = false;
    for rows_max in [1, 1000] {
        let folder = Folder::begin(at.path(), 9).unwrap();
        let mut spool = Spool::new(&folder).with_rows_max(rows_max);
        spool.add_columns(&entries, &directories).unwrap();
        let error = spool
            .merge(facts.clone(), &mut TestMachine, &options)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unfit);
    }
}

#[test]
fn times_of_access_are_kept_on_request_alone() {
    let scratch = Scratch::new().unwrap();
    std::fs::write(scratch.path().join("file"), "x").unwrap();
    let at = Scratch::new().unwrap();
    let root = scratch.path().as_os_str().as_bytes();
    for access_times in [false, true] {
        let (part, facts) = part_of(&Scan::new(scratch.path()), &[root], Fields::ALL);
        let options = MergeOptions {
            access_times,
            ..MergeOptions::default()
        };
        let (path, _) = store(&part, facts, at.path(), &options);
        let entry = Snapshot::open(&path).unwrap().entry(1).unwrap();
        assert_eq!(
            entry.times_ns[Time::Accessed.index()].is_some(),
            access_times
        );
        assert!(entry.times_ns[Time::Modified.index()].is_some());
    }
}

#[test]
fn twenty_thousand_levels_come_back() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("deep");
    trees::deep(20_000).materialise(&root).unwrap();
    let at = Scratch::new().unwrap();
    let name = root.as_os_str().as_bytes();
    let (part, facts) = part_of(&Scan::new(&root), &[name], Fields::ALL);
    let (path, manifest) = store(&part, facts, at.path(), &MergeOptions::default());
    assert!(manifest.counts.dirs > 20_000);
    let snapshot = Snapshot::open(&path).unwrap();
    let last = snapshot.dir(snapshot.dir_count() - 1).unwrap();
    assert_eq!(last.path, None);
    let deepest = snapshot.path(last.number).unwrap();
    assert!(deepest.len() > 40_000 && deepest.starts_with(name));
    assert_eq!(
        snapshot.find(&deepest).unwrap(),
        Some(Found::Dir(Box::new(last)))
    );
    assert_eq!(check(&path).unwrap().faults, []);
    let mut replay = Replay::new(Totals::new(), snapshot.context(0));
    for rows in snapshot.scan_rows(None, Fields::ALL).unwrap() {
        let (entries, directories) = rows.unwrap();
        assert!(replay.columns(&entries, &directories).is_continue());
    }
    let totals = replay.finish().unwrap()[0];
    assert_eq!(
        (totals.entries, totals.dirs),
        (manifest.counts.entries, manifest.counts.dirs)
    );
}

#[test]
fn a_directory_of_300_000_files_comes_back() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("wide");
    let expected = trees::make_wide(&root, 300_000, trees::WideFiles::Empty).unwrap();
    let at = Scratch::new().unwrap();
    let name = root.as_os_str().as_bytes();
    let (part, facts) = part_of(&Scan::new(&root), &[name], Fields::ALL);
    let (path, manifest) = store(&part, facts, at.path(), &MergeOptions::default());
    assert_eq!(manifest.counts.entries, expected.entries);
    let snapshot = Snapshot::open(&path).unwrap();
    // Beyond the first row group.
    let dir = snapshot.dir(0).unwrap();
    for row in [dir.first_entry, 262_143, 262_144, dir.rows().end - 1] {
        let entry = snapshot.entry(row).unwrap();
        let path = [name, &entry.name[..]].join(&b'/');
        let found = snapshot.find(&path).unwrap();
        assert_eq!(found, Some(Found::Entry(Box::new(entry))));
    }
}
