// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a scan as one table: entries and directories in the same columns.

use statwalk_core::{Bits, Column as Attribute, ColumnKind, Columns, Fields, FileType, Values};

use super::abi::{ArrowArray, ArrowSchema};
use super::array::{Buffer, array, schema as column_schema};
use crate::request::Request;
use crate::tables::{Paths, Table};

/// The words for types, by the number of the type.
const TYPES: [&str; 8] = [
    "file",
    "directory",
    "symlink",
    "fifo",
    "socket",
    "char_device",
    "block_device",
    "unknown",
];

/// The word for a type, as in the columns.
#[must_use]
pub fn type_word(kind: FileType) -> &'static str {
    TYPES[usize::from(kind.number())]
}

/// As many entries as a table has at most, each without a number of its own.
static NO_IDS: [u32; statwalk_core::Rows::MAX] = [0; statwalk_core::Rows::MAX];
static NO_BITS: [u8; statwalk_core::Rows::MAX / 8] = [0; statwalk_core::Rows::MAX / 8];

/// The type of the table: a struct with a child for each column.
///
/// `path` and `name` are bytes. `id` is the number of a directory and null for other
/// entries, `dir` the number of the directory that an entry lies in and null for a root.
/// The columns after them are those that were asked for.
#[must_use]
pub fn schema(request: &Request) -> ArrowSchema {
    let fields = request.fields();
    let mut columns = Vec::new();
    let mut add = |name: &str, format: &str, is_nullable: bool| {
        columns.push(column_schema(name, format, is_nullable, Vec::new(), None));
    };
    if request.has_paths() {
        add("path", "Z", false);
    }
    if fields.contains(Fields::NAME) {
        add("name", "z", false);
    }
    add("dir", "I", true);
    add("id", "I", true);
    let words = column_schema("", "u", false, Vec::new(), None);
    columns.push(column_schema("type", "C", false, Vec::new(), Some(words)));
    for column in Attribute::of(fields) {
        let format = match column.kind {
            ColumnKind::U16 => "S",
            ColumnKind::U32 => "I",
            ColumnKind::U64 => "L",
            _ => TIME,
        };
        columns.push(column_schema(column.name, format, true, Vec::new(), None));
    }
    column_schema("", "+s", false, columns, None)
}

/// Nanoseconds since 1970, in UTC.
const TIME: &str = "tsn:UTC";

/// A table of a scan. A root that is no directory is an entry without a `dir`.
#[must_use]
pub fn table(table: Table, request: &Request) -> ArrowArray {
    let (columns, ids, _, paths) = table.into_parts();
    let ids = match ids {
        Some(ids) => Column::all(Buffer::of(ids)),
        None => Column {
            validity: Buffer::of_static(&NO_BITS),
            nulls: columns.len(),
            values: Buffer::of_static(&NO_IDS),
        },
    };
    array_of(columns, ids, paths, request.fields())
}

/// Values, and which of them are null.
struct Column {
    validity: Buffer,
    nulls: usize,
    values: Buffer,
}

impl Column {
    fn all(values: Buffer) -> Column {
        Column {
            validity: Buffer::absent(),
            nulls: 0,
            values,
        }
    }

    fn of(values: Buffer, known: Bits) -> Column {
        Column {
            nulls: known.zeros(),
            validity: Buffer::of_bits(known),
            values,
        }
    }

    fn array(self, rows: usize) -> ArrowArray {
        let buffers = vec![self.validity, self.values];
        array(rows, self.nulls, buffers, Vec::new(), None)
    }
}

fn array_of(mut columns: Columns, ids: Column, paths: Option<Paths>, fields: Fields) -> ArrowArray {
    let rows = columns.len();
    let mut children = Vec::new();
    if let Some(Paths { bytes, offsets }) = paths {
        children.push(bytes_array(rows, Buffer::of(offsets), bytes));
    }
    if fields.contains(Fields::NAME) {
        let mut offsets = std::mem::take(&mut columns.name_offsets);
        // A table of nothing but ends has none.
        if offsets.is_empty() {
            offsets.push(0);
        }
        let names = std::mem::take(&mut columns.names);
        children.push(bytes_array(rows, Buffer::of(offsets), names));
    }
    let dirs = Buffer::of(std::mem::take(&mut columns.dirs));
    let has_dir = std::mem::take(&mut columns.has_dir);
    children.push(Column::of(dirs, has_dir).array(rows));
    children.push(ids.array(rows));
    let kinds = Buffer::of(std::mem::take(&mut columns.kinds));
    let kinds = vec![Buffer::absent(), kinds];
    children.push(array(rows, 0, kinds, Vec::new(), Some(words_of_types())));
    for column in Attribute::of(fields) {
        let known = columns.known(&column).clone();
        let values = match columns.take_values(&column) {
            Values::U16(values) => Buffer::of(values.into_owned()),
            Values::U32(values) => Buffer::of(values.into_owned()),
            Values::U64(values) => Buffer::of(values.into_owned()),
            Values::TimeNs(values) => Buffer::of(values.into_owned()),
            // The schema has no column of another kind.
            _ => Buffer::absent(),
        };
        children.push(Column::of(values, known).array(rows));
    }
    array(rows, 0, vec![Buffer::absent()], children, None)
}

fn bytes_array(rows: usize, offsets: Buffer, bytes: Vec<u8>) -> ArrowArray {
    let buffers = vec![Buffer::absent(), offsets, Buffer::of(bytes)];
    array(rows, 0, buffers, Vec::new(), None)
}

fn words_of_types() -> ArrowArray {
    let mut offsets = vec![0_i32];
    let mut bytes = Vec::new();
    for word in TYPES {
        bytes.extend_from_slice(word.as_bytes());
        offsets.push(bytes.len() as i32);
    }
    let buffers = vec![Buffer::absent(), Buffer::of(offsets), Buffer::of(bytes)];
    array(TYPES.len(), 0, buffers, Vec::new(), None)
}

/// The first offset of the names of a table without paths.
#[cfg(test)]
pub(crate) fn begin_of_names(array: &ArrowArray) -> i32 {
    // SAFETY: `table` made the array. Its first child is the column of names, whose second
    // buffer has one offset more than rows.
    unsafe { *(**array.children).buffers.add(1).read().cast() }
}
