// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of a whole tree by directory, for `statwalk.walk`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyList;
use statwalk_core::{EntryError, FileType};
use statwalk_stream::{Failure, Step, Walk};

use crate::arguments::{Options, request};
use crate::errors::{name, of_entry, of_failure};
use crate::waiting;

/// Directories with the names in them.
#[pyclass(module = "statwalk")]
pub(crate) struct Listing {
    /// By path, without a slash at the end.
    directories: HashMap<Vec<u8>, Names>,
    errors: HashMap<Vec<u8>, EntryError>,
    is_text: bool,
}

#[derive(Default)]
struct Names {
    directories: Vec<Box<[u8]>>,
    others: Vec<Box<[u8]>>,
}

#[pymethods]
impl Listing {
    /// Reads the whole tree.
    #[new]
    fn new(py: Python<'_>, root: Vec<u8>, is_text: bool, options: Options) -> PyResult<Listing> {
        let request = request(&root, &options)?;
        let mut walk = Walk::new(&request).map_err(of_failure)?;
        let mut listing = Listing {
            directories: HashMap::new(),
            errors: HashMap::new(),
            is_text,
        };
        loop {
            let stream = &mut (&mut walk, &mut listing);
            let step = waiting::next(py, stream, |(walk, listing), timeout| {
                listing.take_step(walk, timeout)
            })?;
            match step {
                Step::Value(()) | Step::Waiting => {}
                Step::Error(error) => {
                    let path = without_slash(&error.path).to_vec();
                    listing.errors.insert(path, error);
                }
                Step::End => return Ok(listing),
            }
        }
    }

    /// Takes the names of a directory away: those of directories and the others, or an
    /// exception where it could not be read. None if the tree does not have it.
    fn take<'py>(&mut self, py: Python<'py>, path: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = without_slash(&path);
        if let Some(error) = self.errors.get(path) {
            return Ok(Some(of_entry(py, error)?.into_bound(py)));
        }
        let Some(names) = self.directories.remove(path) else {
            return Ok(None);
        };
        let list = |names: &[Box<[u8]>]| {
            let names = names.iter().map(|bytes| name(py, bytes, self.is_text));
            PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
        };
        let both = (list(&names.directories)?, list(&names.others)?);
        Ok(Some(both.into_pyobject(py)?.into_any()))
    }
}

impl Listing {
    /// Waits for an entry, and takes it with those that are at hand.
    fn take_step(&mut self, walk: &mut Walk, timeout: Duration) -> Result<Step<()>, Failure> {
        let step = walk.next_within(timeout)?;
        if let Step::Value(()) = step {
            self.take_some(walk);
        }
        Ok(step)
    }

    /// Takes the current entry and some thousands behind it, if they are at hand.
    fn take_some(&mut self, walk: &mut Walk) {
        let mut last: Option<(Vec<u8>, Names)> = None;
        self.add(walk, &mut last);
        for _ in 0..16_384 {
            if !walk.next_at_hand() {
                break;
            }
            self.add(walk, &mut last);
        }
        self.put(last);
    }

    fn add(&mut self, walk: &Walk, last: &mut Option<(Vec<u8>, Names)>) {
        let entry = walk.entry();
        let path = entry.path();
        if entry.state.is_some() {
            self.directories
                .entry(without_slash(path).to_vec())
                .or_default();
        }
        if entry.depth == 0 {
            return;
        }
        let above = without_slash(&path[..entry.name_at]);
        if last
            .as_ref()
            .is_none_or(|(directory, _)| directory != above)
        {
            self.put(last.take());
            let names = self.directories.remove(above).unwrap_or_default();
            *last = Some((above.to_vec(), names));
        }
        let Some((_, names)) = last else { return };
        let is_directory = match entry.attributes.kind {
            FileType::Directory => true,
            // As os.walk has it: a link to a directory is among the directories.
            FileType::Symlink => {
                std::fs::metadata(OsStr::from_bytes(path)).is_ok_and(|metadata| metadata.is_dir())
            }
            _ => false,
        };
        let name = Box::from(entry.name());
        match is_directory {
            true => names.directories.push(name),
            false => names.others.push(name),
        }
    }

    fn put(&mut self, last: Option<(Vec<u8>, Names)>) {
        if let Some((directory, names)) = last {
            self.directories.insert(directory, names);
        }
    }
}

/// The root alone is a slash and nothing else.
fn without_slash(path: &[u8]) -> &[u8] {
    match path {
        [b'/'] => path,
        [above @ .., b'/'] => without_slash(above),
        _ => path,
    }
}
