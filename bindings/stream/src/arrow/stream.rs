// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tables of a scan as a stream of Arrow.

use std::ffi::{CStr, c_char};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::ArrowArrayStream;
use super::table::TableType;
use crate::failure::Failure;
use crate::feed::Step;
use crate::request::Request;
use crate::tables::Tables;

/// The end of a stream whose scan could not read everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtIncomplete {
    /// An error: a stream has no other place to say so.
    Fail,
    /// An end as any other, for a caller who does not mind.
    End,
}

struct Rest {
    /// Absent in its end alone.
    tables: Option<Tables>,
    table_type: TableType,
    at_incomplete: AtIncomplete,
    errors: u64,
    first_error: Option<String>,
}

/// Begins a scan, as a stream of tables as [`TableType`] has them.
///
/// # Errors
///
/// Returns an error if a root holds a NUL.
pub fn stream(request: &Request, at_incomplete: AtIncomplete) -> Result<ArrowArrayStream, Failure> {
    let tables = Tables::new(request)?.without_prefixes();
    Ok(stream_of_rest(
        tables,
        &TableType::of(request),
        at_incomplete,
    ))
}

/// The rest of a scan as a stream.
#[must_use]
pub fn stream_of_rest(
    tables: Tables,
    table_type: &TableType,
    at_incomplete: AtIncomplete,
) -> ArrowArrayStream {
    in_our_words(ArrowArrayStream::new(Box::new(Rest {
        tables: Some(tables),
        table_type: table_type.clone(),
        at_incomplete,
        errors: 0,
        first_error: None,
    })))
}

/// A stream of tables that are there already.
#[must_use]
pub fn stream_of(table_type: &TableType, tables: &[RecordBatch]) -> ArrowArrayStream {
    let tables: Vec<_> = tables.iter().cloned().map(Ok).collect();
    let reader = RecordBatchIterator::new(tables, table_type.schema_ref());
    ArrowArrayStream::new(Box::new(reader))
}

impl Rest {
    fn next_table(&mut self) -> Result<Option<RecordBatch>, String> {
        while let Some(tables) = &mut self.tables {
            let step = tables.next_within(Duration::from_secs(3600));
            match step.map_err(|failure| failure.to_string())? {
                Step::Value(of) if of.columns().is_empty() => {}
                Step::Value(of) => return Ok(Some(self.table_type.table(of))),
                Step::Error(error) => {
                    self.errors += 1;
                    self.first_error.get_or_insert_with(|| error.to_string());
                }
                Step::Waiting => {}
                Step::End => break,
            }
        }
        self.end().map(|()| None)
    }

    fn end(&self) -> Result<(), String> {
        let report = self.tables.as_ref().and_then(Tables::report);
        let is_complete = report.is_some_and(|report| report.is_complete());
        if is_complete || self.at_incomplete == AtIncomplete::End {
            return Ok(());
        }
        let first = self.first_error.as_deref().unwrap_or("it was stopped");
        Err(format!(
            "the scan is incomplete ({} errors): {first}",
            self.errors
        ))
    }
}

impl Iterator for Rest {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Arrow's callback aborts the host at a panic, and makes one of a NUL.
        let next = Failure::catch(|| self.next_table());
        let next = next.unwrap_or_else(|failure| Err(failure.to_string()));
        // Of all errors of Arrow, this one becomes EIO.
        let error = |words: String| {
            ArrowError::IoError(words.replace('\0', "?"), io::ErrorKind::Other.into())
        };
        next.map_err(error).transpose()
    }
}

impl RecordBatchReader for Rest {
    fn schema(&self) -> SchemaRef {
        self.table_type.schema_ref()
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        // A panic in here would end the host.
        let _ = Failure::catch(|| drop(self.tables.take()));
    }
}

/// A callback of a stream, that describes its last error.
type LastError = unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char;

/// That of arrow-array, the same for all streams.
static LAST_ERROR: OnceLock<LastError> = OnceLock::new();

/// The words of arrow-array before those of an error of the system.
const PREFIX: &[u8] = b"Io error: ";

/// The same stream, whose errors are described in our words alone.
fn in_our_words(stream: ArrowArrayStream) -> ArrowArrayStream {
    if let Some(call) = stream.get_last_error() {
        LAST_ERROR.get_or_init(|| call);
    }
    let (schema, next) = (stream.get_schema(), stream.get_next());
    let (release, data) = (stream.release(), stream.private_data());
    std::mem::forget(stream);
    // SAFETY: these are the parts of a stream that is not released, and nobody else has
    // them now. The one that is exchanged leaves the data as it is.
    unsafe { ArrowArrayStream::new_unchecked(schema, next, Some(last_error), release, data) }
}

/// # Safety
///
/// `stream` is of [`in_our_words`], and not released.
unsafe extern "C" fn last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    let Some(call) = LAST_ERROR.get() else {
        return std::ptr::null();
    };
    // SAFETY: the callback was made for such a stream, and gives NULL or a string.
    unsafe {
        let words = call(stream);
        let has_prefix = !words.is_null() && CStr::from_ptr(words).to_bytes().starts_with(PREFIX);
        words.add(if has_prefix { PREFIX.len() } else { 0 })
    }
}
