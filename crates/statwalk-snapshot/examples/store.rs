// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stores a scan: `store PATH PARENT NAME`. The snapshot is the folder NAME in PARENT.

#![allow(clippy::print_stdout, reason = "a program may print")]

use std::error::Error;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use statwalk_core::{Fields, Scan};
use statwalk_snapshot::{
    Facts, FileSystem, Folder, Machine, MergeOptions, Part, Root, field_names, merge,
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
    let mut next = || -> Result<OsString, Box<dyn Error>> {
        arguments
            .next()
            .ok_or_else(|| "store PATH PARENT NAME".into())
    };
    let (path, parent, name) = (next()?, PathBuf::from(next()?), next()?);
    let fields = Fields::ALL;
    let mut rows = Scan::new(&path).fields(fields).rows()?;
    let mut part = Part::new();
    for found in &mut rows {
        match found {
            Ok(rows) => part.add_rows(&rows)?,
            Err(error) => part.add_error(&error),
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
    let folder = Folder::begin(&parent, std::process::id().into())?;
    let manifest = merge(
        &part,
        facts,
        &mut Nameless,
        &folder,
        &MergeOptions::default(),
    )?;
    let path = folder.finish(&manifest, &name)?;
    let (bytes, entries) = (manifest.bytes(), manifest.counts.entries);
    println!("{}: {entries} entries, {bytes} bytes", path.display());
    Ok(())
}
