// SPDX-License-Identifier: MIT OR Apache-2.0

//! A table: its files, one after another.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::manifest::{FileRecord, Manifest};
use crate::schema::TableName;
use crate::table_file::{TableFile, Values};

/// A table whose files are opened when rows of them are asked for.
#[derive(Debug)]
pub(crate) struct Table {
    name: TableName,
    folder: PathBuf,
    files: Vec<Part>,
    rows: u64,
}

/// A file, and its first row.
#[derive(Debug)]
struct Part {
    record: FileRecord,
    begin: u64,
    opened: Mutex<Option<Arc<TableFile>>>,
}

/// Some columns of some rows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    name: TableName,
    rows: Range<u64>,
    /// By the index of the column; absent where it was not asked for.
    values: Vec<Option<Values>>,
}

impl Table {
    pub(crate) fn new(name: TableName, folder: &Path, manifest: &Manifest) -> Table {
        let mut rows = 0;
        let parts = manifest.tables.of(name).iter().map(|record| {
            let begin = rows;
            rows += record.rows;
            Part {
                record: record.clone(),
                begin,
                opened: Mutex::default(),
            }
        });
        Table {
            name,
            folder: folder.to_owned(),
            files: parts.collect(),
            rows,
        }
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Opens all files, so that their footers are checked.
    pub(crate) fn open_all(&self) -> Result<(), Error> {
        self.files
            .iter()
            .try_for_each(|part| self.open(part).map(drop))
    }

    fn open(&self, part: &Part) -> Result<Arc<TableFile>, Error> {
        let mut opened = part.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*opened {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(TableFile::open(self.name, &self.folder, &part.record)?);
        *opened = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Some columns of some rows. The caller asks for no more than fit into memory.
    pub(crate) fn read(&self, rows: Range<u64>, names: &[&str]) -> Result<Columns, Error> {
        if rows.start > rows.end || rows.end > self.rows {
            let message = format!("the table {} has no such rows", self.name.name());
            return Err(Error::damaged(message).at(&self.folder));
        }
        let mut columns = Columns {
            name: self.name,
            rows: rows.clone(),
            values: vec![None; self.name.columns().len()],
        };
        for name in names {
            columns.values[self.name.index(name)] = Some(Values::default());
        }
        for part in &self.files {
            let (begin, end) = (part.begin, part.begin + part.record.rows);
            let wanted = rows.start.max(begin)..rows.end.min(end);
            if wanted.is_empty() {
                continue;
            }
            let file = self.open(part)?;
            for (group, piece) in file.pieces(wanted.start - begin..wanted.end - begin) {
                for (column, values) in columns.values.iter_mut().enumerate() {
                    if let Some(values) = values {
                        file.read(group, column, piece.clone(), values)?;
                    }
                }
            }
        }
        Ok(columns)
    }

    /// All columns of some rows.
    pub(crate) fn read_all(&self, rows: Range<u64>) -> Result<Columns, Error> {
        let names: Vec<_> = self
            .name
            .columns()
            .iter()
            .map(|column| column.name)
            .collect();
        self.read(rows, &names)
    }
}

/// How many rows a window has.
const WINDOW_ROWS: u64 = 4096;

/// Some columns of a table, for a caller who asks for one row after another: those nearby are
/// read with it.
pub(crate) struct Window<'t> {
    table: &'t Table,
    names: &'static [&'static str],
    loaded: Option<Columns>,
}

impl<'t> Window<'t> {
    pub(crate) fn new(table: &'t Table, names: &'static [&'static str]) -> Window<'t> {
        Window {
            table,
            names,
            loaded: None,
        }
    }

    /// The columns that have a row, and its place in them.
    pub(crate) fn row(&mut self, row: u64) -> Result<(&Columns, usize), Error> {
        let has = |columns: &Columns| columns.rows.contains(&row);
        if !self.loaded.as_ref().is_some_and(has) {
            let start = row - row % WINDOW_ROWS;
            let end = self
                .table
                .rows
                .min(start + WINDOW_ROWS)
                .max(row.saturating_add(1));
            self.loaded = Some(self.table.read(start..end, self.names)?);
        }
        let columns = self.loaded.as_ref().expect("it was loaded just now");
        Ok((columns, (row - columns.rows.start) as usize))
    }
}

impl Columns {
    /// The rows that it has, in the table.
    pub(crate) fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    pub(crate) fn len(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    /// The values of a column; absent where it was not asked for.
    pub(crate) fn values(&self, name: &str) -> Option<&Values> {
        self.values[self.name.index(name)].as_ref()
    }

    /// A number, where the row has one.
    pub(crate) fn number(&self, name: &str, row: usize) -> Option<i64> {
        self.values(name)?.number(row)
    }

    /// A number that is never negative, where the row has one.
    pub(crate) fn count(&self, name: &str, row: usize) -> Result<Option<u64>, Error> {
        let wrong = |_| self.wrong(name, row);
        self.number(name, row)
            .map(|value| u64::try_from(value).map_err(wrong))
            .transpose()
    }

    /// A number that each row has, and that is never negative.
    pub(crate) fn required_count(&self, name: &str, row: usize) -> Result<u64, Error> {
        self.count(name, row)?.ok_or_else(|| self.wrong(name, row))
    }

    /// A sum, from its column or from that of large ones.
    pub(crate) fn sum(&self, name: &str, row: usize) -> Result<Option<u128>, Error> {
        if let Some(value) = self.count(name, row)? {
            return Ok(Some(value.into()));
        }
        let large = self.values(&format!("{name}_big"));
        Ok(large.and_then(|values| values.decimal(row)))
    }

    /// A text, where the row has one.
    pub(crate) fn text(&self, name: &str, row: usize) -> Result<Option<&str>, Error> {
        let bytes = self.values(name).and_then(|values| values.text(row));
        let text = bytes.map(|bytes| std::str::from_utf8(bytes));
        text.transpose().map_err(|_| self.wrong(name, row))
    }

    /// A text that each row has.
    pub(crate) fn required_text(&self, name: &str, row: usize) -> Result<&str, Error> {
        self.text(name, row)?.ok_or_else(|| self.wrong(name, row))
    }

    /// Whether a row has a truth value that is true.
    pub(crate) fn holds(&self, name: &str, row: usize) -> bool {
        self.number(name, row) == Some(1)
    }

    /// The value of a column in a row is none that a writer makes.
    pub(crate) fn wrong(&self, name: &str, row: usize) -> Error {
        let (table, row) = (self.name.name(), self.rows.start + row as u64);
        Error::damaged(format!("row {row} of {table} has an impossible {name}"))
    }
}
