// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns of many directories, as pointers and as arrays of Arrow.

use std::ffi::c_int;

use statwalk_core::Canceller;
use statwalk_stream::arrow::{self, ArrowArray, ArrowArrayStream, ArrowSchema, AtIncomplete};
use statwalk_stream::{Batch, Batches, Failure, Request, Step};

use crate::border::{exclusive, guard, guard_unit, patience, shared};
use crate::columns::{
    AttributePointer, ColumnPointers, DirectoryPointers, OddTimeRow, attributes,
    directory_pointers, odd_times, pointers,
};
use crate::failures::{
    ErrorItem, HeldError, SW_END, SW_ERROR, SW_OK, SW_VALUE, SW_WAITING, ScanReport,
};
use crate::scan::ScanRequest;

/// A scan that gives batches.
#[derive(Debug)]
pub struct BatchesHandle {
    batches: Batches,
    request: Request,
    error: Option<HeldError>,
    /// Apart from the batches, for other threads.
    canceller: Option<Canceller>,
}

/// Up to 65,536 entries of many directories, and the directories that begin among them.
#[derive(Debug)]
pub struct BatchHandle {
    batch: Batch,
    request: Request,
    entries: ColumnPointers,
    directories: DirectoryPointers,
    directory_columns: ColumnPointers,
    /// Those that the pointers lead to.
    _odd_times: [Vec<OddTimeRow>; 2],
    _attributes: [Vec<AttributePointer>; 2],
}

/// Begins a scan that gives columns. sw_batches_close ends it.
///
/// Each directory is a row of sw_batch_directories, and any other entry one of
/// sw_batch_entries, in some batch. The columns say by a number in which directory an
/// entry lies. With SW_PATH a directory comes before all that is below it, in the same batch
/// or in an earlier one, and an error comes after the directories above its entry. Without
/// it no order is promised. SW_OK, or SW_FAILED and NULL in `batches`.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `batches` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_open(
    scan: *const ScanRequest,
    batches: *mut *mut BatchesHandle,
) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives memory for a pointer, and a scan that nobody changes.
        let (scan, place) = unsafe { (shared(scan), exclusive(batches)?) };
        *place = std::ptr::null_mut();
        let request = &scan?.0;
        let batches = Batches::new(request)?;
        *place = Box::into_raw(Box::new(BatchesHandle {
            canceller: batches.canceller().cloned(),
            batches,
            request: request.clone(),
            error: None,
        }));
        Ok(())
    })
}

/// Takes the next batch, and waits for it up to a time, or for ever if the time is
/// negative.
///
/// SW_VALUE and the batch, for sw_batch_free; SW_ERROR for an entry that could not be
/// read, which sw_batches_error describes; SW_WAITING; SW_END; SW_FAILED.
///
/// # Safety
///
/// `batches` is of sw_batches_open, and `batch` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_next(
    batches: *mut BatchesHandle,
    timeout_ms: c_int,
    batch: *mut *mut BatchHandle,
) -> c_int {
    guard(|| {
        if batches.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives batches that no other thread goes on with. Another
        // thread may read the canceller, so this borrows the other fields alone.
        let (inner, request, error, place) = unsafe {
            let (inner, request) = (&mut (*batches).batches, &(*batches).request);
            (inner, request, &mut (*batches).error, exclusive(batch)?)
        };
        *place = std::ptr::null_mut();
        let (timeout, is_endless) = patience(timeout_ms);
        loop {
            match inner.next_within(timeout)? {
                Step::Value(batch) => {
                    *place = Box::into_raw(BatchHandle::new(batch, request));
                    return Ok(SW_VALUE);
                }
                Step::Error(found) => {
                    *error = Some(HeldError::new(found));
                    return Ok(SW_ERROR);
                }
                Step::Waiting if is_endless => {}
                Step::Waiting => return Ok(SW_WAITING),
                Step::End => return Ok(SW_END),
            }
        }
    })
}

impl BatchHandle {
    fn new(batch: Batch, request: &Request) -> Box<BatchHandle> {
        let rows = batch.rows();
        let (entries, directories) = (rows.entries(), rows.directories());
        let tables = [entries, &directories.columns];
        let odd = tables.map(odd_times);
        let of = tables.map(|columns| attributes(columns, request.fields()));
        let paths = batch.paths();
        let [of_entries, of_directories] = [0, 1].map(|at| {
            let paths = paths.map(|paths| &paths[at]);
            pointers(tables[at], paths, &of[at], &odd[at])
        });
        let mut handle = Box::new(BatchHandle {
            entries: of_entries,
            directories: directory_pointers(directories),
            directory_columns: of_directories,
            _odd_times: odd,
            _attributes: of,
            request: request.clone(),
            batch,
        });
        handle.directories.columns = &raw const handle.directory_columns;
        handle
    }
}

/// The error of the last SW_ERROR; NULL before the first. It is there until the next call
/// of sw_batches_next.
///
/// # Safety
///
/// `batches` is of sw_batches_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_error(batches: *const BatchesHandle) -> *const ErrorItem {
    if batches.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller gives batches that no other thread goes on with.
    let error = unsafe { &(*batches).error };
    (error.as_ref()).map_or(std::ptr::null(), |error| &raw const error.item)
}

/// Leaves out what is below a directory of a batch that came, by its number.
///
/// No worker opens a directory below it that none has opened. No later batch has anything
/// below it, and no error of it or below it comes, or counts in the report. SW_FAILED if no
/// directory with that number can have come, and without SW_PATH.
///
/// # Safety
///
/// `batches` is of sw_batches_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_skip(batches: *mut BatchesHandle, directory: u32) -> c_int {
    guard_unit(|| {
        if batches.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives batches that no other thread goes on with; this
        // borrows that field alone, as above.
        let inner = unsafe { &mut (*batches).batches };
        let pruned = inner.prune(directory);
        (pruned.then_some(())).ok_or(Failure::Invalid("no directory with that number has come"))
    })
}

/// Stops the scan. Any thread may call it while the batches are open.
///
/// # Safety
///
/// `batches` is of sw_batches_open, and not closed before this call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_cancel(batches: *const BatchesHandle) {
    if batches.is_null() {
        return;
    }
    // SAFETY: the batches are open. Nobody writes this field after sw_batches_open.
    let canceller = unsafe { &(*batches).canceller };
    // A panic was noted by the thread that goes on.
    let _ = Failure::catch(|| {
        if let Some(canceller) = canceller {
            canceller.cancel();
        }
    });
}

/// Ends the scan, waits for its threads, and frees it. Batches that were taken stay.
///
/// As sw_walk_close.
///
/// # Safety
///
/// `batches` is NULL, or of sw_batches_open and not closed. `report` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batches_close(
    batches: *mut BatchesHandle,
    report: *mut ScanReport,
) -> c_int {
    guard(|| {
        if batches.is_null() {
            return Ok(SW_OK);
        }
        // SAFETY: sw_batches_open made the box, and the caller gives it back once.
        let handle = unsafe { Box::from_raw(batches) };
        let found = ScanReport::new(&handle.batches.finish()?);
        if !report.is_null() {
            // SAFETY: the caller gives memory for a report.
            unsafe { report.write(found) };
        }
        Ok(found.status())
    })
}

/// The entries of a batch that are no directories. They go with the batch.
///
/// # Safety
///
/// `batch` is NULL or of sw_batches_next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batch_entries(batch: *const BatchHandle) -> *const ColumnPointers {
    // SAFETY: the caller gives a batch, or null.
    unsafe { batch.as_ref() }.map_or(std::ptr::null(), |batch| &raw const batch.entries)
}

/// The directories that begin in a batch. They go with the batch.
///
/// # Safety
///
/// `batch` is NULL or of sw_batches_next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batch_directories(
    batch: *const BatchHandle,
) -> *const DirectoryPointers {
    // SAFETY: the caller gives a batch, or null.
    unsafe { batch.as_ref() }.map_or(std::ptr::null(), |batch| &raw const batch.directories)
}

/// Frees a batch: its buffers go back to the workers. Any thread may. NULL is allowed.
///
/// # Safety
///
/// `batch` is NULL, or of sw_batches_next and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batch_free(batch: *mut BatchHandle) {
    if !batch.is_null() {
        // SAFETY: sw_batches_next made the box, and the caller gives it back once.
        let handle = unsafe { Box::from_raw(batch) };
        // A panic in here would end the host.
        let _ = Failure::catch(|| drop(handle));
    }
}

/// Turns a batch into arrays of Arrow without a copy, and frees it.
///
/// `directories` gets the table of directories and `entries` that of other entries, both
/// of the type of sw_arrow_schema. A table without rows has no release callback.
///
/// # Safety
///
/// `batch` is of sw_batches_next and not freed. The others lead to memory for an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_batch_to_arrow(
    batch: *mut BatchHandle,
    directories: *mut ArrowArray,
    entries: *mut ArrowArray,
) -> c_int {
    guard_unit(|| {
        if batch.is_null() || directories.is_null() || entries.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: sw_batches_next made the box, and the caller gives it back once.
        let BatchHandle { batch, request, .. } = *unsafe { Box::from_raw(batch) };
        let tables = arrow::tables(batch, &request);
        for (table, place) in tables.into_iter().zip([directories, entries]) {
            let table = table.unwrap_or_else(ArrowArray::released);
            // SAFETY: the caller gives memory for an array, which holds none.
            unsafe { place.write(table) };
        }
        Ok(())
    })
}

/// Gives the type of the tables of a scan: a struct with a child for each column.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `schema` leads to memory for a schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_arrow_schema(
    scan: *const ScanRequest,
    schema: *mut ArrowSchema,
) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that nobody changes.
        let scan = unsafe { shared(scan)? };
        if schema.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives memory for a schema, which holds none.
        unsafe { schema.write(arrow::schema(&scan.0)) };
        Ok(())
    })
}

/// Begins a scan as a stream of Arrow. Its release callback ends the scan.
///
/// A stream has no place for errors of entries. If something could not be read, the
/// stream ends with EIO, and get_last_error says what, unless `allow_incomplete`.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `stream` leads to memory for a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_arrow_stream(
    scan: *const ScanRequest,
    allow_incomplete: bool,
    stream: *mut ArrowArrayStream,
) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that nobody changes.
        let scan = unsafe { shared(scan)? };
        if stream.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        let at_incomplete = match allow_incomplete {
            true => AtIncomplete::End,
            false => AtIncomplete::Fail,
        };
        let made = arrow::stream(&scan.0, at_incomplete)?;
        // SAFETY: the caller gives memory for a stream, which holds none.
        unsafe { stream.write(made) };
        Ok(())
    })
}
