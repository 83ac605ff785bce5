// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a scan as one table: entries and directories in the same columns.

use std::sync::{Arc, LazyLock};

use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, GenericBinaryArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch, StringArray, StructArray, TimestampNanosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use statwalk_core::{Bits, Column as Attribute, Columns, Fields, FileType, Rows, Values};

use super::{ArrowArray, ArrowSchema};
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

/// The dictionary of the column of types, for all tables.
static WORDS: LazyLock<ArrayRef> = LazyLock::new(|| Arc::new(StringArray::from(TYPES.to_vec())));

/// As many entries as a table has at most, each without a number of its own.
static NO_IDS: LazyLock<UInt32Array> = LazyLock::new(|| UInt32Array::new_null(Rows::MAX));

/// The word for a type, as in the columns.
#[must_use]
pub fn type_word(kind: FileType) -> &'static str {
    TYPES[usize::from(kind.number())]
}

/// The type of the table: a struct with a child for each column.
///
/// `path` and `name` are bytes. `id` is the number of a directory and null for other
/// entries, `dir` the number of the directory that an entry lies in and null for a root.
/// The columns after them are those that were asked for.
#[must_use]
pub fn schema(request: &Request) -> ArrowSchema {
    let columns = without_rows(request).schema();
    ArrowSchema::try_from(columns.as_ref()).expect("each type has a format, and no name a NUL")
}

/// A table of no rows.
pub(super) fn without_rows(request: &Request) -> RecordBatch {
    batch(Columns::default(), None, None, request)
}

/// A table of a scan. A root that is no directory is an entry without a `dir`.
#[must_use]
pub fn table(table: Table, request: &Request) -> RecordBatch {
    let (columns, ids, _, paths) = table.into_parts();
    batch(columns, ids, paths, request)
}

/// A table as the array of a struct, for a consumer. It leads to the same buffers, which live
/// until the last is released.
#[must_use]
pub fn array(table: RecordBatch) -> ArrowArray {
    ArrowArray::new(&StructArray::from(table).into_data())
}

fn batch(
    mut columns: Columns,
    ids: Option<Vec<u32>>,
    paths: Option<Paths>,
    request: &Request,
) -> RecordBatch {
    let rows = columns.len();
    let fields = request.fields();
    let mut children: Vec<(&str, ArrayRef, bool)> = Vec::new();
    if request.has_paths() {
        let Paths { bytes, offsets } = paths.unwrap_or_default();
        children.push(("path", bytes_array(offsets, bytes), false));
    }
    if fields.contains(Fields::NAME) {
        let names = std::mem::take(&mut columns.names);
        let offsets = std::mem::take(&mut columns.name_offsets);
        children.push(("name", bytes_array(offsets, names), false));
    }
    let dirs = std::mem::take(&mut columns.dirs);
    let has_dir = std::mem::take(&mut columns.has_dir);
    children.push(("dir", numbers::<UInt32Type>(dirs, has_dir), true));
    let ids = ids.map_or_else(|| NO_IDS.slice(0, rows), UInt32Array::from);
    children.push(("id", Arc::new(ids), true));
    let kinds = std::mem::take(&mut columns.kinds).into();
    let kinds = DictionaryArray::<UInt8Type>::new(kinds, Arc::clone(&WORDS));
    children.push(("type", Arc::new(kinds), false));
    for column in Attribute::of(fields) {
        let known = columns.known(&column).clone();
        let values = match columns.take_values(&column) {
            Values::U16(values) => numbers::<UInt16Type>(values.into_owned(), known),
            Values::U32(values) => numbers::<UInt32Type>(values.into_owned(), known),
            Values::U64(values) => numbers::<UInt64Type>(values.into_owned(), known),
            Values::TimeNs(values) => {
                let times = values.into_owned().into();
                let times = TimestampNanosecondArray::new(times, nulls(known));
                Arc::new(times.with_timezone("UTC"))
            }
            _ => unreachable!("a column without a type of Arrow"),
        };
        children.push((column.name, values, true));
    }
    RecordBatch::try_from_iter_with_nullable(children).expect("all columns have the same rows")
}

fn numbers<T: ArrowPrimitiveType>(values: Vec<T::Native>, known: Bits) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls(known)))
}

fn nulls(known: Bits) -> Option<NullBuffer> {
    let rows = known.len();
    let bytes = known.into_bytes()?;
    Some(NullBuffer::new(BooleanBuffer::new(bytes.into(), 0, rows)))
}

fn bytes_array<T: OffsetSizeTrait>(mut offsets: Vec<T>, bytes: Vec<u8>) -> ArrayRef {
    // A table of nothing but ends has none.
    if offsets.is_empty() {
        offsets.push(T::default());
    }
    let offsets = OffsetBuffer::new(offsets.into());
    Arc::new(GenericBinaryArray::<T>::new(offsets, bytes.into(), None))
}
