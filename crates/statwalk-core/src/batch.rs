// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries of one directory, in columns.
//!
//! A source fills a batch, a sink reads it, and the memory is used again for
//! the next directory. Columns that nobody wants stay empty.

use std::fmt;

use crate::attribute_columns::{AttributeColumns, OddTime, Refusal};
use crate::column_table::with_numbers;
use crate::entry::{Attributes, FileId, FileType};
use crate::error::Errno;
use crate::fields::Fields;
use crate::time::{ALL_TIMES, Time};

/// Some or all entries of one directory that are not directories themselves.
///
/// Directories are not in it: each arrives by itself as a
/// [`Directory`](crate::Directory), with the attributes that were read when it
/// was opened.
///
/// Every column has one value for each entry, or none at all where its field
/// was not wanted. A value counts only where [`known`](Self::known) is true:
/// an entry whose stat failed has a type, perhaps a name, and nothing else.
#[derive(Clone, Default)]
pub struct Batch {
    wanted: Fields,
    names: Vec<u8>,
    name_ends: Vec<u32>,
    kinds: Vec<FileType>,
    known: Vec<bool>,
    unknown_count: usize,
    attributes: AttributeColumns,
}

/// Without its rows, of which there can be very many.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("len", &self.len())
            .field("unknown_count", &self.unknown_count)
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

macro_rules! column {
    ($(#[$doc:meta])* $name:ident: $type:ty $(, $of:ident)?) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> &[$type] {
            &self.$($of.)?$name
        }
    };
}

impl Batch {
    /// An empty batch that keeps the given fields.
    #[must_use]
    pub fn new(wanted: Fields) -> Batch {
        Batch {
            wanted,
            ..Batch::default()
        }
    }

    /// How many entries it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether it holds no entry.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Which fields it keeps.
    #[must_use]
    pub fn wanted(&self) -> Fields {
        self.wanted
    }

    /// Whether the attributes of every entry are known.
    #[must_use]
    pub fn all_known(&self) -> bool {
        self.unknown_count == 0
    }

    column!(/// The types; never empty.
        kinds: FileType);
    column!(/// Whether the attributes of the entry were read.
        known: bool);
    column!(/// Inode numbers.
        inos: u64, attributes);
    column!(/// Device numbers; a file can be a mount point too.
        devs: u64, attributes);
    column!(/// The times that do not fit into nanoseconds, by row: nearly always none.
        odd_times: OddTime, attributes);
    column!(/// The rows whose attributes the system has refused, in their order.
        refusals: Refusal, attributes);
    column!(/// The bytes of all names, one after another.
        names: u8);
    column!(/// Where each name ends in [`names`](Self::names), and the next one begins: with
        /// a 0 before them, these are the offsets of an Arrow array.
        name_ends: u32);

    /// A time of all entries, in nanoseconds since 1970. `i64::MIN` and `i64::MAX` stand for
    /// times before 1677 and after 2262, which do not fit; their seconds are among
    /// [`odd_times`](Self::odd_times). `i64::MIN` too where the file system keeps none.
    #[must_use]
    pub fn time_ns(&self, time: Time) -> &[i64] {
        &self.attributes.times_ns[time.index()]
    }

    /// The last changes of the contents, as [`time_ns`](Self::time_ns).
    #[must_use]
    pub fn mtime_ns(&self) -> &[i64] {
        self.time_ns(Time::Modified)
    }

    /// The name of entry `index`; empty where names were not wanted.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not below [`len`](Self::len) and names are kept.
    #[must_use]
    pub fn name(&self, index: usize) -> &[u8] {
        if self.name_ends.is_empty() {
            return &[];
        }
        let start = index.checked_sub(1).map_or(0, |i| self.name_ends[i]) as usize;
        &self.names[start..self.name_ends[index] as usize]
    }

    /// Entry `index`, row by row; for callers who do not mind the cost.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not below [`len`](Self::len).
    #[must_use]
    #[inline]
    pub fn entry(&self, index: usize) -> EntryRef<'_> {
        let mut attributes = Attributes::of_type(self.kinds[index]);
        if self.known[index] {
            self.attributes.read(index, &mut attributes);
        }
        EntryRef {
            name: self.name(index),
            attributes,
        }
    }

    /// All entries, row by row.
    pub fn iter(&self) -> impl Iterator<Item = EntryRef<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// The attributes; those that are not known are in [`known`](Self::known).
    pub(crate) fn attributes(&self) -> &AttributeColumns {
        &self.attributes
    }

    /// Device and inode number of entry `index`, where they are kept.
    pub(crate) fn id(&self, index: usize) -> FileId {
        FileId {
            dev: self.attributes.devs[index],
            ino: self.attributes.inos[index],
        }
    }

    /// Forgets the entries and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        // Most batches are: of directories without files, and of links that are followed.
        if !self.is_empty() {
            self.clear_columns();
        }
    }

    fn clear_columns(&mut self) {
        self.names.clear();
        self.name_ends.clear();
        self.kinds.clear();
        self.known.clear();
        self.unknown_count = 0;
        self.attributes.clear();
    }

    /// Adds an entry.
    ///
    /// Where a wanted field is not among its attributes, the entry counts as one whose
    /// stat failed: its type is known, and none of its attributes. A time may be absent
    /// alone. A batch of a scan holds up to 65,536 entries.
    ///
    /// # Panics
    ///
    /// Panics if the names take more than 2 GiB.
    ///
    /// ```
    /// use statwalk_core::{Attributes, Batch, Fields, FileType};
    ///
    /// let mut batch = Batch::new(Fields::NAME | Fields::SIZE);
    /// let file = Attributes::of_type(FileType::File);
    /// batch.push(b"read", &file.with_size_bytes(70));
    /// batch.push(b"unreadable", &file);
    /// assert_eq!(batch.known(), [true, false]);
    /// assert_eq!(batch.size_bytes()[0], 70);
    /// ```
    pub fn push(&mut self, name: &[u8], attributes: &Attributes) {
        let names_max = i32::MAX as usize - name.len();
        assert!(self.names.len() <= names_max, "names take more than 2 GiB");
        let needed = self.wanted.without(Fields::NAME.union(ALL_TIMES));
        match attributes.valid.union(Fields::TYPE).contains(needed) {
            true => self.push_stated(name, attributes),
            false => self.push_unstated(name, attributes.kind),
        }
    }

    /// Adds an entry of which only name and type are known.
    ///
    /// With `failed`, its attributes were wanted and are not known.
    #[inline]
    pub(crate) fn push_listed(&mut self, name: &[u8], kind: FileType, failed: bool) {
        if failed || self.wanted.need_stat() {
            self.push_unstated(name, kind);
        } else {
            self.push_name(name);
            self.kinds.push(kind);
            self.known.push(true);
        }
    }

    /// Adds an entry whose attributes the system has refused.
    #[cold]
    pub(crate) fn push_refused(&mut self, name: &[u8], kind: FileType, errno: Errno) {
        // A batch holds at most 64 Ki entries.
        let row = self.len() as u32;
        self.attributes.refusals.push(Refusal::new(row, errno));
        self.push_unstated(name, kind);
    }

    /// Adds so many entries of which only the type is wanted.
    pub(crate) fn push_types(&mut self, kind: FileType, count: usize) {
        debug_assert!(!self.wanted.need_stat() && !self.wanted.contains(Fields::NAME));
        let len = self.kinds.len() + count;
        self.kinds.resize(len, kind);
        self.known.resize(len, true);
    }

    /// Apart, so that the usual case stays small enough for its callers' loops.
    #[cold]
    fn push_unstated(&mut self, name: &[u8], kind: FileType) {
        self.push_row(name, &Attributes::of_type(kind), false);
    }

    /// Adds an entry with its attributes.
    #[inline]
    pub(crate) fn push_stated(&mut self, name: &[u8], attributes: &Attributes) {
        self.push_row(name, attributes, true);
    }

    #[inline]
    fn push_name(&mut self, name: &[u8]) {
        if self.wanted.contains(Fields::NAME) {
            self.names.extend_from_slice(name);
            // A batch holds at most 64 Ki entries of at most 255 bytes, so this fits.
            self.name_ends.push(self.names.len() as u32);
        }
    }

    #[inline]
    fn push_row(&mut self, name: &[u8], attributes: &Attributes, known: bool) {
        self.push_name(name);
        self.kinds.push(attributes.kind);
        self.known.push(known);
        self.unknown_count += usize::from(!known);
        self.attributes.push(attributes, self.wanted);
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
        $(, $with:ident)?;)+) => {
        impl Batch {
            $(column!($(#[$doc])* $column: $type, attributes);)+
        }
    };
}

with_numbers!(numbers);

/// One entry of a [`Batch`].
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'a> {
    /// The name, as the kernel gave it; empty where names were not wanted.
    pub name: &'a [u8],
    /// Its attributes.
    pub attributes: Attributes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(size_bytes: u64) -> Attributes {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.size_bytes = size_bytes;
        attributes.valid |= Fields::SIZE;
        attributes
    }

    #[test]
    fn columns_that_nobody_wants_stay_empty() {
        let mut batch = Batch::new(Fields::SIZE);
        batch.push_stated(b"a", &stated(7));
        assert_eq!(batch.size_bytes(), [7]);
        assert!(batch.mtime_ns().is_empty() && batch.name(0).is_empty());
        assert_eq!(batch.entry(0).attributes.mtime_ns(), None);
    }

    #[test]
    fn a_time_that_does_not_fit_keeps_its_seconds() {
        let times = Fields::MTIME | Fields::ATIME | Fields::CTIME | Fields::BTIME;
        let mut batch = Batch::new(times);
        let (early, late) = (-10_000_000_000, 10_000_000_000);
        for seconds in [early, -1, 0, 1, late] {
            let file = Attributes::of_type(FileType::File);
            let with = |file: Attributes, time| file.with_time(time, seconds, 0);
            batch.push(b"", &Time::ALL.into_iter().fold(file, with));
        }
        let billion = 1_000_000_000;
        let known = [None, Some(-billion), Some(0), Some(billion), None];
        for (entry, known) in batch.iter().zip(known) {
            let found = Time::ALL.map(|time| entry.attributes.time_ns(time));
            assert_eq!(found, [known; 4]);
        }
        assert_eq!(batch.odd_times().len(), 8);
        for (row, seconds) in [(0, early), (1, -1), (4, late)] {
            let found = batch.entry(row).attributes;
            let found = Time::ALL.map(|time| found.time_s(time));
            assert_eq!(found, [Some(seconds); 4]);
        }
        assert!((batch.entry(0).attributes.mtime_order(0)).is_some_and(|order| order.is_lt()));
        assert!((batch.entry(4).attributes.mtime_order(0)).is_some_and(|order| order.is_gt()));
    }

    #[test]
    fn an_absent_time_leaves_the_rest_known() {
        let times = Fields::MTIME | Fields::BTIME;
        let mut batch = Batch::new(Fields::SIZE | times);
        batch.push(b"", &stated(7).with_mtime(5, 0));
        batch.push(b"", &Attributes::of_type(FileType::File).with_mtime(5, 0));
        let found = batch.entry(0).attributes;
        assert_eq!((found.size_bytes(), found.mtime_s()), (Some(7), Some(5)));
        let birth = (found.time_ns(Time::Born), found.time_s(Time::Born));
        assert_eq!(birth, (None, None));
        assert_eq!(batch.known(), [true, false]);
        assert_eq!(batch.entry(1).attributes.mtime_s(), None);
    }

    #[test]
    fn a_failed_stat_leaves_attributes_absent() {
        let mut batch = Batch::new(Fields::NAME | Fields::SIZE | Fields::BTIME);
        batch.push_stated(b"good", &stated(1));
        batch.push_listed(b"bad", FileType::File, true);
        assert!(!batch.all_known());
        assert_eq!(batch.entry(1).name, b"bad");
        assert_eq!(batch.entry(1).attributes.size_bytes(), None);
        assert_eq!(batch.entry(0).attributes.size_bytes(), Some(1));
        assert_eq!(batch.entry(0).attributes.time_ns(Time::Born), None);
        batch.clear();
        assert!(batch.is_empty() && batch.all_known());
    }
}
