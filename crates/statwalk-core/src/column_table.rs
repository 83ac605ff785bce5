// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of attributes, each declared once.
//!
//! The program, the bindings and the sinks take their lists from here.

use crate::bits::Bits;
use crate::columns::Columns;
use crate::fields::Fields;
use crate::time::Time;

/// Calls a macro with the attributes that are one number each.
///
/// A row has the words of the documentation, then the field, the name and the type of the
/// attribute. Then it has the name of its column here and in tables of other programs, and
/// the function that adds it to attributes; a half of a pair has none.
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
pub enum Values {
    /// 16 bits without a sign.
    U16(Vec<u16>),
    /// 32 bits without a sign.
    U32(Vec<u32>),
    /// 64 bits without a sign.
    U64(Vec<u64>),
    /// Nanoseconds since 1970; known where the bits of their time say so.
    TimeNs(Vec<i64>),
}

impl Column {
    /// The columns of some fields, in the order of [`Columns::into_values`].
    #[must_use]
    pub fn of(fields: Fields) -> Vec<Column> {
        let all = Columns::default().into_values(fields).into_iter();
        all.map(|(column, ..)| column).collect()
    }

    const fn new(name: &'static str, field: Fields, kind: ColumnKind) -> Column {
        Column { name, field, kind }
    }
}

impl Columns {
    /// Gives away the values of each attribute of some fields, with the bits that say which
    /// are known, in the order of the bits of their fields.
    #[must_use]
    pub fn into_values(self, fields: Fields) -> Vec<(Column, Values, Bits)> {
        let Columns {
            is_known,
            times_are_known,
            attributes: of,
            ..
        } = self;
        let [ino, dev] = ["ino", "dev"].map(|name| Column::new(name, Fields::ID, ColumnKind::U64));
        let mut all = vec![
            (ino, Values::U64(of.inos), is_known.clone()),
            (dev, Values::U64(of.devs), is_known.clone()),
        ];
        let times = of.times_ns.into_iter().zip(times_are_known);
        for (time, (times_ns, known)) in Time::ALL.into_iter().zip(times) {
            let column = Column::new(time.name(), time.field(), ColumnKind::TimeNs);
            all.push((column, Values::TimeNs(times_ns), known));
        }
        macro_rules! number {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident $name:literal
                $(, $with:ident)?;)+) => {
                $(
                    let column = Column::new($name, Fields::$field, kind_of!($type));
                    all.push((column, values_of!($type, of.$column), is_known.clone()));
                )+
            };
        }
        with_numbers!(number);
        all.retain(|(column, ..)| fields.contains(column.field));
        all.sort_by_key(|(column, ..)| column.field.bits());
        all
    }
}
