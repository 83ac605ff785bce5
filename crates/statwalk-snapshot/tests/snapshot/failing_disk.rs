// SPDX-License-Identifier: MIT OR Apache-2.0

//! A disk that takes nothing more, at each place of a write.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind as IoKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{Fields, Scan};
use statwalk_snapshot::{Error, ErrorKind, Folder, MergeOptions, Spool, check};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Scratch, or_skip, trees};

use crate::common::{TestMachine, part_of};

/// Stores a scan of a tree, by rows on the disk.
fn store(root: &Path, at: &Path) -> Result<(), Error> {
    let scan = Scan::new(root);
    let (_, facts) = part_of(&scan, &[root.as_os_str().as_bytes()], Fields::ALL);
    let folder = Folder::begin(at, 5)?;
    let mut spool = Spool::new(&folder).with_rows_max(200);
    let mut rows = scan.fields(Fields::ALL).rows().unwrap();
    for found in &mut rows {
        spool.add_rows(&found.unwrap())?;
    }
    assert!(rows.finish().is_complete());
    let manifest = spool.merge(facts, &mut TestMachine, &MergeOptions::default())?;
    folder.finish(&manifest, OsStr::new("new"))?;
    Ok(())
}

#[test]
fn a_full_disk_leaves_nothing_or_a_whole_snapshot() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("tree");
    trees::basic().materialise(&root).unwrap();
    trees::wide(2000).materialise(&root.join("wide")).unwrap();
    let at = scratch.path().join("small");
    fs::create_dir(&at).unwrap();
    let mounted = or_skip!(FileSystem::Tmpfs.mount_sized(&at, 4 << 20));
    let at = mounted.path();
    let (mut failed, mut stored) = (0, 0);
    // From no room at all to more than it takes, one page of tmpfs after another.
    for pages in 0.. {
        let filler = at.join("filler");
        fs::write(&filler, vec![7; (4 << 20) - pages * 4096]).ok();
        match store(&root, at) {
            Ok(()) => {
                let path = at.join("new");
                assert_eq!(check(&path).unwrap().faults, []);
                fs::remove_dir_all(path).unwrap();
                stored += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error}");
                let kind = error.io_error().map(std::io::Error::kind);
                assert_eq!(kind, Some(IoKind::StorageFull), "{error}");
                failed += 1;
            }
        }
        fs::remove_file(&filler).ok();
        assert_eq!(fs::read_dir(at).unwrap().count(), 0, "after {pages} pages");
        if stored == 3 {
            break;
        }
    }
    assert!(failed > 20, "{failed}");
    mounted.unmount().unwrap();
}

#[test]
fn a_target_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("tree");
    trees::basic().materialise(&root).unwrap();
    let at = scratch.path().join("read-only");
    fs::create_dir(&at).unwrap();
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    or_skip!(
        mounted
            .make_read_only()
            .map_err(|_| statwalk_testkit::Skipped::needs("a mount that can be read-only"))
    );
    let error = store(&root, mounted.path()).unwrap_err();
    assert_eq!(
        error.io_error().map(std::io::Error::kind),
        Some(IoKind::ReadOnlyFilesystem)
    );
    assert!(error.to_string().starts_with("create "), "{error}");
    mounted.unmount().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(store(&root, &file).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}
