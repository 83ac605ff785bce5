// SPDX-License-Identifier: MIT OR Apache-2.0

//! Arguments of Python as a request.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statwalk_stream::Request;

use crate::errors::{of_failure, os_error};

/// The options that all functions have. The package has the defaults and the names of
/// the columns.
#[derive(FromPyObject)]
pub(crate) struct Options {
    columns: u32,
    threads: Option<usize>,
    max_depth: Option<u32>,
    one_file_system: bool,
    follow_links: bool,
    kernel_file_systems: bool,
    exclude: Vec<Vec<u8>>,
}

/// A request for the tree at a path, which must be a directory.
pub(crate) fn request(root: &[u8], options: &Options) -> PyResult<Request> {
    let mut path = PathBuf::from(OsStr::from_bytes(root));
    let metadata = std::fs::symlink_metadata(&path).map_err(|error| refused(&error, root))?;
    let is_directory = match metadata.is_symlink() {
        true => {
            let behind = std::fs::metadata(&path).map_err(|error| refused(&error, root))?;
            // As os.scandir does. A slash at the end leads through the link.
            if !root.ends_with(b"/") {
                path.as_mut_os_string().push("/");
            }
            behind.is_dir()
        }
        false => metadata.is_dir(),
    };
    if !is_directory {
        return Err(refused(&std::io::Error::from_raw_os_error(ENOTDIR), root));
    }
    let mut request = Request::new(path);
    if !request.set_columns(options.columns) {
        return Err(PyValueError::new_err("there is no such column"));
    }
    request.threads = options.threads;
    request.max_depth = options.max_depth;
    request.one_file_system = options.one_file_system;
    request.follow_links = options.follow_links;
    request.kernel_file_systems = options.kernel_file_systems;
    for pattern in &options.exclude {
        let excluded = request.exclude(pattern);
        excluded.map_err(|error| of_failure(statwalk_stream::Failure::Begin(error)))?;
    }
    Ok(request)
}

fn refused(error: &std::io::Error, root: &[u8]) -> PyErr {
    match error.raw_os_error() {
        Some(number) => Python::attach(|py| os_error(py, Some(number), root)),
        // The system was not asked. The words are those of os.scandir.
        None => PyValueError::new_err("embedded null byte"),
    }
}

/// `ENOTDIR`, errno(3).
const ENOTDIR: i32 = 20;
