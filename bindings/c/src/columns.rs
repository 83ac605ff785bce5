// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a table as pointers.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::LazyLock;

use statwalk_core::{Bits, Column, Columns, Fields, Values};
use statwalk_stream::Table;

/// A time of a row that 64 bits of nanoseconds do not hold: before 1677, after 2262.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OddTimeRow {
    /// The row.
    pub row: u32,
    /// SW_MTIME, SW_ATIME, SW_CTIME or SW_BTIME.
    pub column: u32,
    /// Seconds since 1970.
    pub seconds: i64,
}

/// A row whose attributes the system has refused.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RefusalRow {
    /// The row.
    pub row: u32,
    /// The error number of the system.
    pub number: c_int,
}

/// The values of one attribute.
#[repr(C)]
#[derive(Debug)]
pub struct AttributePointer {
    /// The name, as in tables of Arrow: "size", "uid", "mtime".
    pub name: *const c_char,
    /// The column that asks for it: SW_SIZE and its neighbours. Two attributes can have one.
    pub column: u32,
    /// SW_U16 and its neighbours.
    pub kind: u32,
    /// A value for each row; NULL without rows.
    pub values: *const c_void,
    /// A bit for each row: whether its value is known. A stat can fail.
    pub is_known: *const u8,
}

/// 16 bits without a sign: uint16_t.
pub const SW_U16: u32 = 1;
/// 32 bits without a sign: uint32_t.
pub const SW_U32: u32 = 2;
/// 64 bits without a sign: uint64_t.
pub const SW_U64: u32 = 3;
/// Nanoseconds since 1970: int64_t. Where they do not fit, the value is not known.
pub const SW_TIME_NS: u32 = 4;

/// Directories, or other entries, in columns. A column that was not asked for is NULL.
///
/// It has up to 16,384 rows and 4 MiB, or a single row; one without rows has ends of
/// directories. Columns of bits have row 0 in the lowest bit of the first byte, and are NULL
/// if every bit is 1. New members can come at the end.
#[repr(C)]
#[derive(Debug)]
pub struct TablePointers {
    /// How many rows there are.
    pub len: usize,
    /// The numbers of directories; NULL in a table of other entries. With SW_SORT or
    /// SW_CONTENTS_FIRST, UINT32_MAX for a row that is no directory.
    pub ids: *const u32,
    /// Of directories, the root that each belongs to, from 0 on.
    pub roots: *const u32,
    /// Of directories, SW_LISTED and its neighbours.
    pub states: *const u8,
    /// The number of the directory that each row lies in. A root has none, and here its number
    /// among the roots, from 0 on.
    pub dirs: *const u32,
    /// A bit for each row: whether it lies in a directory. 0 for a root.
    pub has_dir: *const u8,
    /// Which prefix stands before the name of each row: both are its path.
    pub prefixes: *const u32,
    /// The bytes of all prefixes, without NULs: the path of a directory with a slash at its
    /// end, and nothing for roots.
    pub prefix_bytes: *const u8,
    /// Where each prefix begins, and where the last one ends.
    pub prefix_offsets: *const u32,
    /// How many prefixes there are.
    pub prefix_count: usize,
    /// The bytes of all names, without NULs. The name of a root is the path that the caller
    /// gave.
    pub names: *const u8,
    /// Where each name begins, and at the end where the last one ends: `len` + 1 numbers.
    pub name_offsets: *const i32,
    /// With SW_PATH, the bytes of all paths, without NULs.
    pub paths: *const u8,
    /// As `name_offsets`.
    pub path_offsets: *const i64,
    /// SW_FILE and its neighbours.
    pub types: *const u8,
    /// The attributes that were asked for.
    pub attributes: *const AttributePointer,
    /// How many there are.
    pub attribute_count: usize,
    /// Times that nanoseconds do not hold, by row: nearly always none.
    pub odd_times: *const OddTimeRow,
    /// How many there are.
    pub odd_time_count: usize,
    /// The numbers of directories that are finished. Their rows can still come; at the
    /// end of a scan that was stopped, those that are not among them lack something.
    pub finished: *const u32,
    /// How many there are.
    pub finished_count: usize,
    /// The numbers of directories that lack something, which could not be read.
    pub incomplete: *const u32,
    /// How many there are.
    pub incomplete_count: usize,
    /// The rows whose attributes the system has refused, in their order: nearly always none.
    pub refusals: *const RefusalRow,
    /// How many there are.
    pub refusal_count: usize,
}

/// The times of some columns as the interface has them.
pub(crate) fn odd_times(columns: &Columns) -> Vec<OddTimeRow> {
    let odd = columns.attributes.odd_times.iter();
    odd.map(|odd| OddTimeRow {
        row: odd.row,
        column: odd.time.field().bits(),
        seconds: odd.seconds,
    })
    .collect()
}

/// The refusals of some columns as the interface has them.
pub(crate) fn refusals(columns: &Columns) -> Vec<RefusalRow> {
    let refusals = columns.attributes.refusals.iter();
    refusals
        .map(|refusal| RefusalRow {
            row: refusal.row,
            number: refusal.errno.0,
        })
        .collect()
}

/// The attributes of some columns as the interface has them.
pub(crate) fn attributes(columns: &Columns, fields: Fields) -> Vec<AttributePointer> {
    let attribute = |column: Column| {
        let (kind, values) = match columns.values(&column) {
            Values::U16(values) => (SW_U16, start(&values).cast()),
            Values::U32(values) => (SW_U32, start(&values).cast()),
            Values::U64(values) => (SW_U64, start(&values).cast()),
            Values::TimeNs(values) => (SW_TIME_NS, start(&values).cast()),
            // A kind that this library does not know has no values here.
            _ => (0, std::ptr::null()),
        };
        AttributePointer {
            name: c_name(column.name),
            column: column.field.bits(),
            kind,
            values,
            is_known: bits(columns.known(&column)),
        }
    };
    Column::of(fields).into_iter().map(attribute).collect()
}

/// The name of an attribute with a NUL. There are few, and they stay.
fn c_name(name: &str) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
        let all = Column::of(Fields::ALL).into_iter();
        all.filter_map(|column| CString::new(column.name).ok())
            .collect()
    });
    let known = NAMES
        .iter()
        .find(|known| known.to_bytes() == name.as_bytes());
    known.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Finds an attribute by its name, such as "size"; NULL where it was not asked for.
///
/// # Safety
///
/// `table` is NULL or not freed, and `name` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_attribute_of(
    table: *const TablePointers,
    name: *const c_char,
) -> *const AttributePointer {
    if table.is_null() || name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller gives a table, whose list is there as long, and a name.
    let (all, name) = unsafe {
        let TablePointers {
            attributes,
            attribute_count,
            ..
        } = *table;
        let all = match attributes.is_null() {
            true => &[][..],
            false => std::slice::from_raw_parts(attributes, attribute_count),
        };
        (all, CStr::from_ptr(name))
    };
    // SAFETY: each name is one of the list that stays.
    let found = all
        .iter()
        .find(|one| !one.name.is_null() && unsafe { CStr::from_ptr(one.name) } == name);
    found.map_or(std::ptr::null(), |found| &raw const *found)
}

pub(crate) fn pointers(
    table: &Table,
    attributes: &[AttributePointer],
    odd: &[OddTimeRow],
    refusals: &[RefusalRow],
) -> TablePointers {
    let (columns, directories) = (table.columns(), table.directories());
    let (prefixes, paths) = (table.prefixes(), table.paths());
    let is_named = columns.name_offsets.len() > 1;
    TablePointers {
        len: columns.len(),
        ids: start(&directories.ids),
        roots: start(&directories.roots),
        states: start(&directories.states),
        dirs: columns.dirs.as_ptr(),
        has_dir: bits(&columns.has_dir),
        prefixes: start(&prefixes.of_rows),
        // Of roots alone they have no byte.
        prefix_bytes: match prefixes.of_rows.is_empty() {
            true => std::ptr::null(),
            false => prefixes.bytes.as_ptr(),
        },
        prefix_offsets: start(&prefixes.offsets),
        prefix_count: prefixes.offsets.len().saturating_sub(1),
        names: match is_named {
            true => columns.names.as_ptr(),
            false => std::ptr::null(),
        },
        name_offsets: match is_named {
            true => columns.name_offsets.as_ptr(),
            false => std::ptr::null(),
        },
        paths: paths.map_or(std::ptr::null(), |paths| paths.bytes.as_ptr()),
        path_offsets: paths.map_or(std::ptr::null(), |paths| paths.offsets.as_ptr()),
        types: columns.kinds.as_ptr(),
        attributes: start(attributes),
        attribute_count: attributes.len(),
        odd_times: start(odd),
        odd_time_count: odd.len(),
        finished: start(&directories.finished),
        finished_count: directories.finished.len(),
        incomplete: start(&directories.incomplete),
        incomplete_count: directories.incomplete.len(),
        refusals: start(refusals),
        refusal_count: refusals.len(),
    }
}

/// Null for a column without values: it was not asked for, or there is no row.
fn start<T>(values: &[T]) -> *const T {
    match values.is_empty() {
        true => std::ptr::null(),
        false => values.as_ptr(),
    }
}

fn bits(bits: &Bits) -> *const u8 {
    bits.as_bytes().map_or(std::ptr::null(), <[u8]>::as_ptr)
}
