// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths and names as the types of `std`. In the engine they are bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path from its bytes.
pub(crate) fn path_buf(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// The last name of a path that the caller gave; the whole path where it has none, as `/`.
pub(crate) fn file_name_of_root(path: &[u8]) -> &OsStr {
    let path = OsStr::from_bytes(path);
    Path::new(path).file_name().unwrap_or(path)
}

/// A name from its bytes.
pub(crate) fn file_name(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}
