// SPDX-License-Identifier: MIT OR Apache-2.0

//! The memory of a merge has the bound that `docs/snapshot.md` states. The test is alone in its
//! process, because it looks at the peak of the process.

#![allow(
    clippy::unwrap_used,
    reason = "clippy takes helpers of tests for code of the product"
)]

use std::ffi::OsStr;

use statwalk_core::{Columns, Directories, FileType};
use statwalk_snapshot::{
    Facts, FileSystem, Folder, Found, Machine, MergeOptions, Root, Snapshot, Spool,
};
use statwalk_testkit::Scratch;

const DIRS: u32 = 30_000;
const FILES_EACH: u32 = 14;

struct Nameless;

impl Machine for Nameless {
    fn user(&mut self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn group(&mut self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn file_system(&mut self, _: u64) -> FileSystem {
        FileSystem::default()
    }

    fn is_cachedir(&mut self, _: &[u8]) -> Option<bool> {
        None
    }
}

fn push(columns: &mut Columns, dir: Option<u32>, name: &str, kind: FileType, number: u64) {
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
    of.size_bytes.push(number % 100_000);
    of.allocated_bytes.push(number % 100_000 / 4096 * 4096);
    // Every eighth file has two names, in two directories.
    of.links.push(if number.is_multiple_of(8) { 2 } else { 1 });
    of.inos.push(if number.is_multiple_of(8) {
        number / 16
    } else {
        number
    });
    of.devs.push(1);
    of.uids.push((number % 50) as u32);
    of.gids.push(0);
    of.modes.push(0o100_644);
    for time in 0..4 {
        columns.times_are_known[time].push(true);
        of.times_ns[time].push((number % (1 << 40) * 7_919) as i64);
    }
}

/// The peak of the memory of this process, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<u64>().unwrap() * 1024
}

/// How many calls of this process have read, and how many bytes.
fn reads() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/io").unwrap();
    let of = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    (of("syscr:"), of("rchar:"))
}

#[test]
fn the_memory_of_a_merge_grows_with_the_directories_alone() {
    let at = Scratch::new().unwrap();
    let before = peak_bytes();
    let folder = Folder::begin(at.path(), 1).unwrap();
    let mut spool = Spool::new(&folder).with_rows_max(100_000);
    let mut number = 0;
    for dir in 0..DIRS {
        // A parent comes after its children as often as before them.
        let id = dir.reverse_bits() >> 8;
        let parent = (dir > 0).then(|| (dir / 10).reverse_bits() >> 8);
        let (mut entries, mut directories) = (Columns::default(), Directories::default());
        directories.ids = vec![id];
        directories.roots = vec![0];
        directories.states = vec![0];
        directories.finished = vec![id];
        let name = match dir {
            0 => "/made".to_owned(),
            _ => format!("dir-{dir:08}"),
        };
        push(
            &mut directories.columns,
            parent,
            &name,
            FileType::Directory,
            u64::from(dir) << 40 | 1,
        );
        for file in 0..FILES_EACH {
            number += 1;
            let name = format!("file-{:05}.txt", file * 37 % 101);
            push(&mut entries, Some(id), &name, FileType::File, number);
        }
        spool.add_columns(&entries, &directories).unwrap();
    }
    let facts = Facts {
        roots: vec![Root {
            path: b"/made".to_vec(),
            absolute: b"/made".to_vec(),
            ..Root::default()
        }],
        ..Facts::default()
    };
    let manifest = spool
        .merge(facts, &mut Nameless, &MergeOptions::default())
        .unwrap();
    let bytes = peak_bytes() - before;
    assert_eq!(manifest.counts.entries, u64::from(DIRS * (FILES_EACH + 1)));
    let bound = (128 << 20) + u64::from(DIRS) * (100 + 12);
    assert!(bytes < bound, "{bytes} bytes, and the bound is {bound}");
    let path = folder.finish(&manifest, OsStr::new("made")).unwrap();
    // The first screen of a directory in the middle: a small part of the files.
    let before = reads();
    let snapshot = Snapshot::open(&path).unwrap();
    let Some(Found::Dir(dir)) = snapshot.find(b"/made/dir-00000003/dir-00000031").unwrap() else {
        panic!("it was made");
    };
    let children = snapshot.children(&dir).unwrap();
    let (count, read) = (reads().0 - before.0, reads().1 - before.1);
    assert_eq!(children.len() as u64, dir.entry_count);
    println!("{count} reads of {read} bytes, of {}", manifest.bytes());
    assert!(
        count < 300 && read < 1 << 20,
        "{count} reads of {read} bytes"
    );
    assert_eq!(
        snapshot.dir(0).unwrap().sums.entries + 1,
        manifest.counts.entries
    );
    println!(
        "{} bytes an entry",
        manifest.bytes() / manifest.counts.entries
    );
    println!("{bytes} bytes of memory, and {bound} is the bound");
}
