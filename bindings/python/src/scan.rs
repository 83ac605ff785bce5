// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries one after another.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use statwalk_core::Fields;
use statwalk_stream::{Failure, Step, Walk};

use crate::arguments::{Options, Roots};
use crate::entry::Entry;
use crate::errors::{Report, of_failure};
use crate::running::{Item, OnError, Running, Steps};

/// The entries of a scan: an iterator, and a context that ends the scan.
#[pyclass(frozen, generic, module = "statwalk")]
pub(crate) struct Scan(Running<Entries>);

/// A walk, as entries of Python.
struct Entries {
    walk: Walk,
    is_text: bool,
    wanted: Fields,
    /// The directory of the last entry.
    directory: Arc<[u8]>,
    /// Whether entries were taken that the caller has not seen yet.
    is_ahead: bool,
}

impl Entries {
    /// The current entry; absent for the directory that was asked for, which is no entry of
    /// itself.
    fn current(&mut self) -> Option<Entry> {
        let entry = self.walk.entry();
        if entry.depth == 0 && entry.state.is_some() {
            return None;
        }
        let directory = &entry.path()[..entry.name_at];
        if *self.directory != *directory {
            self.directory = Arc::from(directory);
        }
        Some(Entry {
            directory: Arc::clone(&self.directory),
            name: Box::from(entry.name()),
            attributes: *entry.attributes,
            wanted: self.wanted,
            refusal: entry.refusal,
            is_followed: entry.is_followed,
            is_text: self.is_text,
            depth: entry.depth,
        })
    }

    /// The next entry, if that needs no wait.
    fn at_hand(&mut self) -> Option<Entry> {
        while self.walk.next_at_hand() {
            if let Some(entry) = self.current() {
                return Some(entry);
            }
        }
        None
    }
}

impl Steps for Entries {
    type Value = Entry;

    fn next_within(&mut self, timeout: Duration) -> Result<Step<Entry>, Failure> {
        Ok(match self.walk.next_within(timeout)? {
            Step::Value(()) => match self.current().or_else(|| self.at_hand()) {
                Some(entry) => Step::Value(entry),
                None => Step::Waiting,
            },
            Step::Error(error) => Step::Error(error),
            Step::Waiting => Step::Waiting,
            Step::End => Step::End,
        })
    }

    fn finish(self) -> Result<statwalk_core::Report, Failure> {
        self.walk.finish()
    }
}

#[pymethods]
impl Scan {
    #[new]
    fn new(
        py: Python<'_>,
        roots: Roots,
        is_text: bool,
        options: Options,
        onerror: Bound<'_, PyAny>,
    ) -> PyResult<Scan> {
        let on_error = OnError::of(&onerror, true)?;
        let request = roots.request(py, is_text, &options)?;
        let walk = py.detach(|| Walk::new(&request)).map_err(of_failure)?;
        let entries = Entries {
            walk,
            is_text,
            wanted: request.fields(),
            directory: Arc::new([]),
            is_ahead: false,
        };
        Ok(Scan(Running::new(entries, is_text, on_error, onerror)))
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let item = match self.0.with(Entries::at_hand)?.flatten() {
            Some(entry) => Item::Value(entry),
            None => self.0.next(py)?,
        };
        Ok(match item {
            Item::Value(entry) => Some(Py::new(py, entry)?.into_any()),
            Item::Error(error) => Some(error),
            Item::End => None,
        })
    }

    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("statwalk._asynchronous")?;
        module.call_method1("items", (slf,))
    }

    /// Waits for an item, and gives it with those that need no wait. None of them at the end.
    fn _take(&self, py: Python<'_>, count: usize) -> PyResult<Vec<Py<PyAny>>> {
        let first = match self.0.next(py)? {
            Item::Value(entry) => Py::new(py, entry)?.into_any(),
            Item::Error(error) => error,
            Item::End => return Ok(Vec::new()),
        };
        let more = self.0.with(|entries| {
            entries.is_ahead = true;
            let more = std::iter::from_fn(|| entries.at_hand());
            more.take(count.saturating_sub(1)).collect::<Vec<_>>()
        });
        let mut taken = vec![first];
        // Another thread may have it now, and nothing was taken then.
        for entry in more.ok().flatten().unwrap_or_default() {
            taken.push(Py::new(py, entry)?.into_any());
        }
        Ok(taken)
    }

    /// Leaves out all that is below the directory that came last.
    fn skip(&self) -> PyResult<()> {
        if self.0.with(|entries| entries.is_ahead)? == Some(true) {
            let words = "an `async for` reads ahead, so it cannot skip: use exclude, or a thread";
            return Err(PyValueError::new_err(words));
        }
        match self.0.with(|entries| entries.walk.prune())? {
            Some(Ok(())) => Ok(()),
            Some(Err(failure)) => Err(PyValueError::new_err(failure.to_string())),
            None => Err(PyValueError::new_err("the last entry is no directory")),
        }
    }

    /// Ends the scan. The report says what it has not read.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _exception: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        self.0.close(py)
    }

    /// The report; None before the end.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.0.report()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a scan cannot be pickled, because its threads are here: pickle its entries",
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.traverse(&visit)
    }

    fn __clear__(&self) {
        self.0.clear();
    }
}
