// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of attributes, each declared once.
//!
//! The program, the bindings and the sinks take their lists from here.

use std::borrow::Cow;
use std::mem::take;

use crate::bits::Bits;
use crate::columns::Columns;
use crate::fields::Fields;
use crate::time::Time;

/// Calls a macro with the attributes that are one number each.
///
/// A row has the words of the documentation, then the field, the name and the type of the
/// attribute. Then it has the name of its column here and in tables of other programs, and
/// the function that adds it to attributes; those of a pair are added together.
macro_rules! with_numbers {
    ($call:ident) => {
        $call! {
            /// `st_size`, in bytes.
            SIZE size_bytes: u64, size_bytes "size", with_size_bytes;
            /// The space taken, 512 × `st_blocks`, in bytes.
            ALLOCATED allocated_bytes: u64, allocated_bytes "allocated", with_allocated_bytes;
            /// The number of hard links.
            LINKS links: u32, links "links", with_links;
            /// User id.
            OWNER uid: u32, uids "uid";
            /// Group id.
            OWNER gid: u32, gids "gid";
            /// Type and permission bits, as in `st_mode`.
            MODE mode: u16, modes "mode", with_mode;
            /// The device that a device node stands for.
            RDEV rdev: u64, rdevs "rdev", with_rdev;
            /// Those of seven flags that hold, as statx(2) has their bits: compressed 0x4,
            /// immutable 0x10, append-only 0x20, not for dump(8) 0x40, encrypted 0x800,
            /// verity 0x10_0000, DAX 0x20_0000.
            FLAGS flags: u32, flags "flags";
            /// Those bits of `flags` that the file system tells. Any other flag is unknown.
            FLAGS flags_mask: u32, flags_masks "flags_mask";
        }
    };
}

pub(crate) use with_numbers;

macro_rules! kind_of {
    (u16) => {
        ColumnKind::U16
    };
    (u32) => {
        ColumnKind::U32
    };
    (u64) => {
        ColumnKind::U64
    };
}

macro_rules! values_of {
    (u16, $values:expr) => {
        Values::U16($values)
    };
    (u32, $values:expr) => {
        Values::U32($values)
    };
    (u64, $values:expr) => {
        Values::U64($values)
    };
}

/// A column of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Its name in a table.
    pub name: &'static str,
    /// The field that asks for it. Two columns can have one field.
    pub field: Fields,
    /// The type of its values.
    pub kind: ColumnKind,
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// 16 bits without a sign.
    U16,
    /// 32 bits without a sign.
    U32,
    /// 64 bits without a sign.
    U64,
    /// Nanoseconds since 1970.
    TimeNs,
}

/// The values of a column, one for each row, or none where its field was not wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Values<'a> {
    /// 16 bits without a sign.
    U16(Cow<'a, [u16]>),
    /// 32 bits without a sign.
    U32(Cow<'a, [u32]>),
    /// 64 bits without a sign.
    U64(Cow<'a, [u64]>),
    /// Nanoseconds since 1970; known where the bits of their time say so.
    TimeNs(Cow<'a, [i64]>),
}

impl Column {
    /// The columns of some fields, in the order of the bits of their fields.
    #[must_use]
    pub fn of(fields: Fields) -> Vec<Column> {
        let columns = |name, field, kind| Column { name, field, kind };
        let mut all = vec![
            columns("ino", Fields::ID, ColumnKind::U64),
            columns("dev", Fields::ID, ColumnKind::U64),
        ];
        let times = Time::ALL.map(|time| columns(time.name(), time.field(), ColumnKind::TimeNs));
        all.extend(times);
        macro_rules! number {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
                $(, $with:ident)?;)+) => {
                $(all.push(columns($name, Fields::$field, kind_of!($type)));)+
            };
        }
        with_numbers!(number);
        all.retain(|column| fields.contains(column.field));
        all.sort_by_key(|column| column.field.bits());
        all
    }

    /// The time that it has; absent for other columns.
    fn time(&self) -> Option<Time> {
        Time::ALL.into_iter().find(|time| time.name() == self.name)
    }
}

impl Columns {
    /// The values of a column, where they lie.
    #[must_use]
    pub fn values(&self, column: &Column) -> Values<'_> {
        let of = &self.attributes;
        if let Some(time) = column.time() {
            return Values::TimeNs(Cow::Borrowed(&of.times_ns[time.index()]));
        }
        macro_rules! number {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
                $(, $with:ident)?;)+) => {
                match column.name {
                    $($name => values_of!($type, Cow::Borrowed(&of.$column[..])),)+
                    "ino" => Values::U64(Cow::Borrowed(&of.inos)),
                    _ => Values::U64(Cow::Borrowed(&of.devs)),
                }
            };
        }
        with_numbers!(number)
    }

    /// Takes the values of a column out, without a copy.
    #[must_use]
    pub fn take_values(&mut self, column: &Column) -> Values<'static> {
        let of = &mut self.attributes;
        if let Some(time) = column.time() {
            return Values::TimeNs(Cow::Owned(take(&mut of.times_ns[time.index()])));
        }
        macro_rules! number {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
                $(, $with:ident)?;)+) => {
                match column.name {
                    $($name => values_of!($type, Cow::Owned(take(&mut of.$column))),)+
                    "ino" => Values::U64(Cow::Owned(take(&mut of.inos))),
                    _ => Values::U64(Cow::Owned(take(&mut of.devs))),
                }
            };
        }
        with_numbers!(number)
    }

    /// Which values of a column are known.
    #[must_use]
    pub fn known(&self, column: &Column) -> &Bits {
        match column.time() {
            Some(time) => &self.times_are_known[time.index()],
            None => &self.is_known,
        }
    }
}
