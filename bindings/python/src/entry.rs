// SPDX-License-Identifier: MIT OR Apache-2.0

//! An entry, and its attributes under the names of `os.stat_result`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use statwalk_core::{Attributes, Fields, FileType, Time};

use crate::errors::name;

/// An entry with its attributes. Serves where code expects an `os.DirEntry`.
#[pyclass(frozen, generic, module = "statwalk")]
pub(crate) struct Entry {
    /// The path of the directory, with the slash. All entries of it share it.
    pub(crate) directory: Arc<[u8]>,
    pub(crate) name: Box<[u8]>,
    pub(crate) attributes: Attributes,
    pub(crate) is_text: bool,
    /// The distance from the path that was scanned: 1 for what lies in it.
    #[pyo3(get)]
    pub(crate) depth: u32,
}

/// Attributes of an entry. A call of it gives what `os.DirEntry.stat` does.
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Stat {
    entry: Py<Entry>,
}

impl Entry {
    fn path_bytes(&self) -> Vec<u8> {
        [&self.directory, &self.name[..]].concat()
    }

    /// The type behind a link, or the type itself.
    fn kind(&self, follow_symlinks: bool) -> Kind {
        match self.attributes.kind {
            FileType::Symlink if follow_symlinks => {
                let path = self.path_bytes();
                match std::fs::metadata(OsStr::from_bytes(&path)) {
                    Ok(metadata) if metadata.is_dir() => Kind::Directory,
                    Ok(metadata) if metadata.is_file() => Kind::File,
                    _ => Kind::Other,
                }
            }
            FileType::Directory => Kind::Directory,
            FileType::File => Kind::File,
            _ => Kind::Other,
        }
    }
}

#[derive(PartialEq)]
enum Kind {
    File,
    Directory,
    Other,
}

#[pymethods]
impl Entry {
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        name(py, &self.name, self.is_text)
    }

    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        name(py, &self.path_bytes(), self.is_text)
    }

    fn __fspath__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.path(py)
    }

    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_dir(&self, py: Python<'_>, follow_symlinks: bool) -> bool {
        match self.attributes.kind == FileType::Symlink && follow_symlinks {
            true => py.detach(|| self.kind(true)) == Kind::Directory,
            false => self.attributes.kind == FileType::Directory,
        }
    }

    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_file(&self, py: Python<'_>, follow_symlinks: bool) -> bool {
        match self.attributes.kind == FileType::Symlink && follow_symlinks {
            true => py.detach(|| self.kind(true)) == Kind::File,
            false => self.attributes.kind == FileType::File,
        }
    }

    fn is_symlink(&self) -> bool {
        self.attributes.kind == FileType::Symlink
    }

    /// No entry of Linux is one.
    fn is_junction(&self) -> bool {
        false
    }

    fn inode(slf: &Bound<'_, Self>) -> PyResult<u64> {
        match slf.get().attributes.id() {
            Some(id) => Ok(id.ino() as u64),
            None => stat_by_call(slf, false)?.getattr("st_ino")?.extract(),
        }
    }

    #[getter]
    fn stat(slf: Bound<'_, Self>) -> Stat {
        Stat {
            entry: slf.unbind(),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Entry {}>", self.name(py)?.repr()?))
    }
}

fn stat_by_call<'py>(entry: &Bound<'py, Entry>, follow: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = entry.py();
    let arguments = pyo3::types::PyDict::new(py);
    arguments.set_item("follow_symlinks", follow)?;
    let path = entry.get().path(py)?;
    py.import("os")?
        .call_method("stat", (path,), Some(&arguments))
}

/// The fields that every `os.stat_result` has.
pub(crate) const ALL: Fields = Fields::STAT.without(Fields::BTIME);

impl Stat {
    fn of(&self) -> &Attributes {
        &self.entry.get().attributes
    }

    /// A time in nanoseconds and in whole seconds.
    fn time(&self, time: Time) -> (Option<i64>, Option<i64>) {
        (self.of().time_ns(time), self.of().time_s(time))
    }

    fn known<T>(&self, value: Option<T>, column: &str) -> PyResult<T> {
        value.ok_or_else(|| {
            PyAttributeError::new_err(format!(
                "the scan was not asked for '{column}', or could not read it"
            ))
        })
    }
}

/// Seconds as `os.stat_result` has them: a float is not exact.
fn seconds(ns: i64) -> f64 {
    let (whole, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    whole as f64 + 1e-9 * rest as f64
}

macro_rules! times {
    ($($column:literal $seconds:ident $nanoseconds:ident $time:ident;)+) => {
        #[pymethods]
        impl Stat {
            $(#[getter]
            fn $seconds(&self) -> PyResult<f64> {
                let (ns, whole) = self.time(Time::$time);
                self.known(ns.map(seconds).or(whole.map(|seconds| seconds as f64)), $column)
            }

            #[getter]
            fn $nanoseconds(&self) -> PyResult<i128> {
                let (ns, whole) = self.time(Time::$time);
                // Whole seconds for a time that 64 bits of nanoseconds do not hold.
                let whole = whole.map(|seconds| i128::from(seconds) * 1_000_000_000);
                self.known(ns.map(i128::from).or(whole), $column)
            })+

            #[getter]
            fn st_mode(&self) -> PyResult<u16> {
                self.known(self.of().mode(), "mode")
            }

            #[getter]
            fn st_ino(&self) -> PyResult<u64> {
                self.known(self.of().id().map(|id| id.ino() as u64), "id")
            }

            #[getter]
            fn st_dev(&self) -> PyResult<u64> {
                self.known(self.of().id().map(|id| id.dev()), "id")
            }

            #[getter]
            fn st_nlink(&self) -> PyResult<u32> {
                self.known(self.of().links(), "links")
            }

            #[getter]
            fn st_uid(&self) -> PyResult<u32> {
                self.known(self.of().uid(), "owner")
            }

            #[getter]
            fn st_gid(&self) -> PyResult<u32> {
                self.known(self.of().gid(), "owner")
            }

            #[getter]
            fn st_size(&self) -> PyResult<u64> {
                self.known(self.of().size_bytes(), "size")
            }

            #[getter]
            fn st_blocks(&self) -> PyResult<u64> {
                self.known(self.of().allocated_bytes().map(|bytes| bytes / 512), "allocated")
            }

            #[getter]
            fn st_rdev(&self) -> PyResult<u64> {
                self.known(self.of().rdev(), "rdev")
            }

            /// As `os.DirEntry.stat`: the attributes, or those of the file behind a link.
            #[pyo3(signature = (*, follow_symlinks = true))]
            fn __call__<'py>(
                slf: &Bound<'py, Self>,
                follow_symlinks: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                let of = slf.get().of();
                let is_link = of.kind == FileType::Symlink && follow_symlinks;
                if !is_link && of.valid.contains(ALL) {
                    return Ok(slf.clone().into_any());
                }
                stat_by_call(slf.get().entry.bind(slf.py()), follow_symlinks)
            }

            fn __repr__(&self) -> String {
                format!("<Stat {:?}>", self.of())
            }
        }
    };
}
times! {
    "mtime" st_mtime st_mtime_ns Modified;
    "atime" st_atime st_atime_ns Accessed;
    "ctime" st_ctime st_ctime_ns Changed;
    "btime" st_birthtime st_birthtime_ns Born;
}
