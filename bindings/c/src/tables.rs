// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns of many directories in order, as pointers and as arrays of Arrow.

use std::ffi::c_int;

use statwalk_core::Canceller;
use statwalk_stream::arrow::{
    self, ArrowArray, ArrowArrayStream, ArrowSchema, AtIncomplete, TableType,
};
use statwalk_stream::{Failure, Step, Table, Tables};

use crate::border::{exclusive, guard, guard_unit, patience, shared};
use crate::columns::{
    AttributePointer, OddTimeRow, RefusalRow, TablePointers, attributes, odd_times, pointers,
    refusals,
};
use crate::failures::{
    ErrorItem, HeldError, SW_END, SW_ERROR, SW_OK, SW_VALUE, SW_WAITING, ScanReport,
};
use crate::process::Process;
use crate::readiness::Reading;
use crate::scan::ScanRequest;

/// A scan that gives tables.
#[derive(Debug)]
pub struct TablesHandle {
    tables: Reading<Tables>,
    table_type: TableType,
    error: Option<HeldError>,
    /// Apart from the tables, for other threads.
    canceller: Option<Canceller>,
    process: Process,
}

/// A table with its pointers, which come first: a pointer to them leads to it.
#[repr(C)]
struct OwnedTable {
    pointers: TablePointers,
    table: Table,
    table_type: TableType,
    process: Process,
    /// Those that the pointers lead to.
    _odd_times: Vec<OddTimeRow>,
    _refusals: Vec<RefusalRow>,
    _attributes: Vec<AttributePointer>,
}

/// Begins a scan that gives tables. sw_tables_close ends it.
///
/// Each directory is a row of a table of directories, and any other entry one of a table of
/// others, which have no `ids`. With SW_SORT or SW_CONTENTS_FIRST a table has both, and
/// UINT32_MAX among its `ids` for a row that is no directory. A directory comes before all that is below it, and an error
/// comes after the directories above its entry. SW_OK, or SW_FAILED and NULL in `tables`.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `tables` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_open(
    scan: *const ScanRequest,
    tables: *mut *mut TablesHandle,
) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives memory for a pointer, and a scan that nobody changes.
        let (scan, place) = unsafe { (shared(scan), exclusive(tables)?) };
        *place = std::ptr::null_mut();
        let request = &scan?.0;
        let tables = Tables::new(request)?;
        *place = Box::into_raw(Box::new(TablesHandle {
            canceller: tables.canceller().cloned(),
            tables: Reading::new(tables),
            table_type: TableType::of(request),
            error: None,
            process: Process::current(),
        }));
        Ok(())
    })
}

/// Takes the next table, and waits for it up to a time, or for ever if the time is
/// negative.
///
/// SW_VALUE and the table, for sw_table_free; SW_ERROR for an entry that could not be
/// read, which sw_tables_error describes; SW_WAITING; SW_END; SW_FAILED.
///
/// # Safety
///
/// `tables` is of sw_tables_open, and `table` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_next(
    tables: *mut TablesHandle,
    timeout_ms: c_int,
    table: *mut *mut TablePointers,
) -> c_int {
    guard(|| {
        if tables.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives tables that no other thread goes on with. Another
        // thread may read the canceller, so this borrows the other fields alone.
        let (inner, table_type, error, process, place) = unsafe {
            let (inner, table_type) = (&mut (*tables).tables, &(*tables).table_type);
            let process = (*tables).process;
            (
                inner,
                table_type,
                &mut (*tables).error,
                process,
                exclusive(table)?,
            )
        };
        *place = std::ptr::null_mut();
        process.check()?;
        let (timeout, is_endless) = patience(timeout_ms);
        loop {
            match inner.step_within(timeout)? {
                Step::Value(table) => {
                    *place = OwnedTable::give(table, table_type, process);
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

impl OwnedTable {
    /// The pointers of a table, which the caller gives back.
    fn give(table: Table, table_type: &TableType, process: Process) -> *mut TablePointers {
        let odd = odd_times(table.columns());
        let refused = refusals(table.columns());
        let of = attributes(table.columns(), table_type.fields());
        let owned = Box::new(OwnedTable {
            pointers: pointers(&table, &of, &odd, &refused),
            _odd_times: odd,
            _refusals: refused,
            _attributes: of,
            table_type: table_type.clone(),
            process,
            table,
        });
        Box::into_raw(owned).cast()
    }
}

/// Gives a descriptor for poll(2) and event loops, as sw_walk_fd does.
///
/// A table or an error that has made it readable comes, also if a directory above was skipped
/// since: sw_tables_is_skipped tells.
///
/// # Safety
///
/// `tables` is of sw_tables_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_fd(tables: *mut TablesHandle) -> c_int {
    guard(|| {
        if tables.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives tables that no other thread goes on with; this
        // borrows that field alone, as above.
        let (inner, process) = unsafe { (&mut (*tables).tables, (*tables).process) };
        process.check()?;
        inner.descriptor()
    })
}

/// The error of the last SW_ERROR; NULL before the first. It is there until the next call
/// of sw_tables_next.
///
/// # Safety
///
/// `tables` is of sw_tables_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_error(tables: *const TablesHandle) -> *const ErrorItem {
    if tables.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller gives tables that no other thread goes on with.
    let error = unsafe { &(*tables).error };
    (error.as_ref()).map_or(std::ptr::null(), |error| &raw const error.item)
}

/// Leaves out what is below a directory of a table that came, by its number.
///
/// No worker opens a directory below it that none has opened. No later table has anything
/// below it, and no error of it or below it comes, or counts in the report. For rows of the
/// same table, sw_tables_is_skipped tells. SW_FAILED if no directory with that number can have
/// come, after SW_END, and with SW_CONTENTS_FIRST.
///
/// # Safety
///
/// `tables` is of sw_tables_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_skip(tables: *mut TablesHandle, directory: u32) -> c_int {
    guard_unit(|| {
        if tables.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives tables that no other thread goes on with; this
        // borrows that field alone, as above.
        let (inner, process) = unsafe { (&mut (*tables).tables, (*tables).process) };
        process.check()?;
        let pruned = inner.ask(|tables| tables.prune(directory));
        let none = Failure::Invalid("no directory with that number has come");
        pruned.unwrap_or(Err(none))
    })
}

/// Whether a directory was skipped, or lies below one that was: rows in it are not wanted.
///
/// It speaks of the directories of the table that came last, until the next call of
/// sw_tables_next.
///
/// # Safety
///
/// `tables` is of sw_tables_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_is_skipped(tables: *const TablesHandle, directory: u32) -> bool {
    if tables.is_null() {
        return false;
    }
    // SAFETY: the caller gives tables that no other thread goes on with; this borrows that
    // field alone, as above.
    let (inner, process) = unsafe { (&(*tables).tables, (*tables).process) };
    process.is_current() && (inner.scan()).is_some_and(|inner| inner.is_skipped(directory))
}

/// Stops the scan. Any thread may call it while the tables are open.
///
/// # Safety
///
/// `tables` is of sw_tables_open, and not closed before this call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_cancel(tables: *const TablesHandle) {
    if tables.is_null() {
        return;
    }
    // SAFETY: the tables are open. Nobody writes these fields after sw_tables_open.
    let (canceller, process) = unsafe { (&(*tables).canceller, (*tables).process) };
    process.cancel(canceller.as_ref());
}

/// Ends the scan, waits for its threads, and frees it. Tables that were taken stay.
///
/// As sw_walk_close.
///
/// # Safety
///
/// `tables` is NULL, or of sw_tables_open and not closed. `report` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_tables_close(
    tables: *mut TablesHandle,
    report: *mut ScanReport,
) -> c_int {
    guard(|| {
        if tables.is_null() {
            return Ok(SW_OK);
        }
        // SAFETY: sw_tables_open made the box, and the caller gives it back once.
        let handle = unsafe { Box::from_raw(tables) };
        if let Err(forked) = handle.process.check() {
            handle.tables.leave();
            return Err(forked);
        }
        let ended = handle.tables.end()?;
        // SAFETY: the caller gives memory for a report, or null.
        Ok(unsafe { ScanReport::give(&ended, report) })
    })
}

/// Frees a table: its buffers go back to the workers. Any thread may. NULL is allowed.
///
/// # Safety
///
/// `table` is NULL, or of sw_tables_next and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_table_free(table: *mut TablePointers) {
    if !table.is_null() {
        // SAFETY: sw_tables_next made the box, and the caller gives it back once. The
        // pointers are its first field.
        let owned = unsafe { Box::from_raw(table.cast::<OwnedTable>()) };
        // A panic in here would end the host.
        let _ = Failure::catch(|| drop(owned));
    }
}

/// Turns a table into an array of Arrow without a copy, and frees it.
///
/// `array` has the type of sw_arrow_schema. In the child of a fork it is SW_FAILED, and the
/// table stays.
///
/// # Safety
///
/// `table` is of sw_tables_next and not freed. `array` leads to memory for an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_table_to_arrow(
    table: *mut TablePointers,
    array: *mut ArrowArray,
) -> c_int {
    guard_unit(|| {
        if table.is_null() || array.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives a table, which begins with its pointers.
        unsafe { (*table.cast::<OwnedTable>()).process }.check()?;
        // SAFETY: as in sw_table_free.
        let OwnedTable {
            table, table_type, ..
        } = *unsafe { Box::from_raw(table.cast()) };
        let made = arrow::array(table_type.table(table));
        // SAFETY: the caller gives memory for an array, which holds none.
        unsafe { array.write(made) };
        Ok(())
    })
}

/// Gives the type of the tables of a scan: a struct with a child for each column.
///
/// Paths and names are text: a byte that is no UTF-8 is `\xNN` with two upper-case digits, and
/// a backslash before an x is `\x5C`. The tables themselves have the bytes. `child` is the number
/// of a directory, and `dir` that of the directory in which an entry lies.
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
        unsafe { schema.write(TableType::of(&scan.0).schema()) };
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
