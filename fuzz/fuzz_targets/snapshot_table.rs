// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as the file of one table of a snapshot, whose other tables are its own.
//!
//! The first byte chooses the table, and the next two are the number of its rows.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use statwalk_snapshot::{
    Facts, FileSystem, Folder, MANIFEST_NAME, Machine, Manifest, MergeOptions, Part, Snapshot,
    check, merge,
};

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

/// A snapshot of nothing, in a folder of this process.
static EMPTY: LazyLock<(PathBuf, Manifest)> = LazyLock::new(|| {
    // The library may panic, which the reader catches; our own code may not.
    std::panic::set_hook(Box::new(|panic| {
        let is_ours = |file: &str| file.contains("statwalk");
        if panic.location().is_none_or(|location| is_ours(location.file())) {
            eprintln!("{panic}");
            std::process::abort();
        }
    }));
    let parent = std::env::temp_dir();
    let folder = Folder::begin(&parent, std::process::id().into()).expect("a temporary folder");
    let options = MergeOptions::default();
    let manifest = merge(&Part::new(), Facts::default(), &mut Nameless, &folder, &options);
    let manifest = manifest.expect("nothing is a scan");
    let name = format!("statwalk-fuzz-{}", std::process::id());
    let path = folder.finish(&manifest, name.as_ref()).expect("the name is free");
    (path, manifest)
});

fuzz_target!(|bytes: &[u8]| {
    let [table, low, high, bytes @ ..] = bytes else {
        return;
    };
    let (path, manifest) = &*EMPTY;
    let mut manifest = manifest.clone();
    let tables = &mut manifest.tables;
    let file = match table % 5 {
        0 => &mut tables.entries[0],
        1 => &mut tables.dirs[0],
        2 => &mut tables.errors[0],
        3 => &mut tables.owners[0],
        _ => &mut tables.filesystems[0],
    };
    file.rows = u64::from(u16::from_le_bytes([*low, *high]));
    file.bytes = bytes.len() as u64;
    let (name, old) = (path.join(&file.name), fs::read(path.join(&file.name)));
    fs::write(&name, bytes).expect("the folder is ours");
    manifest.counts.entries = manifest.tables.entries[0].rows;
    manifest.counts.dirs = manifest.tables.dirs[0].rows;
    manifest.devices = vec![Vec::new(); manifest.tables.filesystems[0].rows as usize];
    fs::write(path.join(MANIFEST_NAME), manifest.to_json()).expect("the folder is ours");
    if let Ok(snapshot) = Snapshot::open(path) {
        let _ = snapshot.entries(0..manifest.counts.entries);
        let _ = snapshot.dirs(0..manifest.counts.dirs);
        let _ = (snapshot.errors(), snapshot.owners(), snapshot.file_systems());
        let _ = snapshot.find(b"/a/b");
        let _ = check(path);
    }
    fs::write(&name, old.expect("it was there")).expect("the folder is ours");
});
