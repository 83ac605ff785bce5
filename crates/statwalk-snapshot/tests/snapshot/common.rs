// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes snapshots of trees for the tests.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use statwalk_core::{Fields, Scan};
use statwalk_snapshot::{
    Facts, FileSystem, Folder, Machine, Manifest, MergeOptions, Part, Root, Space, field_names,
    merge,
};

/// A machine with two users. A tag of a cache is read from the disk.
pub(crate) struct TestMachine;

impl Machine for TestMachine {
    fn user(&mut self, uid: u32) -> Option<Vec<u8>> {
        match uid {
            0 => Some(b"root".to_vec()),
            7 => Some(b"caf\xE9".to_vec()),
            _ => None,
        }
    }

    fn group(&mut self, gid: u32) -> Option<Vec<u8>> {
        (gid == 0).then(|| b"wheel".to_vec())
    }

    fn file_system(&mut self, dev: u64) -> FileSystem {
        FileSystem {
            identity: format!("device {dev}"),
            kind: "ext4".to_owned(),
            mount_point: b"/".to_vec(),
            begin: Some(Space {
                block_bytes: 4096,
                blocks: 100,
                ..Space::default()
            }),
            end: None,
        }
    }

    fn is_cachedir(&mut self, path: &[u8]) -> Option<bool> {
        let path = Path::new(std::str::from_utf8(path).ok()?).join("CACHEDIR.TAG");
        let text = std::fs::read(path).ok()?;
        Some(text.starts_with(b"Signature: 8a477f597d28d172789f06886806bc55"))
    }
}

/// The begin of each scan: in 2096, before the latest time of a named tree.
pub(crate) const BEGAN_NS: i64 = 4_000_000_000_000_000_000;

/// All fields of a scan.
pub(crate) fn all_fields() -> Fields {
    Fields::ALL
}

/// The rows of a scan, and the facts about it.
pub(crate) fn part_of(scan: &Scan, roots: &[&[u8]], fields: Fields) -> (Part, Facts) {
    let mut part = Part::new();
    let mut rows = scan.clone().fields(fields).rows().unwrap();
    for next in &mut rows {
        match next {
            Ok(rows) => part.add_rows(&rows).unwrap(),
            Err(error) => part.add_error(&error),
        }
    }
    let report = rows.finish();
    let roots = roots.iter().zip(&report.roots).map(|(path, root)| Root {
        path: path.to_vec(),
        absolute: path.to_vec(),
        missing: root.missing.map(|errno| errno.0),
        reached_earlier: root.reached_earlier,
        interrupted: root.interrupted,
        unreadable: root.unreadable,
        vanished: root.vanished,
        changed_dirs: root.changed_dirs,
        excluded: root.excluded,
        crossings: root.crossings,
        restless_dirs: root.restless_dirs,
        overlays_left_out: root.overlays_left_out,
        mounts_perhaps_twice: root.mounts_perhaps_twice,
        repeated_names: root.repeated_names,
    });
    let facts = Facts {
        program: "tests".to_owned(),
        host: "here".to_owned(),
        roots: roots.collect(),
        fields: field_names(fields),
        interrupted: report.interrupted,
        began_ns: BEGAN_NS,
        ..Facts::default()
    };
    (part, facts)
}

/// Stores a part.
pub(crate) fn store(
    part: &Part,
    facts: Facts,
    at: &Path,
    options: &MergeOptions,
) -> (PathBuf, Manifest) {
    let folder = Folder::begin(at, 7).unwrap();
    let manifest = merge(part, facts, &mut TestMachine, &folder, options).unwrap();
    let number = std::fs::read_dir(at).unwrap().count();
    let name = format!("snapshot-{number}");
    let path = folder.finish(&manifest, OsStr::new(&name)).unwrap();
    (path, manifest)
}

/// Scans one root with all fields, and stores the scan.
pub(crate) fn snapshot_of(root: &Path, at: &Path) -> (PathBuf, Manifest) {
    use std::os::unix::ffi::OsStrExt;
    let bytes = root.as_os_str().as_bytes();
    let (part, facts) = part_of(&Scan::new(root), &[bytes], all_fields());
    store(&part, facts, at, &MergeOptions::default())
}
