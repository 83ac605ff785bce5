// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tables as bytes, in Arrow's format for streams, for another process.
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format>

use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

use super::table::TableType;

/// Writes tables of one type.
///
/// # Errors
///
/// Returns an error if a table is too large for the format.
pub fn to_bytes(table_type: &TableType, tables: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &table_type.schema_ref())?;
    for table in tables {
        writer.write(table)?;
    }
    writer.into_inner()
}

/// Reads tables that [`to_bytes`] wrote, and their type.
///
/// # Errors
///
/// Returns an error if the bytes are others. Nothing of them is believed unseen.
pub fn from_bytes(bytes: &[u8]) -> Result<(TableType, Vec<RecordBatch>), ArrowError> {
    let reader = StreamReader::try_new(Cursor::new(bytes), None)?;
    let table_type = TableType::of_schema(reader.schema());
    Ok((table_type, reader.collect::<Result<_, _>>()?))
}
