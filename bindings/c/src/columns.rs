// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a batch as pointers.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::LazyLock;

use statwalk_core::{Bits, Column, Columns, Directories, Fields, Values};
use statwalk_stream::Paths;

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

/// Entries of many directories, in columns. A column that was not asked for is NULL.
///
/// Columns of bits have row 0 in the lowest bit of the first byte, and are NULL if every
/// bit is 1. New members can come at the end.
#[repr(C)]
#[derive(Debug)]
pub struct ColumnPointers {
    /// How many rows there are.
    pub len: usize,
    /// The number of the directory of each entry; of a directory, that of its parent. A root
    /// has none, and here its number among the roots, from 0 on.
    pub dirs: *const u32,
    /// A bit for each row: whether it lies in a directory. 0 for a root.
    pub has_dir: *const u8,
    /// The bytes of all names, without NULs.
    pub names: *const u8,
    /// Where each name begins, and at the end where the last one ends: `len` + 1 numbers.
    pub name_offsets: *const i32,
    /// The bytes of all paths, without NULs.
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
}

/// The directories of a batch.
#[repr(C)]
#[derive(Debug)]
pub struct DirectoryPointers {
    /// Names, types and attributes. The name of a root is the path that the caller gave.
    pub columns: *const ColumnPointers,
    /// Their numbers.
    pub ids: *const u32,
    /// The root that each belongs to, from 0 on.
    pub roots: *const u32,
    /// SW_LISTED and its neighbours.
    pub states: *const u8,
    /// The numbers of directories that are finished. Their rows can still come; at the
    /// end of a scan that was stopped, those that are not among them lack something.
    pub finished: *const u32,
    /// How many there are.
    pub finished_count: usize,
    /// The numbers of directories that lack something, which could not be read.
    pub incomplete: *const u32,
    /// How many there are.
    pub incomplete_count: usize,
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
/// `columns` is NULL or of a batch that is not freed, and `name` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_attribute_of(
    columns: *const ColumnPointers,
    name: *const c_char,
) -> *const AttributePointer {
    if columns.is_null() || name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller gives columns of a batch, whose list is there as long, and a name.
    let (all, name) = unsafe {
        let ColumnPointers {
            attributes,
            attribute_count,
            ..
        } = *columns;
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
    columns: &Columns,
    paths: Option<&Paths>,
    attributes: &[AttributePointer],
    odd: &[OddTimeRow],
) -> ColumnPointers {
    let has_names = !columns.name_offsets.is_empty();
    ColumnPointers {
        len: columns.len(),
        dirs: columns.dirs.as_ptr(),
        has_dir: bits(&columns.has_dir),
        names: if has_names {
            columns.names.as_ptr()
        } else {
            std::ptr::null()
        },
        name_offsets: start(&columns.name_offsets),
        paths: paths.map_or(std::ptr::null(), |paths| paths.bytes.as_ptr()),
        path_offsets: paths.map_or(std::ptr::null(), |paths| paths.offsets.as_ptr()),
        types: columns.kinds.as_ptr(),
        attributes: start(attributes),
        attribute_count: attributes.len(),
        odd_times: start(odd),
        odd_time_count: odd.len(),
    }
}

/// All but the pointer to the columns.
pub(crate) fn directory_pointers(directories: &Directories) -> DirectoryPointers {
    DirectoryPointers {
        columns: std::ptr::null(),
        ids: start(&directories.ids),
        roots: start(&directories.roots),
        states: start(&directories.states),
        finished: start(&directories.finished),
        finished_count: directories.finished.len(),
        incomplete: start(&directories.incomplete),
        incomplete_count: directories.incomplete.len(),
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
