// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan behind an iterator of Python, which any thread, signal or collection of garbage
//! finds whole.
//!
//! A thread waits for a step without the GIL, and has the scan to itself meanwhile. The lock is
//! held for moments only, never while Python runs or another lock is waited for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use statwalk_core::EntryError;
use statwalk_stream::{Failure, Gaps, Step};

use crate::errors::{KEPT_MAX, Report, incomplete, of_entry, of_failure};

/// How long a wait may hide a signal.
pub(crate) const PAUSE: Duration = Duration::from_millis(40);

/// A scan that gives values.
pub(crate) trait Steps: Send + Sized {
    type Value: Send;

    fn next_within(&mut self, timeout: Duration) -> Result<Step<Self::Value>, Failure>;

    fn finish(self) -> Result<statwalk_core::Report, Failure>;
}

/// A scan that threads of Python go on with, one at a time.
pub(crate) struct Running<S: Steps> {
    place: Mutex<Place<S>>,
    /// Another thread has put the scan back.
    is_back: Condvar,
    on_error: OnError,
    is_text: bool,
    /// Absent where none was given, and after a collection of garbage.
    callback: Mutex<Option<Py<PyAny>>>,
    errors: Mutex<Vec<Py<PyAny>>>,
}

/// The place of a scan while no thread waits for it.
struct Place<S> {
    /// Absent after the end.
    scan: Option<Box<S>>,
    /// Whether a thread waits for its next step.
    is_taken: bool,
    /// The thread that has ended it before its end.
    closed_by: Option<ThreadId>,
    report: Option<Report>,
}

/// The place of errors of entries.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum OnError {
    /// An exception at the end.
    Raise,
    /// Values between the entries.
    Yield,
    /// Nobody.
    Ignore,
    Call,
}

/// The next item of an iterator.
pub(crate) enum Item<T> {
    Value(T),
    /// An error that the caller wants between the values.
    Error(Py<PyAny>),
    End,
}

impl OnError {
    /// The wish of a caller, for an iterator that can have errors between its values or not.
    pub(crate) fn of(given: &Bound<'_, PyAny>, can_yield: bool) -> PyResult<OnError> {
        if given.is_none() {
            return Ok(OnError::Raise);
        }
        if given.is_callable() {
            return Ok(OnError::Call);
        }
        let words = match can_yield {
            true => "onerror is a function, 'yield', 'ignore' or None",
            false => "onerror is a function or None",
        };
        let word: String = given.extract().map_err(|_| PyTypeError::new_err(words))?;
        match &*word {
            "yield" if can_yield => Ok(OnError::Yield),
            "ignore" if can_yield => Ok(OnError::Ignore),
            _ => Err(PyValueError::new_err(words)),
        }
    }
}

impl<S: Steps> Running<S> {
    /// `is_text` says whether paths in errors are text.
    pub(crate) fn new(
        scan: S,
        is_text: bool,
        on_error: OnError,
        given: Bound<'_, PyAny>,
    ) -> Running<S> {
        Running {
            place: Mutex::new(Place {
                scan: Some(Box::new(scan)),
                is_taken: false,
                closed_by: None,
                report: None,
            }),
            is_back: Condvar::new(),
            callback: Mutex::new((on_error == OnError::Call).then(|| given.unbind())),
            on_error,
            is_text,
            errors: Mutex::default(),
        }
    }

    pub(crate) fn calls_back(&self) -> bool {
        self.on_error == OnError::Call
    }

    /// Does something with the scan that needs no wait; absent after the end.
    ///
    /// # Errors
    ///
    /// Returns an error while another thread waits for the scan.
    pub(crate) fn with<R>(&self, call: impl FnOnce(&mut S) -> R) -> PyResult<Option<R>> {
        Ok(self.free()?.scan.as_deref_mut().map(call))
    }

    /// The place, while no thread waits for the scan.
    fn free(&self) -> PyResult<MutexGuard<'_, Place<S>>> {
        let place = self.place();
        match place.is_taken {
            true => Err(PyRuntimeError::new_err(
                "another thread waits for the next item of this scan",
            )),
            false => Ok(place),
        }
    }

    /// Takes the scan away for good; absent after the end.
    ///
    /// # Errors
    ///
    /// As for [`with`](Self::with).
    pub(crate) fn take(&self) -> PyResult<Option<S>> {
        Ok(self.free()?.scan.take().map(|scan| *scan))
    }

    /// Waits for the next item. Other threads of Python run meanwhile.
    pub(crate) fn next(&self, py: Python<'_>) -> PyResult<Item<S::Value>> {
        loop {
            // Before something is taken, so that an exception of a handler loses nothing. A
            // caller can take batches for long without a line of Python.
            py.check_signals()?;
            let Some(step) = self.step(py)? else {
                return self.over(py);
            };
            match step.map_err(of_failure)? {
                Step::Value(value) => return Ok(Item::Value(value)),
                Step::Error(error) => {
                    if let Some(error) = self.tell(py, &error)? {
                        return Ok(Item::Error(error));
                    }
                }
                Step::Waiting => {}
                Step::End => return self.end(py).map(|()| Item::End),
            }
        }
    }

    /// A step of the scan; absent after the end.
    fn step(&self, py: Python<'_>) -> PyResult<Option<Result<Step<S::Value>, Failure>>> {
        let mut place = self.free()?;
        let Some(mut scan) = place.scan.take() else {
            return Ok(None);
        };
        place.is_taken = true;
        drop(place);
        let step = py.detach(|| scan.next_within(PAUSE));
        let mut place = self.place();
        place.scan = Some(scan);
        place.is_taken = false;
        drop(place);
        self.is_back.notify_all();
        Ok(Some(step))
    }

    /// Gives an error to whom it belongs; back to the caller who wants it as an item.
    fn tell(&self, py: Python<'_>, error: &EntryError) -> PyResult<Option<Py<PyAny>>> {
        let error = of_entry(py, error, self.is_text)?;
        match self.on_error {
            OnError::Yield => return Ok(Some(error)),
            OnError::Ignore => {}
            OnError::Raise => {
                let mut errors = lock(&self.errors);
                if errors.len() < KEPT_MAX {
                    errors.push(error);
                }
            }
            OnError::Call => {
                let callback = lock(&self.callback).as_ref().map(|call| call.clone_ref(py));
                if let Some(callback) = callback {
                    callback.call1(py, (error,))?;
                }
            }
        }
        Ok(None)
    }

    /// The end of a scan that gave everything.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.finish(py)?;
        match self.report() {
            Some(report) if !report.is_complete() => self.raise_incomplete(py, &report),
            _ => Ok(()),
        }
    }

    /// The answer of an iterator without a scan.
    fn over(&self, py: Python<'_>) -> PyResult<Item<S::Value>> {
        let place = self.place();
        let (closed_by, report) = (place.closed_by, place.report.clone());
        drop(place);
        // Who closes it knows that more would have come.
        if closed_by.is_some_and(|thread| thread != thread::current().id()) {
            self.raise_incomplete(py, &report.unwrap_or_default())?;
        }
        Ok(Item::End)
    }

    fn raise_incomplete(&self, py: Python<'_>, report: &Report) -> PyResult<()> {
        if self.on_error != OnError::Raise {
            return Ok(());
        }
        let errors = std::mem::take(&mut *lock(&self.errors));
        Err(incomplete(py, report, &errors))
    }

    /// Ends the scan. A thread that waits for it hears of that.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut place = self.place();
        if place.scan.is_none() && !place.is_taken {
            return Ok(());
        }
        place.closed_by = Some(thread::current().id());
        drop(place);
        self.finish(py)
    }

    /// Waits until no thread has the scan, ends it, and keeps its report.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let ended = py.detach(|| {
            let mut place = self.place();
            while place.is_taken {
                let back = self.is_back.wait(place);
                place = back.unwrap_or_else(PoisonError::into_inner);
            }
            let scan = place.scan.take();
            drop(place);
            scan.map(|scan| scan.finish())
        });
        if let Some(ended) = ended {
            let report = Report::new(Gaps::of(&ended.map_err(of_failure)?));
            self.place().report = Some(report);
        }
        Ok(())
    }

    /// The report; absent before the end.
    pub(crate) fn report(&self) -> Option<Report> {
        self.place().report.clone()
    }

    fn place(&self) -> MutexGuard<'_, Place<S>> {
        lock(&self.place)
    }

    /// Shows the collector what belongs to the scan, unless another thread has it just now.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(callback) = self.callback.try_lock() {
            visit.call(&*callback)?;
        }
        if let Ok(errors) = self.errors.try_lock() {
            errors.iter().try_for_each(|error| visit.call(error))?;
        }
        Ok(())
    }

    /// Lets go of what the collector found in a circle.
    pub(crate) fn clear(&self) {
        // They are dropped when no lock is held: that can run any Python.
        let callback = lock(&self.callback).take();
        let errors = std::mem::take(&mut *lock(&self.errors));
        drop((callback, errors));
    }
}

impl<S: Steps> Drop for Running<S> {
    /// Threads of the scan end without the GIL, because that can take a while.
    fn drop(&mut self) {
        if let Some(scan) = self.place().scan.take() {
            Python::attach(|py| py.detach(|| drop(scan)));
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
