// SPDX-License-Identifier: MIT OR Apache-2.0

//! Attributes in columns: those of a [`Batch`](crate::Batch) and of
//! [`Columns`](crate::Columns).

use std::ops::Range;

use crate::column_table::with_numbers;
use crate::entry::{Attributes, FileId};
use crate::error::Errno;
use crate::fields::Fields;
use crate::time::{ALL_TIMES, TOO_EARLY, Time, is_time, mark_of};

/// A time of one row that 64 bits of nanoseconds do not hold: before 1677 or after 2262.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OddTime {
    /// The row.
    pub row: u32,
    /// Which of its times.
    pub time: Time,
    /// Whole seconds since 1970, rounded down.
    pub seconds: i64,
}

impl OddTime {
    /// A time of a row in whole seconds since 1970.
    #[must_use]
    pub fn new(row: u32, time: Time, seconds: i64) -> OddTime {
        OddTime { row, time, seconds }
    }
}

/// A row whose attributes the system has refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The row.
    pub row: u32,
    /// The error number of the system.
    pub errno: Errno,
}

impl Refusal {
    /// The refusal of a row.
    #[must_use]
    pub fn new(row: u32, errno: Errno) -> Refusal {
        Refusal { row, errno }
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
        $(, $with:ident)?;)+) => {
        /// Attributes of rows, a column for each.
        ///
        /// Every column has one value for each row, or none at all where its field is not
        /// kept. Where a value is not known it has no meaning; the owner of the columns
        /// knows which are.
        #[derive(Clone, Debug, Default)]
        #[non_exhaustive]
        pub struct AttributeColumns {
            $($(#[$doc])* pub $column: Vec<$type>,)+
            /// Inode numbers.
            pub inos: Vec<u64>,
            /// Device numbers; a file can be a mount point too.
            pub devs: Vec<u64>,
            /// The times in the order of [`Time::ALL`], in nanoseconds since 1970. `i64::MIN`
            /// and `i64::MAX` stand for times before 1677 and after 2262; their seconds are
            /// among [`odd_times`](Self::odd_times). A time that is not known is `i64::MIN`,
            /// too.
            pub times_ns: [Vec<i64>; 4],
            /// The times that nanoseconds do not hold, by row: nearly always none.
            pub odd_times: Vec<OddTime>,
            /// The rows whose attributes the system has refused, in their order: nearly
            /// always none.
            pub refusals: Vec<Refusal>,
            /// Whether a time of a row has no nanoseconds.
            pub(crate) lacks_times: bool,
        }

        /// Calls a macro with each column but those of times.
        macro_rules! with_each_column {
            ($call:ident) => { $call!(inos devs $($column)+); };
        }
    };
}

with_numbers!(columns);

impl AttributeColumns {
    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        macro_rules! clear {
            ($($column:ident)+) => { $(self.$column.clear();)+ };
        }
        with_each_column!(clear);
        for times_ns in &mut self.times_ns {
            times_ns.clear();
        }
        self.odd_times.clear();
        self.refusals.clear();
        self.lacks_times = false;
    }

    /// Adds a row with the wanted fields.
    // A call for each entry would cost as much as its columns.
    #[inline(always)]
    pub(crate) fn push(&mut self, attributes: &Attributes, wanted: Fields) {
        macro_rules! push {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident
                $name:literal $(, $with:ident)?;)+) => {
                $(if !Fields::RARE.contains(Fields::$field) && wanted.contains(Fields::$field) {
                    self.$column.push(attributes.$value);
                })+
                // One question for all of them.
                if wanted.has_any(Fields::RARE) {
                    $(if Fields::RARE.contains(Fields::$field) && wanted.contains(Fields::$field) {
                        self.$column.push(attributes.$value);
                    })+
                }
            };
        }
        with_numbers!(push);
        if wanted.contains(Fields::ID) {
            let FileId { dev, ino } = attributes.id;
            self.inos.push(ino);
            self.devs.push(dev);
        }
        let times = wanted.intersection(ALL_TIMES);
        if times != Fields::NONE {
            self.push_times(attributes, times);
        }
    }

    #[inline(always)]
    fn push_times(&mut self, attributes: &Attributes, times: Fields) {
        // Nearly always the only one.
        if times.contains(Fields::MTIME) {
            self.times_ns[0].push(attributes.times_ns[0]);
        }
        if times != Fields::MTIME {
            for time in [Time::Accessed, Time::Changed, Time::Born] {
                if times.contains(time.field()) {
                    self.times_ns[time.index()].push(attributes.times_ns[time.index()]);
                }
            }
        }
        if !attributes.valid.contains(times) {
            self.note_odd_times(attributes, times);
        }
    }

    /// Marks those of some times of the last row that have no nanoseconds, and keeps their
    /// seconds where they have some.
    #[cold]
    #[inline(never)]
    fn note_odd_times(&mut self, attributes: &Attributes, times: Fields) {
        self.lacks_times = true;
        for (time, column) in Time::ALL.into_iter().zip(&mut self.times_ns) {
            if !times.contains(time.field()) || attributes.valid.contains(time.field()) {
                continue;
            }
            let Some((ns, above)) = column.split_last_mut() else {
                continue;
            };
            *ns = TOO_EARLY;
            if let Some(seconds) = attributes.odd_s(time) {
                *ns = mark_of(seconds);
                // No table has 2^32 rows.
                self.odd_times
                    .push(OddTime::new(above.len() as u32, time, seconds));
            }
        }
    }

    /// Adds some rows of other columns, which keep the same fields. The first of them
    /// becomes the row with a number.
    #[inline]
    pub(crate) fn extend(&mut self, first: usize, other: &AttributeColumns, rows: Range<usize>) {
        macro_rules! extend {
            ($($column:ident)+) => {
                $(if !other.$column.is_empty() {
                    self.$column.extend_from_slice(&other.$column[rows.clone()]);
                })+
            };
        }
        with_each_column!(extend);
        for (times_ns, others) in self.times_ns.iter_mut().zip(&other.times_ns) {
            if !others.is_empty() {
                times_ns.extend_from_slice(&others[rows.clone()]);
            }
        }
        if other.lacks_times {
            self.extend_odd_times(first, other, rows.clone());
        }
        if !other.refusals.is_empty() {
            self.extend_refusals(first, other, rows);
        }
    }

    #[cold]
    fn extend_odd_times(&mut self, first: usize, other: &AttributeColumns, rows: Range<usize>) {
        self.lacks_times = true;
        let [begin, end] = [rows.start, rows.end]
            .map(|row| (other.odd_times).partition_point(|odd| (odd.row as usize) < row));
        let of_rows = other.odd_times[begin..end].iter();
        self.odd_times.extend(of_rows.map(|odd| OddTime {
            row: (odd.row as usize - rows.start + first) as u32,
            ..*odd
        }));
    }

    #[cold]
    fn extend_refusals(&mut self, first: usize, other: &AttributeColumns, rows: Range<usize>) {
        let [begin, end] = [rows.start, rows.end]
            .map(|row| (other.refusals).partition_point(|of| (of.row as usize) < row));
        let of_rows = other.refusals[begin..end].iter();
        self.refusals.extend(of_rows.map(|refusal| Refusal {
            row: (refusal.row as usize - rows.start + first) as u32,
            ..*refusal
        }));
    }

    /// The error for which the system has refused the attributes of a row.
    pub(crate) fn refusal(&self, row: usize) -> Option<Errno> {
        let found = (self.refusals).binary_search_by_key(&row, |refusal| refusal.row as usize);
        found.ok().map(|at| self.refusals[at].errno)
    }

    /// The name of a column that has neither a value for each of so many rows nor none at
    /// all, or half of a pair; absent where all fit.
    pub(crate) fn misfit(&self, rows: usize) -> Option<&'static str> {
        macro_rules! misfit {
            ($($column:ident)+) => {
                $(if !self.$column.is_empty() && self.$column.len() != rows {
                    return Some(stringify!($column));
                })+
            };
        }
        with_each_column!(misfit);
        let fits = |times_ns: &Vec<i64>| times_ns.is_empty() || times_ns.len() == rows;
        if !self.times_ns.iter().all(fits) {
            return Some("times_ns");
        }
        if self.inos.len() != self.devs.len() {
            return Some("devs");
        }
        macro_rules! of_fields {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident
                $name:literal $(, $with:ident)?;)+) => {
                [$((Fields::$field, self.$column.len(), stringify!($column))),+]
            };
        }
        let of_fields = with_numbers!(of_fields);
        let is_half =
            |pair: &&[(Fields, usize, _)]| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1;
        if let Some(pair) = of_fields.windows(2).find(is_half) {
            return Some(pair[1].2);
        }
        let is_sorted = self.odd_times.is_sorted_by_key(|odd| odd.row);
        let fit = is_sorted && self.odd_times.iter().all(|odd| (odd.row as usize) < rows);
        if !fit {
            return Some("odd_times");
        }
        let is_sorted = (self.refusals).is_sorted_by(|first, next| first.row < next.row);
        let fit = is_sorted && self.refusals.iter().all(|of| (of.row as usize) < rows);
        (!fit).then_some("refusals")
    }

    /// The fields that are kept: those with a value for each of so many rows.
    pub(crate) fn fields(&self, rows: usize) -> Fields {
        let mut fields = Fields::NONE;
        macro_rules! fields {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident
                $name:literal $(, $with:ident)?;)+) => {
                $(if self.$column.len() == rows {
                    fields |= Fields::$field;
                })+
            };
        }
        with_numbers!(fields);
        if self.inos.len() == rows {
            fields |= Fields::ID;
        }
        for (time, times_ns) in Time::ALL.into_iter().zip(&self.times_ns) {
            if times_ns.len() == rows {
                fields |= time.field();
            }
        }
        fields
    }

    /// Adds what is kept of a row to its attributes.
    #[inline]
    pub(crate) fn read(&self, row: usize, out: &mut Attributes) {
        self.read_all(row, out);
        if self.lacks_times {
            self.read_odd_times(row, out);
        }
    }

    /// As [`read`](Self::read), of every time the nanoseconds, even if they stand for none.
    #[inline]
    pub(crate) fn read_all(&self, row: usize, out: &mut Attributes) {
        fn read<T: Copy>(column: &[T], row: usize, out: &mut T, valid: &mut Fields, f: Fields) {
            if let Some(&value) = column.get(row) {
                *out = value;
                *valid |= f;
            }
        }
        macro_rules! read {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident
                $name:literal $(, $with:ident)?;)+) => {
                $(read(&self.$column, row, &mut out.$value, &mut out.valid, Fields::$field);)+
            };
        }
        with_numbers!(read);
        read(&self.inos, row, &mut out.id.ino, &mut out.valid, Fields::ID);
        read(&self.devs, row, &mut out.id.dev, &mut out.valid, Fields::ID);
        for time in Time::ALL {
            let (times_ns, ns) = (
                &self.times_ns[time.index()],
                &mut out.times_ns[time.index()],
            );
            read(times_ns, row, ns, &mut out.valid, time.field());
        }
    }

    /// Takes away the times of a row that nanoseconds do not hold, and adds their seconds.
    #[cold]
    pub(crate) fn read_odd_times(&self, row: usize, out: &mut Attributes) {
        for (time, times_ns) in Time::ALL.into_iter().zip(&self.times_ns) {
            if times_ns.get(row).is_some_and(|&ns| !is_time(ns)) {
                out.valid = out.valid.without(time.field());
            }
        }
        let begin = (self.odd_times).partition_point(|odd| (odd.row as usize) < row);
        let of_row = self.odd_times[begin..].iter();
        for odd in of_row.take_while(|odd| odd.row as usize == row) {
            out.set_odd_s(odd.time, odd.seconds);
        }
    }
}
