// SPDX-License-Identifier: MIT OR Apache-2.0

//! Errors and reports as values of Python.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use statwalk_core::EntryError;
use statwalk_stream::{Failure, Gaps};

pyo3::create_exception!(
    statwalk,
    IncompleteScan,
    PyOSError,
    "A scan has ended, and something could not be read. `errors` has the first thousand errors, and `report` the numbers."
);

/// How many errors an exception keeps.
pub(crate) const KEPT_MAX: usize = 1_000;

/// The gaps of a scan.
#[pyclass(frozen, eq, module = "statwalk", from_py_object)]
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Report {
    #[pyo3(get)]
    is_complete: bool,
    #[pyo3(get)]
    is_interrupted: bool,
    #[pyo3(get)]
    unreadable: u64,
    #[pyo3(get)]
    changed_directories: u64,
    #[pyo3(get)]
    vanished: u64,
    #[pyo3(get)]
    excluded: u64,
    #[pyo3(get)]
    crossings: u64,
}

/// The flags and counts of a report, in their order.
type Numbers = ([bool; 2], [u64; 5]);

#[pymethods]
impl Report {
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, Numbers)> {
        let restore = slf.get_type().getattr("_restore")?.unbind();
        let of = slf.get();
        let counts = [
            of.unreadable,
            of.changed_directories,
            of.vanished,
            of.excluded,
            of.crossings,
        ];
        Ok((restore, ([of.is_complete, of.is_interrupted], counts)))
    }

    #[staticmethod]
    fn _restore(flags: [bool; 2], counts: [u64; 5]) -> Report {
        let [is_complete, is_interrupted] = flags;
        let [
            unreadable,
            changed_directories,
            vanished,
            excluded,
            crossings,
        ] = counts;
        Report {
            is_complete,
            is_interrupted,
            unreadable,
            changed_directories,
            vanished,
            excluded,
            crossings,
        }
    }

    fn __repr__(&self) -> String {
        let word = |is_true| if is_true { "True" } else { "False" };
        format!(
            "<Report is_complete={} is_interrupted={} unreadable={} changed_directories={} \
             vanished={} excluded={} crossings={}>",
            word(self.is_complete),
            word(self.is_interrupted),
            self.unreadable,
            self.changed_directories,
            self.vanished,
            self.excluded,
            self.crossings
        )
    }
}

impl Report {
    pub(crate) fn new(gaps: Gaps) -> Report {
        Report {
            is_complete: gaps.is_complete,
            is_interrupted: gaps.is_interrupted,
            // A root that goes away after its check could not be read either.
            unreadable: gaps.unreadable + gaps.missing_roots,
            changed_directories: gaps.changed_directories,
            vanished: gaps.vanished,
            excluded: gaps.excluded,
            crossings: gaps.crossings,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// A path or a name: text or bytes, as the caller's argument is.
pub(crate) fn name<'py>(
    py: Python<'py>,
    bytes: &[u8],
    is_text: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match is_text {
        // With surrogates for what is no text.
        true if names_are_utf8(py) => Ok(OsStr::from_bytes(bytes).into_pyobject(py)?.into_any()),
        true => py.import("os")?.call_method1("fsdecode", (bytes,)),
        false => Ok(pyo3::types::PyBytes::new(py, bytes).into_any()),
    }
}

/// Whether the file system's encoding is UTF-8. PyO3 takes a short way for names that happen
/// to be UTF-8, whatever the encoding is.
fn names_are_utf8(py: Python<'_>) -> bool {
    // The interpreter has one from its start to its end.
    static ARE_UTF8: PyOnceLock<bool> = PyOnceLock::new();
    *ARE_UTF8.get_or_init(py, || {
        let encoding = py
            .import("sys")
            .and_then(|sys| sys.call_method0("getfilesystemencoding"));
        let encoding = encoding.and_then(|encoding| encoding.extract::<String>());
        encoding.is_ok_and(|encoding| encoding == "utf-8")
    })
}

/// The exception of a number, of the class that Python has for it.
pub(crate) fn os_error(py: Python<'_>, number: Option<i32>, path: &[u8], is_text: bool) -> PyErr {
    let made = || {
        let words = match number {
            Some(number) => py.import("os")?.call_method1("strerror", (number,))?,
            None => pyo3::types::PyString::new(py, "changed while it was read").into_any(),
        };
        let path = name(py, path, is_text)?;
        py.get_type::<PyOSError>()
            .call1((number.unwrap_or(0), words, path))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// An entry that could not be read, as an `OSError` with its operation.
pub(crate) fn of_entry(py: Python<'_>, error: &EntryError, is_text: bool) -> PyResult<Py<PyAny>> {
    let number = error.cause.errno().map(|errno| errno.0);
    let value = os_error(py, number, &error.path, is_text).into_value(py);
    let value = value.into_any();
    value.setattr(py, "operation", error.op.name())?;
    Ok(value)
}

pub(crate) fn of_failure(failure: Failure) -> PyErr {
    match failure {
        Failure::Begin(_) | Failure::Invalid(_) => PyValueError::new_err(failure.to_string()),
        _ => PyRuntimeError::new_err(failure.to_string()),
    }
}

/// The end of a scan with gaps.
pub(crate) fn incomplete(py: Python<'_>, report: &Report, errors: &[Py<PyAny>]) -> PyErr {
    let first = errors.first().map(|error| error.bind(py).to_string());
    let words = match first {
        Some(first) => format!(
            "the scan is incomplete, with {} errors; the first: {first}",
            errors.len()
        ),
        None => "the scan is incomplete".to_owned(),
    };
    let exception = IncompleteScan::new_err(words);
    let value = exception.value(py);
    let errors: Vec<_> = errors.iter().map(|error| error.clone_ref(py)).collect();
    let set = value
        .setattr("errors", errors)
        .and_then(|()| value.setattr("report", report.clone()));
    set.map_or_else(|error| error, |()| exception)
}
