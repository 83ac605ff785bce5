// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows of a scan in bulk, in columns of many directories.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::columns::{Columns, Directories};
use crate::directory::Origin;
use crate::error::{EntryError, Error};
use crate::fields::Fields;
use crate::gather::{Fill, Gather, Gathered, Learned, Next, deadline_after, next_of};
use crate::lock::lock;
use crate::running::controls;
use crate::scan::Scan;

/// From so many entries on, or directories, a worker gives its rows to the caller.
const FULL: usize = 16_384;

/// From so many errors on, a worker gives its rows too.
const ERRORS_FULL: usize = 256;

/// How many rows wait for the caller.
const WAITING_MAX: usize = 4;

/// How many buffers without rows wait for a worker.
const SPARE_MAX: usize = 8;

/// Up to 16,384 entries of many directories, in columns.
///
/// [`Scan::rows`] makes them, and says in which order they come.
///
/// When they are dropped, their buffers go back to the workers of their scan. After
/// [`into_columns`](Self::into_columns) the buffers are the caller's.
pub struct Rows {
    tables: Tables,
    stock: Arc<Stock>,
}

/// The rows of a scan, as they come. [`Scan::rows`] makes it.
///
/// Dropped, it ends the scan.
#[must_use = "the scan ends when nobody takes its rows"]
pub struct GatheredRows {
    gathered: Gathered<Gathering>,
    taken: std::vec::IntoIter<Tables>,
    /// Those of the rows that were given last.
    errors: std::vec::IntoIter<EntryError>,
    stock: Arc<Stock>,
}

/// The columns of rows.
#[derive(Default)]
struct Tables {
    entries: Columns,
    directories: Directories,
    /// Each after the row of its entry, where that is known.
    errors: Vec<EntryError>,
    /// When the rows began; absent where nobody asks.
    epoch: Option<Epoch>,
    listings: Listings,
}

/// Notes on directories, for a caller who takes entries by path.
#[derive(Default)]
pub(crate) struct Listings {
    /// Numbers of directories, and in each a name that comes later.
    pub(crate) waiting: Vec<(u32, Box<[u8]>)>,
    /// Numbers of directories, and in each one of those names that comes no more.
    pub(crate) gone: Vec<(u32, Box<[u8]>)>,
    /// Directories whose other entries were delivered, all by this worker.
    pub(crate) listed: Vec<u32>,
    /// The same, by several.
    pub(crate) listed_by_several: Vec<u32>,
}

/// A time of a scan. Copies lie with all rows that began in it.
pub(crate) type Epoch = Arc<()>;

/// Buffers without rows, for the next rows of any worker.
///
/// A stock for each worker would keep the buffers of those that have gone away.
struct Stock {
    fields: Fields,
    spare: Mutex<Vec<Tables>>,
    epoch: Mutex<Epoch>,
}

/// The rows of one worker that were not given away. The last has room.
#[derive(Default)]
struct Gathering {
    tables: Vec<Tables>,
}

impl Rows {
    /// How many entries an object of this type holds at most.
    pub const MAX: usize = FULL;

    /// How many entries it has; directories are not among them.
    ///
    /// 0 is possible: the rows can consist of directories alone, or of nothing but ends of
    /// directories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tables.entries.len()
    }

    /// Whether it has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.entries.is_empty()
    }

    /// The fields that were asked for, the type among them unless names are alone.
    #[must_use]
    pub fn fields(&self) -> Fields {
        self.stock.fields
    }

    /// The entries that are not directories.
    #[must_use]
    pub fn entries(&self) -> &Columns {
        &self.tables.entries
    }

    /// The directories that begin here, and the ends of directories.
    #[must_use]
    pub fn directories(&self) -> &Directories {
        &self.tables.directories
    }

    #[cfg(test)]
    pub(crate) fn push_error(&mut self, error: EntryError) {
        self.tables.errors.push(error);
    }

    /// Takes out the errors that go with them.
    pub(crate) fn take_errors(&mut self) -> Vec<EntryError> {
        std::mem::take(&mut self.tables.errors)
    }

    /// Whether they have neither rows nor ends.
    pub(crate) fn has_nothing(&self) -> bool {
        let directories = self.directories();
        let ends = directories.finished.len() + directories.incomplete.len();
        self.is_empty() && directories.is_empty() && ends == 0
    }

    /// Takes out the notes on directories.
    pub(crate) fn take_listings(&mut self) -> Listings {
        std::mem::take(&mut self.tables.listings)
    }

    /// When they began. They have it no more.
    pub(crate) fn take_epoch(&mut self) -> Epoch {
        self.tables.epoch.take().unwrap_or_default()
    }

    pub(crate) fn columns_mut(&mut self) -> (&mut Columns, &mut Directories) {
        (&mut self.tables.entries, &mut self.tables.directories)
    }

    /// Takes the directories out.
    pub(crate) fn take_directories(&mut self) -> Directories {
        let mut none = Directories::default();
        none.columns.begin_names();
        std::mem::replace(&mut self.tables.directories, none)
    }

    /// Gives the buffers away, without a copy.
    #[must_use]
    pub fn into_columns(mut self) -> (Columns, Directories) {
        let tables = std::mem::take(&mut self.tables);
        (tables.entries, tables.directories)
    }

    /// Takes the directories and their ends out, as rows of their own, without a copy.
    #[must_use]
    pub fn split_off_directories(&mut self) -> Rows {
        let directories = self.take_directories();
        self.with_columns(Columns::default(), directories)
    }

    /// Rows of the same scan with these columns, to whose workers the buffers go back.
    #[must_use]
    pub fn with_columns(&self, columns: Columns, directories: Directories) -> Rows {
        Rows {
            tables: Tables {
                entries: columns,
                directories,
                ..Tables::default()
            },
            stock: Arc::clone(&self.stock),
        }
    }
}

/// Without its rows, of which there can be very many.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("len", &self.len())
            .field("directories", &self.directories().len())
            .field("fields", &self.fields())
            .finish_non_exhaustive()
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.stock.put(std::mem::take(&mut self.tables));
    }
}

impl Scan {
    /// Gives all entries and directories in columns of many directories, while workers
    /// scan.
    ///
    /// A directory is a row of [`Rows::directories`], and each other entry one of
    /// [`Rows::entries`]. Every number of a directory in a column is that of exactly one
    /// row of directories, in some of the rows of the scan. A root that is no directory has
    /// none. The rows of one worker have a directory before its entries, unless several
    /// workers read the directory because it is large. Between the rows of several workers no
    /// order is promised. A directory that cannot be read is a row all the same.
    ///
    /// A worker gives its rows away from 16,384 entries on, or when the caller waits for
    /// some. An entry that cannot be read is an `Err`; it is also a row where its name is
    /// known. A root that is missing is an `Err` at the end.
    ///
    /// Memory: each worker fills one object, or up to five at once of a directory of 65,536
    /// entries. 4 such wait for the caller, and the buffers of up to 8 are kept empty. With all
    /// fields an entry takes 104 bytes and its name, in buffers that grow by doubling. A caller
    /// who takes none slows the scan down.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan};
    ///
    /// let (mut files, mut directories, mut bytes) = (0, 0, 0);
    /// let mut all = Scan::new("src").fields(Fields::SIZE).rows()?;
    /// for rows in &mut all {
    ///     let rows = rows?;
    ///     files += rows.len();
    ///     directories += rows.directories().len();
    ///     bytes += rows.entries().attributes.size_bytes.iter().sum::<u64>();
    /// }
    /// assert!(files > directories && directories > 1 && bytes > 0);
    /// assert!(all.finish().is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn rows(&self) -> Result<GatheredRows, Error> {
        let fields = self.fields_of_rows();
        let stock = Arc::new(Stock {
            fields,
            spare: Mutex::default(),
            epoch: Mutex::default(),
        });
        let of_workers = Arc::clone(&stock);
        let gathered = self.gather_with(Gather {
            fields,
            each: Box::new(move |gathering: &mut Gathering, learned| {
                gathering.add(learned, &of_workers)
            }),
            wants_all: true,
            waiting_max: WAITING_MAX,
        })?;
        Ok(GatheredRows {
            gathered,
            taken: Vec::new().into_iter(),
            errors: Vec::new().into_iter(),
            stock,
        })
    }
}

impl Gathering {
    fn add(&mut self, learned: Learned<'_>, stock: &Stock) -> Fill {
        match learned {
            Learned::Directory(directory) => {
                (self.last(stock).directories).push(directory, stock.fields);
            }
            Learned::Entries(origin, batch) => self.add_entries(origin, batch, stock),
            Learned::Incomplete(directory) => {
                let incomplete = &mut self.last(stock).directories.incomplete;
                incomplete.push(directory.id.0);
            }
            Learned::Finished(directory) => {
                let finished = &mut self.last(stock).directories.finished;
                finished.push(directory.id.0);
            }
            Learned::Failed(error) => self.last(stock).errors.push(error.clone()),
            Learned::Waiting(directory, names) => {
                let names = names.iter().map(|&name| (directory.0, name.into()));
                self.last(stock).listings.waiting.extend(names);
            }
            Learned::Gone(directory, name) => {
                let name = (directory.0, name.into());
                self.last(stock).listings.gone.push(name);
            }
            Learned::Listed(directory, is_by_one_worker) => {
                let listings = &mut self.last(stock).listings;
                match is_by_one_worker {
                    true => listings.listed.push(directory.0),
                    false => listings.listed_by_several.push(directory.0),
                }
            }
        }
        match self.tables.len() > 1 || self.last(stock).is_full() {
            true => Fill::Full,
            false => Fill::Some,
        }
    }

    fn add_entries(&mut self, origin: Origin<'_>, batch: &Batch, stock: &Stock) {
        let mut begin = 0;
        while begin < batch.len() {
            let entries = &mut self.last(stock).entries;
            let room = Rows::MAX - entries.len();
            if room == 0 {
                self.tables.push(stock.take());
                continue;
            }
            let end = batch.len().min(begin + room);
            entries.extend(origin, batch, begin..end);
            begin = end;
        }
    }

    #[inline]
    fn last(&mut self, stock: &Stock) -> &mut Tables {
        if self.tables.is_empty() {
            self.tables.push(stock.take());
        }
        self.tables.last_mut().expect("there is one now")
    }
}

impl Tables {
    /// Whether there is memory for entries, and for directories.
    fn have_buffers(&self) -> [bool; 2] {
        let of_directories = self.directories.ids.capacity();
        [self.entries.kinds.capacity(), of_directories].map(|capacity| capacity > 0)
    }

    fn is_full(&self) -> bool {
        let directories = &self.directories;
        let ends = directories.finished.len().max(directories.incomplete.len());
        self.entries.len().max(directories.len()).max(ends) >= FULL
            || self.errors.len() >= ERRORS_FULL
    }
}

impl Stock {
    fn take(&self) -> Tables {
        let mut tables = lock(&self.spare).pop().unwrap_or_default();
        if self.fields.contains(Fields::NAME) {
            tables.entries.begin_names();
        }
        tables.directories.columns.begin_names();
        tables.epoch = Some(Arc::clone(&lock(&self.epoch)));
        tables
    }

    /// Takes buffers, and forgets their rows.
    fn put(&self, mut tables: Tables) {
        let [has_entries, has_directories] = tables.have_buffers();
        if !has_entries && !has_directories {
            return;
        }
        tables.entries.clear();
        tables.directories.clear();
        tables.errors.clear();
        tables.epoch = None;
        tables.listings = Listings::default();
        let mut spare = lock(&self.spare);
        // Those of entries and of directories can come apart.
        let lacks = |other: &&mut Tables| other.have_buffers() == [!has_entries, !has_directories];
        let has_room = spare.len() < SPARE_MAX;
        match spare.iter_mut().find(lacks) {
            Some(other) if has_entries => other.entries = tables.entries,
            Some(other) => other.directories = tables.directories,
            None if has_room => spare.push(tables),
            None => {}
        }
    }
}

impl fmt::Debug for GatheredRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatheredRows")
            .field("rows_at_hand", &self.taken.len())
            .field("gathered", &self.gathered)
            .finish_non_exhaustive()
    }
}

impl GatheredRows {
    /// Lets those workers give their rows that stand still.
    pub(crate) fn sweep(&mut self) {
        self.gathered.sweep();
    }

    /// Ends an epoch, and gives it: all rows that began in it, or before, began before now.
    pub(crate) fn next_epoch(&self) -> Epoch {
        std::mem::take(&mut lock(&self.stock.epoch))
    }

    /// Directories as rows of the scan.
    pub(crate) fn with_directories(&self, directories: Directories) -> Rows {
        Rows {
            tables: Tables {
                directories,
                ..Tables::default()
            },
            stock: Arc::clone(&self.stock),
        }
    }

    /// Tells the workers how many rows the caller holds that were read ahead.
    pub(crate) fn tell_ahead(&self, rows: usize) {
        self.gathered.tell_ahead(rows);
    }

    /// Rows that begin now.
    #[cfg(test)]
    pub(crate) fn begin(&self) -> Rows {
        Rows {
            tables: self.stock.take(),
            stock: Arc::clone(&self.stock),
        }
    }

    /// Takes the next rows, and waits for them up to a time.
    pub fn next_within(&mut self, timeout: Duration) -> Next<Rows> {
        if let Some(error) = self.errors.next() {
            return Next::Failed(error);
        }
        let deadline = deadline_after(timeout);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.next_with_errors(left) {
                Next::Value(mut rows) => {
                    self.errors = rows.take_errors().into_iter();
                    // A worker can have had nothing but an error.
                    if !rows.has_nothing() {
                        return Next::Value(rows);
                    }
                    if let Some(error) = self.errors.next() {
                        return Next::Failed(error);
                    }
                }
                next => return next,
            }
        }
    }

    /// As [`next_within`](Self::next_within): the rows have the errors that go with them.
    pub(crate) fn next_with_errors(&mut self, timeout: Duration) -> Next<Rows> {
        let deadline = deadline_after(timeout);
        loop {
            if let Some(rows) = self.next_taken() {
                return Next::Value(rows);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.gathered.next_within(left) {
                Next::Value(gathering) => self.taken = gathering.tables.into_iter(),
                Next::Failed(error) => return Next::Failed(error),
                Next::Waiting => return Next::Waiting,
                Next::End => return Next::End,
            }
        }
    }

    fn next_taken(&mut self) -> Option<Rows> {
        let tables = self.taken.next()?;
        Some(Rows {
            tables,
            stock: Arc::clone(&self.stock),
        })
    }
}

controls!(GatheredRows, gathered, report);

impl Iterator for GatheredRows {
    type Item = Result<Rows, EntryError>;

    fn next(&mut self) -> Option<Result<Rows, EntryError>> {
        next_of(|timeout| self.next_within(timeout))
    }
}
