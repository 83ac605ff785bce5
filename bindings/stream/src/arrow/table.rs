// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a scan as one table: entries and directories in the same columns.

use std::sync::{Arc, LazyLock};

use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, GenericBinaryArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch, StringArray, StructArray, TimestampNanosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use statwalk_core::{Bits, Column as Attribute, ColumnKind, Fields, FileType, Rows, Values};

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

/// The type of the tables of a scan: a struct with a child for each column.
///
/// `path` and `name` are bytes. `id` is the number of a directory and null for other
/// entries, `dir` the number of the directory that an entry lies in and null for a root.
/// The columns after them are those that were asked for.
#[derive(Clone, Debug)]
pub struct TableType {
    /// Made once: a scan with a quick reader has thousands of small tables.
    schema: SchemaRef,
    fields: Fields,
    has_paths: bool,
}

impl TableType {
    /// The type for a request.
    #[must_use]
    pub fn of(request: &Request) -> TableType {
        let (fields, has_paths) = (request.fields(), request.has_paths());
        let mut columns = Vec::new();
        if has_paths {
            columns.push(Field::new("path", DataType::LargeBinary, false));
        }
        if fields.contains(Fields::NAME) {
            columns.push(Field::new("name", DataType::Binary, false));
        }
        columns.push(Field::new("dir", DataType::UInt32, true));
        columns.push(Field::new("id", DataType::UInt32, true));
        let kinds = DataType::Dictionary(DataType::UInt8.into(), DataType::Utf8.into());
        columns.push(Field::new("type", kinds, false));
        for column in Attribute::of(fields) {
            let values = match column.kind {
                ColumnKind::U16 => DataType::UInt16,
                ColumnKind::U32 => DataType::UInt32,
                ColumnKind::U64 => DataType::UInt64,
                _ => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            };
            columns.push(Field::new(column.name, values, true));
        }
        TableType {
            schema: Arc::new(Schema::new(columns)),
            fields,
            has_paths,
        }
    }

    /// The type of tables that come from elsewhere. No scan makes tables of it.
    pub(super) fn of_schema(schema: SchemaRef) -> TableType {
        TableType {
            schema,
            fields: Fields::NONE,
            has_paths: false,
        }
    }

    /// The fields of the engine that it has, beside the numbers of directories.
    #[must_use]
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// For a consumer, who releases it.
    #[must_use]
    pub fn schema(&self) -> ArrowSchema {
        let schema = ArrowSchema::try_from(self.schema.as_ref());
        schema.expect("each type has a format, and no name a NUL")
    }

    pub(super) fn schema_ref(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// A table of this type. A root that is no directory is an entry without a `dir`.
    #[must_use]
    pub fn table(&self, table: Table) -> RecordBatch {
        let (mut columns, ids, _, paths) = table.into_parts();
        let rows = columns.len();
        let mut children: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        if self.has_paths {
            let Paths { bytes, offsets } = paths.unwrap_or_default();
            children.push(bytes_array(offsets, bytes));
        }
        if self.fields.contains(Fields::NAME) {
            let names = std::mem::take(&mut columns.names);
            let offsets = std::mem::take(&mut columns.name_offsets);
            children.push(bytes_array(offsets, names));
        }
        let dirs = std::mem::take(&mut columns.dirs);
        let has_dir = std::mem::take(&mut columns.has_dir);
        children.push(numbers::<UInt32Type>(dirs, has_dir));
        let ids = ids.map_or_else(|| NO_IDS.slice(0, rows), UInt32Array::from);
        children.push(Arc::new(ids));
        let kinds = std::mem::take(&mut columns.kinds).into();
        let kinds = DictionaryArray::<UInt8Type>::new(kinds, Arc::clone(&WORDS));
        children.push(Arc::new(kinds));
        for column in Attribute::of(self.fields) {
            let known = columns.known(&column).clone();
            children.push(match columns.take_values(&column) {
                Values::U16(values) => numbers::<UInt16Type>(values.into_owned(), known),
                Values::U32(values) => numbers::<UInt32Type>(values.into_owned(), known),
                Values::U64(values) => numbers::<UInt64Type>(values.into_owned(), known),
                Values::TimeNs(values) => {
                    let times = values.into_owned().into();
                    let times = TimestampNanosecondArray::new(times, nulls(known));
                    Arc::new(times.with_timezone("UTC"))
                }
                _ => unreachable!("a column without a type of Arrow"),
            });
        }
        RecordBatch::try_new(self.schema_ref(), children).expect("the columns are of the type")
    }
}

/// A table as the array of a struct, for a consumer. It leads to the same buffers, which live
/// until the last is released.
#[must_use]
pub fn array(table: RecordBatch) -> ArrowArray {
    ArrowArray::new(&StructArray::from(table).into_data())
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
