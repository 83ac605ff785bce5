// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths and names as the types of `std`. In the engine they are bytes.
//!
//! On Unix these are the bytes of the system. On Windows a name would be WTF-8, which the
//! source of such names would make. Here a name that is no UTF-8 is shown there with
//! replacement characters: its bytes stay what they were.

use std::ffi::OsStr;
use std::path::Path;

#[cfg(not(unix))]
pub(crate) use of_text::{file_name, path_buf};
#[cfg(unix)]
pub(crate) use of_unix::{file_name, path_buf};

/// The last name of a path that the caller gave; the whole path where it has none, as `/`.
pub(crate) fn file_name_of_root(path: &[u8]) -> &OsStr {
    let path = file_name(path);
    Path::new(path).file_name().unwrap_or(path)
}

/// The bytes of a path.
pub(crate) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(unix)]
mod of_unix {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;

    /// A path from its bytes.
    pub(crate) fn path_buf(bytes: Vec<u8>) -> PathBuf {
        OsString::from_vec(bytes).into()
    }

    /// A name from its bytes.
    pub(crate) fn file_name(name: &[u8]) -> &OsStr {
        OsStr::from_bytes(name)
    }
}

#[cfg(not(unix))]
mod of_text {
    use std::ffi::OsStr;
    use std::path::PathBuf;

    /// A path from its bytes.
    pub(crate) fn path_buf(bytes: Vec<u8>) -> PathBuf {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }

    /// A name from its bytes. One replacement character if they are no text: nobody
    /// keeps another text.
    pub(crate) fn file_name(name: &[u8]) -> &OsStr {
        OsStr::new(std::str::from_utf8(name).unwrap_or("\u{fffd}"))
    }
}
