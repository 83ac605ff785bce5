// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a batch as pointers.

use statwalk_core::{Bits, Columns, Directories};
use statwalk_stream::Paths;

/// A time of a row that 64 bits of nanoseconds do not hold: before 1677, after 2262.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct OddTimeRow {
    /// The row.
    pub row: u32,
    /// SW_MTIME, SW_ATIME, SW_CTIME or SW_BTIME.
    pub column: u32,
    /// Seconds since 1970.
    pub seconds: i64,
}

/// Entries of many directories, in columns. A column that was not asked for is NULL.
///
/// Columns of bits have row 0 in the lowest bit of the first byte, and are NULL if every
/// bit is 1. New members can come at the end.
#[repr(C)]
#[derive(Debug)]
pub struct ColumnPointers {
    /// How many rows there are.
    pub len: usize,
    /// The number of the directory of each entry; of a directory, that of its parent. A root
    /// has none, and here its number among the roots, from 0 on.
    pub dirs: *const u32,
    /// A bit for each row: whether it lies in a directory. 0 for a root.
    pub has_dir: *const u8,
    /// The bytes of all names, without NULs.
    pub names: *const u8,
    /// Where each name begins, and at the end where the last one ends: `len` + 1 numbers.
    pub name_offsets: *const i32,
    /// The bytes of all paths, without NULs.
    pub paths: *const u8,
    /// As `name_offsets`.
    pub path_offsets: *const i64,
    /// SW_FILE and its neighbours.
    pub types: *const u8,
    /// A bit for each row: whether its attributes are known. A stat can fail.
    pub is_known: *const u8,
    /// st_size.
    pub size: *const u64,
    /// 512 times st_blocks.
    pub allocated: *const u64,
    /// st_nlink.
    pub links: *const u32,
    /// st_ino.
    pub ino: *const u64,
    /// st_dev.
    pub dev: *const u64,
    /// Nanoseconds since 1970; valid where the bit in `mtime_is_known` is 1.
    pub mtime_ns: *const i64,
    /// As `mtime_ns`.
    pub atime_ns: *const i64,
    /// As `mtime_ns`.
    pub ctime_ns: *const i64,
    /// As `mtime_ns`.
    pub btime_ns: *const i64,
    /// Whether each time is known and fits into nanoseconds.
    pub mtime_is_known: *const u8,
    /// As `mtime_is_known`.
    pub atime_is_known: *const u8,
    /// As `mtime_is_known`.
    pub ctime_is_known: *const u8,
    /// As `mtime_is_known`.
    pub btime_is_known: *const u8,
    /// st_uid.
    pub uid: *const u32,
    /// st_gid.
    pub gid: *const u32,
    /// st_mode.
    pub mode: *const u16,
    /// st_rdev.
    pub rdev: *const u64,
    /// Times that nanoseconds do not hold, by row: nearly always none.
    pub odd_times: *const OddTimeRow,
    /// How many there are.
    pub odd_time_count: usize,
}

/// The directories of a batch.
#[repr(C)]
#[derive(Debug)]
pub struct DirectoryPointers {
    /// Names, types and attributes. The name of a root is the path that the caller gave.
    pub columns: *const ColumnPointers,
    /// Their numbers.
    pub ids: *const u32,
    /// The root that each belongs to, from 0 on.
    pub roots: *const u32,
    /// SW_LISTED and its neighbours.
    pub states: *const u8,
    /// The numbers of directories that are finished. Their rows can still come; at the
    /// end of a scan that was stopped, those that are not among them lack something.
    pub finished: *const u32,
    /// How many there are.
    pub finished_count: usize,
    /// The numbers of directories that lack something, which could not be read.
    pub incomplete: *const u32,
    /// How many there are.
    pub incomplete_count: usize,
}

/// The times of some columns as the interface has them.
pub(crate) fn odd_times(columns: &Columns) -> Vec<OddTimeRow> {
    let odd = columns.attributes.odd_times.iter();
    odd.map(|odd| OddTimeRow {
        row: odd.row,
        column: odd.time.field().bits(),
        seconds: odd.seconds,
    })
    .collect()
}

pub(crate) fn pointers(
    columns: &Columns,
    paths: Option<&Paths>,
    odd: &[OddTimeRow],
) -> ColumnPointers {
    let of = &columns.attributes;
    let [mtime_ns, atime_ns, ctime_ns, btime_ns] = of.times_ns.each_ref().map(|ns| start(ns));
    let [
        mtime_is_known,
        atime_is_known,
        ctime_is_known,
        btime_is_known,
    ] = columns.times_are_known.each_ref().map(bits);
    let has_names = !columns.name_offsets.is_empty();
    ColumnPointers {
        len: columns.len(),
        dirs: columns.dirs.as_ptr(),
        has_dir: bits(&columns.has_dir),
        names: if has_names {
            columns.names.as_ptr()
        } else {
            std::ptr::null()
        },
        name_offsets: start(&columns.name_offsets),
        paths: paths.map_or(std::ptr::null(), |paths| paths.bytes.as_ptr()),
        path_offsets: paths.map_or(std::ptr::null(), |paths| paths.offsets.as_ptr()),
        types: columns.kinds.as_ptr(),
        is_known: bits(&columns.is_known),
        size: start(&of.size_bytes),
        allocated: start(&of.allocated_bytes),
        links: start(&of.links),
        ino: start(&of.inos),
        dev: start(&of.devs),
        mtime_ns,
        atime_ns,
        ctime_ns,
        btime_ns,
        mtime_is_known,
        atime_is_known,
        ctime_is_known,
        btime_is_known,
        uid: start(&of.uids),
        gid: start(&of.gids),
        mode: start(&of.modes),
        rdev: start(&of.rdevs),
        odd_times: start(odd),
        odd_time_count: odd.len(),
    }
}

/// All but the pointer to the columns.
pub(crate) fn directory_pointers(directories: &Directories) -> DirectoryPointers {
    DirectoryPointers {
        columns: std::ptr::null(),
        ids: start(&directories.ids),
        roots: start(&directories.roots),
        states: start(&directories.states),
        finished: start(&directories.finished),
        finished_count: directories.finished.len(),
        incomplete: start(&directories.incomplete),
        incomplete_count: directories.incomplete.len(),
    }
}

/// Null for a column without values: it was not asked for, or there is no row.
fn start<T>(values: &[T]) -> *const T {
    match values.is_empty() {
        true => std::ptr::null(),
        false => values.as_ptr(),
    }
}

fn bits(bits: &Bits) -> *const u8 {
    bits.as_bytes().map_or(std::ptr::null(), <[u8]>::as_ptr)
}
