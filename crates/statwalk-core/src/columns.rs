// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries of many directories, and these directories, in columns with Arrow's layout.

use std::ops::Range;

use crate::attribute_columns::{AttributeColumns, Refusal};
use crate::batch::{Batch, EntryRef};
use crate::bits::Bits;
use crate::directory::{DirState, Directory, Origin};
use crate::entry::{Attributes, DirId, FileType};
use crate::error::Errno;
use crate::fields::Fields;
use crate::sorted_rows::directory_of;
use crate::time::{ALL_TIMES, Time, is_time};

/// Entries of many directories, a column for each fact.
///
/// The buffers have the layout of Arrow's arrays, so that they become arrays without a
/// copy. A column has one value for each entry, or none at all where its field was not
/// wanted; [`name_offsets`](Self::name_offsets) has one more.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Columns {
    /// The number of each entry's directory: [`DirId::index`]. A root has none, and here the
    /// index of that root among the roots of the scan.
    pub dirs: Vec<u32>,
    /// Whether each entry has a directory: 0 for a root.
    pub has_dir: Bits,
    /// The bytes of all names, one after another.
    pub names: Vec<u8>,
    /// Where each name begins in [`names`](Self::names), from 0 on, and where the last one ends.
    pub name_offsets: Vec<i32>,
    /// The types: [`FileType::number`].
    pub kinds: Vec<u8>,
    /// Whether each entry was reached without following a link to it.
    pub is_direct: Bits,
    /// Whether the attributes of each entry are known: a stat can fail. For times this is
    /// part of [`times_are_known`](Self::times_are_known).
    pub is_known: Bits,
    /// Whether each time is known, and fits into nanoseconds, in the order of [`Time::ALL`].
    /// Without rows where its field was not wanted.
    pub times_are_known: [Bits; 4],
    /// The attributes.
    pub attributes: AttributeColumns,
}

/// The directories that begin in some rows, and the numbers of those that end there.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Directories {
    /// The numbers of those that begin: [`DirId::index`]. In a
    /// [sorted](crate::Sequence::sorted) sequence, that of a row which is no directory is
    /// `u32::MAX`.
    pub ids: Vec<u32>,
    /// Their names, types and attributes, and the numbers of their parents. The name of a
    /// root is the path that the caller gave.
    pub columns: Columns,
    /// Which root each belongs to: an index into the roots of the scan.
    pub roots: Vec<u32>,
    /// Their states: [`DirState::number`].
    pub states: Vec<u8>,
    /// The numbers of directories that are finished: all in them and below them was given
    /// out, in these rows or others. Those that a scan was stopped in are not among them.
    pub finished: Vec<u32>,
    /// The numbers of directories that lack something, which could not be read.
    pub incomplete: Vec<u32>,
}

/// One directory of [`Directories`].
#[derive(Clone, Copy, Debug)]
pub struct DirectoryRow<'a> {
    /// Its number.
    pub id: DirId,
    /// The number of its parent; absent for a root.
    pub parent: Option<DirId>,
    /// Which root it belongs to: an index into the roots of the scan.
    pub root: usize,
    /// The name; of a root the path that the caller gave.
    pub name: &'a [u8],
    /// The attributes, as far as they are known.
    pub attributes: Attributes,
    /// How far it was read.
    pub state: DirState,
    /// Whether a symbolic link was followed to it.
    pub is_followed: bool,
    /// The error for which the system has refused its attributes.
    pub refusal: Option<Errno>,
}

impl Columns {
    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The name of a row; empty where names were not wanted.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len) and names are kept.
    #[must_use]
    pub fn name(&self, row: usize) -> &[u8] {
        if self.name_offsets.is_empty() {
            return &[];
        }
        let (begin, end) = (self.name_offsets[row], self.name_offsets[row + 1]);
        &self.names[begin as usize..end as usize]
    }

    /// A row with its attributes; for callers who do not mind the cost.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len).
    #[must_use]
    pub fn entry(&self, row: usize) -> EntryRef<'_> {
        let kind = FileType::from_number(self.kinds[row]).unwrap_or(FileType::Unknown);
        let mut attributes = Attributes::of_type(kind);
        if self.is_known.get(row) {
            self.attributes.read_all(row, &mut attributes);
            if self.lacks_times() {
                self.attributes.read_odd_times(row, &mut attributes);
            }
        }
        EntryRef {
            name: self.name(row),
            attributes,
        }
    }

    /// The error for which the system has refused the attributes of a row; absent where they
    /// are known or were not asked for.
    #[must_use]
    pub fn refusal(&self, row: usize) -> Option<Errno> {
        self.attributes.refusal(row)
    }

    /// Whether a time of a row is not known, or does not fit into nanoseconds.
    fn lacks_times(&self) -> bool {
        self.times_are_known.iter().any(|bits| bits.zeros() > 0)
    }

    /// Adds a row of another table, which keeps the same fields.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below the length of the other table.
    pub fn push_row(&mut self, others: &Columns, row: usize) {
        let place = self.len();
        if !others.name_offsets.is_empty() {
            if self.name_offsets.is_empty() {
                self.begin_names();
            }
            self.names.extend_from_slice(others.name(row));
            self.name_offsets.push(self.names.len() as i32);
        }
        self.dirs.push(others.dirs[row]);
        self.has_dir.push(others.has_dir.get(row));
        self.kinds.push(others.kinds[row]);
        self.is_direct.push(others.is_direct.get(row));
        self.is_known.push(others.is_known.get(row));
        for (bits, others) in self.times_are_known.iter_mut().zip(&others.times_are_known) {
            if !others.is_empty() {
                bits.push(others.get(row));
            }
        }
        self.attributes
            .extend(place, &others.attributes, row..row + 1);
    }

    /// Keeps some rows, in their order.
    pub(crate) fn keep(&mut self, rows: &[usize]) {
        let mut kept = Columns::default();
        if !self.name_offsets.is_empty() {
            kept.begin_names();
        }
        rows.iter().for_each(|&row| kept.push_row(self, row));
        *self = kept;
    }

    /// The name of a column that does not go with the others; absent where all do.
    pub(crate) fn misfit(&self) -> Option<&'static str> {
        let rows = self.len();
        let lengths = [
            (self.dirs.len(), "dirs"),
            (self.has_dir.len(), "has_dir"),
            (self.is_direct.len(), "is_direct"),
            (self.is_known.len(), "is_known"),
        ];
        let misfit = lengths.into_iter().find(|&(len, _)| len != rows);
        if let Some((_, column)) = misfit {
            return Some(column);
        }
        if !self.name_offsets_fit() {
            return Some("name_offsets");
        }
        if let Some(column) = self.attributes.misfit(rows) {
            return Some(column);
        }
        let fits = |(bits, times_ns): (&Bits, &Vec<i64>)| {
            let mut times_ns = times_ns.iter().enumerate();
            bits.len() == times_ns.len()
                && times_ns
                    .all(|(row, &ns)| !self.is_known.get(row) || bits.get(row) == is_time(ns))
        };
        let mut times = self.times_are_known.iter().zip(&self.attributes.times_ns);
        (!times.all(fits)).then_some("times_are_known")
    }

    /// Whether every name lies in `names`, and nothing else does.
    fn name_offsets_fit(&self) -> bool {
        let offsets = &self.name_offsets;
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return self.names.is_empty();
        };
        let ends_with_names = usize::try_from(last) == Ok(self.names.len());
        first == 0 && ends_with_names && offsets.len() == self.len() + 1 && offsets.is_sorted()
    }

    /// The fields that are kept, the type among them.
    pub(crate) fn fields(&self) -> Fields {
        let names = match self.is_empty() || !self.name_offsets.is_empty() {
            true => Fields::NAME,
            false => Fields::NONE,
        };
        Fields::TYPE | names | self.attributes.fields(self.len())
    }

    /// The number of a row's directory; absent for a root.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len).
    #[must_use]
    pub fn dir(&self, row: usize) -> Option<DirId> {
        self.has_dir.get(row).then_some(DirId(self.dirs[row]))
    }

    /// The ranges of up to so many rows that are of one directory and reached in one way, or
    /// of one root.
    pub(crate) fn runs(&self, rows_max: usize) -> impl Iterator<Item = Range<usize>> {
        self.runs_from(0, rows_max)
    }

    /// As [`runs`](Self::runs), of the rows from one on.
    pub(crate) fn runs_from(
        &self,
        mut begin: usize,
        rows_max: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        std::iter::from_fn(move || {
            let of = |row: usize| {
                (
                    self.dirs[row],
                    self.has_dir.get(row),
                    self.is_direct.get(row),
                )
            };
            let first = (begin < self.len()).then(|| of(begin))?;
            let is_other = |&row: &usize| of(row) != first;
            let limit = self.dirs.len().min(begin.saturating_add(rows_max));
            let end = (begin..limit).find(is_other).unwrap_or(limit);
            Some(std::mem::replace(&mut begin, end)..end)
        })
    }

    /// Adds some rows to a batch of the same fields, or of fewer.
    pub(crate) fn copy_to(&self, rows: Range<usize>, batch: &mut Batch) {
        let needs_stat = batch.wanted().need_stat();
        for row in rows {
            let EntryRef { name, attributes } = self.entry(row);
            match (self.is_known.get(row) || !needs_stat, self.refusal(row)) {
                (true, _) => batch.push_stated(name, &attributes),
                (false, Some(errno)) => batch.push_refused(name, attributes.kind, errno),
                (false, None) => batch.push_listed(name, attributes.kind, true),
            }
        }
    }

    /// Prepares columns without rows for names, whose offsets are one more than rows.
    pub(crate) fn begin_names(&mut self) {
        self.name_offsets.push(0);
    }

    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.dirs.clear();
        self.has_dir.clear();
        self.names.clear();
        self.name_offsets.clear();
        self.kinds.clear();
        self.is_direct.clear();
        self.is_known.clear();
        for bits in &mut self.times_are_known {
            bits.clear();
        }
        self.attributes.clear();
    }

    /// Adds some entries of a directory, or a root.
    #[inline]
    pub(crate) fn extend(&mut self, origin: Origin<'_>, batch: &Batch, rows: Range<usize>) {
        let (first, count) = (self.len(), rows.len());
        let dir = match origin.is_root() {
            false => {
                self.has_dir.push_ones(count);
                origin.0.id.0
            }
            true => {
                self.has_dir.push_zeros(count);
                origin.0.root
            }
        };
        self.dirs.extend(std::iter::repeat_n(dir, count));
        if batch.wanted().contains(Fields::NAME) {
            self.extend_names(batch, rows.clone());
        }
        let kinds = batch.kinds()[rows.clone()].iter();
        self.kinds.extend(kinds.map(|kind| kind.number()));
        match origin.0.followed {
            false => self.is_direct.push_ones(count),
            true => self.is_direct.push_zeros(count),
        }
        let attributes = batch.attributes();
        self.attributes.extend(first, attributes, rows.clone());
        if batch.all_known() && !attributes.lacks_times {
            self.is_known.push_ones(count);
            let times = attributes.times_ns.iter();
            for (bits, times_ns) in self.times_are_known.iter_mut().zip(times) {
                if !times_ns.is_empty() {
                    bits.push_ones(count);
                }
            }
            return;
        }
        for row in rows {
            self.push_what_is_known(batch.known()[row], batch.wanted());
        }
    }

    fn extend_names(&mut self, batch: &Batch, rows: Range<usize>) {
        let all_ends = batch.name_ends();
        let begin = rows.start.checked_sub(1).map_or(0, |row| all_ends[row]);
        let ends = &all_ends[rows];
        let end = ends.last().copied().unwrap_or(begin);
        // The names of a table take less than 2^31 bytes.
        let before = self.names.len() as i32;
        let names = &batch.names()[begin as usize..end as usize];
        self.names.extend_from_slice(names);
        let offsets = ends.iter().map(|&end| (end - begin) as i32 + before);
        self.name_offsets.extend(offsets);
    }

    /// Adds what is known of the next row, whose values are there.
    #[inline]
    fn push_what_is_known(&mut self, is_known: bool, wanted: Fields) {
        let row = self.is_known.len();
        self.is_known.push(is_known);
        for time in Time::ALL {
            if wanted.contains(time.field()) {
                let ns = self.attributes.times_ns[time.index()].get(row);
                let fits = is_known && ns.is_some_and(|&ns| is_time(ns));
                self.times_are_known[time.index()].push(fits);
            }
        }
    }

    /// Adds a directory.
    #[inline]
    fn push(&mut self, directory: &Directory<'_>, wanted: Fields) {
        let (attributes, parent) = (directory.attributes, directory.parent());
        self.names.extend_from_slice(directory.name());
        self.name_offsets.push(self.names.len() as i32);
        if let Some(errno) = directory.refusal {
            // No table has 2^32 rows.
            let row = self.kinds.len() as u32;
            self.attributes.refusals.push(Refusal::new(row, errno));
        }
        self.attributes.push(attributes, wanted);
        self.dirs
            .push(parent.map_or(directory.root, |parent| parent.0));
        self.has_dir.push(parent.is_some());
        self.is_direct.push(!directory.followed);
        self.kinds.push(attributes.kind.number());
        let needed = wanted.without(Fields::NAME.union(ALL_TIMES));
        let is_known = attributes.valid.contains(needed);
        self.push_what_is_known(is_known, wanted);
    }
}

impl Directories {
    /// How many directories begin here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no directory begins here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// A directory.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len).
    #[must_use]
    pub fn row(&self, row: usize) -> DirectoryRow<'_> {
        let EntryRef { name, attributes } = self.columns.entry(row);
        DirectoryRow {
            id: DirId(self.ids[row]),
            parent: self.columns.dir(row),
            root: self.roots[row] as usize,
            name,
            attributes,
            state: DirState::from_number(self.states[row]).unwrap_or(DirState::Listed),
            is_followed: !self.columns.is_direct.get(row),
            refusal: self.columns.refusal(row),
        }
    }

    /// The number of a row; absent for what is no directory, in a
    /// [sorted](crate::Sequence::sorted) sequence.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len).
    #[must_use]
    pub fn directory(&self, row: usize) -> Option<DirId> {
        directory_of(self.ids[row])
    }

    /// Adds a directory of another table, which keeps the same fields.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below the length of the other table.
    pub fn push_row(&mut self, others: &Directories, row: usize) {
        self.columns.push_row(&others.columns, row);
        self.ids.push(others.ids[row]);
        self.roots.push(others.roots[row]);
        self.states.push(others.states[row]);
    }

    /// Keeps some directories, in their order, and all notes of ends.
    pub(crate) fn keep(&mut self, rows: &[usize]) {
        let of = |column: &[u32]| rows.iter().map(|&row| column[row]).collect();
        (self.ids, self.roots) = (of(&self.ids), of(&self.roots));
        self.states = rows.iter().map(|&row| self.states[row]).collect();
        self.columns.keep(rows);
    }

    /// The name of a column that does not go with the others; absent where all do.
    pub(crate) fn misfit(&self) -> Option<&'static str> {
        let rows = self.len();
        let lengths = [
            (self.columns.len(), "columns"),
            (self.roots.len(), "roots"),
            (self.states.len(), "states"),
        ];
        let misfit = lengths.into_iter().find(|&(len, _)| len != rows);
        if let Some((_, column)) = misfit {
            return Some(column);
        }
        let is_state = |&number: &u8| DirState::from_number(number).is_some();
        if !self.states.iter().all(is_state) {
            return Some("states");
        }
        self.columns.misfit()
    }

    /// Forgets all and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.columns.clear();
        self.roots.clear();
        self.states.clear();
        self.finished.clear();
        self.incomplete.clear();
    }

    /// Adds a directory.
    #[inline]
    pub(crate) fn push(&mut self, directory: &Directory<'_>, wanted: Fields) {
        self.ids.push(directory.id.0);
        self.roots.push(directory.root);
        self.states.push(directory.state.number());
        self.columns.push(directory, wanted);
    }
}
