// SPDX-License-Identifier: MIT OR Apache-2.0

//! The list of paths that `--files0-from` names.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::failure::Failure;
use crate::request::safe;
use crate::system::stdio::reason;

/// Paths from a file, each ended by NUL, as `find -print0` writes them.
pub(crate) struct PathList {
    /// The file, for messages.
    pub(crate) name: String,
    /// Empty names too: the place of a name in the file is its place here.
    pub(crate) paths: Vec<OsString>,
}

impl PathList {
    /// Reads the list; `-` is standard input.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub(crate) fn read(file: &Path) -> Result<PathList, Failure> {
        let bytes = match file.as_os_str() == "-" {
            true => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().read_to_end(&mut bytes);
                read.map(|_| bytes)
            }
            false => std::fs::read(file),
        };
        let name = safe(&file.to_string_lossy());
        let bytes = bytes
            .map_err(|error| Failure::Usage(format!("cannot read {name}: {}", reason(&error))))?;
        Ok(PathList {
            name,
            paths: paths_in(&bytes),
        })
    }
}

fn paths_in(bytes: &[u8]) -> Vec<OsString> {
    if bytes.is_empty() {
        return Vec::new();
    }
    // The last name may lack its end.
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let paths = bytes.split(|&byte| byte == 0);
    paths
        .map(|path| OsStr::from_bytes(path).to_owned())
        .collect()
}
