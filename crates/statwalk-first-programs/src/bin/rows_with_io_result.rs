// SPDX-License-Identifier: MIT OR Apache-2.0

//! All rows of one directory, as with `std::fs::read_dir`.

use std::io;
use std::path::Path;

use statwalk_core::Scan;

fn list(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut entries = Scan::new(dir).max_depth(1).entries()?;
    for entry in &mut entries {
        let entry = entry?;
        if entry.depth() == 1 {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    if !entries.finish().is_complete() {
        return Err(io::Error::other("some entries are missing"));
    }
    names.sort();
    Ok(names)
}

fn main() -> io::Result<()> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    match list(root.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => println!("nothing there"),
        Err(error) => return Err(error),
        Ok(names) => names.iter().for_each(|name| println!("{name}")),
    }
    Ok(())
}
