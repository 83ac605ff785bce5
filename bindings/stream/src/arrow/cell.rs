// SPDX-License-Identifier: MIT OR Apache-2.0

//! One value of a table, for a language that shows a few of them.

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// A value of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cell<'a> {
    /// It is not known, or of a type that no table of a scan has.
    Absent,
    /// A path, a name or a type.
    Text(&'a str),
    /// A path or a name.
    Bytes(&'a [u8]),
    /// A number.
    Number(u64),
    /// Nanoseconds since 1970.
    TimeNs(i64),
}

impl<'a> Cell<'a> {
    /// The value of a column in a row.
    ///
    /// # Panics
    ///
    /// Panics if there is no such column or row.
    #[must_use]
    pub fn of(table: &'a RecordBatch, column: usize, row: usize) -> Cell<'a> {
        let array = table.column(column);
        if array.is_null(row) {
            return Cell::Absent;
        }
        match array.data_type() {
            DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
            DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row)),
            DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row)),
            DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
            DataType::UInt16 => Cell::Number(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => Cell::Number(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Cell::Number(array.as_primitive::<UInt64Type>().value(row)),
            DataType::Timestamp(..) => array
                .as_primitive_opt::<TimestampNanosecondType>()
                .map_or(Cell::Absent, |times| Cell::TimeNs(times.value(row))),
            DataType::Dictionary(..) => {
                let words = array.as_dictionary_opt::<UInt8Type>();
                let word = words.and_then(|words| {
                    let values = words.values().as_string_opt::<i32>()?;
                    Some(values.value(words.key(row)?))
                });
                word.map_or(Cell::Absent, Cell::Text)
            }
            _ => Cell::Absent,
        }
    }
}
