// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ten newest files, as with walkdir and a vector.

use statwalk_core::{Fields, Scan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut files = Vec::new();
    let mut entries = Scan::new(root).fields(Fields::MTIME).entries()?;
    for entry in &mut entries {
        let entry = entry?;
        if entry.file_type().is_file() {
            files.push((entry.modified(), entry.to_path_buf()));
        }
    }
    files.sort();
    for (_, path) in files.iter().rev().take(10) {
        println!("{}", path.display());
    }
    assert!(entries.finish().is_complete());
    Ok(())
}
