// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names by directory, for `statwalk.walk`.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use statwalk_core::{Cause, DirState, EntryError, FileType};
use statwalk_stream::{Failure, Step, Walk};

use crate::arguments::{Options, request};
use crate::errors::{name, of_entry, of_failure};
use crate::running::PAUSE;

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
#[pyclass(frozen, module = "statwalk")]
pub(crate) struct Listing {
    is_text: bool,
    read: Mutex<ReadAhead>,
}

/// The directories that were read ahead.
struct ReadAhead {
    /// Directories that the walk has not taken, by path without a slash at the end.
    known: HashMap<Vec<u8>, Known>,
    options: Options,
    depth: u32,
    /// Directories that lie as deep as their scan went, by the scan that they began with: that
    /// of the top, or of a name that the caller has added. So no scan meets a directory by two
    /// paths. The walk may have taken some since: only those known as waiting still wait.
    waiting: HashMap<usize, VecDeque<Vec<u8>>>,
    /// The number for the directories that the current scan finds.
    beginning: usize,
    /// How many of them the next scan takes beside the wanted one.
    others: usize,
    scans: usize,
    /// Entries of all scans.
    given: usize,
}

/// A directory, by the last scan that met it.
#[derive(Default)]
struct Known {
    /// The number of that scan. A later one begins anew: the caller can have had a directory
    /// read twice, and the names of both scans would be there twice.
    scan: usize,
    state: State,
    directories: Vec<Box<[u8]>>,
    others: Vec<Box<[u8]>>,
}

#[derive(Default)]
enum State {
    /// Its own entry has not come, or it was not entered. Names of it may have come.
    #[default]
    Unread,
    /// It lies as deep as the scan went. The number is that of the scan that it began with.
    Waiting(usize),
    Listed,
    Failed(Box<EntryError>),
}

#[pymethods]
impl Listing {
    #[new]
    fn new(is_text: bool, options: Options) -> Listing {
        Listing {
            is_text,
            read: Mutex::new(ReadAhead {
                known: HashMap::new(),
                options,
                waiting: HashMap::new(),
                beginning: 0,
                depth: 1,
                others: 0,
                scans: 0,
                given: 0,
            }),
        }
    }

    /// How often directories were read.
    #[getter]
    fn scans(&self) -> PyResult<usize> {
        Ok(self.read_ahead()?.scans)
    }

    /// Reads a directory, perhaps others, and some of what is below. Gives what `take` gives.
    fn read<'py>(&self, py: Python<'py>, root: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut read = self.read_ahead()?;
        read.read(py, &root, self.is_text)?;
        // Without another look: the top may be a link.
        self.names(py, &mut read, without_slash(&root))
    }

    /// Notes that the walk leaves out what was read.
    fn read_less(&self) -> PyResult<()> {
        self.read_ahead()?.read_less();
        Ok(())
    }

    /// Takes the names of a directory away: those of directories and the others, or an
    /// exception where it could not be read. None if they are not at hand.
    ///
    /// The walk must not go through a link that has taken the place of a directory since.
    fn take<'py>(&self, py: Python<'py>, path: Vec<u8>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut read = self.read_ahead()?;
        let own = without_slash(&path);
        if !read.known.contains_key(own) {
            return Ok(None);
        }
        if !py.detach(|| is_directory(own)) {
            read.known.remove(own);
            return Ok(None);
        }
        self.names(py, &mut read, own)
    }
}

impl Listing {
    /// A walk of one generator, which Python lets go on once at a time.
    fn read_ahead(&self) -> PyResult<MutexGuard<'_, ReadAhead>> {
        match self.read.try_lock() {
            Ok(read) => Ok(read),
            Err(TryLockError::Poisoned(read)) => Ok(read.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread is in this walk"))
            }
        }
    }

    fn names<'py>(
        &self,
        py: Python<'py>,
        read: &mut ReadAhead,
        own: &[u8],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(State::Waiting(_)) = read.known.get(own).map(|known| &known.state) {
            return Ok(None);
        }
        let Some(known) = read.known.remove(own) else {
            return Ok(None);
        };
        match known.state {
            State::Failed(error) => {
                return Ok(Some(of_entry(py, &error, self.is_text)?.into_bound(py)));
            }
            State::Unread | State::Waiting(_) => return Ok(None),
            State::Listed => {}
        }
        let list = |names: &[Box<[u8]>]| {
            let names = names.iter().map(|bytes| name(py, bytes, self.is_text));
            PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)
        };
        let both = (list(&known.directories)?, list(&known.others)?);
        Ok(Some(both.into_pyobject(py)?.into_any()))
    }
}

impl ReadAhead {
    fn read(&mut self, py: Python<'_>, root: &[u8], is_text: bool) -> PyResult<()> {
        let mut request = request(py, root, is_text, &self.options)?;
        request.max_depth = Some(self.depth);
        let own = without_slash(root);
        self.beginning = match self.known.remove(own) {
            Some(Known {
                state: State::Waiting(beginning),
                ..
            }) => beginning,
            _ => self.scans + 1,
        };
        let mut others = 0;
        while others < self.others
            && let Some(next) = self.next_waiting()
        {
            if self.waits(&next) {
                self.known.remove(&next);
                request.add_root(OsString::from_vec(next));
                others += 1;
            }
        }
        self.scans += 1;
        let mut walk = py.detach(|| Walk::new(&request)).map_err(of_failure)?;
        let mut count = 0;
        loop {
            py.check_signals()?;
            let step = py.detach(|| self.take_step(&mut walk, PAUSE));
            match step.map_err(of_failure)? {
                Step::Value(taken) => count += taken,
                Step::Waiting => {}
                Step::Error(error) => {
                    // A directory that others have changed each time is whole but for that,
                    // and os.walk has no word for it.
                    if error.cause != Cause::Changed {
                        let path = without_slash(&error.path).to_vec();
                        self.of_this_scan(path).state = State::Failed(Box::new(error));
                    }
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

    fn read_less(&mut self) {
        self.depth = (self.depth / 2).max(1);
        self.others /= 2;
    }

    fn next_waiting(&mut self) -> Option<Vec<u8>> {
        self.waiting.get_mut(&self.beginning)?.pop_front()
    }

    fn waits(&self, path: &[u8]) -> bool {
        let known = self.known.get(path).map(|known| &known.state);
        matches!(known, Some(State::Waiting(beginning)) if *beginning == self.beginning)
    }

    /// The facts of the current scan about a directory.
    fn of_this_scan(&mut self, path: Vec<u8>) -> &mut Known {
        let known = self.known.entry(path).or_default();
        if known.scan != self.scans {
            *known = Known {
                scan: self.scans,
                ..Known::default()
            };
        }
        known
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
        let mut last: Option<(Vec<u8>, Known)> = None;
        self.add(walk, &mut last);
        let mut count = 1;
        while count < AT_HAND_MAX && walk.next_at_hand() {
            self.add(walk, &mut last);
            count += 1;
        }
        self.put(last);
        count
    }

    /// Adds the current entry. The directory of the last one is apart, so that its path is
    /// looked up once.
    fn add(&mut self, walk: &Walk, last: &mut Option<(Vec<u8>, Known)>) {
        let entry = walk.entry();
        let path = entry.path();
        let own = without_slash(path);
        if let Some(state) = entry.state {
            if last.as_ref().is_some_and(|(directory, _)| directory == own) {
                self.put(last.take());
            }
            self.note(own, state);
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
            let known = std::mem::take(self.of_this_scan(above.to_vec()));
            *last = Some((above.to_vec(), known));
        }
        let Some((_, known)) = last else { return };
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
            true => known.directories.push(name),
            false => known.others.push(name),
        }
    }

    /// Notes how far a directory was read. A listed one stays so: the scan can meet it below
    /// one root and as another.
    fn note(&mut self, own: &[u8], found: DirState) {
        let beginning = self.beginning;
        let known = self.of_this_scan(own.to_vec());
        match (&known.state, found) {
            (State::Unread | State::Waiting(_), DirState::Listed) => known.state = State::Listed,
            (State::Unread, DirState::AtDepthLimit) => {
                known.state = State::Waiting(beginning);
                let waiting = self.waiting.entry(beginning).or_default();
                waiting.push_back(own.to_vec());
            }
            _ => {}
        }
    }

    fn put(&mut self, last: Option<(Vec<u8>, Known)>) {
        if let Some((directory, known)) = last {
            self.known.insert(directory, known);
        }
    }
}

fn is_directory(path: &[u8]) -> bool {
    let metadata = std::fs::symlink_metadata(OsStr::from_bytes(path));
    metadata.is_ok_and(|metadata| metadata.is_dir())
}

/// The root alone is a slash and nothing else.
fn without_slash(path: &[u8]) -> &[u8] {
    match path {
        [b'/'] => path,
        [above @ .., b'/'] => without_slash(above),
        _ => path,
    }
}
