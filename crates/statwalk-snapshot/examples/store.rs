// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stores a scan: `store PATH PARENT NAME`. The snapshot is the folder NAME in PARENT.
//!
//! A fourth argument is the number of rows that lie in memory before they go to the disk.

#![allow(clippy::print_stdout, reason = "a program may print")]

use std::error::Error;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use statwalk_core::{Fields, Scan};
use statwalk_snapshot::{
    Facts, FileSystem, Folder, Machine, MergeOptions, Root, Spool, field_names,
};

/// A machine that knows no names.
struct Nameless;

impl Machine for Nameless {
    fn user(&mut self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn group(&mut self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn file_system(&mut self, dev: u64) -> FileSystem {
        FileSystem {
            identity: format!("device {dev}"),
            ..FileSystem::default()
        }
    }

    fn is_cachedir(&mut self, _: &[u8]) -> Option<bool> {
        None
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let [Some(path), Some(parent), Some(name)] = std::array::from_fn(|_| arguments.next()) else {
        return Err("usage: store PATH PARENT NAME [ROWS]".into());
    };
    let parent = PathBuf::from(parent);
    let fields = Fields::ALL;
    let folder = Folder::begin(&parent, std::process::id().into())?;
    let mut spool = Spool::new(&folder);
    if let Some(rows_max) = arguments.next() {
        spool = spool.with_rows_max(rows_max.to_string_lossy().parse()?);
    }
    let mut rows = Scan::new(&path).fields(fields).rows()?;
    for found in &mut rows {
        match found {
            Ok(rows) => spool.add_rows(&rows)?,
            Err(error) => spool.add_error(&error),
        }
    }
    let report = rows.finish();
    let facts = Facts {
        program: "an example".to_owned(),
        roots: vec![Root {
            path: path.as_bytes().to_vec(),
            absolute: std::fs::canonicalize(&path)?
                .as_os_str()
                .as_bytes()
                .to_vec(),
            unreadable: report.roots[0].unreadable,
            ..Root::default()
        }],
        fields: field_names(fields),
        interrupted: report.interrupted,
        ..Facts::default()
    };
    let manifest = spool.merge(facts, &mut Nameless, &MergeOptions::default())?;
    let path = folder.finish(&manifest, &name)?;
    let (bytes, entries) = (manifest.bytes(), manifest.counts.entries);
    println!("{}: {entries} entries, {bytes} bytes", path.display());
    Ok(())
}
