// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names by directory, for `statwalk.walk`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use pyo3::prelude::*;
use pyo3::types::PyList;
use statwalk_core::FileType;
use statwalk_stream::{Part, ReadAhead};

use crate::arguments::{Options, request};
use crate::errors::{name, of_entry, of_failure};
use crate::running::PAUSE;

/// Directories with the names in them, and others that the walk will probably enter.
///
/// A walk is one generator, which Python lets go on once at a time. So nobody sees an error of
/// two threads.
#[pyclass(module = "statwalk")]
pub(crate) struct Listing {
    is_text: bool,
    options: Options,
    read: ReadAhead,
}

#[pymethods]
impl Listing {
    #[new]
    fn new(is_text: bool, options: Options) -> Listing {
        Listing {
            is_text,
            options,
            read: ReadAhead::default(),
        }
    }

    /// How often directories were read.
    #[getter]
    fn scans(&self) -> usize {
        self.read.scans()
    }

    /// Reads a directory, perhaps others, and some of what is below. Gives what `take` gives.
    fn read<'py>(&mut self, py: Python<'py>, root: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let request = request(py, &root, self.is_text, &self.options)?;
        let read = &mut self.read;
        let mut is_read = py.detach(|| read.begin(request)).map(|()| false);
        while !is_read.map_err(of_failure)? {
            py.check_signals()?;
            is_read = py.detach(|| read.is_read_within(PAUSE));
        }
        // Without another look: the top may be a link.
        self.names(py, &root)
    }

    /// Forgets directories that the walk leaves out.
    fn forget(&mut self, paths: Vec<Vec<u8>>) {
        self.read.forget(paths);
    }

    /// Takes the names of a directory away: those of directories and the others, or an
    /// exception where it could not be read. None if they are not at hand.
    ///
    /// The walk must not go through a link that has taken the place of a directory since.
    fn take<'py>(&mut self, py: Python<'py>, path: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let names = self.names(py, &path)?;
        let metadata = py.detach(|| std::fs::symlink_metadata(OsStr::from_bytes(&path)));
        Ok(names.filter(|_| metadata.is_ok_and(|metadata| metadata.is_dir())))
    }
}

impl Listing {
    fn names<'py>(&mut self, py: Python<'py>, path: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
        let parts = match self.read.take(path) {
            Some(Ok(parts)) => parts,
            Some(Err(error)) => {
                return Ok(Some(of_entry(py, &error, self.is_text)?.into_bound(py)));
            }
            None => return Ok(None),
        };
        let both = py.detach(|| names_of(&parts, path));
        let [directories, others] = both.map(|names| {
            let names = names.iter().map(|bytes| name(py, bytes, self.is_text));
            PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
        });
        Ok(Some((directories?, others?).into_pyobject(py)?.into_any()))
    }
}

/// The names of directories, and the others.
fn names_of<'a>(parts: &'a [Part], path: &[u8]) -> [Vec<&'a [u8]>; 2] {
    let mut names = [Vec::new(), Vec::new()];
    for (table, rows) in parts {
        let columns = table.columns();
        for row in rows.clone() {
            let name = columns.name(row);
            let is_directory = match FileType::from_number(columns.kinds[row]) {
                // As os.walk has it: a link to a directory is among the directories.
                Some(FileType::Symlink) => {
                    let path = [path, b"/", name].concat();
                    let metadata = std::fs::metadata(OsStr::from_bytes(&path));
                    metadata.is_ok_and(|metadata| metadata.is_dir())
                }
                kind => kind == Some(FileType::Directory),
            };
            names[usize::from(!is_directory)].push(name);
        }
    }
    names
}
