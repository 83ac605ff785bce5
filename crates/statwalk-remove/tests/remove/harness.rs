// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees in a scratch directory, items of them, and removals in one line.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use statwalk_remove::{
    Cause, Item, Manner, Monitor, Outcome, Removal, Surroundings, Survey, survey,
};
use statwalk_testkit::Scratch;

/// A directory in memory where there is one: races need many trees.
pub(crate) fn fast_scratch() -> Scratch {
    let memory = Path::new("/dev/shm");
    Scratch::within(memory).unwrap_or_else(|_| Scratch::new().unwrap())
}

pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Makes files with their directories. A name that ends with `/` is a directory.
pub(crate) fn make(root: &Path, names: &[&str]) -> PathBuf {
    for name in names {
        let path = root.join(name);
        if name.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name.as_bytes()).unwrap();
        }
    }
    root.to_owned()
}

pub(crate) fn item(path: &Path) -> Item {
    Item::look(bytes(path)).unwrap()
}

pub(crate) fn surroundings() -> Surroundings {
    Surroundings::read(None).unwrap()
}

pub(crate) fn removal(paths: &[&Path]) -> Removal {
    let items = paths.iter().map(|path| item(path)).collect();
    Removal::new(items, Manner::Permanent, surroundings())
}

pub(crate) fn remove(paths: &[&Path]) -> Outcome {
    let monitor = Monitor::new();
    let outcome = removal(paths).run(&monitor);
    // Whoever looks on knows all of them.
    assert_eq!(monitor.failure_count(), outcome.failures.count);
    outcome
}

pub(crate) fn survey_of(paths: &[&Path]) -> Survey {
    let items: Vec<Item> = paths.iter().map(|path| item(path)).collect();
    survey(&items, &surroundings(), &Monitor::new())
}

pub(crate) fn causes(outcome: &Outcome) -> Vec<Cause> {
    let listed = outcome.failures.listed.iter();
    listed.map(|failure| failure.cause.clone()).collect()
}

/// Names and contents below a directory, in order.
pub(crate) fn snapshot(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let content = match entry.file_type().unwrap() {
                kind if kind.is_dir() => {
                    waiting.push(entry.path());
                    Vec::new()
                }
                kind if kind.is_symlink() => bytes(&fs::read_link(entry.path()).unwrap()).to_vec(),
                _ => fs::read(entry.path()).unwrap(),
            };
            found.push((entry.path(), content));
        }
    }
    found.sort();
    found
}
