// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names by directory, for `statwalk.walk`.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyList;
use statwalk_core::{DirState, EntryError, FileType};
use statwalk_stream::{Failure, Step, Walk};

use crate::arguments::{Options, request};
use crate::errors::{name, of_entry, of_failure};
use crate::waiting;

/// How many entries one scan should give at least: enough that the start of its threads is
/// nothing. It should also give half of what all scans have given, so that a walk through a
/// large tree waits for few of them.
const ENOUGH: usize = 20_000;
/// How many entries are taken before Python looks for signals again.
const AT_HAND_MAX: usize = 16_384;
const DEPTH_MAX: u32 = 1 << 20;
const OTHERS_MAX: usize = 1024;

/// Directories with the names in them, and others that the walk will probably enter.
///
/// Each scan goes deeper and takes more directories than the one before it, until it gives
/// enough.
#[pyclass(module = "statwalk")]
pub(crate) struct Listing {
    /// By path, without a slash at the end.
    directories: HashMap<Vec<u8>, Names>,
    errors: HashMap<Vec<u8>, EntryError>,
    is_text: bool,
    options: Options,
    depth: u32,
    /// Directories that lie as deep as their scan went.
    waiting: VecDeque<Vec<u8>>,
    /// How many of them the next scan takes beside the wanted one.
    others: usize,
    #[pyo3(get)]
    scans: usize,
    /// Entries of all scans.
    given: usize,
}

#[derive(Default)]
struct Names {
    directories: Vec<Box<[u8]>>,
    others: Vec<Box<[u8]>>,
}

#[pymethods]
impl Listing {
    #[new]
    fn new(is_text: bool, options: Options) -> Listing {
        Listing {
            directories: HashMap::new(),
            errors: HashMap::new(),
            is_text,
            options,
            waiting: VecDeque::new(),
            depth: 1,
            others: 0,
            scans: 0,
            given: 0,
        }
    }

    /// Reads a directory, perhaps others, and some of what is below.
    fn read(&mut self, py: Python<'_>, root: Vec<u8>) -> PyResult<()> {
        let mut request = request(&root, &self.options)?;
        request.max_depth = Some(self.depth);
        let mut others = 0;
        while others < self.others
            && let Some(next) = self.waiting.pop_front()
        {
            if next != without_slash(&root) && !self.knows(&next) {
                request.add_root(OsString::from_vec(next));
                others += 1;
            }
        }
        self.scans += 1;
        let mut walk = Walk::new(&request).map_err(of_failure)?;
        let mut count = 0;
        loop {
            let stream = &mut (&mut walk, &mut *self);
            let step = waiting::next(py, stream, |(walk, listing), timeout| {
                listing.take_step(walk, timeout)
            })?;
            match step {
                Step::Value(taken) => count += taken,
                Step::Waiting => {}
                Step::Error(error) => {
                    let path = without_slash(&error.path).to_vec();
                    self.errors.insert(path, error);
                }
                Step::End => break,
            }
        }
        self.given += count;
        let enough = ENOUGH.max(self.given / 2);
        if count < enough / 2 {
            self.depth = (self.depth * 2).min(DEPTH_MAX);
            self.others = (self.others * 2 + 1).min(OTHERS_MAX);
        } else if count > enough * 2 {
            self.read_less();
        }
        Ok(())
    }

    /// Notes that the walk leaves out what was read.
    fn read_less(&mut self) {
        self.depth = (self.depth / 2).max(1);
        self.others /= 2;
    }

    /// Takes the names of a directory away: those of directories and the others, or an
    /// exception where it could not be read. None if the tree does not have it.
    fn take<'py>(&mut self, py: Python<'py>, path: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let path = without_slash(&path);
        if let Some(error) = self.errors.remove(path) {
            return Ok(Some(of_entry(py, &error)?.into_bound(py)));
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
    fn knows(&self, path: &[u8]) -> bool {
        let path = without_slash(path);
        self.directories.contains_key(path) || self.errors.contains_key(path)
    }

    /// Waits for an entry, takes it with those that are at hand, and counts them.
    fn take_step(&mut self, walk: &mut Walk, timeout: Duration) -> Result<Step<usize>, Failure> {
        Ok(match walk.next_within(timeout)? {
            Step::Value(()) => Step::Value(self.take_some(walk)),
            Step::Error(error) => Step::Error(error),
            Step::Waiting => Step::Waiting,
            Step::End => Step::End,
        })
    }

    /// Takes the current entry and some thousands behind it, if they are at hand.
    fn take_some(&mut self, walk: &mut Walk) -> usize {
        let mut last: Option<(Vec<u8>, Names)> = None;
        self.add(walk, &mut last);
        let mut count = 1;
        while count < AT_HAND_MAX && walk.next_at_hand() {
            self.add(walk, &mut last);
            count += 1;
        }
        self.put(last);
        count
    }

    fn add(&mut self, walk: &Walk, last: &mut Option<(Vec<u8>, Names)>) {
        let entry = walk.entry();
        let path = entry.path();
        let own = without_slash(path).to_vec();
        match entry.state {
            Some(DirState::Listed) => {
                self.directories.entry(own).or_default();
            }
            Some(DirState::AtDepthLimit) => self.waiting.push_back(own),
            _ => {}
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
