// SPDX-License-Identifier: MIT OR Apache-2.0

//! The longest path, with the crate's own error.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use statwalk_core::Scan;

fn main() -> Result<(), statwalk_core::Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut longest = PathBuf::new();
    let mut entries = Scan::new(root).entries()?;
    for entry in &mut entries {
        let path = entry?.to_path_buf();
        if path.as_os_str().as_bytes().len() > longest.as_os_str().as_bytes().len() {
            longest = path;
        }
    }
    println!("{}", longest.display());
    assert!(entries.finish().is_complete());
    Ok(())
}
