// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns of many directories, in order.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use statwalk_core::{
    Column, ColumnKind, Columns, DirId, Directories, Fields, OrderedRows, Rows, SkippedDirs,
};

use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Step, ends};
use crate::request::Request;

/// How many bytes a table has at most, unless its one row takes more.
const BYTES_MAX: usize = 4 << 20;

/// The tables of a scan, in order: a directory comes before all that is below it.
///
/// Dropped, it ends the scan.
#[derive(Debug)]
pub struct Tables {
    feed: Feed,
    /// Rows of directories or of other entries that were not given yet.
    left: VecDeque<OwnRows>,
    /// How many of the first were given.
    given: usize,
    form: Form,
}

/// The parts that each table has.
#[derive(Debug)]
struct Form {
    has_prefixes: bool,
    has_paths: bool,
    /// How many bytes of prefixes a table has at most, unless its one row takes more.
    prefix_bytes_max: usize,
    /// The bytes of the other columns for each row.
    row_bytes: usize,
}

/// Directories or other entries: up to 16,384 rows and 4 MiB, and a single row at least.
///
/// In a sequence by path a table has both, and those that are no directory have `u32::MAX` for
/// a number.
///
/// One without rows has ends of directories.
#[derive(Debug)]
pub struct Table {
    rows: OwnRows,
    prefixes: Prefixes,
    paths: Option<Paths>,
}

/// Paths of directories with the slash that stands before names, each once.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    /// For each row, which of them stands before its name: for a root the empty one.
    pub of_rows: Vec<u32>,
    /// All of them, one after another.
    pub bytes: Vec<u8>,
    /// Where each begins, from 0 on, and where the last one ends.
    pub offsets: Vec<u32>,
}

/// Whole paths of rows, as a column of Arrow.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The bytes of all paths, one after another.
    pub bytes: Vec<u8>,
    /// Where each path begins, from 0 on, and where the last one ends.
    pub offsets: Vec<i64>,
}

impl Tables {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL, or if a pattern ends with a slash.
    pub fn new(request: &Request) -> Result<Tables, Failure> {
        Ok(Tables::of(Feed::new(request)?, request))
    }

    pub(crate) fn of(feed: Feed, request: &Request) -> Tables {
        let fields = request.fields();
        let bytes = |column: Column| match column.kind {
            ColumnKind::U16 => 2,
            ColumnKind::U32 => 4,
            _ => 8,
        };
        // The type, the directory, the prefix, where a name begins, and the number, root and
        // state of a directory.
        let row_bytes = 22 + Column::of(fields).into_iter().map(bytes).sum::<usize>();
        Tables {
            feed,
            left: VecDeque::new(),
            given: 0,
            form: Form {
                has_prefixes: fields.contains(Fields::NAME),
                has_paths: request.has_paths(),
                prefix_bytes_max: BYTES_MAX,
                row_bytes,
            },
        }
    }

    /// Leaves prefixes out, for a caller who has no use for them.
    #[must_use]
    pub fn without_prefixes(mut self) -> Tables {
        self.form.has_prefixes = false;
        self
    }

    /// Gives tables with fewer bytes of prefixes, for a caller whose memory goes slowly.
    #[must_use]
    pub fn with_prefix_bytes_max(mut self, bytes: usize) -> Tables {
        self.form.prefix_bytes_max = bytes;
        self
    }

    /// The next table; waits for it up to a time.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<Table>, Failure> {
        self.feed.check()?;
        loop {
            match Failure::catch(|| self.next_table()) {
                Ok(Some(table)) => return Ok(Step::Value(table)),
                Ok(None) => {}
                Err(failure) => return Err(self.feed.keep(failure)),
            }
            match self.feed.next_within(timeout)? {
                Step::Value(mut rows) => {
                    self.left.push_back(rows.split_off_directories());
                    self.left.push_back(rows);
                }
                Step::Error(error) => return Ok(Step::Error(error)),
                Step::Waiting => return Ok(Step::Waiting),
                Step::End => return Ok(Step::End),
            }
        }
    }

    /// The next table of the rows that are left.
    fn next_table(&mut self) -> Option<Table> {
        let known = self.feed.rows()?;
        while let Some(mut rows) = self.left.pop_front() {
            let begin = std::mem::take(&mut self.given);
            if begin == 0 {
                rows = rows.map(|rows| known.without_skipped(rows));
            }
            let all = columns_of(rows.get()).len();
            let mut making = Making::new(&self.form, known);
            let end = making.add_from(columns_of(rows.get()), begin);
            let own = match making.rows.len() == all {
                true => rows,
                false => {
                    let copy = rows.again(|rows| copied(rows, &making.rows, end == all));
                    if end < all {
                        self.given = end;
                        self.left.push_front(rows);
                    }
                    copy
                }
            };
            let directories = own.get().directories();
            let has_ends = directories.finished.len() + directories.incomplete.len() > 0;
            if has_ends || !making.rows.is_empty() {
                return Some(Table {
                    rows: own,
                    prefixes: making.prefixes,
                    paths: self.form.has_paths.then_some(making.paths),
                });
            }
        }
        None
    }

    /// The paths of directories that the caller does not want, to add some from any thread.
    /// Workers open none below them that they have not opened. Absent after the end.
    #[must_use]
    pub fn skipped(&self) -> Option<&SkippedDirs> {
        self.feed.rows().map(OrderedRows::skipped)
    }

    /// Leaves out what is below a directory of a table that came.
    ///
    /// Workers do not open directories below it that they have not opened. No later table has
    /// anything below it, and no error of it or below it comes or counts any more. Of the same
    /// table [`is_skipped`](Self::is_skipped) tells what is below it.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is that of no such directory, and with contents first.
    pub fn prune(&mut self, directory: u32) -> Result<(), Failure> {
        let id = DirId::from_index(directory as usize);
        (self.feed).prune(id, "no directory with that number has come")
    }

    /// Whether a directory was pruned, or one above it, by its number. It speaks of the table
    /// that came last: others may be forgotten.
    #[must_use]
    pub fn is_skipped(&self, directory: u32) -> bool {
        let id = DirId::from_index(directory as usize);
        let known = self.feed.rows();
        id.zip(known)
            .is_some_and(|(id, known)| known.is_skipped(id))
    }
}

ends!(Tables);

impl Table {
    /// The columns of its rows.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        columns_of(self.rows.get())
    }

    /// Of directories, their own columns, and all ends; without rows in a table of others.
    #[must_use]
    pub fn directories(&self) -> &Directories {
        self.rows.get().directories()
    }

    /// The prefixes of its rows. Empty without names.
    #[must_use]
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// The paths, where they were wanted.
    #[must_use]
    pub fn paths(&self) -> Option<&Paths> {
        self.paths.as_ref()
    }

    /// Gives the buffers away, without a copy: the columns of the rows, and the numbers where
    /// they are directories.
    #[must_use]
    pub fn into_parts(self) -> (Columns, Option<Vec<u32>>, Prefixes, Option<Paths>) {
        let (entries, directories) = self.rows.into_rows().into_columns();
        match directories.is_empty() {
            true => (entries, None, self.prefixes, self.paths),
            false => {
                let ids = Some(directories.ids);
                (directories.columns, ids, self.prefixes, self.paths)
            }
        }
    }
}

/// Rows that are of one kind: those of directories or of other entries.
fn columns_of(rows: &Rows) -> &Columns {
    match rows.directories().is_empty() {
        true => rows.entries(),
        false => &rows.directories().columns,
    }
}

/// A copy of some rows of one kind, with all ends if they are the last.
fn copied(rows: &Rows, chosen: &[usize], are_last: bool) -> Rows {
    let (mut entries, mut directories) = (Columns::default(), Directories::default());
    let all = rows.directories();
    for &row in chosen {
        match all.is_empty() {
            true => entries.push_row(rows.entries(), row),
            false => directories.push_row(all, row),
        }
    }
    if are_last {
        directories.finished.clone_from(&all.finished);
        directories.incomplete.clone_from(&all.incomplete);
    }
    rows.with_columns(entries, directories)
}

/// A table that is being filled.
struct Making<'a> {
    form: &'a Form,
    known: &'a OrderedRows,
    rows: Vec<usize>,
    bytes: usize,
    prefixes: Prefixes,
    paths: Paths,
    /// The prefixes by their directory.
    numbers: HashMap<Option<DirId>, u32>,
    /// The directory of the last row.
    run: Option<Run>,
    prefix: Vec<u8>,
}

/// Rows of one directory, or roots.
#[derive(Clone, Copy)]
struct Run {
    dir: Option<DirId>,
    is_skipped: bool,
    /// The number of its prefix, once the table has it.
    number: Option<u32>,
}

impl<'a> Making<'a> {
    fn new(form: &'a Form, known: &'a OrderedRows) -> Making<'a> {
        Making {
            form,
            known,
            rows: Vec::new(),
            bytes: 0,
            prefixes: Prefixes {
                offsets: vec![0],
                ..Prefixes::default()
            },
            paths: Paths {
                bytes: Vec::new(),
                offsets: vec![0],
            },
            numbers: HashMap::new(),
            run: None,
            prefix: Vec::new(),
        }
    }

    /// Adds rows from one on until the table is full. Gives the row that comes next.
    fn add_from(&mut self, columns: &Columns, begin: usize) -> usize {
        for row in begin..columns.len() {
            let dir = columns.dir(row);
            let run = match self.run {
                Some(run) if run.dir == dir => run,
                _ => self.begin_run(dir),
            };
            if run.is_skipped {
                continue;
            }
            let name = columns.name(row);
            let mut bytes = self.form.row_bytes + name.len();
            if self.form.has_paths {
                bytes += 8 + self.prefix.len() + name.len();
            }
            let mut prefix_bytes = self.prefixes.bytes.len();
            if self.form.has_prefixes && run.number.is_none() {
                bytes += 4 + self.prefix.len();
                prefix_bytes += self.prefix.len();
            }
            let has_room = self.bytes + bytes <= BYTES_MAX
                && prefix_bytes <= self.form.prefix_bytes_max
                && self.rows.len() < Rows::MAX;
            if !has_room && !self.rows.is_empty() {
                return row;
            }
            self.bytes += bytes;
            self.rows.push(row);
            if self.form.has_prefixes {
                let number = run.number.unwrap_or_else(|| self.add_prefix(dir));
                self.prefixes.of_rows.push(number);
            }
            if self.form.has_paths {
                self.paths.bytes.extend_from_slice(&self.prefix);
                self.paths.bytes.extend_from_slice(name);
                self.paths.offsets.push(self.paths.bytes.len() as i64);
            }
        }
        columns.len()
    }

    fn begin_run(&mut self, dir: Option<DirId>) -> Run {
        if self.form.has_prefixes || self.form.has_paths {
            write_prefix(dir, self.known, &mut self.prefix);
        }
        let run = Run {
            dir,
            is_skipped: dir.is_some_and(|dir| self.known.is_skipped(dir)),
            number: self.numbers.get(&dir).copied(),
        };
        self.run = Some(run);
        run
    }

    #[cold]
    fn add_prefix(&mut self, dir: Option<DirId>) -> u32 {
        let number = self.numbers.len() as u32;
        self.prefixes.bytes.extend_from_slice(&self.prefix);
        self.prefixes.offsets.push(self.prefixes.bytes.len() as u32);
        self.numbers.insert(dir, number);
        if let Some(run) = &mut self.run {
            run.number = Some(number);
        }
        number
    }
}

/// Writes what stands before the names of a directory's entries: nothing for a root.
pub(crate) fn write_prefix(dir: Option<DirId>, known: &OrderedRows, path: &mut Vec<u8>) {
    path.clear();
    let is_known = dir.is_some_and(|dir| known.push_path(dir, path));
    if is_known && !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
}
