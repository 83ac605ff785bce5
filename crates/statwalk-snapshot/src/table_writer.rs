// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the files of one table, a row group after another.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem::take;
use std::path::Path;

use bytes::Bytes;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::TypePtr;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::folder::Folder;
use crate::hex::hex;
use crate::manifest::FileRecord;
use crate::schema::{Column, GROUPS_MAX, Kind, TableName};

/// How many bytes go to the system at once.
const BUFFER_BYTES: usize = 1 << 18;

/// The values of one column of a row group.
///
/// A column is filled, written and forgotten before the next one, so a row group takes the
/// memory of its widest column beside that of its rows.
#[derive(Default)]
pub(crate) struct Cells {
    numbers: Vec<i64>,
    bools: Vec<bool>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    decimals: Vec<FixedLenByteArray>,
    /// 1 for each row with a value, and 0 for others.
    levels: Vec<i16>,
}

impl Cells {
    /// Adds a number.
    #[inline]
    pub(crate) fn number(&mut self, value: i64) {
        self.numbers.push(value);
        self.levels.push(1);
    }

    /// Adds a number, or none.
    #[inline]
    pub(crate) fn number_or_none(&mut self, value: Option<i64>) {
        match value {
            Some(value) => self.number(value),
            None => self.none(),
        }
    }

    /// Adds a row without a value.
    #[inline]
    pub(crate) fn none(&mut self) {
        self.levels.push(0);
    }

    #[inline]
    pub(crate) fn bool(&mut self, value: bool) {
        self.bools.push(value);
        self.levels.push(1);
    }

    /// Adds text or bytes.
    #[inline]
    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        self.levels.push(1);
    }

    /// Adds a number of up to 38 digits.
    pub(crate) fn decimal(&mut self, value: u128) {
        let bytes = value.to_be_bytes().to_vec();
        self.decimals.push(FixedLenByteArray::from(bytes));
        self.levels.push(1);
    }

    /// Adds a sum, if 63 bits hold it.
    #[inline]
    pub(crate) fn small(&mut self, value: u128) {
        self.number_or_none(i64::try_from(value).ok());
    }

    /// Adds a sum, if 63 bits do not hold it.
    #[inline]
    pub(crate) fn large(&mut self, value: u128) {
        match i64::try_from(value) {
            Ok(_) => self.none(),
            Err(_) => self.decimal(value),
        }
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.bools.clear();
        self.bytes.clear();
        self.ends.clear();
        self.decimals.clear();
        self.levels.clear();
    }

    /// Gives all values of the column to the writer in one call: the borders of pages depend
    /// on the calls.
    fn write(
        &mut self,
        column: &Column,
        to: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = (!column.is_required).then_some(&self.levels[..]);
        match column.kind {
            Kind::Int => {
                to.typed::<Int64Type>()
                    .write_batch(&self.numbers, levels, None)?;
            }
            Kind::Bool => {
                to.typed::<BoolType>()
                    .write_batch(&self.bools, levels, None)?;
            }
            Kind::Text | Kind::Bytes => {
                let bytes = Bytes::from(take(&mut self.bytes));
                let mut begin = 0;
                let of = |&end: &usize| {
                    let value = bytes.slice(begin..end);
                    begin = end;
                    ByteArray::from(value)
                };
                let values: Vec<ByteArray> = self.ends.iter().map(of).collect();
                to.typed::<ByteArrayType>()
                    .write_batch(&values, levels, None)?;
                drop(values);
                if let Ok(bytes) = bytes.try_into_mut() {
                    self.bytes = bytes.into();
                }
            }
            Kind::Decimal => {
                to.typed::<FixedLenByteArrayType>()
                    .write_batch(&self.decimals, levels, None)?;
            }
        }
        Ok(())
    }
}

/// The files of a table that is being written.
pub(crate) struct TableWriter {
    name: TableName,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    writer: Option<SerializedFileWriter<HashedFile>>,
    groups: usize,
    rows: u64,
    records: Vec<FileRecord>,
    cells: Cells,
}

impl TableWriter {
    pub(crate) fn new(name: TableName) -> Result<TableWriter, Error> {
        Ok(TableWriter {
            name,
            schema: name.schema()?,
            properties: name.properties()?,
            writer: None,
            groups: 0,
            rows: 0,
            records: Vec::new(),
            cells: Cells::default(),
        })
    }

    /// Writes a row group: `fill` gives the cells of a column, by its name.
    pub(crate) fn group(
        &mut self,
        folder: &Folder,
        rows: usize,
        mut fill: impl FnMut(&'static str, &mut Cells),
    ) -> Result<(), Error> {
        if self.groups == GROUPS_MAX {
            self.end_file(folder)?;
        }
        let file_name = self.name.file_name(self.records.len());
        let path = folder.path().join(&file_name);
        let failed = |error| failed(&path, error);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let file = HashedFile::new(folder.create(&file_name)?);
                let (schema, properties) = (self.schema.clone(), self.properties.clone());
                let writer = SerializedFileWriter::new(file, schema, properties).map_err(failed)?;
                self.writer.insert(writer)
            }
        };
        if rows == 0 {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(failed)?;
        for column in self.name.columns() {
            self.cells.clear();
            fill(column.name, &mut self.cells);
            debug_assert_eq!(self.cells.levels.len(), rows, "{}", column.name);
            let next = group.next_column().map_err(failed)?;
            let mut to = next.expect("the schema has as many columns as the table");
            self.cells.write(column, &mut to).map_err(failed)?;
            to.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.groups += 1;
        self.rows += rows as u64;
        Ok(())
    }

    /// Ends the last file, and gives the records of all. A table has at least one.
    pub(crate) fn finish(mut self, folder: &Folder) -> Result<Vec<FileRecord>, Error> {
        if self.records.is_empty() && self.writer.is_none() {
            self.group(folder, 0, |_, _| {})?;
        }
        self.end_file(folder)?;
        Ok(self.records)
    }

    fn end_file(&mut self, folder: &Folder) -> Result<(), Error> {
        let Some(mut writer) = self.writer.take() else {
            return Ok(());
        };
        let name = self.name.file_name(self.records.len());
        let path = folder.path().join(&name);
        writer.finish().map_err(|error| failed(&path, error))?;
        let (bytes, sha256) = writer.inner_mut().take().end(&path)?;
        let rows = take(&mut self.rows);
        self.groups = 0;
        self.records.push(FileRecord {
            name,
            rows,
            bytes,
            sha256,
        });
        Ok(())
    }
}

/// An error of the library while it writes: nearly always one of the system.
fn failed(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => Error::io("write", path, *error),
            Err(error) => Error::io("write", path, io::Error::other(error)),
        },
        error => Error::io("write", path, io::Error::other(error.to_string())),
    }
}

/// A file whose bytes are hashed on their way.
struct HashedFile {
    file: Option<BufWriter<File>>,
    hash: Sha256,
    bytes: u64,
}

impl HashedFile {
    fn new(file: File) -> HashedFile {
        HashedFile {
            file: Some(BufWriter::with_capacity(BUFFER_BYTES, file)),
            hash: Sha256::new(),
            bytes: 0,
        }
    }

    /// The same file, which this object has no more.
    fn take(&mut self) -> HashedFile {
        HashedFile {
            file: self.file.take(),
            hash: self.hash.clone(),
            bytes: self.bytes,
        }
    }

    /// Brings all bytes to the disk. Gives their number and their hash.
    fn end(self, path: &Path) -> Result<(u64, String), Error> {
        let failed = |error| Error::io("write", path, error);
        if let Some(file) = self.file {
            let file = file
                .into_inner()
                .map_err(|error| failed(error.into_error()))?;
            file.sync_all().map_err(failed)?;
        }
        Ok((self.bytes, hex(&self.hash.finalize())))
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_mut();
        let file = file.ok_or_else(|| io::Error::other("the file has ended"))?;
        file.write_all(bytes)?;
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}
