// SPDX-License-Identifier: MIT OR Apache-2.0

//! The real path of a root: where it is, whatever the user calls it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The path without links, from the root of its file system on. The directories of an
/// image stand there.
pub(crate) fn of_root(path: &Path) -> Vec<u8> {
    match path.canonicalize() {
        Ok(real) if real.is_dir() => real.as_os_str().as_bytes().to_vec(),
        _ => Vec::new(),
    }
}
