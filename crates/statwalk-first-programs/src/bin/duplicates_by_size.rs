// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files of the same size: candidates for a search for duplicates.
//!
//! It goes on after an entry that it cannot read, and says so at the end.

use std::collections::BTreeMap;
use std::process::ExitCode;

use statwalk_core::{Error, Fields, Scan};

fn main() -> Result<ExitCode, Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut by_size: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    let mut entries = Scan::new(root).fields(Fields::SIZE).entries()?;
    for entry in &mut entries {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                if let Some(bytes) = entry.size_bytes() {
                    by_size.entry(bytes).or_default().push(entry.to_path_buf());
                }
            }
            Ok(_) => {}
            Err(error) => eprintln!("{error}"),
        }
    }
    for (bytes, mut paths) in by_size {
        paths.sort();
        if paths.len() > 1 {
            println!("{bytes} {paths:?}");
        }
    }
    Ok(match entries.finish().is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
