// SPDX-License-Identifier: MIT OR Apache-2.0

//! Very deep trees with few descriptors. The limit holds for the whole process, so this
//! test is alone in its program.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit};
use statwalk_remove::{End, Item, Manner, Monitor, Removal, Surroundings, survey};
use statwalk_testkit::Scratch;

const DEPTH: u64 = 100_000;

#[test]
fn a_tree_of_100_000_levels_goes_with_20_descriptors() {
    // In memory where possible: a disk takes ten times as long.
    let memory = std::path::Path::new("/dev/shm");
    let scratch = Scratch::within(memory).unwrap_or_else(|_| Scratch::new().unwrap());
    let dir = scratch.subdirectory("deep").unwrap();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut here = rustix::fs::open(&dir, flags, Mode::empty()).unwrap();
    for _ in 1..DEPTH {
        rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
        rustix::fs::mkdirat(&here, "e", Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, "d", flags, Mode::empty()).unwrap();
    }
    drop(here);
    let limit = Rlimit {
        current: Some(20),
        maximum: Some(20),
    };
    rustix::process::setrlimit(Resource::Nofile, limit).unwrap();
    let item = Item::look(dir.as_os_str().as_bytes()).unwrap();
    let surroundings = Surroundings::read(None).unwrap();
    let begin = Instant::now();
    let found = survey(std::slice::from_ref(&item), &surroundings, &Monitor::new());
    println!("survey: {:?}", begin.elapsed());
    assert_eq!(
        found.failures.count,
        0,
        "{:?}",
        found.failures.listed.first()
    );
    assert_eq!(found.total.directory_count, 2 * DEPTH - 1);
    let begin = Instant::now();
    let removal = Removal::new(vec![item], Manner::Permanent, surroundings);
    let outcome = removal.run(&Monitor::new());
    println!("removal: {:?}", begin.elapsed());
    assert_eq!(outcome.items[0].end, End::Removed);
    assert_eq!(outcome.entry_count, 2 * DEPTH - 1);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}
