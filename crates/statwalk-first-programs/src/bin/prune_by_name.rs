// SPDX-License-Identifier: MIT OR Apache-2.0

//! All files but those in `node_modules`, as with `filter_entry` and `skip_current_dir`.

use statwalk_core::{Error, Scan};

fn main() -> Result<(), Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut paths = Vec::new();
    let scan = Scan::new(root).filter_dir(|dir| dir.file_name() != "node_modules");
    let mut entries = scan.entries()?;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if entry.file_type().is_dir() && entry.file_name() == ".git" {
            entries.skip_subtree();
            continue;
        }
        if entry.file_type().is_file() {
            paths.push(entry.to_path_buf());
        }
    }
    paths.sort();
    for path in paths {
        println!("{}", path.display());
    }
    assert!(entries.finish().is_complete());
    Ok(())
}
