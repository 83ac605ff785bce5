// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries one after another.

use std::sync::Arc;

use pyo3::prelude::*;
use statwalk_stream::{Gaps, Step, Walk};

use crate::arguments::{Options, Roots};
use crate::entry::Entry;
use crate::errors::{KEPT_MAX, Report, incomplete, of_entry, of_failure};
use crate::waiting;

/// The entries of a scan: an iterator, and a context that ends the scan.
#[pyclass(generic, module = "statwalk")]
pub(crate) struct Scan {
    /// Absent after the end.
    walk: Option<Walk>,
    is_text: bool,
    on_error: OnError,
    errors: Vec<Py<PyAny>>,
    /// The directory of the last entry.
    directory: Arc<[u8]>,
    report: Option<Report>,
}

/// The place of errors of entries.
enum OnError {
    /// An exception at the end.
    Raise,
    /// Values between the entries.
    Yield,
    /// Nobody.
    Ignore,
    Call(Py<PyAny>),
}

impl OnError {
    fn new(given: Bound<'_, PyAny>) -> PyResult<OnError> {
        if given.is_none() {
            return Ok(OnError::Raise);
        }
        if given.is_callable() {
            return Ok(OnError::Call(given.unbind()));
        }
        match given.extract::<String>()?.as_str() {
            "yield" => Ok(OnError::Yield),
            "ignore" => Ok(OnError::Ignore),
            _ => Err(pyo3::exceptions::PyValueError::new_err(
                "onerror is a function, 'yield', 'ignore' or None",
            )),
        }
    }
}

#[pymethods]
impl Scan {
    #[new]
    fn new(
        roots: Roots,
        is_text: bool,
        options: Options,
        onerror: Bound<'_, PyAny>,
    ) -> PyResult<Scan> {
        let request = roots.request(&options)?;
        Ok(Scan {
            on_error: OnError::new(onerror)?,
            walk: Some(Walk::new(&request).map_err(of_failure)?),
            is_text,
            errors: Vec::new(),
            directory: Arc::new([]),
            report: None,
        })
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let Some(walk) = &mut self.walk else {
                return Ok(None);
            };
            let step = match walk.next_at_hand() {
                true => Step::Value(()),
                false => waiting::next(py, walk, Walk::next_within)?,
            };
            match step {
                // A directory is no entry of itself.
                Step::Value(()) if walk.entry().depth == 0 && walk.entry().state.is_some() => {}
                Step::Value(()) => return Ok(Some(self.entry(py)?)),
                Step::Error(error) => {
                    let error = of_entry(py, &error)?;
                    match &self.on_error {
                        OnError::Yield => return Ok(Some(error)),
                        OnError::Ignore => {}
                        OnError::Call(call) => {
                            call.call1(py, (error,))?;
                        }
                        OnError::Raise if self.errors.len() < KEPT_MAX => self.errors.push(error),
                        OnError::Raise => {}
                    }
                }
                Step::Waiting => {}
                Step::End => return self.end(py).map(|()| None),
            }
        }
    }

    /// Leaves out all that is below the directory that came last.
    fn skip(&mut self) -> PyResult<()> {
        let pruned = self.walk.as_mut().is_some_and(Walk::prune);
        match pruned {
            true => Ok(()),
            false => Err(pyo3::exceptions::PyValueError::new_err(
                "the last entry is no directory",
            )),
        }
    }

    /// Ends the scan. The report says what it has not read.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(walk) = self.walk.take() else {
            return Ok(());
        };
        let report = py.detach(|| walk.finish()).map_err(of_failure)?;
        self.report = Some(Report::new(Gaps::of(&report)));
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(
        &mut self,
        py: Python<'_>,
        _exception: &Bound<'_, pyo3::types::PyTuple>,
    ) -> PyResult<()> {
        self.close(py)
    }

    /// The report; None before the end.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.report.clone()
    }
}

impl Scan {
    fn entry(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Some(walk) = &self.walk else {
            return Ok(py.None());
        };
        let entry = walk.entry();
        let directory = &entry.path()[..entry.name_at];
        if *self.directory != *directory {
            self.directory = Arc::from(directory);
        }
        let entry = Entry {
            directory: Arc::clone(&self.directory),
            name: Box::from(entry.name()),
            attributes: *entry.attributes,
            is_text: self.is_text,
            depth: entry.depth,
        };
        Ok(Py::new(py, entry)?.into_any())
    }

    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        self.close(py)?;
        let errors = std::mem::take(&mut self.errors);
        match (&self.report, &self.on_error) {
            (Some(report), OnError::Raise) if !report.is_complete() => {
                Err(incomplete(py, report, &errors))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Scan {
    /// Threads of the scan end without the GIL, because that can take a while.
    fn drop(&mut self) {
        if let Some(walk) = self.walk.take() {
            Python::attach(|py| py.detach(|| drop(walk)));
        }
    }
}
