// SPDX-License-Identifier: MIT OR Apache-2.0

//! Attributes in columns: those of a [`Batch`](crate::Batch) and of
//! [`Columns`](crate::Columns).

use std::ops::Range;

use crate::entry::{Attributes, Fields, FileId, TIMES, TOO_EARLY, is_time, mark_of};

/// A time of one row that 64 bits of nanoseconds do not hold: before 1677 or after 2262.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OddTime {
    /// The row.
    pub row: u32,
    /// Which of its times: [`Fields::MTIME`], `ATIME`, `CTIME` or `BTIME`.
    pub field: Fields,
    /// Whole seconds since 1970, rounded down.
    pub seconds: i64,
}

impl OddTime {
    /// A time of a row in whole seconds since 1970. The field is one of the four times.
    #[must_use]
    pub fn new(row: u32, field: Fields, seconds: i64) -> OddTime {
        OddTime {
            row,
            field,
            seconds,
        }
    }
}

/// Attributes of rows, a column for each.
///
/// Every column has one value for each row, or none at all where its field is not kept.
/// Where a value is not known it has no meaning; the owner of the columns knows which are.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AttributeColumns {
    /// `st_size`, in bytes.
    pub size_bytes: Vec<u64>,
    /// 512 × `st_blocks`, in bytes.
    pub allocated_bytes: Vec<u64>,
    /// Numbers of hard links.
    pub links: Vec<u32>,
    /// Inode numbers.
    pub inos: Vec<u64>,
    /// Device numbers; a file can be a mount point too.
    pub devs: Vec<u64>,
    /// Last changes of the contents, in nanoseconds since 1970. `i64::MIN` and `i64::MAX`
    /// stand for times before 1677 and after 2262; their seconds are among
    /// [`odd_times`](Self::odd_times). A time that is not known is `i64::MIN`, too.
    pub mtime_ns: Vec<i64>,
    /// Last accesses, as [`mtime_ns`](Self::mtime_ns).
    pub atime_ns: Vec<i64>,
    /// Last changes of the inodes, as [`mtime_ns`](Self::mtime_ns).
    pub ctime_ns: Vec<i64>,
    /// Births, as [`mtime_ns`](Self::mtime_ns); not known where the file system keeps none.
    pub btime_ns: Vec<i64>,
    /// User ids.
    pub uids: Vec<u32>,
    /// Group ids.
    pub gids: Vec<u32>,
    /// Types and permission bits, as in `st_mode`.
    pub modes: Vec<u16>,
    /// The devices that device nodes stand for.
    pub rdevs: Vec<u64>,
    /// The times that nanoseconds do not hold, by row: nearly always none.
    pub odd_times: Vec<OddTime>,
    /// Whether a time of a row has no nanoseconds.
    pub(crate) lacks_times: bool,
}

/// Calls a macro with each column but [`AttributeColumns::odd_times`].
macro_rules! with_each_column {
    ($call:ident) => {
        $call!(size_bytes allocated_bytes links inos devs mtime_ns atime_ns ctime_ns btime_ns
            uids gids modes rdevs);
    };
}

impl AttributeColumns {
    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        macro_rules! clear {
            ($($column:ident)+) => { $(self.$column.clear();)+ };
        }
        with_each_column!(clear);
        self.odd_times.clear();
        self.lacks_times = false;
    }

    /// Adds a row with the wanted fields.
    // A call for each entry would cost as much as its columns.
    #[inline(always)]
    pub(crate) fn push(&mut self, attributes: &Attributes, wanted: Fields) {
        if wanted.contains(Fields::SIZE) {
            self.size_bytes.push(attributes.size_bytes);
        }
        if wanted.contains(Fields::ALLOCATED) {
            self.allocated_bytes.push(attributes.allocated_bytes);
        }
        if wanted.contains(Fields::LINKS) {
            self.links.push(attributes.links);
        }
        if wanted.contains(Fields::ID) {
            let FileId { dev, ino } = attributes.id;
            self.inos.push(ino);
            self.devs.push(dev);
        }
        if wanted.contains(Fields::MTIME) {
            self.mtime_ns.push(attributes.mtime_ns);
            if !attributes.valid.contains(Fields::MTIME) {
                self.note_odd_times(attributes, Fields::MTIME);
            }
        }
        if wanted.contains(Fields::OWNER) {
            self.uids.push(attributes.uid);
            self.gids.push(attributes.gid);
        }
        if wanted.has_any(Fields::RARE) {
            if wanted.contains(Fields::ATIME) {
                self.atime_ns.push(attributes.atime_ns);
            }
            if wanted.contains(Fields::CTIME) {
                self.ctime_ns.push(attributes.ctime_ns);
            }
            if wanted.contains(Fields::BTIME) {
                self.btime_ns.push(attributes.btime_ns);
            }
            if wanted.contains(Fields::MODE) {
                self.modes.push(attributes.mode);
            }
            if wanted.contains(Fields::RDEV) {
                self.rdevs.push(attributes.rdev);
            }
            let times = Fields::ATIME | Fields::CTIME | Fields::BTIME;
            let times = wanted.intersection(times);
            if !attributes.valid.contains(times) {
                self.note_odd_times(attributes, times);
            }
        }
    }

    /// Marks those of some times of the last row that have no nanoseconds, and keeps their
    /// seconds where they have some.
    #[cold]
    #[inline(never)]
    fn note_odd_times(&mut self, attributes: &Attributes, times: Fields) {
        self.lacks_times = true;
        let columns = [
            &mut self.mtime_ns,
            &mut self.atime_ns,
            &mut self.ctime_ns,
            &mut self.btime_ns,
        ];
        for (time, (field, column)) in TIMES.into_iter().zip(columns).enumerate() {
            if !times.contains(field) || attributes.valid.contains(field) {
                continue;
            }
            let Some((ns, above)) = column.split_last_mut() else {
                continue;
            };
            *ns = TOO_EARLY;
            if let Some(seconds) = attributes.odd_s(time) {
                *ns = mark_of(seconds);
                // No table has 2^32 rows.
                let row = above.len() as u32;
                let odd = OddTime {
                    row,
                    field,
                    seconds,
                };
                self.odd_times.push(odd);
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
        if other.lacks_times {
            self.extend_odd_times(first, other, rows);
        }
    }

    #[cold]
    fn extend_odd_times(&mut self, first: usize, other: &AttributeColumns, rows: Range<usize>) {
        self.lacks_times = true;
        let of_rows = (other.odd_times.iter()).filter(|odd| rows.contains(&(odd.row as usize)));
        self.odd_times.extend(of_rows.map(|odd| OddTime {
            row: (odd.row as usize - rows.start + first) as u32,
            ..*odd
        }));
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
        if self.inos.len() != self.devs.len() {
            return Some("devs");
        }
        if self.uids.len() != self.gids.len() {
            return Some("gids");
        }
        let is_time = |odd: &OddTime| TIMES.contains(&odd.field) && (odd.row as usize) < rows;
        let is_sorted = self.odd_times.is_sorted_by_key(|odd| odd.row);
        let fit = is_sorted && self.odd_times.iter().all(is_time);
        (!fit).then_some("odd_times")
    }

    /// The fields that are kept: those with a value for each of so many rows.
    pub(crate) fn fields(&self, rows: usize) -> Fields {
        let mut fields = Fields::NONE;
        macro_rules! fields {
            ($($column:ident $field:ident),+) => {
                $(if self.$column.len() == rows {
                    fields |= Fields::$field;
                })+
            };
        }
        fields!(
            size_bytes SIZE, allocated_bytes ALLOCATED, links LINKS, inos ID, mtime_ns MTIME,
            atime_ns ATIME, ctime_ns CTIME, btime_ns BTIME, uids OWNER, modes MODE, rdevs RDEV
        );
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
            ($($column:ident $($field:ident).+ $f:ident),+) => {
                $(read(&self.$column, row, &mut out.$($field).+, &mut out.valid, Fields::$f);)+
            };
        }
        read!(
            size_bytes size_bytes SIZE,
            allocated_bytes allocated_bytes ALLOCATED,
            links links LINKS,
            inos id.ino ID,
            devs id.dev ID,
            mtime_ns mtime_ns MTIME,
            atime_ns atime_ns ATIME,
            ctime_ns ctime_ns CTIME,
            btime_ns btime_ns BTIME,
            uids uid OWNER,
            gids gid OWNER,
            modes mode MODE,
            rdevs rdev RDEV
        );
    }

    /// Takes away the times of a row that nanoseconds do not hold, and adds their seconds.
    #[cold]
    pub(crate) fn read_odd_times(&self, row: usize, out: &mut Attributes) {
        let columns = [
            &self.mtime_ns,
            &self.atime_ns,
            &self.ctime_ns,
            &self.btime_ns,
        ];
        for (field, column) in TIMES.into_iter().zip(columns) {
            if column.get(row).is_some_and(|&ns| !is_time(ns)) {
                out.valid = out.valid.without(field);
            }
        }
        let begin = (self.odd_times).partition_point(|odd| (odd.row as usize) < row);
        let of_row = self.odd_times[begin..].iter();
        for odd in of_row.take_while(|odd| odd.row as usize == row) {
            if let Some(time) = TIMES.iter().position(|&time| time == odd.field) {
                out.set_odd_s(time, odd.seconds);
            }
        }
    }
}
