// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of a snapshot, read as far as a screen needs them.
//!
//! The number of an item is its row. The rows of a directory are neighbours, so a few pieces of
//! the table hold all that is on the screen. A piece that was read stays for a while.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use statwalk_browse::{Data, Disk, Fault, Item, ItemId, ScanState};
use statwalk_core::{Cause, Errno, FileType};
use statwalk_snapshot::{Class, Dir, DirState, Entry, Error, ErrorRow, Found, Owners, Snapshot};
use statwalk_view::{DateStyle, Kind, Notes};

use super::place::new_scan;
use crate::output::scanned_tree::kind_of;
use crate::system::panics::caught;

/// How many rows are read at once. A page of a snapshot has as many.
const PIECE_ROWS: u64 = 8192;

/// How many pieces stay: about 40 MB of rows, and their names.
const PIECES: usize = 32;

/// With more errors than that, each directory is asked by itself for what it lacks. The mark of
/// one that changed is missing then.
const ERRORS_MAX: u64 = 1 << 16;

/// How many errors a view lists.
const FAULTS_MAX: usize = 10_000;

/// The numbers of a snapshot.
pub(crate) struct StoredData {
    /// The number of the scan, as the browser counts them.
    number: u64,
    snapshot: Snapshot,
    /// The rows of the roots, or that of the one directory.
    roots: Vec<u64>,
    /// The path of that directory, which is its name.
    top: Option<Vec<u8>>,
    lacks: Lacks,
    owners: OnceLock<Owners>,
    rows: Mutex<Pieces<Row>>,
    dirs: Mutex<Pieces<Dir>>,
    /// The first error of a read. The numbers lack something from then on.
    failed: Mutex<Option<String>>,
}

/// The directories that lack something, or were not read.
#[derive(Default)]
struct Lacks {
    /// The directories of all errors, sorted. One of them has a note, or an entry in it has.
    named: Vec<u64>,
    /// Those that lack something, sorted.
    incomplete: Vec<u64>,
    changed: HashSet<u64>,
    /// Whether there are more than that.
    is_unknown: bool,
}

/// The last pieces of a table that were read.
struct Pieces<V> {
    kept: VecDeque<(u64, Arc<Vec<V>>)>,
}

/// A row of `entries`.
#[derive(Clone)]
struct Row {
    name: Box<[u8]>,
    kind: FileType,
    dir: Option<u64>,
    child: Option<u64>,
    is_known: bool,
    counts: bool,
    has_other_names: bool,
    uid: Option<u32>,
    allocated_bytes: u128,
    apparent_bytes: u128,
    entries: u64,
    newest_ns: Option<i64>,
}

impl Row {
    fn of(entry: Entry) -> Row {
        let own = u128::from(entry.allocated_bytes.unwrap_or(0));
        let below = entry.sums.unwrap_or_default();
        let is_sized = matches!(entry.kind, FileType::File | FileType::Symlink);
        let own_size = entry.size_bytes.filter(|_| is_sized).unwrap_or(0);
        let is_dir = entry.child.is_some();
        Row {
            kind: entry.kind,
            dir: entry.dir,
            child: entry.child,
            is_known: entry.is_known,
            counts: entry.counts,
            has_other_names: !is_dir && entry.links.is_some_and(|links| links > 1),
            uid: entry.uid,
            allocated_bytes: own + below.allocated_bytes,
            apparent_bytes: u128::from(own_size) + below.size_bytes,
            entries: 1 + below.entries,
            newest_ns: match is_dir {
                true => below.newest_ns,
                false => entry.times_ns[0],
            },
            name: entry.name.into(),
        }
    }
}

impl<V> Pieces<V> {
    fn new() -> Mutex<Pieces<V>> {
        Mutex::new(Pieces {
            kept: VecDeque::new(),
        })
    }

    fn get(&mut self, number: u64) -> Option<Arc<Vec<V>>> {
        let at = self.kept.iter().position(|(kept, _)| *kept == number)?;
        let piece = self.kept.remove(at)?;
        let values = Arc::clone(&piece.1);
        self.kept.push_back(piece);
        Some(values)
    }

    fn keep(&mut self, number: u64, values: &Arc<Vec<V>>) {
        if self.kept.len() == PIECES {
            self.kept.pop_front();
        }
        self.kept.push_back((number, Arc::clone(values)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lacks {
    fn of(snapshot: &Snapshot) -> Result<Lacks, Error> {
        let manifest = snapshot.manifest();
        let missing = manifest.missing;
        let count = [missing.unreadable, missing.changed, missing.not_entered];
        let count = count.into_iter().fold(0, u64::saturating_add);
        let mut lacks = Lacks {
            // What a stopped scan did not come to is no error.
            is_unknown: manifest.facts.interrupted || count > ERRORS_MAX,
            ..Lacks::default()
        };
        if lacks.is_unknown || count == 0 {
            return Ok(lacks);
        }
        for error in snapshot.errors()? {
            let Some(dir) = error.dir else { continue };
            lacks.named.push(dir);
            match error.class {
                Class::Unreadable => lacks.incomplete.push(dir),
                Class::Changed => {
                    lacks.incomplete.push(dir);
                    lacks.changed.insert(dir);
                }
                _ => {}
            }
        }
        lacks.named.sort_unstable();
        lacks.incomplete.sort_unstable();
        Ok(lacks)
    }

    /// Whether a directory or one below it lacks something.
    fn within(&self, dirs: Range<u64>) -> bool {
        let first = self.incomplete.partition_point(|&dir| dir < dirs.start);
        self.incomplete
            .get(first)
            .is_some_and(|&dir| dir < dirs.end)
    }

    /// Whether a directory has to be asked for its state.
    fn names(&self, dir: u64) -> bool {
        self.is_unknown || self.named.binary_search(&dir).is_ok()
    }
}

/// Whether a directory or something below it could not be read.
fn is_incomplete(dir: &Dir) -> bool {
    let missing = dir.missing.unreadable + dir.missing.changed;
    dir.is_incomplete || !dir.is_finished || missing > 0
}

impl StoredData {
    /// Reads what the first screen of a snapshot needs. `inside` is a path in it, which is then
    /// the only root. Absent where the snapshot does not have it.
    ///
    /// # Errors
    ///
    /// Returns an error if the files are damaged or cannot be read.
    pub(crate) fn open(
        snapshot: Snapshot,
        inside: Option<&[u8]>,
    ) -> Result<Option<StoredData>, Error> {
        let (roots, top) = match inside {
            None => {
                let rows = snapshot.manifest().root_rows.iter().flatten();
                (rows.copied().collect(), None)
            }
            Some(path) => {
                let row = match caught(|| snapshot.find(path))? {
                    Some(Found::Dir(dir)) => dir.entry,
                    Some(Found::Entry(entry)) => entry.row,
                    None => return Ok(None),
                };
                (vec![row], Some(path.to_vec()))
            }
        };
        Ok(Some(StoredData {
            number: new_scan(),
            lacks: caught(|| Lacks::of(&snapshot))?,
            owners: OnceLock::new(),
            snapshot,
            roots,
            top,
            rows: Pieces::new(),
            dirs: Pieces::new(),
            failed: Mutex::new(None),
        }))
    }

    /// The time at which the scan began.
    pub(super) fn taken(&self) -> String {
        let text = DateStyle::default().text(self.began_ns(), &TimeZone::system());
        text.unwrap_or_else(|| "an unknown time".to_owned())
    }

    pub(super) fn began_ns(&self) -> i64 {
        self.snapshot.manifest().facts.began_ns
    }

    /// The scan, which is over.
    pub(super) fn state(&self) -> ScanState {
        let manifest = self.snapshot.manifest();
        let facts = &manifest.facts;
        let elapsed_ns = facts.ended_ns.saturating_sub(facts.began_ns);
        ScanState {
            is_over: true,
            is_interrupted: facts.interrupted,
            entries: manifest.counts.entries,
            unreadable: manifest.missing.unreadable + manifest.missing.changed,
            elapsed: Duration::from_nanos(u64::try_from(elapsed_ns).unwrap_or(0)),
            taken: Some(self.taken()),
            ..ScanState::default()
        }
    }

    /// The names of accounts at the time of the scan.
    pub(crate) fn owners(&self) -> &Owners {
        self.owners
            .get_or_init(|| self.read(Snapshot::owners).unwrap_or_default())
    }

    /// The first error of a read since the last question for it.
    pub(crate) fn take_failure(&self) -> Option<String> {
        lock(&self.failed).take()
    }

    /// The row of an item, with all that the snapshot knows.
    pub(crate) fn entry(&self, id: ItemId) -> Option<Entry> {
        let row = self.row_of(id)?;
        self.read(|snapshot| snapshot.entry(row))
    }

    /// Reads something. The first error is kept for the user.
    fn read<T>(&self, read: impl FnOnce(&Snapshot) -> Result<T, Error>) -> Option<T> {
        match caught(|| read(&self.snapshot)) {
            Ok(value) => Some(value),
            Err(error) => {
                lock(&self.failed).get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    fn id(&self, row: u64) -> ItemId {
        ItemId {
            scan: self.number,
            number: row,
        }
    }

    fn row_of(&self, id: ItemId) -> Option<u64> {
        (id.scan == self.number).then_some(id.number)
    }

    /// The piece of `entries` with a row.
    fn piece(&self, number: u64) -> Option<Arc<Vec<Row>>> {
        if let Some(piece) = lock(&self.rows).get(number) {
            return Some(piece);
        }
        let rows = self.piece_rows(number, self.row_count())?;
        let entries = self.read(|snapshot| snapshot.entries(rows))?;
        let piece = Arc::new(entries.into_iter().map(Row::of).collect());
        lock(&self.rows).keep(number, &piece);
        Some(piece)
    }

    fn row_count(&self) -> u64 {
        let files = self.snapshot.manifest().tables.entries.iter();
        files.map(|file| file.rows).sum()
    }

    fn piece_rows(&self, number: u64, count: u64) -> Option<Range<u64>> {
        let start = number
            .checked_mul(PIECE_ROWS)
            .filter(|&start| start < count)?;
        Some(start..count.min(start + PIECE_ROWS))
    }

    fn row(&self, row: u64) -> Option<Row> {
        let piece = self.piece(row / PIECE_ROWS)?;
        piece.get((row % PIECE_ROWS) as usize).cloned()
    }

    fn dir(&self, dir: u64) -> Option<Dir> {
        let number = dir / PIECE_ROWS;
        let kept = lock(&self.dirs).get(number);
        let piece = match kept {
            Some(piece) => piece,
            None => {
                let rows = self.piece_rows(number, self.snapshot.dir_count())?;
                let piece = Arc::new(self.read(|snapshot| snapshot.dirs(rows))?);
                lock(&self.dirs).keep(number, &piece);
                piece
            }
        };
        piece.get((dir % PIECE_ROWS) as usize).cloned()
    }

    /// An item. `last` is the last number of the subtree of a directory.
    fn item_of(&self, row: u64, of: &Row, last: Option<u64>) -> Item<'static> {
        let mut notes = Notes::default();
        if let Some(child) = of.child {
            let asks = last.is_none() || self.lacks.names(child);
            let dir = asks.then(|| self.dir(child)).flatten();
            let state = dir.as_ref().map_or(DirState::Listed, |dir| dir.state);
            notes = Notes {
                is_unreadable: state == DirState::Unreadable,
                is_excluded: matches!(state, DirState::Excluded),
                is_mount: state == DirState::Mount,
                has_changed: self.lacks.changed.contains(&child),
                is_incomplete: match (&dir, last) {
                    (Some(dir), _) => is_incomplete(dir),
                    (None, Some(last)) => self.lacks.within(child..last.saturating_add(1)),
                    // It could not be read.
                    (None, None) => true,
                },
                ..Notes::default()
            };
        } else {
            notes.is_unreadable = !of.is_known;
            notes.counts_elsewhere = !of.counts;
            notes.has_other_names = of.has_other_names;
        }
        let name = match &self.top {
            Some(top) if self.roots == [row] => top.clone(),
            _ => of.name.to_vec(),
        };
        Item {
            name: name.into(),
            kind: match of.child {
                Some(_) => Kind::Directory,
                None => kind_of(of.kind),
            },
            allocated_bytes: of.allocated_bytes,
            apparent_bytes: of.apparent_bytes,
            entries: of.entries,
            newest_ns: of.newest_ns,
            uid: of.uid,
            notes,
        }
    }

    /// Gives the items of a directory. `last` is the last number of its subtree.
    fn visit(
        &self,
        rows: Range<u64>,
        last: u64,
        visit: &mut dyn FnMut(u64, &Row, Item<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // A subdirectory waits for the next one: its subtree ends where that begins.
        let mut waiting: Option<(u64, Row)> = None;
        let mut at = rows.start;
        while at < rows.end {
            let Some(piece) = self.piece(at / PIECE_ROWS) else {
                break;
            };
            let first = (at % PIECE_ROWS) as usize;
            for row in piece.iter().skip(first).take((rows.end - at) as usize) {
                match row.child {
                    None => visit(at, row, self.item_of(at, row, None))?,
                    Some(child) => {
                        if let Some((before, dir)) = waiting.replace((at, row.clone())) {
                            let item = self.item_of(before, &dir, Some(child.saturating_sub(1)));
                            visit(before, &dir, item)?;
                        }
                    }
                }
                at += 1;
            }
        }
        match waiting {
            Some((row, dir)) => visit(row, &dir, self.item_of(row, &dir, Some(last))),
            None => ControlFlow::Continue(()),
        }
    }

    /// The directory that an item is.
    fn dir_of(&self, id: ItemId) -> Option<Dir> {
        self.dir(self.row(self.row_of(id)?)?.child?)
    }
}

impl Data for StoredData {
    fn roots(&self) -> Vec<ItemId> {
        self.roots.iter().map(|&row| self.id(row)).collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        let row = self.row_of(id)?;
        Some(self.item_of(row, &self.row(row)?, None))
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        let row = self.row_of(id)?;
        if self.roots.contains(&row) {
            return None;
        }
        let dir = self.dir(self.row(row)?.dir?)?;
        Some(self.id(dir.entry))
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        if let Some(dir) = self.dir_of(dir) {
            let _ = self.visit(dir.rows(), dir.last, &mut |row, _, item| {
                visit(self.id(row), item)
            });
        }
    }

    /// The rows of all directories of a subtree stand one after another.
    fn walk(
        &self,
        top: ItemId,
        visit: &mut dyn FnMut(statwalk_browse::Entry<'_>) -> ControlFlow<()>,
    ) {
        let Some(top) = self.dir_of(top) else { return };
        // The rows of directories that are still to come.
        let mut known = HashMap::from([(top.number, top.entry)]);
        for number in top.number..=top.last {
            let (Some(parent), Some(dir)) = (known.remove(&number), self.dir(number)) else {
                return;
            };
            let parent = self.id(parent);
            let flow = self.visit(dir.rows(), dir.last, &mut |row, of, item| {
                if let Some(child) = of.child {
                    known.insert(child, row);
                }
                let id = self.id(row);
                visit(statwalk_browse::Entry { id, parent, item })
            });
            if flow.is_break() {
                return;
            }
        }
    }

    fn lacks_itself(&self, dir: ItemId) -> bool {
        let dir = self.dir_of(dir);
        dir.is_some_and(|dir| {
            dir.is_incomplete || self.lacks.incomplete.binary_search(&dir.number).is_ok()
        })
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        let Some(path) = self.path(dir) else {
            return (Vec::new(), 0);
        };
        let errors = self.read(Snapshot::errors).unwrap_or_default();
        let is_below = |error: &ErrorRow| {
            let rest = error.path.strip_prefix(&path[..]);
            error.class != Class::NotEntered
                && rest.is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(b"/") || path.ends_with(b"/")
                })
        };
        let below: Vec<ErrorRow> = errors.into_iter().filter(is_below).collect();
        let count = below.len() as u64;
        let faults = below.into_iter().take(FAULTS_MAX).map(|error| Fault {
            cause: cause(&error),
            path: error.path,
        });
        (faults.collect(), count)
    }

    fn path(&self, id: ItemId) -> Option<Vec<u8>> {
        let row = self.row_of(id)?;
        let of = self.row(row)?;
        if self.roots.contains(&row) {
            return Some(self.top.clone().unwrap_or_else(|| of.name.to_vec()));
        }
        let mut path = match of.dir {
            None => Vec::new(),
            Some(dir) => match self.dir(dir)?.path {
                Some(path) => path,
                None => self.read(|snapshot| snapshot.path(dir))?,
            },
        };
        if of.dir.is_some() && path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(&of.name);
        Some(path)
    }
}

/// It knows of the disk what the scan has seen.
impl Disk for StoredData {
    fn real_path(&self, path: &[u8]) -> Vec<u8> {
        let mut roots = self.snapshot.manifest().facts.roots.iter();
        let root = roots.find(|root| root.path == path);
        root.map_or_else(|| path.to_vec(), |root| root.absolute.clone())
    }

    fn has_cache_tag(&self, path: &[u8]) -> bool {
        match self.read(|snapshot| snapshot.find(path)) {
            Some(Some(Found::Dir(dir))) => dir.cachedir_tag == Some(true),
            _ => false,
        }
    }
}

/// The cause of an error in the words of a scan.
fn cause(error: &ErrorRow) -> String {
    match (error.class, error.errno) {
        (Class::Changed, _) => Cause::Changed.to_string(),
        (_, Some(errno)) => Cause::System(Errno(errno)).to_string(),
        (_, None) => error.op.clone(),
    }
}

#[cfg(test)]
mod tests;
