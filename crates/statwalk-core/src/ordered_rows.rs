// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows in an order in which a directory comes before all that is below it.
//!
//! Rows wait here until the directories above them were given.
//!
//! A worker can note the end of a directory, or an error, while another still fills rows that
//! began before. So both wait until no such rows are left. Then the directory is forgotten,
//! and the error comes after the directories above its entry.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::columns::{Columns, Directories};
use crate::entry::DirId;
use crate::error::{Cause, EntryError, Error};
use crate::fields::Fields;
use crate::gather::{Next, deadline_after};
use crate::known_dirs::KnownDirs;
use crate::report::Report;
use crate::rows::{Epoch, GatheredRows, Rows};
use crate::running::controls;
use crate::scan::Scan;
use crate::sequence::Sequence;
use crate::skipped_dirs::SkippedDirs;
use crate::sorted_rows::{Given, SortedRows};

/// When so many ends and errors wait, and again at each multiple, the rows of workers that stand
/// still are taken.
const LATER_MANY: usize = 64;

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
    /// Ends and errors that wait until no rows are left which began before.
    later: VecDeque<Later>,
    skipped: SkippedDirs,
    /// Errors that nobody wants to see: the report counts them no more.
    hidden: Vec<EntryError>,
    report: Option<Report>,
    min_depth: u32,
    is_contents_first: bool,
    /// Where each row has its turn.
    sorted: Option<Box<SortedRows>>,
}

/// Something for the caller.
enum Ready {
    Rows(Box<Rows>),
    Error(EntryError),
}

/// Directories that are finished, and errors, when the rows of all these have come.
struct Later {
    epoch: Epoch,
    finished: Vec<u32>,
    errors: Vec<EntryError>,
}

/// Rows that wait for a directory.
struct Held {
    number: u64,
    rows: Rows,
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
    /// come, rows that wait for a directory above, and the paths of skipped directories. A
    /// directory is forgotten when all in it and below it was taken, so a scan of many
    /// directories takes no more than one of few. The ends of directories
    /// ([`Directories::finished`]) have no order: their rows can still come.
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
        self.ordered_rows_in(Sequence::new())
    }

    /// As [`ordered_rows`](Self::ordered_rows), in a sequence of the caller's.
    ///
    /// If that is [sorted](Sequence::sorted), all rows are rows of directories, in their
    /// sequence: [`Directories::directory`] tells which of them are one. Names are read then,
    /// and the order of the scan is [`Sorted`](crate::tuning::AnyOrder::Sorted).
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn ordered_rows_in(&self, sequence: Sequence) -> Result<OrderedRows, Error> {
        let skipped = SkippedDirs::default();
        let mut scan = self.clone().skip_dirs(&skipped);
        let sorted = sequence.has_turns().then(|| {
            let fields = Fields::NAME | scan.fields_of_rows();
            scan = scan.clone().fields(fields).in_path_order();
            Box::new(SortedRows::new(sequence, scan.follows_links()))
        });
        let rows = scan.rows()?;
        Ok(OrderedRows {
            rows,
            known: KnownDirs::default(),
            held: Vec::new(),
            count: 0,
            orphans: HashMap::new(),
            ready: VecDeque::new(),
            given: Vec::new(),
            later: VecDeque::new(),
            skipped,
            hidden: Vec::new(),
            report: None,
            min_depth: sequence.min_depth,
            is_contents_first: sequence.is_contents_first,
            sorted,
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
        if let Some(sorted) = self.sorted.take() {
            return self.next_of_sorted(sorted, timeout);
        }
        let deadline = deadline_after(timeout);
        loop {
            match self.ready.pop_front() {
                Some(Ready::Rows(rows)) => {
                    let rows = self.deep_enough(self.without_skipped(*rows));
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
            self.given.clear();
            if self.come_to_later(false) {
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.rows.next_with_errors(left) {
                Next::Value(rows) => self.take(rows),
                // A root that is missing: nobody has skipped it.
                Next::Failed(error) => return Next::Failed(error),
                Next::Waiting => return Next::Waiting,
                Next::End => {
                    // What is held belongs to a directory that lies with a worker that hangs:
                    // the report says that the scan was interrupted.
                    self.held.clear();
                    if self.come_to_later(true) {
                        continue;
                    }
                    let report = self.rows.report().cloned();
                    self.report = report.map(|report| without(report, &self.hidden));
                    return Next::End;
                }
            }
        }
    }

    /// As [`next_within`](Self::next_within), where each row has its turn.
    fn next_of_sorted(&mut self, mut sorted: Box<SortedRows>, timeout: Duration) -> Next<Rows> {
        let next = self.next_turn(&mut sorted, deadline_after(timeout));
        self.sorted = Some(sorted);
        next
    }

    fn next_turn(&mut self, sorted: &mut SortedRows, deadline: Instant) -> Next<Rows> {
        sorted.leave_skipped(&self.known);
        sorted.forget(&mut self.known);
        loop {
            sorted.come_to_later();
            match sorted.next(&mut self.known) {
                Some(Given::Rows(rows)) => {
                    return Next::Value(self.rows.with_directories(*rows));
                }
                Some(Given::Error(error)) if self.skipped.has(error.root, &error.path) => {
                    self.hidden.push(error);
                    continue;
                }
                Some(Given::Error(error)) => return Next::Failed(error),
                None if sorted.is_over() => {
                    let report = self.rows.report().cloned();
                    self.report = report.map(|report| without(report, &self.hidden));
                    return Next::End;
                }
                None => {}
            }
            self.rows.tell_ahead(sorted.ahead());
            let left = deadline.saturating_duration_since(Instant::now());
            match self.rows.next_with_errors(left) {
                Next::Value(rows) => {
                    let before = sorted.later();
                    sorted.take(rows, || self.rows.next_epoch());
                    if sorted.later() > before && sorted.later().is_multiple_of(LATER_MANY) {
                        self.rows.sweep();
                    }
                }
                Next::Failed(error) => sorted.take_missing(error),
                Next::Waiting => return Next::Waiting,
                Next::End => sorted.end(),
            }
        }
    }

    /// Some rows without those that lie above the least depth.
    fn deep_enough(&self, rows: Rows) -> Rows {
        match self.min_depth {
            0 => rows,
            least => keep_of(rows, |dir| {
                dir.map_or(0, |dir| self.depth(dir).map_or(0, |depth| depth + 1)) >= least
            }),
        }
    }

    /// Some rows that were given last, without those below directories that were skipped since.
    #[must_use]
    pub fn without_skipped(&self, rows: Rows) -> Rows {
        match self.known.has_skipped() {
            true => keep_of(rows, |dir| dir.is_none_or(|dir| !self.is_skipped(dir))),
            false => rows,
        }
    }

    /// Forgets finished directories and makes errors ready, as far as no rows are left that
    /// began before; at the end, all. Answers whether there is an error now.
    fn come_to_later(&mut self, is_end: bool) -> bool {
        while let Some(later) = self.later.front_mut() {
            if Arc::get_mut(&mut later.epoch).is_none() && !is_end {
                break;
            }
            for id in std::mem::take(&mut later.finished) {
                self.known.remove(id);
            }
            let errors = std::mem::take(&mut later.errors);
            self.ready.extend(errors.into_iter().map(Ready::Error));
            self.later.pop_front();
        }
        !self.ready.is_empty()
    }

    /// Takes rows from a worker, and makes those ready that are known by them.
    fn take(&mut self, mut rows: Rows) {
        let (epoch, errors) = (rows.take_epoch(), rows.take_errors());
        let finished = &rows.directories().finished;
        if !finished.is_empty() || !errors.is_empty() {
            self.later.push_back(Later {
                epoch: self.rows.next_epoch(),
                finished: finished.clone(),
                errors,
            });
            if self.later.len().is_multiple_of(LATER_MANY) {
                // A worker that stands still has rows that began long ago.
                self.rows.sweep();
            }
        }
        self.count += 1;
        let orphans = self.learn(rows.directories());
        if self.held.is_empty() && orphans.is_empty() && knows_all_of(&self.known, rows.entries()) {
            return self.give(rows, epoch);
        }
        let mut directories = match orphans.is_empty() {
            true => rows.take_directories(),
            false => all_but(rows.columns_mut().1, &orphans),
        };
        self.held.push(Held {
            number: self.count,
            rows,
            orphans: orphans.len(),
            epoch: Arc::clone(&epoch),
        });
        self.find_orphans(&mut directories);
        let held = &self.held.last().expect("it was pushed above").rows;
        self.give(held.with_columns(Columns::default(), directories), epoch);
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

    /// Adds the directories that waited for some, or for those, each after its parent.
    fn find_orphans(&mut self, directories: &mut Directories) {
        let mut at = 0;
        while let Some(parent) = directories.ids.get(at) {
            for Orphan { held, row } in self.orphans.remove(parent).unwrap_or_default() {
                let held = self.held.iter_mut().find(|other| other.number == held);
                let held = held.expect("rows are held as long as they have an orphan");
                held.orphans -= 1;
                self.known.add(held.rows.directories(), row);
                directories.push_row(held.rows.directories(), row);
            }
            at += 1;
        }
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
            self.give(held.rows, held.epoch);
        }
    }

    fn give(&mut self, rows: Rows, epoch: Epoch) {
        self.given.push(epoch);
        if !rows.has_nothing() {
            self.ready.push_back(Ready::Rows(Box::new(rows)));
        }
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
    /// [`is_skipped`](Self::is_skipped) tells. Below a directory that is forgotten there is
    /// nothing left to skip. With [`contents_first`](Sequence::contents_first) nothing is
    /// skipped, and the answer is no.
    pub fn skip(&mut self, dir: DirId) -> bool {
        if self.is_contents_first {
            return false;
        }
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
        let of_now = || without(self.rows.finish(), &self.hidden);
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

/// Those of some rows that lie in directories which are wanted.
fn keep_of(mut rows: Rows, is_wanted: impl Fn(Option<DirId>) -> bool) -> Rows {
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

/// A report without the errors that nobody wants to see.
fn without(mut report: Report, hidden: &[EntryError]) -> Report {
    for error in hidden {
        let of_root = &mut report.roots[error.root];
        let count = match error.cause {
            Cause::Changed => &mut of_root.changed_dirs,
            _ => &mut of_root.unreadable,
        };
        *count = count.saturating_sub(1);
        let mut counts = report.error_counts.iter_mut();
        if let Some(count) = counts.find(|count| (count.0, count.1) == (error.op, error.cause)) {
            count.2 -= 1;
        }
    }
    report.error_counts.retain(|&(_, _, count)| count > 0);
    (report.error_counts).sort_by_key(|&(op, cause, count)| (Reverse(count), op, cause));
    let of = |error: &EntryError| (error.root, error.op, error.path.clone());
    let hidden: HashSet<_> = hidden.iter().map(of).collect();
    report.errors.retain(|error| !hidden.contains(&of(error)));
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
        let mut rows = ordered.rows.begin();
        (*rows.columns_mut().0, *rows.columns_mut().1) = (entries, directories);
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
        ordered.given.clear();
        ordered.come_to_later(false);
        assert_eq!(ordered.known.len(), 1);
        drop(begun);
        ordered.given.clear();
        ordered.come_to_later(false);
        assert_eq!(ordered.known.len(), 0);
        let dir = DirId(0);
        assert!(ordered.depth(dir).is_none() && !ordered.push_path(dir, &mut Vec::new()));
        assert!(ordered.skip(dir) && !ordered.skip(DirId(u32::MAX)));
    }

    #[test]
    fn an_error_waits_for_the_directories_above() {
        let mut ordered = empty();
        let [above, child] =
            [0, 1].map(|id| rows_of(&ordered, &[Row::Directory(id)], &[None, Some(0)]));
        ordered.take(child);
        let mut alone = ordered.rows.begin();
        alone.push_error(EntryError {
            path: b"0/1".to_vec(),
            op: crate::Op::Open,
            cause: Cause::Changed,
            root: 0,
        });
        ordered.take(alone);
        assert!(!ordered.come_to_later(false));
        ordered.take(above);
        let Next::Value(rows) = ordered.next_within(Duration::ZERO) else {
            panic!("rows come first");
        };
        assert_eq!(rows.directories().ids, [0, 1]);
        assert!(matches!(
            ordered.next_within(Duration::ZERO),
            Next::Failed(_)
        ));
        assert!(matches!(ordered.next_within(Duration::ZERO), Next::End));
    }

    #[test]
    fn few_directories_of_many_are_known() {
        let in_memory = Scratch::within("/dev/shm".as_ref());
        let scratch = in_memory.or_else(|_| Scratch::new()).unwrap();
        for number in 0..64_000 {
            let below = format!("{}/{}/{number}", number % 20, number / 20 % 20);
            std::fs::create_dir_all(scratch.path().join(below)).unwrap();
        }
        // A worker that waits for a processor keeps back what others finish meanwhile: some
        // thousands, however large the tree.
        for (threads, few) in [(1, 2_000), (4, 15_000)] {
            let scan = Scan::new(scratch.path()).threads(threads);
            let mut ordered = scan.ordered_rows().unwrap();
            let (mut count, mut most) = (0, 0);
            while let Next::Value(rows) = ordered.next_within(Duration::from_secs(60)) {
                count += rows.directories().len();
                most = most.max(ordered.known.len() - rows.directories().len());
            }
            assert_eq!(
                (count, ordered.known.len()),
                (64_421, 0),
                "{threads} workers"
            );
            assert!(most < few, "{most} of {count}, {threads} workers");
        }
    }

    /// The first directory is read last. Workers do not read all others meanwhile.
    #[test]
    fn workers_read_a_bounded_number_of_rows_ahead() {
        use crate::order::sorted_jobs::AHEAD_MAX;

        let in_memory = Scratch::within("/dev/shm".as_ref());
        let scratch = in_memory.or_else(|_| Scratch::new()).unwrap();
        for dir in 0..3_000 {
            let path = scratch.path().join(format!("{dir:04}"));
            std::fs::create_dir(&path).unwrap();
            for file in 0..50 {
                std::fs::write(path.join(file.to_string()), "").unwrap();
            }
        }
        for threads in [2, 4] {
            let (release, is_released) = std::sync::mpsc::channel::<()>();
            let is_released = std::sync::Mutex::new(is_released);
            let scan = Scan::new(scratch.path())
                .threads(threads)
                .filter_dir(move |dir| {
                    if dir.name() == b"0000" {
                        // Fails at once when the sender is gone.
                        let _ = is_released.lock().unwrap().recv();
                    }
                    true
                });
            let mut ordered = scan.ordered_rows_in(Sequence::new().sorted()).unwrap();
            let (mut count, mut waited, mut release) = (0, 0, Some(release));
            loop {
                match ordered.next_within(Duration::from_millis(100)) {
                    Next::Value(rows) => count += rows.directories().len(),
                    Next::Waiting => {
                        let ahead = ordered.sorted.as_ref().unwrap().ahead();
                        // Each worker fills an object, four wait, and nobody knows of them.
                        let unseen = (threads + 4) * Rows::MAX;
                        assert!(ahead < AHEAD_MAX + unseen, "{ahead}");
                        waited += 1;
                        if waited == 5 {
                            assert!(ahead >= AHEAD_MAX, "{ahead}");
                            release = None;
                        }
                    }
                    Next::Failed(error) => panic!("{error}"),
                    Next::End => break,
                }
            }
            assert!(release.is_none());
            assert_eq!(count, 1 + 3_000 + 3_000 * 50, "{threads} workers");
        }
    }
}
