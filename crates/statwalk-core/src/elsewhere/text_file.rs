// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files of text that decide what is left out, read whole.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file to its end.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Reads at most `max` bytes of a regular file.
pub(crate) fn read_regular(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    file.take(max as u64).read_to_end(&mut text)?;
    Ok(text)
}
