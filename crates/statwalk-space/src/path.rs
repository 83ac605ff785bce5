// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths of bytes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Adds a name to the path of a directory.
pub(crate) fn join(mut path: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if !path.is_empty() && path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// A path from its bytes.
pub(crate) fn path_buf(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
