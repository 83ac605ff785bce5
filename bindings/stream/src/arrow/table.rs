// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a scan as one table: entries and directories in the same columns.

use statwalk_core::{Bits, Columns, Directories, Fields, FileType};

use super::abi::{ArrowArray, ArrowSchema};
use super::array::{Buffer, array, schema as column_schema};
use crate::batch::{Batch, Paths};
use crate::request::Request;

/// The words for types, by the number of the type.
const TYPES: [&str; 8] = [
    "file",
    "directory",
    "symlink",
    "fifo",
    "socket",
    "char_device",
    "block_device",
    "unknown",
];

/// The word for a type, as in the columns.
#[must_use]
pub fn type_word(kind: FileType) -> &'static str {
    TYPES[usize::from(kind.number())]
}

/// As many entries as a batch has at most, each without a number of its own.
static NO_IDS: [u32; statwalk_core::Rows::MAX] = [0; statwalk_core::Rows::MAX];
static NO_BITS: [u8; statwalk_core::Rows::MAX / 8] = [0; statwalk_core::Rows::MAX / 8];

/// The type of the table: a struct with a child for each column.
///
/// `path` and `name` are bytes. `id` is the number of a directory and null for other
/// entries, `dir` the number of the directory that an entry lies in and null for a root.
/// The columns after them are those that were asked for.
#[must_use]
pub fn schema(request: &Request) -> ArrowSchema {
    let fields = request.fields();
    let mut columns = Vec::new();
    let mut add = |name: &str, format: &str, is_nullable: bool| {
        columns.push(column_schema(name, format, is_nullable, Vec::new(), None));
    };
    if request.has_paths() {
        add("path", "Z", false);
    }
    if fields.contains(Fields::NAME) {
        add("name", "z", false);
    }
    add("dir", "I", true);
    add("id", "I", true);
    let words = column_schema("", "u", false, Vec::new(), None);
    columns.push(column_schema("type", "C", false, Vec::new(), Some(words)));
    for (field, names) in BY_FIELD {
        if fields.contains(field) {
            for (name, format) in names {
                columns.push(column_schema(name, format, true, Vec::new(), None));
            }
        }
    }
    column_schema("", "+s", false, columns, None)
}

/// The columns of attributes, in the order in which [`table`] makes them.
const BY_FIELD: [(Fields, &[(&str, &str)]); 11] = [
    (Fields::SIZE, &[("size", "L")]),
    (Fields::ALLOCATED, &[("allocated", "L")]),
    (Fields::LINKS, &[("links", "I")]),
    (Fields::ID, &[("ino", "L"), ("dev", "L")]),
    (Fields::MTIME, &[("mtime", TIME)]),
    (Fields::ATIME, &[("atime", TIME)]),
    (Fields::CTIME, &[("ctime", TIME)]),
    (Fields::BTIME, &[("btime", TIME)]),
    (Fields::OWNER, &[("uid", "I"), ("gid", "I")]),
    (Fields::MODE, &[("mode", "S")]),
    (Fields::RDEV, &[("rdev", "L")]),
];

/// Nanoseconds since 1970, in UTC.
const TIME: &str = "tsn:UTC";

/// The tables of a batch: of its directories and of its entries. Absent without rows.
///
/// A root that is no directory is an entry without a `dir`.
#[must_use]
pub fn tables(batch: Batch, request: &Request) -> [Option<ArrowArray>; 2] {
    let fields = request.fields();
    let holders = batch.holders().to_vec();
    let (entries, mut directories, paths) = batch.into_parts();
    let (of_entries, of_directories) = match paths {
        Some([entries, directories]) => (Some(entries), Some(directories)),
        None => (None, None),
    };
    let is_holder = |&row: &usize| directories.states[row] == HOLDS_ROOT;
    let none: Vec<usize> = (0..directories.len()).filter(is_holder).collect();
    remove_rows(&mut directories, &none);
    let rows = directories.len();
    let of_directories = (rows > 0).then(|| {
        let ids = Column::all(Buffer::of(directories.ids));
        let dirs = directories.has_parent;
        let paths = of_directories.map(|paths| paths.without(&none));
        table(directories.columns, dirs, ids, paths, fields)
    });
    let rows = entries.len();
    let of_entries = (rows > 0).then(|| {
        let ids = Column {
            validity: Buffer::of_static(&NO_BITS),
            nulls: rows,
            values: Buffer::of_static(&NO_IDS),
        };
        let mut dirs = Bits::default();
        for dir in &entries.dirs {
            dirs.push(holders.is_empty() || !holders.contains(dir));
        }
        table(entries, dirs, ids, of_entries, fields)
    });
    [of_directories, of_entries]
}

const HOLDS_ROOT: u8 = statwalk_core::DirState::NoDirectory.number();

/// Removes rows: those of roots that are no directories, of which there are few.
fn remove_rows(directories: &mut Directories, rows: &[usize]) {
    for &row in rows.iter().rev() {
        directories.ids.remove(row);
        without_bit(&mut directories.has_parent, row);
        let columns = &mut directories.columns;
        columns.dirs.remove(row);
        // Its name is empty, so that no byte of the names goes with it.
        columns.name_offsets.remove(row);
        columns.kinds.remove(row);
        for bits in [
            &mut columns.is_known,
            &mut columns.mtime_is_known,
            &mut columns.atime_is_known,
            &mut columns.ctime_is_known,
            &mut columns.btime_is_known,
        ] {
            without_bit(bits, row);
        }
        macro_rules! remove {
            ($($column:ident)+) => {
                $(if row < columns.attributes.$column.len() {
                    columns.attributes.$column.remove(row);
                })+
            };
        }
        remove!(size_bytes allocated_bytes links inos devs mtime_ns atime_ns ctime_ns btime_ns
            uids gids modes rdevs);
    }
}

fn without_bit(bits: &mut Bits, row: usize) {
    let mut rest = Bits::default();
    for other in (0..bits.len()).filter(|&other| other != row) {
        rest.push(bits.get(other));
    }
    *bits = rest;
}

/// Values, and which of them are null.
struct Column {
    validity: Buffer,
    nulls: usize,
    values: Buffer,
}

impl Column {
    fn all(values: Buffer) -> Column {
        Column {
            validity: Buffer::absent(),
            nulls: 0,
            values,
        }
    }

    fn of<T: Send + 'static>(values: Vec<T>, known: Bits) -> Column {
        Column {
            nulls: known.zeros(),
            validity: Buffer::of_bits(known),
            values: Buffer::of(values),
        }
    }

    fn array(self, rows: usize) -> ArrowArray {
        let buffers = vec![self.validity, self.values];
        array(rows, self.nulls, buffers, Vec::new(), None)
    }
}

fn table(
    columns: Columns,
    dirs_known: Bits,
    ids: Column,
    paths: Option<Paths>,
    fields: Fields,
) -> ArrowArray {
    let rows = columns.len();
    let known = columns.is_known;
    let mut children = Vec::new();
    if let Some(Paths { bytes, offsets }) = paths {
        children.push(bytes_array(rows, Buffer::of(offsets), bytes));
    }
    if fields.contains(Fields::NAME) {
        children.push(bytes_array(
            rows,
            Buffer::of(columns.name_offsets),
            columns.names,
        ));
    }
    children.push(Column::of(columns.dirs, dirs_known).array(rows));
    children.push(ids.array(rows));
    let kinds = vec![Buffer::absent(), Buffer::of(columns.kinds)];
    children.push(array(rows, 0, kinds, Vec::new(), Some(words_of_types())));
    let of = columns.attributes;
    macro_rules! add {
        ($($field:ident $values:expr, $known:expr;)+) => {
            $(if fields.contains(Fields::$field) {
                children.push(Column::of($values, $known).array(rows));
            })+
        };
    }
    add! {
        SIZE of.size_bytes, known.clone();
        ALLOCATED of.allocated_bytes, known.clone();
        LINKS of.links, known.clone();
        ID of.inos, known.clone();
        ID of.devs, known.clone();
        MTIME of.mtime_ns, columns.mtime_is_known;
        ATIME of.atime_ns, columns.atime_is_known;
        CTIME of.ctime_ns, columns.ctime_is_known;
        BTIME of.btime_ns, columns.btime_is_known;
        OWNER of.uids, known.clone();
        OWNER of.gids, known.clone();
        MODE of.modes, known.clone();
        RDEV of.rdevs, known;
    }
    array(rows, 0, vec![Buffer::absent()], children, None)
}

fn bytes_array(rows: usize, offsets: Buffer, bytes: Vec<u8>) -> ArrowArray {
    let buffers = vec![Buffer::absent(), offsets, Buffer::of(bytes)];
    array(rows, 0, buffers, Vec::new(), None)
}

fn words_of_types() -> ArrowArray {
    let mut offsets = vec![0_i32];
    let mut bytes = Vec::new();
    for word in TYPES {
        bytes.extend_from_slice(word.as_bytes());
        offsets.push(bytes.len() as i32);
    }
    let buffers = vec![Buffer::absent(), Buffer::of(offsets), Buffer::of(bytes)];
    array(TYPES.len(), 0, buffers, Vec::new(), None)
}
