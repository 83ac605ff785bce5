// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names alone cost no call for an entry, also where the file system lists no types.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::time::{Duration, SystemTime};

use statwalk_core::{Fields, FileType};
use statwalk_stream::{PATH, Request, Step, Tables, Walk};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Scratch, or_skip};

const FILES: u64 = 2_000;
const LONG: Duration = Duration::from_secs(60);

/// Files and the directories that entries tell, and the calls of the scan.
fn walk(root: &Path, columns: u32) -> (u64, u64, u64) {
    let mut request = Request::new(root);
    assert!(request.set_columns(columns));
    let mut walk = Walk::new(&request).unwrap();
    let (mut files, mut dirs) = (0, 0);
    loop {
        match walk.next_within(LONG).unwrap() {
            Step::Value(()) => match walk.entry().attributes.kind {
                FileType::Directory => dirs += 1,
                _ => files += 1,
            },
            Step::End => break,
            step => panic!("{step:?}"),
        }
    }
    (files, dirs, walk.finish().unwrap().calls)
}

fn tables(root: &Path, columns: u32) -> (u64, u64, u64) {
    let mut request = Request::new(root);
    assert!(request.set_columns(columns));
    let mut tables = Tables::new(&request).unwrap();
    let (mut files, mut dirs) = (0, 0);
    loop {
        match tables.next_within(LONG).unwrap() {
            Step::Value(table) if table.directories().is_empty() => {
                files += table.columns().len() as u64;
            }
            Step::Value(table) => dirs += table.columns().len() as u64,
            Step::End => break,
            step => panic!("{step:?}"),
        }
    }
    (files, dirs, tables.finish().unwrap().calls)
}

#[test]
fn names_alone_cost_a_few_calls() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mnt").unwrap();
    let mounted = or_skip!(FileSystem::Ext4WithoutFiletype.mount(&at));
    let flat = mounted.path().join("flat");
    std::fs::create_dir_all(flat.join("thumbnails")).unwrap();
    for number in 0..FILES {
        std::fs::write(flat.join(format!("{number}.jpg")), b"").unwrap();
    }
    // What changed a moment ago is not trusted.
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    std::fs::File::open(&flat)
        .unwrap()
        .set_modified(hour_ago)
        .unwrap();
    let name = Fields::NAME.bits();
    for scan in [walk, tables] {
        for columns in [name, name | PATH] {
            let (files, dirs, calls) = scan(&flat, columns);
            assert_eq!((files, dirs), (FILES, 2));
            assert!(calls < 40, "{calls}");
        }
        let (files, dirs, calls) = scan(&flat, name | Fields::TYPE.bits());
        assert_eq!((files, dirs), (FILES, 2));
        assert!(calls > FILES, "{calls}");
    }
}
