// SPDX-License-Identifier: MIT OR Apache-2.0

//! Arguments of Python as a request.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use statwalk_stream::{Request, number_refused};

use crate::errors::{of_failure, os_error};

/// The options that all functions have. The package has the names of the columns.
#[pyclass(frozen, module = "statwalk", name = "_Options", from_py_object)]
#[derive(Clone)]
pub(crate) struct Options {
    columns: u32,
    threads: Option<u32>,
    max_depth: Option<u32>,
    min_depth: Option<u32>,
    sort: bool,
    contents_first: bool,
    one_file_system: bool,
    follow_links: bool,
    kernel_file_systems: bool,
    gitignore: bool,
    exclude: Vec<Vec<u8>>,
}

#[pymethods]
impl Options {
    #[new]
    #[pyo3(signature = (columns, exclude, **options))]
    fn new(
        columns: u32,
        exclude: Vec<Vec<u8>>,
        options: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Options> {
        let mut made = Options {
            columns,
            threads: None,
            max_depth: None,
            min_depth: None,
            sort: false,
            contents_first: false,
            one_file_system: false,
            follow_links: false,
            kernel_file_systems: false,
            gitignore: false,
            exclude,
        };
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            let flag = || {
                let words = || format!("{name} is True or False, and not {}", shown(&value));
                value
                    .extract::<bool>()
                    .map_err(|_| PyTypeError::new_err(words()))
            };
            let number = || match value.is_none() {
                true => Ok(None),
                false => number(&name, &value).map(Some),
            };
            match &*name {
                "threads" => made.threads = number()?,
                "max_depth" => made.max_depth = number()?,
                "min_depth" => made.min_depth = number()?,
                "sort" => made.sort = flag()?,
                "contents_first" => made.contents_first = flag()?,
                "one_file_system" => made.one_file_system = flag()?,
                "follow_links" => made.follow_links = flag()?,
                "kernel_file_systems" => made.kernel_file_systems = flag()?,
                "gitignore" => made.gitignore = flag()?,
                _ => return Err(PyTypeError::new_err(format!("there is no option {name}"))),
            }
        }
        Ok(made)
    }
}

/// A number of a caller, or an exception that names it.
pub(crate) fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    value.extract().map_err(|error: PyErr| {
        let py = value.py();
        let words = number_refused(name, u32::MAX, &shown(value));
        if !error.is_instance_of::<PyOverflowError>(py) {
            return PyTypeError::new_err(words);
        }
        match value.lt(0) {
            Ok(true) => PyValueError::new_err(words),
            _ => PyOverflowError::new_err(words),
        }
    })
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    let shown = value.repr().map(|text| text.to_string());
    // Python refuses to write an integer of very many digits.
    shown.unwrap_or_else(|_| "another value".to_owned())
}

/// The roots of a scan.
#[derive(FromPyObject)]
pub(crate) enum Roots {
    /// A directory.
    One(Vec<u8>),
    /// Directories and other entries.
    Many(Vec<Vec<u8>>),
    /// The descriptor of a directory.
    Descriptor(i32),
}

impl Roots {
    /// A request for the trees.
    /// Other threads of Python run while the system looks at them: a server that does not
    /// answer must not stop the interpreter.
    pub(crate) fn request(
        &self,
        py: Python<'_>,
        is_text: bool,
        options: &Options,
    ) -> PyResult<Request> {
        match self {
            Roots::One(root) => {
                let request = request(py, root, is_text, options)?;
                // As os.scandir does: an error of the path is one of the call.
                let opened = py.detach(|| std::fs::read_dir(OsStr::from_bytes(root)).map(drop));
                opened.map_err(|error| refused(py, &error, root, is_text))?;
                Ok(request)
            }
            Roots::Many(roots) => {
                let looked = |root: &Vec<u8>| match directory(root) {
                    Ok((path, true)) => path,
                    // The scan tells why it cannot be read.
                    Ok((_, false)) | Err(_) => PathBuf::from(OsStr::from_bytes(root)),
                };
                let paths: Vec<_> = py.detach(|| roots.iter().map(looked).collect());
                let mut paths = paths.into_iter();
                let first = paths.next();
                let first = first.ok_or_else(|| PyValueError::new_err("there is no path"))?;
                let mut request = of_directory(first, options)?;
                paths.for_each(|path| request.add_root(path));
                Ok(request)
            }
            Roots::Descriptor(number) => {
                // It can be none, which is not what lies in /proc.
                py.import("os")?.call_method1("fstat", (*number,))?;
                // proc_pid_fd(5): the scan opens it when it begins, as it opens a path.
                let place = PathBuf::from(format!("/proc/self/fd/{number}"));
                let opened = py.detach(|| std::fs::read_dir(&place).map(drop));
                let text = place.as_os_str().as_bytes();
                opened.map_err(|error| refused(py, &error, text, true))?;
                let mut request = of_directory(PathBuf::from("."), options)?;
                request.relative_to = Some(place);
                Ok(request)
            }
        }
    }
}

/// A request for the tree at a path, which must be a directory.
pub(crate) fn request(
    py: Python<'_>,
    root: &[u8],
    is_text: bool,
    options: &Options,
) -> PyResult<Request> {
    let looked = py.detach(|| directory(root));
    match looked.map_err(|error| refused(py, &error, root, is_text))? {
        (path, true) => of_directory(path, options),
        _ => {
            let error = std::io::Error::from_raw_os_error(ENOTDIR);
            Err(refused(py, &error, root, is_text))
        }
    }
}

/// A path, and whether it is that of a directory. A link is followed, as os.scandir does.
fn directory(root: &[u8]) -> std::io::Result<(PathBuf, bool)> {
    let mut path = PathBuf::from(OsStr::from_bytes(root));
    let metadata = std::fs::symlink_metadata(&path)?;
    if !metadata.is_symlink() {
        return Ok((path, metadata.is_dir()));
    }
    let behind = std::fs::metadata(&path)?;
    // A slash at the end leads through the link.
    if !root.ends_with(b"/") {
        path.as_mut_os_string().push("/");
    }
    Ok((path, behind.is_dir()))
}

fn of_directory(path: PathBuf, options: &Options) -> PyResult<Request> {
    let mut request = Request::new(path);
    if !request.set_columns(options.columns) {
        return Err(PyValueError::new_err("there is no such column"));
    }
    request.threads = options.threads.unwrap_or(0);
    request.max_depth = options.max_depth;
    request.min_depth = options.min_depth.unwrap_or(0);
    request.sort = options.sort;
    request.contents_first = options.contents_first;
    request.one_file_system = options.one_file_system;
    request.follow_links = options.follow_links;
    request.kernel_file_systems = options.kernel_file_systems;
    request.gitignore = options.gitignore;
    for pattern in &options.exclude {
        let excluded = request.exclude(pattern);
        excluded.map_err(|error| of_failure(statwalk_stream::Failure::Begin(error)))?;
    }
    Ok(request)
}

fn refused(py: Python<'_>, error: &std::io::Error, root: &[u8], is_text: bool) -> PyErr {
    match error.raw_os_error() {
        Some(number) => os_error(py, Some(number), root, is_text),
        // The system was not asked. The words are those of os.scandir.
        None => PyValueError::new_err("embedded null byte"),
    }
}

/// `ENOTDIR`, errno(3).
const ENOTDIR: i32 = 20;
