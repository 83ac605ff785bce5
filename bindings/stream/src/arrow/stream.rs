// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tables of a scan as a stream of Arrow.

use std::ffi::{CString, c_char, c_int};
use std::time::Duration;

use super::abi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use super::table::{schema, table};
use crate::failure::Failure;
use crate::feed::Step;
use crate::request::Request;
use crate::tables::Tables;

/// `EIO`, errno(3).
const EIO: c_int = 5;
/// `EINVAL`, errno(3).
const EINVAL: c_int = 22;

/// The end of a stream whose scan could not read everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtIncomplete {
    /// An error: a stream has no other place to say so.
    Fail,
    /// An end as any other, for a caller who does not mind.
    End,
}

struct State {
    tables: Tables,
    request: Request,
    at_incomplete: AtIncomplete,
    errors: u64,
    first_error: Option<String>,
    last_error: Option<CString>,
}

/// Begins a scan, as a stream of tables as [`schema`] has them.
///
/// # Errors
///
/// Returns an error if a root holds a NUL.
pub fn stream(request: &Request, at_incomplete: AtIncomplete) -> Result<ArrowArrayStream, Failure> {
    let tables = Tables::new(request)?.without_prefixes();
    Ok(stream_of_rest(tables, request, at_incomplete))
}

/// The rest of a scan as a stream.
#[must_use]
pub fn stream_of_rest(
    tables: Tables,
    request: &Request,
    at_incomplete: AtIncomplete,
) -> ArrowArrayStream {
    let state = State {
        tables,
        request: request.clone(),
        at_incomplete,
        errors: 0,
        first_error: None,
        last_error: None,
    };
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(Box::new(state)).cast(),
    }
}

impl State {
    fn next(&mut self) -> Result<Option<ArrowArray>, String> {
        loop {
            let step = self.tables.next_within(Duration::from_secs(3600));
            match step.map_err(|failure| failure.to_string())? {
                Step::Value(of) if of.columns().is_empty() => {}
                Step::Value(of) => return Ok(Some(table(of, &self.request))),
                Step::Error(error) => {
                    self.errors += 1;
                    self.first_error.get_or_insert_with(|| error.to_string());
                }
                Step::Waiting => {}
                Step::End => return self.end().map(|()| None),
            }
        }
    }

    fn end(&self) -> Result<(), String> {
        let is_complete = (self.tables.report()).is_some_and(|report| report.is_complete());
        if is_complete || self.at_incomplete == AtIncomplete::End {
            return Ok(());
        }
        let first = self.first_error.as_deref().unwrap_or("it was stopped");
        Err(format!(
            "the scan is incomplete ({} errors): {first}",
            self.errors
        ))
    }

    fn fail(&mut self, words: String, number: c_int) -> c_int {
        self.last_error = CString::new(words.replace('\0', "?")).ok();
        number
    }
}

/// # Safety
///
/// The three callbacks of a stream: `stream` is one that [`stream`] made and nobody has
/// released, and `out` leads to memory for the answer.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the private data is the box of `stream`, and a consumer makes one call at
    // a time.
    let state = unsafe { &mut *(*stream).private_data.cast::<State>() };
    match Failure::catch(|| schema(&state.request)) {
        Ok(schema) => {
            // SAFETY: the caller gives memory for a schema, which holds none.
            unsafe { out.write(schema) };
            0
        }
        Err(failure) => state.fail(failure.to_string(), EINVAL),
    }
}

/// # Safety
///
/// As [`get_schema`].
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`.
    let state = unsafe { &mut *(*stream).private_data.cast::<State>() };
    let next = Failure::catch(|| state.next()).unwrap_or_else(|failure| Err(failure.to_string()));
    match next {
        Ok(table) => {
            // SAFETY: the caller gives memory for an array, which holds none.
            unsafe { out.write(table.unwrap_or_else(ArrowArray::released)) };
            0
        }
        Err(words) => state.fail(words, EIO),
    }
}

/// # Safety
///
/// As [`get_schema`]. The words are there until the next call.
unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: as in `get_schema`.
    let state = unsafe { &*(*stream).private_data.cast::<State>() };
    (state.last_error.as_ref()).map_or(std::ptr::null(), |words| words.as_ptr())
}

/// # Safety
///
/// As [`get_schema`].
unsafe extern "C" fn release(stream: *mut ArrowArrayStream) {
    // SAFETY: the box of `stream`, which this call alone takes back: the callback is
    // null afterwards.
    let state = unsafe {
        (*stream).release = None;
        Box::from_raw((*stream).private_data.cast::<State>())
    };
    // A panic in here would end the host.
    let _ = Failure::catch(|| drop(state));
}
