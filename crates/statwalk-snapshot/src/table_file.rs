// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads some columns of some rows of one file.
//!
//! The library that decodes panics on some damaged bytes. So headers and footers are checked
//! before, and panics are caught at one place ([`guarded`]). Where panics abort, the program ends.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArrayType, DataType, FixedLenByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::page_index::index_reader::decode_offset_index;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::error::Error;
use crate::manifest::FileRecord;
use crate::pages::{PAGE_BYTES_MAX, Pages};
use crate::schema::{Column, GROUPS_MAX, Kind, TableName};
use crate::thrift;

/// The most bytes of a footer. One of 64 row groups has about 700 KiB.
const FOOTER_BYTES_MAX: u64 = 8 << 20;

/// The most elements of a list in a footer: columns, row groups, encodings.
const FOOTER_LIST_MAX: usize = 256;

/// The most pages of a column in a row group.
const PAGES_MAX: usize = 1 << 16;

/// How many texts are decoded at once. A text can repeat the one before for a few bytes, so
/// that those of a damaged page take far more memory than the page.
const TEXTS_AT_ONCE: usize = 16;

/// The longest text: a path of which each byte is escaped.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The most bytes of the texts of a row group: those of a damaged one can be far larger than its
/// file.
const GROUP_TEXT_BYTES_MAX: usize = 256 << 20;

/// The values of a column in some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Numbers, and 0 or 1; 0 where there is no value.
    numbers: Vec<i64>,
    bytes: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
    decimals: Vec<u128>,
    /// Whether each row has a value; empty where all have.
    is_there: Vec<bool>,
}

impl Values {
    /// The number of a row.
    #[inline]
    pub(crate) fn number(&self, row: usize) -> Option<i64> {
        match self.has(row) {
            true => self.numbers.get(row).copied(),
            false => None,
        }
    }

    /// The text of a row.
    #[inline]
    pub(crate) fn text(&self, row: usize) -> Option<&[u8]> {
        if !self.has(row) {
            return None;
        }
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[begin..*self.ends.get(row)?])
    }

    /// The large number of a row.
    pub(crate) fn decimal(&self, row: usize) -> Option<u128> {
        match self.has(row) {
            true => self.decimals.get(row).copied(),
            false => None,
        }
    }

    #[inline]
    fn has(&self, row: usize) -> bool {
        self.is_there.is_empty() || self.is_there.get(row).copied().unwrap_or(false)
    }
}

/// The places of pages, by row group and column.
type Places = HashMap<(usize, usize), Arc<Vec<PageLocation>>, RandomState>;

/// A file of a table whose footer was read.
#[derive(Debug)]
pub(crate) struct TableFile {
    name: TableName,
    pages: Arc<Pages>,
    metadata: ParquetMetaData,
    /// The first row of each row group, and for one more the number of all.
    begins: Vec<u64>,
    /// The places of the pages of each column that was read, by row group and column.
    places: Mutex<Places>,
}

impl TableFile {
    /// Opens a file of a table, and checks its footer against the format and the manifest.
    pub(crate) fn open(
        name: TableName,
        folder: &Path,
        record: &FileRecord,
    ) -> Result<TableFile, Error> {
        let path = folder.join(&record.name);
        let pages = Pages::open(&path, record.bytes)?;
        let opened = read_footer(&pages).and_then(|metadata| {
            let begins = check_footer(name, &metadata, record, pages.length_bytes())?;
            Ok((metadata, begins))
        });
        let (metadata, begins) = opened.map_err(|error| error.at(&path))?;
        Ok(TableFile {
            name,
            pages: Arc::new(pages),
            metadata,
            begins,
            places: Mutex::default(),
        })
    }

    /// The row groups and the rows in them that some rows are.
    pub(crate) fn pieces(&self, rows: Range<u64>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let groups = self.begins.windows(2).enumerate();
        groups.filter_map(move |(group, range)| {
            let begin = rows.start.max(range[0]);
            let end = rows.end.min(range[1]);
            let in_group = |row: u64| (row - range[0]) as usize;
            (begin < end).then(|| (group, in_group(begin)..in_group(end)))
        })
    }

    /// Adds the values of a column in some rows of a row group.
    pub(crate) fn read(
        &self,
        group: usize,
        column: usize,
        rows: Range<usize>,
        values: &mut Values,
    ) -> Result<(), Error> {
        let of = self.name.columns()[column];
        let chunk = self.metadata.row_group(group).column(column);
        let group_rows = (self.begins[group + 1] - self.begins[group]) as usize;
        if has_no_value(chunk, group_rows) && !of.is_required {
            values.add_none(&of, rows.len());
            return Ok(());
        }
        let mut read = || {
            let places = self.places(group, column, chunk, group_rows)?;
            guarded(|| {
                let pages = SerializedPageReader::new(
                    Arc::clone(&self.pages),
                    chunk,
                    group_rows,
                    Some(places.to_vec()),
                )?;
                let reader = get_column_reader(chunk.column_descr_ptr(), Box::new(pages));
                match of.kind {
                    Kind::Int => {
                        let reader = get_typed_column_reader::<Int64Type>(reader);
                        read_rows(reader, &of, rows.clone(), values)
                    }
                    Kind::Bool => {
                        let reader = get_typed_column_reader::<BoolType>(reader);
                        read_rows(reader, &of, rows.clone(), values)
                    }
                    Kind::Text | Kind::Bytes => {
                        let reader = get_typed_column_reader::<ByteArrayType>(reader);
                        read_rows(reader, &of, rows.clone(), values)
                    }
                    Kind::Decimal => {
                        let reader = get_typed_column_reader::<FixedLenByteArrayType>(reader);
                        read_rows(reader, &of, rows.clone(), values)
                    }
                }
            })
        };
        read().map_err(|error| error.at(self.pages.path()))
    }

    /// The places of the pages of a column in a row group.
    fn places(
        &self,
        group: usize,
        column: usize,
        chunk: &ColumnChunkMetaData,
        group_rows: usize,
    ) -> Result<Arc<Vec<PageLocation>>, Error> {
        let key = (group, column);
        let known = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = known.get(&key) {
            return Ok(Arc::clone(places));
        }
        drop(known);
        let no_index = || Error::damaged("a column has no index of its pages");
        let start = chunk
            .offset_index_offset()
            .and_then(|start| u64::try_from(start).ok());
        let length = chunk
            .offset_index_length()
            .and_then(|length| usize::try_from(length).ok());
        let (start, length) = start.zip(length).ok_or_else(no_index)?;
        if length > PAGES_MAX * 32 {
            return Err(no_index());
        }
        let bytes = self.pages.bytes(start, length)?;
        thrift::check(&bytes, PAGES_MAX).ok_or_else(no_index)?;
        let index = guarded(|| decode_offset_index(&bytes))?;
        let places = index.page_locations().clone();
        check_places(&places, chunk, group_rows)?;
        let places = Arc::new(places);
        let mut known = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, Arc::clone(&places));
        Ok(places)
    }
}

/// Calls the library, and makes an error of a panic.
fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ParquetError::External(error))) => match error.downcast::<Error>() {
            Ok(error) => Err(*error),
            Err(error) => Err(Error::damaged(error.to_string())),
        },
        Ok(Err(error)) => Err(Error::damaged(error.to_string())),
        Err(_) => Err(Error::damaged("the bytes of a page contradict each other")),
    }
}

fn read_footer(pages: &Pages) -> Result<ParquetMetaData, Error> {
    let no_parquet = || Error::damaged("not a Parquet file");
    let length = pages.length_bytes();
    if length < 12 {
        return Err(no_parquet());
    }
    let (head, tail) = (pages.bytes(0, 4)?, pages.bytes(length - 8, 8)?);
    if &head[..] != b"PAR1" || &tail[4..] != b"PAR1" {
        return Err(no_parquet());
    }
    let footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if footer > FOOTER_BYTES_MAX || footer > length - 12 {
        return Err(Error::damaged("the footer is too large"));
    }
    let bytes = pages.bytes(length - 8 - footer, footer as usize)?;
    if thrift::check(&bytes, FOOTER_LIST_MAX) != Some(bytes.len()) {
        return Err(Error::damaged("the footer is malformed"));
    }
    guarded(|| ParquetMetaDataReader::decode_metadata(&bytes))
}

/// Compares a footer with the format and the manifest. Gives where each row group begins.
fn check_footer(
    name: TableName,
    metadata: &ParquetMetaData,
    record: &FileRecord,
    length_bytes: u64,
) -> Result<Vec<u64>, Error> {
    let file = metadata.file_metadata();
    if file.schema() != &*name.schema()? {
        return Err(Error::damaged("the columns are not those of the table"));
    }
    if metadata.num_row_groups() > GROUPS_MAX {
        return Err(Error::damaged("there are too many row groups"));
    }
    let mut begins = vec![0_u64];
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        if rows == 0 || rows > name.group_rows() as u64 {
            return Err(Error::damaged(
                "a row group has an impossible number of rows",
            ));
        }
        if group.num_columns() != name.columns().len() {
            return Err(Error::damaged("a row group lacks columns"));
        }
        for chunk in group.columns() {
            check_chunk(chunk, rows, length_bytes)?;
        }
        begins.push(begins[begins.len() - 1] + rows);
    }
    let rows = begins[begins.len() - 1];
    if rows != record.rows || u64::try_from(file.num_rows()) != Ok(rows) {
        let message = format!("has {rows} rows, and the manifest says {}", record.rows);
        return Err(Error::damaged(message));
    }
    Ok(begins)
}

fn check_chunk(chunk: &ColumnChunkMetaData, rows: u64, length_bytes: u64) -> Result<(), Error> {
    let first = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let is_inside = |start: i64, length: i64| {
        let [start, length] = [start, length].map(|value| u64::try_from(value).ok());
        let end = start
            .zip(length)
            .and_then(|(start, length)| start.checked_add(length));
        end.is_some_and(|end| end <= length_bytes)
    };
    let is_zstd = matches!(chunk.compression(), Compression::ZSTD(_));
    let fits = is_inside(first, chunk.compressed_size())
        && first <= chunk.data_page_offset()
        && u64::try_from(chunk.num_values()) == Ok(rows);
    match fits && is_zstd && chunk.file_path().is_none() {
        true => Ok(()),
        false => Err(Error::damaged("a column lies outside of the file")),
    }
}

/// Refuses pages that overlap, lie outside of their column, or have no rows.
fn check_places(
    places: &[PageLocation],
    chunk: &ColumnChunkMetaData,
    group_rows: usize,
) -> Result<(), Error> {
    let (start, length) = chunk.byte_range();
    let (mut at, mut row) = (start, None);
    for place in places {
        let offset = u64::try_from(place.offset).unwrap_or(u64::MAX);
        let size = u64::try_from(place.compressed_page_size).unwrap_or(u64::MAX);
        let first = usize::try_from(place.first_row_index).unwrap_or(usize::MAX);
        let follows = match row {
            None => first == 0,
            Some(before) => first > before,
        };
        let end = offset.checked_add(size);
        let is_inside = offset >= at && end.is_some_and(|end| end <= start + length);
        if !follows || !is_inside || first >= group_rows || size > PAGE_BYTES_MAX as u64 {
            return Err(Error::damaged("the index of pages contradicts itself"));
        }
        if row.is_none() && offset - start > PAGE_BYTES_MAX as u64 {
            return Err(Error::damaged("a dictionary is too large"));
        }
        (at, row) = (offset + size, Some(first));
    }
    match row {
        Some(_) => Ok(()),
        None => Err(Error::damaged("a column has no page")),
    }
}

/// Whether no row of a row group has a value, as the footer says.
fn has_no_value(chunk: &ColumnChunkMetaData, group_rows: usize) -> bool {
    let nulls = chunk
        .statistics()
        .and_then(|statistics| statistics.null_count_opt());
    nulls == Some(group_rows as u64)
}

/// A type of the library whose values become ours.
trait Take: DataType {
    /// How many values are decoded at once.
    const AT_ONCE: usize;

    fn take(values: &[Self::T], to: &mut Values) -> Result<(), ParquetError>;
}

impl Take for Int64Type {
    const AT_ONCE: usize = 8192;

    fn take(values: &[i64], to: &mut Values) -> Result<(), ParquetError> {
        to.numbers.extend_from_slice(values);
        Ok(())
    }
}

impl Take for BoolType {
    const AT_ONCE: usize = 8192;

    fn take(values: &[bool], to: &mut Values) -> Result<(), ParquetError> {
        to.numbers
            .extend(values.iter().map(|&value| i64::from(value)));
        Ok(())
    }
}

impl Take for ByteArrayType {
    const AT_ONCE: usize = TEXTS_AT_ONCE;

    fn take(values: &[Self::T], to: &mut Values) -> Result<(), ParquetError> {
        for value in values {
            if value.len() > TEXT_BYTES_MAX {
                return Err(ParquetError::General("a text is too long".to_owned()));
            }
            to.bytes.extend_from_slice(value.data());
            to.ends.push(to.bytes.len());
        }
        Ok(())
    }
}

impl Take for FixedLenByteArrayType {
    const AT_ONCE: usize = 8192;

    fn take(values: &[Self::T], to: &mut Values) -> Result<(), ParquetError> {
        for value in values {
            let bytes: Result<[u8; 16], _> = value.data().try_into();
            let wrong = |_| ParquetError::General("a decimal has another length".to_owned());
            to.decimals.push(u128::from_be_bytes(bytes.map_err(wrong)?));
        }
        Ok(())
    }
}

/// Reads some rows of a column of a row group.
fn read_rows<T: Take>(
    mut reader: ColumnReaderImpl<T>,
    column: &Column,
    rows: Range<usize>,
    to: &mut Values,
) -> Result<(), ParquetError> {
    let short = || ParquetError::General("a column has too few values".to_owned());
    if reader.skip_records(rows.start)? != rows.start {
        return Err(short());
    }
    let mut left = rows.len();
    let text_bytes_max = to.bytes.len() + GROUP_TEXT_BYTES_MAX;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while left > 0 {
        values.clear();
        levels.clear();
        let wanted = left.min(T::AT_ONCE);
        let buffer = (!column.is_required).then_some(&mut levels);
        let (count, _, _) = reader.read_records(wanted, buffer, None, &mut values)?;
        if count == 0 || count > wanted {
            return Err(short());
        }
        if column.is_required {
            T::take(&values, to)?;
        } else {
            take_some::<T>(column, &values, &levels, to)?;
        }
        if to.bytes.len() > text_bytes_max {
            return Err(ParquetError::General("the texts are too long".to_owned()));
        }
        left -= count;
    }
    Ok(())
}

/// Takes values over of which some rows have none.
fn take_some<T: Take>(
    column: &Column,
    values: &[T::T],
    levels: &[i16],
    to: &mut Values,
) -> Result<(), ParquetError> {
    let mut at = 0;
    for run in levels.chunk_by(|a, b| a == b) {
        let count = run.len();
        if run[0] == 0 {
            to.add_none(column, count);
            continue;
        }
        let short = || ParquetError::General("a column has too few values".to_owned());
        T::take(values.get(at..at + count).ok_or_else(short)?, to)?;
        to.is_there.extend(std::iter::repeat_n(true, count));
        at += count;
    }
    Ok(())
}

impl Values {
    /// Adds rows without a value.
    fn add_none(&mut self, column: &Column, count: usize) {
        let rows = self.is_there.len() + count;
        self.is_there.resize(rows, false);
        match column.kind {
            Kind::Int | Kind::Bool => self.numbers.resize(rows, 0),
            Kind::Text | Kind::Bytes => self.ends.resize(rows, self.bytes.len()),
            Kind::Decimal => self.decimals.resize(rows, 0),
        }
    }
}
