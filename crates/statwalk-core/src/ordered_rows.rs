// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows in an order in which a directory comes before all that is below it.
//!
//! Rows wait here until the directories above them were given. A directory is forgotten
//! when all in it and below it was taken. That it is finished, a worker says when another
//! may still fill rows that began before: it is forgotten when no such rows are left.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::columns::{Columns, Directories};
use crate::entry::DirId;
use crate::error::{Cause, EntryError, Error};
use crate::gather::{Next, deadline_after};
use crate::known_dirs::KnownDirs;
use crate::report::Report;
use crate::rows::{Epoch, GatheredRows, Rows};
use crate::running::controls;
use crate::scan::Scan;
use crate::skipped_dirs::SkippedDirs;

/// The rows of a scan, in order. [`Scan::ordered_rows`] makes it.
///
/// Dropped, it ends the scan.
#[must_use = "the scan ends when nobody takes its rows"]
pub struct OrderedRows {
    rows: GatheredRows,
    known: KnownDirs,
    /// Rows with something whose directory above was not given.
    held: Vec<Held>,
    /// How many rows have come.
    count: u64,
    /// The rows among the held that wait for a directory, by its number.
    orphans: HashMap<u32, Vec<Orphan>>,
    ready: VecDeque<Ready>,
    /// When the rows that are ready, or were given last, began.
    given: Vec<Epoch>,
    /// Directories that are finished, and what tells when the last of their rows was taken.
    finished: VecDeque<(Epoch, Vec<u32>)>,
    skipped: SkippedDirs,
    /// Errors that nobody wants to see: the report counts them no more.
    hidden: Vec<EntryError>,
    report: Option<Report>,
}

/// Something for the caller. An error follows the rows of its entry.
enum Ready {
    Rows(Box<Rows>),
    Error(EntryError),
}

/// Rows that wait for a directory.
struct Held {
    number: u64,
    rows: Rows,
    errors: Vec<EntryError>,
    /// How many of their directories wait for the one above.
    orphans: usize,
    epoch: Epoch,
}

/// A directory that waits for the one above: a row of the held rows of a number.
struct Orphan {
    held: u64,
    row: usize,
}

impl Scan {
    /// As [`rows`](Self::rows), in an order: a directory comes before all that is below it.
    ///
    /// So paths are known: [`push_path`](OrderedRows::push_path) gives that of each directory
    /// that rows are of. A directory can come in other rows than its entries, and later rows
    /// can have nothing but such entries.
    ///
    /// Memory, beyond that of [`rows`](Self::rows): the names of directories of which more can
    /// come. A directory is forgotten when all in it and below it was taken, so a scan of
    /// many directories takes no more than one of few.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use statwalk_core::{Fields, Next, Scan};
    ///
    /// let mut all = Scan::new("src").fields(Fields::NAME).ordered_rows()?;
    /// let (mut path, mut sinks) = (Vec::new(), 0);
    /// loop {
    ///     match all.next_within(Duration::from_secs(1)) {
    ///         Next::Value(rows) => {
    ///             for row in 0..rows.len() {
    ///                 path.clear();
    ///                 let dir = rows.entries().dir(row).expect("the root is a directory");
    ///                 assert!(all.push_path(dir, &mut path));
    ///                 sinks += usize::from(path == b"src/sink");
    ///             }
    ///         }
    ///         Next::Failed(error) => return Err(error.into()),
    ///         Next::Waiting => {}
    ///         _ => break,
    ///     }
    /// }
    /// assert!(sinks > 1 && all.finish().is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn ordered_rows(&self) -> Result<OrderedRows, Error> {
        let skipped = SkippedDirs::default();
        let rows = self.clone().skip_dirs(&skipped).rows()?;
        Ok(OrderedRows {
            rows,
            known: KnownDirs::default(),
            held: Vec::new(),
            count: 0,
            orphans: HashMap::new(),
            ready: VecDeque::new(),
            given: Vec::new(),
            finished: VecDeque::new(),
            skipped,
            hidden: Vec::new(),
            report: None,
        })
    }
}

impl fmt::Debug for OrderedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedRows")
            .field("rows", &self.rows)
            .field("held", &self.held.len())
            .field("ready", &self.ready.len())
            .finish_non_exhaustive()
    }
}

impl OrderedRows {
    /// Takes the next rows, and waits for them up to a time.
    ///
    /// Nothing comes that is below a directory which was skipped before the call, no error of
    /// it either. An error comes after the directories above its entry.
    pub fn next_within(&mut self, timeout: Duration) -> Next<Rows> {
        let deadline = deadline_after(timeout);
        loop {
            match self.ready.pop_front() {
                Some(Ready::Rows(rows)) => {
                    let rows = self.without_skipped(*rows);
                    if !rows.has_nothing() {
                        return Next::Value(rows);
                    }
                    continue;
                }
                Some(Ready::Error(error)) if self.skipped.has(error.root, &error.path) => {
                    self.hidden.push(error);
                    continue;
                }
                Some(Ready::Error(error)) => return Next::Failed(error),
                None => {}
            }
            self.forget();
            let left = deadline.saturating_duration_since(Instant::now());
            match self.rows.next_with_errors(left) {
                Next::Value(rows) => self.take(rows),
                Next::Failed(error) => self.ready.push_back(Ready::Error(error)),
                Next::Waiting => return Next::Waiting,
                Next::End if self.held.is_empty() => {
                    let report = self.rows.report().cloned();
                    let without_hidden = |report| without(report, &self.hidden, &self.skipped);
                    self.report = report.map(without_hidden);
                    return Next::End;
                }
                // They belong to a directory that lies with a worker that hangs: the report
                // says that the scan was interrupted.
                Next::End => {
                    let held = std::mem::take(&mut self.held);
                    let errors = held.into_iter().flat_map(|held| held.errors);
                    self.ready.extend(errors.map(Ready::Error));
                }
            }
        }
    }

    /// Some rows without those below skipped directories.
    fn without_skipped(&self, mut rows: Rows) -> Rows {
        if !self.known.has_skipped() {
            return rows;
        }
        let is_wanted = |dir: Option<DirId>| dir.is_none_or(|dir| !self.is_skipped(dir));
        let (entries, directories) = rows.columns_mut();
        let wanted = |columns: &Columns| {
            let rows = columns
                .runs(columns.len())
                .filter(|run| is_wanted(columns.dir(run.start)));
            rows.flatten().collect::<Vec<usize>>()
        };
        let of_directories = wanted(&directories.columns);
        if of_directories.len() < directories.len() {
            directories.keep(&of_directories);
        }
        let of_entries = wanted(entries);
        if of_entries.len() < entries.len() {
            entries.keep(&of_entries);
        }
        rows
    }

    /// Forgets directories of which nothing is left. The rows that were given last are done.
    fn forget(&mut self) {
        self.given.clear();
        while let Some((epoch, ids)) = self.finished.front_mut() {
            // Some rows began when, for all that was known, the directories had more.
            if Arc::get_mut(epoch).is_none() {
                break;
            }
            for id in std::mem::take(ids) {
                self.known.remove(id);
            }
            self.finished.pop_front();
        }
    }

    /// Takes rows from a worker, and makes those ready that are known by them.
    fn take(&mut self, mut rows: Rows) {
        let (epoch, errors) = (rows.take_epoch(), rows.take_errors());
        let finished = &rows.directories().finished;
        if !finished.is_empty() {
            let ids = finished.clone();
            self.finished.push_back((self.rows.next_epoch(), ids));
        }
        self.count += 1;
        let orphans = self.learn(rows.directories());
        if self.held.is_empty() && orphans.is_empty() && knows_all_of(&self.known, rows.entries()) {
            return self.give(rows, errors, epoch);
        }
        let directories = match orphans.is_empty() {
            true => rows.take_directories(),
            false => all_but(rows.columns_mut().1, &orphans),
        };
        self.held.push(Held {
            number: self.count,
            rows,
            errors,
            orphans: orphans.len(),
            epoch: Arc::clone(&epoch),
        });
        let found = self.find_orphans(&directories.ids);
        for directories in [directories, found] {
            self.give(
                self.rows.rows_of(directories),
                Vec::new(),
                Arc::clone(&epoch),
            );
        }
        self.release();
    }

    /// Adds directories to those that are known. Gives the rows of those whose parent is not.
    fn learn(&mut self, directories: &Directories) -> Vec<usize> {
        let mut orphans = Vec::new();
        for row in 0..directories.len() {
            if !self.known.add(directories, row) {
                let parent = directories.columns.dirs[row];
                let held = self.count;
                let waiting = self.orphans.entry(parent).or_default();
                waiting.push(Orphan { held, row });
                orphans.push(row);
            }
        }
        orphans
    }

    /// The directories that waited for some, or for those, each after its parent.
    fn find_orphans(&mut self, parents: &[u32]) -> Directories {
        let mut found = Directories::default();
        let mut parents = parents.to_vec();
        while let Some(parent) = parents.pop() {
            for Orphan { held, row } in self.orphans.remove(&parent).unwrap_or_default() {
                let held = self.held.iter_mut().find(|other| other.number == held);
                let held = held.expect("rows are held as long as they have an orphan");
                held.orphans -= 1;
                let directories = held.rows.directories();
                self.known.add(directories, row);
                found.push_row(directories, row);
                parents.push(directories.ids[row]);
            }
        }
        found
    }

    /// Makes the entries ready whose directories are known.
    fn release(&mut self) {
        let known = &self.known;
        let is_known =
            |held: &mut Held| held.orphans == 0 && knows_all_of(known, held.rows.entries());
        let released: Vec<Held> = self.held.extract_if(.., is_known).collect();
        for mut held in released {
            // They were given before.
            drop(held.rows.take_directories());
            self.give(held.rows, held.errors, held.epoch);
        }
    }

    fn give(&mut self, rows: Rows, errors: Vec<EntryError>, epoch: Epoch) {
        self.given.push(epoch);
        if !rows.has_nothing() {
            self.ready.push_back(Ready::Rows(Box::new(rows)));
        }
        self.ready.extend(errors.into_iter().map(Ready::Error));
    }

    /// Appends the path of a directory to a buffer that the caller keeps, and answers whether
    /// it is known.
    ///
    /// It is known from its own row on. After the last rows of it and of what is below it, the
    /// next call of [`next_within`](Self::next_within) forgets it.
    pub fn push_path(&self, dir: DirId, path: &mut Vec<u8>) -> bool {
        self.known.push_path(dir.0, path)
    }

    /// The distance of a directory from its root; absent where it is not known, as in
    /// [`push_path`](Self::push_path).
    #[must_use]
    pub fn depth(&self, dir: DirId) -> Option<u32> {
        self.known.get(dir.0).map(|dir| dir.depth)
    }

    /// Which root a directory belongs to: an index into the roots of the scan. Absent where it
    /// is not known, as in [`push_path`](Self::push_path).
    #[must_use]
    pub fn root(&self, dir: DirId) -> Option<usize> {
        self.known.get(dir.0).map(|dir| dir.root as usize)
    }

    /// Skips what is below a directory, and answers whether its number can have come.
    ///
    /// Workers do not open directories below it that they have not opened. No later call of
    /// [`next_within`](Self::next_within) gives anything below it, or an error of it, and the
    /// report does not count such errors. Rows that were given can have something below it:
    /// [`is_skipped`](Self::is_skipped) tells.
    /// Below a directory that is forgotten there is nothing left to skip.
    pub fn skip(&mut self, dir: DirId) -> bool {
        let mut path = Vec::new();
        if let Some(root) = self.root(dir).filter(|_| self.push_path(dir, &mut path)) {
            self.skipped.add(root, &path);
            self.known.skip(dir.0);
        }
        self.known.can_have_come(dir.0)
    }

    /// Whether a directory was skipped, or one above it: what is in it is not wanted.
    #[must_use]
    pub fn is_skipped(&self, dir: DirId) -> bool {
        self.known.is_at_or_below_skipped(dir.0)
    }

    /// The paths of the skipped directories. Any thread may add one, so that workers open none
    /// below it; rows of it come until [`skip`](Self::skip) is called for it.
    #[must_use]
    pub fn skipped(&self) -> &SkippedDirs {
        &self.skipped
    }

    /// The report of the scan, once the last rows were taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Stops the scan if it still goes on, and gives its report.
    #[must_use]
    pub fn finish(self) -> Report {
        let of_now = || without(self.rows.finish(), &self.hidden, &self.skipped);
        self.report.unwrap_or_else(of_now)
    }
}

controls!(OrderedRows, rows);

/// Whether all directories of some entries are known.
fn knows_all_of(known: &KnownDirs, entries: &Columns) -> bool {
    let mut last = None;
    let has_roots = entries.has_dir.zeros() > 0;
    let mut dirs = entries.dirs.iter().enumerate();
    dirs.all(|(row, &id)| {
        // Entries of one directory come one after another.
        last == Some(id) || (has_roots && !entries.has_dir.get(row)) || {
            last = Some(id);
            known.get(id).is_some()
        }
    })
}

/// The directories without those of some rows, with all notes of ends.
fn all_but(directories: &mut Directories, rows: &[usize]) -> Directories {
    let mut others = directories.clone();
    directories.finished.clear();
    directories.incomplete.clear();
    let is_other = |row: &usize| rows.binary_search(row).is_err();
    others.keep(&(0..directories.len()).filter(is_other).collect::<Vec<_>>());
    others
}

/// A report without the errors that nobody wants to see.
fn without(mut report: Report, hidden: &[EntryError], skipped: &SkippedDirs) -> Report {
    for error in hidden {
        let of_root = &mut report.roots[error.root];
        match error.cause {
            Cause::Changed => of_root.changed_dirs -= 1,
            _ => of_root.unreadable -= 1,
        }
        let mut counts = report.error_counts.iter_mut();
        if let Some(count) = counts.find(|count| (count.0, count.1) == (error.op, error.cause)) {
            count.2 -= 1;
        }
    }
    report.error_counts.retain(|&(_, _, count)| count > 0);
    (report.errors).retain(|error| !skipped.has(error.root, &error.path));
    report
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;
    use statwalk_testkit::Scratch;

    use super::*;
    use crate::entry::FileType;

    /// A directory, or an entry of one.
    #[derive(Clone, Copy, Debug)]
    enum Row {
        Directory(u32),
        Entry(u32),
    }

    /// Ordered rows that get rows from a test alone.
    fn empty() -> OrderedRows {
        let scan = Scan::new(env!("CARGO_MANIFEST_DIR")).max_depth(0);
        let mut ordered = scan.ordered_rows().unwrap();
        while !matches!(ordered.next_within(Duration::from_secs(60)), Next::End) {}
        ordered
    }

    fn push(columns: &mut Columns, dir: Option<u32>, kind: FileType, name: &str) {
        if columns.name_offsets.is_empty() {
            columns.begin_names();
        }
        columns.names.extend_from_slice(name.as_bytes());
        columns.name_offsets.push(columns.names.len() as i32);
        columns.dirs.push(dir.unwrap_or(0));
        columns.has_dir.push(dir.is_some());
        columns.kinds.push(kind.number());
        columns.is_direct.push(true);
        columns.is_known.push(true);
    }

    fn rows_of(ordered: &OrderedRows, of: &[Row], parents: &[Option<u32>]) -> Rows {
        let (mut directories, mut entries) = (Directories::default(), Columns::default());
        for &row in of {
            match row {
                Row::Directory(id) => {
                    let name = id.to_string();
                    let parent = parents[id as usize];
                    push(&mut directories.columns, parent, FileType::Directory, &name);
                    directories.ids.push(id);
                    directories.roots.push(0);
                    directories.states.push(0);
                }
                Row::Entry(dir) => push(&mut entries, Some(dir), FileType::File, "file"),
            }
        }
        let mut rows = ordered.rows.rows_of(directories);
        *rows.columns_mut().0 = entries;
        rows
    }

    fn path_of(id: u32, parents: &[Option<u32>]) -> String {
        match parents[id as usize] {
            Some(parent) => format!("{}/{id}", path_of(parent, parents)),
            None => id.to_string(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// In whatever order and whatever rows they come from the workers.
        #[test]
        fn a_directory_comes_before_all_below_it(
            above in prop::collection::vec(any::<Index>(), 1..40),
            order in prop::collection::vec(any::<u32>(), 80),
            cuts in prop::collection::vec(1..9_usize, 80),
        ) {
            let parent = |(id, above): (usize, &Index)| (id > 0).then(|| above.index(id) as u32);
            let parents: Vec<_> = above.iter().enumerate().map(parent).collect();
            let ids = 0..parents.len() as u32;
            let mut all: Vec<_> = ids.flat_map(|id| [Row::Directory(id), Row::Entry(id)]).collect();
            let mut keys = order.iter();
            all.sort_by_cached_key(|_| keys.next());
            let (mut ordered, mut given) = (empty(), Vec::new());
            let (mut left, mut count) = (&all[..], 0);
            for cut in cuts {
                let (rows, rest) = left.split_at(cut.min(left.len()));
                left = rest;
                let rows = rows_of(&ordered, rows, &parents);
                ordered.take(rows);
                while let Some(Ready::Rows(rows)) = ordered.ready.pop_front() {
                    prop_assert!(!rows.is_empty() || !rows.directories().is_empty());
                    for &id in &rows.directories().ids {
                        prop_assert!(parents[id as usize].is_none_or(|above| given.contains(&above)));
                        given.push(id);
                    }
                    for row in 0..rows.len() {
                        let dir = rows.entries().dir(row).unwrap();
                        prop_assert!(given.contains(&dir.0));
                        let mut path = Vec::new();
                        prop_assert!(ordered.push_path(dir, &mut path));
                        prop_assert_eq!(path, path_of(dir.0, &parents).into_bytes());
                        count += 1;
                    }
                }
            }
            prop_assert!(ordered.held.is_empty() && ordered.orphans.is_empty());
            given.sort_unstable();
            prop_assert_eq!(given, (0..parents.len() as u32).collect::<Vec<_>>());
            prop_assert_eq!(count, parents.len());
        }
    }

    #[test]
    fn a_finished_directory_stays_as_long_as_earlier_rows_do() {
        let mut ordered = empty();
        let begun = ordered.rows.begin();
        let mut rows = rows_of(&ordered, &[Row::Directory(0)], &[None]);
        rows.columns_mut().1.finished.push(0);
        ordered.take(rows);
        ordered.forget();
        assert_eq!(ordered.known.len(), 1);
        drop(begun);
        ordered.forget();
        assert_eq!(ordered.known.len(), 0);
        let dir = DirId(0);
        assert!(ordered.depth(dir).is_none() && !ordered.push_path(dir, &mut Vec::new()));
        assert!(ordered.skip(dir) && !ordered.skip(DirId(u32::MAX)));
    }

    #[test]
    fn few_directories_of_many_are_known() {
        let in_memory = Scratch::within("/dev/shm".as_ref());
        let scratch = in_memory.or_else(|_| Scratch::new()).unwrap();
        for number in 0..8_000 {
            let below = format!("{}/{}/{number}", number % 20, number / 20 % 20);
            std::fs::create_dir_all(scratch.path().join(below)).unwrap();
        }
        for threads in [1, 4] {
            let scan = Scan::new(scratch.path()).threads(threads);
            let mut ordered = scan.ordered_rows().unwrap();
            let (mut count, mut most) = (0, 0);
            while let Next::Value(rows) = ordered.next_within(Duration::from_secs(60)) {
                count += rows.directories().len();
                most = most.max(ordered.known.len() - rows.directories().len());
            }
            assert_eq!(
                (count, ordered.known.len()),
                (8_421, 0),
                "{threads} workers"
            );
            assert!(most < 2_000, "{most} of {count}");
        }
    }
}
