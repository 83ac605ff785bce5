// SPDX-License-Identifier: MIT OR Apache-2.0

//! The cells of all tables.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use statwalk_format::{FileType, text_of_bytes};
use statwalk_group::Extension;

use crate::error::Error;
use crate::file_systems::FileSystems;
use crate::folder::Folder;
use crate::listing::ListingHash;
use crate::machine::{FileSystem, Machine, Space};
use crate::manifest::{FileRecord, Missing};
use crate::numbering::NONE;
use crate::part::{DirState, Rows, TIME_NAMES, mark};
use crate::schema::TableName;
use crate::sums::Sums;
use crate::table_writer::{Cells, TableWriter};
use crate::tree::ErrorRow;

/// The rows of a row group of `entries`. Each fact of a row is found by its index.
pub(crate) struct Group<'g> {
    pub(crate) rows: &'g Rows,
    /// The indices, in the order of the table.
    pub(crate) order: &'g [u32],
    /// The number of the directory of each row; [`NONE`] for a root.
    pub(crate) of_rows: &'g [u32],
    /// The number of the directory that each row is; [`NONE`] for others.
    pub(crate) children: &'g [u32],
    /// Whether the bytes of each row count.
    pub(crate) counts: &'g [bool],
    /// The sums of a directory.
    pub(crate) sums: &'g dyn Fn(u32) -> Option<Sums>,
    pub(crate) file_systems: &'g FileSystems,
    pub(crate) keeps_access_times: bool,
}

/// A row of `dirs`.
pub(crate) struct DirFacts {
    pub(crate) number: u32,
    pub(crate) last: u32,
    /// [`NONE`] for a root.
    pub(crate) parent: u32,
    pub(crate) root: u32,
    pub(crate) entry: u64,
    /// Absent where it is too long.
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) first_entry: u64,
    pub(crate) entry_count: u64,
    pub(crate) state: DirState,
    pub(crate) is_incomplete: bool,
    pub(crate) is_finished: bool,
    pub(crate) cachedir_tag: Option<bool>,
    pub(crate) sums: Sums,
    pub(crate) missing: Missing,
    pub(crate) listing: i64,
}

impl Group<'_> {
    /// The cells of a column of `entries`.
    pub(crate) fn fill(&self, column: &str, cells: &mut Cells) {
        let rows = self.rows;
        let each = self.order.iter().map(|&row| row as usize);
        macro_rules! numbers {
            ($column:expr) => {
                each.for_each(|row| cells.number_or_none(rows.of($column, row).map(|v| v as i64)))
            };
        }
        let sums = |row: usize| (self.sums)(self.children[row]);
        match column {
            "dir" => each.for_each(|row| match self.of_rows[row] {
                NONE => cells.none(),
                number => cells.number(i64::from(number)),
            }),
            "name" => each.for_each(|row| cells.bytes(text_of_bytes(rows.name(row)).as_bytes())),
            "name_raw" => each.for_each(|row| raw_where_it_differs(rows.name(row), cells)),
            "ext" => each.for_each(|row| fill_ending(rows, row, cells)),
            "type" => each.for_each(|row| cells.bytes(rows.kind(row).word().as_bytes())),
            "mode" => numbers!(&rows.modes),
            "uid" => numbers!(&rows.uids),
            "gid" => numbers!(&rows.gids),
            "links" => numbers!(&rows.links),
            "fs" => each.for_each(|row| {
                let dev = rows.of(&rows.devs, row);
                cells.number_or_none(dev.and_then(|dev| self.file_systems.number(dev)));
            }),
            "ino" => numbers!(&rows.inos),
            "rdev" => numbers!(&rows.rdevs),
            "size" => each.for_each(|row| small(rows.of(&rows.sizes, row), cells)),
            "size_big" => each.for_each(|row| large(rows.of(&rows.sizes, row), cells)),
            "allocated" => each.for_each(|row| small(rows.of(&rows.allocated, row), cells)),
            "allocated_big" => each.for_each(|row| large(rows.of(&rows.allocated, row), cells)),
            "flags" => numbers!(&rows.flags),
            "flags_mask" => numbers!(&rows.flags_masks),
            "followed" => each.for_each(|row| cells.bool(rows.has(row, mark::FOLLOWED))),
            "known" => each.for_each(|row| cells.bool(rows.has(row, mark::KNOWN))),
            "errno" => each.for_each(|row| cells.number_or_none(rows.refusal(row).map(i64::from))),
            "counts" => each.for_each(|row| cells.bool(self.counts[row])),
            "child" => each.for_each(|row| match self.children[row] {
                NONE => cells.none(),
                number => cells.number(i64::from(number)),
            }),
            _ => match time_of(column) {
                Some((time, is_odd)) => self.fill_time(time, is_odd, cells),
                None => each.for_each(|row| match sums(row) {
                    Some(sums) => fill_sum(column, &sums, cells),
                    None => cells.none(),
                }),
            },
        }
    }

    fn fill_time(&self, time: usize, is_odd: bool, cells: &mut Cells) {
        let is_kept = time != 1 || self.keeps_access_times;
        for &row in self.order {
            let value = match (is_kept, is_odd) {
                (false, _) => None,
                (true, false) => self.rows.time(time, row as usize),
                (true, true) => self.rows.odd_time(time, row as usize),
            };
            cells.number_or_none(value);
        }
    }
}

/// Writes a row group of `dirs`.
pub(crate) fn write_dirs(
    writer: &mut TableWriter,
    folder: &Folder,
    dirs: &[DirFacts],
) -> Result<(), Error> {
    writer.group(folder, dirs.len(), |column, cells| {
        dirs.iter().for_each(|dir| fill_dir(column, dir, cells));
    })
}

/// The cell of a column of `dirs`.
fn fill_dir(column: &str, dir: &DirFacts, cells: &mut Cells) {
    let missing = &dir.missing;
    match column {
        "dir" => cells.number(i64::from(dir.number)),
        "last" => cells.number(i64::from(dir.last)),
        "parent" => match dir.parent {
            NONE => cells.none(),
            parent => cells.number(i64::from(parent)),
        },
        "root" => cells.number(i64::from(dir.root)),
        "entry" => cells.number(dir.entry as i64),
        "path" => match &dir.path {
            Some(path) => cells.bytes(text_of_bytes(path).as_bytes()),
            None => cells.none(),
        },
        "first_entry" => cells.number(dir.first_entry as i64),
        "entries" => cells.number(dir.entry_count as i64),
        "state" => cells.bytes(dir.state.word().as_bytes()),
        "incomplete" => cells.bool(dir.is_incomplete),
        "finished" => cells.bool(dir.is_finished),
        "cachedir_tag" => match dir.cachedir_tag {
            Some(is_tagged) => cells.bool(is_tagged),
            None => cells.none(),
        },
        "unreadable" => cells.number(missing.unreadable as i64),
        "changed" => cells.number(missing.changed as i64),
        "vanished" => cells.number(missing.vanished as i64),
        "not_entered" => cells.number(missing.not_entered as i64),
        "listing" => cells.number(dir.listing),
        _ => fill_sum(column, &dir.sums, cells),
    }
}

/// Adds a row to the hash of its directory.
#[inline]
pub(crate) fn hash_row(
    (rows, row): (&Rows, usize),
    counts: bool,
    file_systems: &FileSystems,
    hash: &mut ListingHash,
) {
    hash.begin(rows.name(row));
    hash.value(0, Some(i64::from(rows.kinds[row])));
    if rows.has(row, mark::KNOWN) {
        macro_rules! values {
                ($($bit:literal $column:ident)+) => {
                    $(hash.value($bit, rows.$column.get(row).map(|&value| value as i64));)+
                };
            }
        values!(1 modes 2 uids 3 gids 4 links);
        let dev = rows.devs.get(row);
        hash.value(5, dev.and_then(|dev| file_systems.identity_hash(*dev)));
        values!(6 inos 7 rdevs);
        let [size, allocated] = [&rows.sizes, &rows.allocated].map(|column| column.get(row));
        hash.value(8, size.and_then(|&size| i64::try_from(size).ok()));
        hash.value(
            9,
            allocated.and_then(|&allocated| i64::try_from(allocated).ok()),
        );
        values!(10 flags 11 flags_masks);
        hash.value(12, rows.time(0, row));
        hash.value(13, rows.time(2, row));
        hash.value(14, rows.time(3, row));
        if !rows.odd_times.is_empty() {
            for (bit, time) in [(15, 0), (16, 2), (17, 3)] {
                hash.value(bit, rows.odd_time(time, row));
            }
        }
        hash.value(18, Some(i64::from(rows.has(row, mark::FOLLOWED))));
        hash.value(19, Some(1));
        hash.value(21, Some(i64::from(counts)));
        for (bit, value) in [(22, size), (23, allocated)] {
            let large = value.filter(|&&value| i64::try_from(value).is_err());
            hash.value(bit, large.map(|&value| value as i64));
        }
    } else {
        hash.value(18, Some(i64::from(rows.has(row, mark::FOLLOWED))));
        hash.value(19, Some(0));
        hash.value(20, rows.refusal(row).map(i64::from));
        hash.value(21, Some(i64::from(counts)));
    }
    hash.end();
}

/// Writes `errors`.
pub(crate) fn write_errors(
    errors: &[ErrorRow<'_>],
    folder: &Folder,
) -> Result<Vec<FileRecord>, Error> {
    let mut writer = TableWriter::new(TableName::Errors)?;
    for group in errors.chunks(TableName::Errors.group_rows()) {
        writer.group(folder, group.len(), |column, cells| {
            for ErrorRow { error, dir } in group {
                match (column, error.reason) {
                    ("path", _) => cells.bytes(text_of_bytes(&error.path).as_bytes()),
                    ("root", _) => cells.number(i64::from(error.root)),
                    ("dir", _) if *dir == NONE => cells.none(),
                    ("dir", _) => cells.number(i64::from(*dir)),
                    ("op", _) => cells.bytes(error.op.as_bytes()),
                    ("errno", _) => cells.number_or_none(error.errno.map(i64::from)),
                    ("class", _) => cells.bytes(error.class.word().as_bytes()),
                    (_, Some(reason)) => cells.bytes(reason.as_bytes()),
                    (_, None) => cells.none(),
                }
            }
        })?;
    }
    writer.finish(folder)
}

/// Writes `owners`: the names of some users and groups.
pub(crate) fn write_owners(
    (uids, gids): (&BTreeSet<u32>, &BTreeSet<u32>),
    folder: &Folder,
    machine: &mut dyn Machine,
) -> Result<Vec<FileRecord>, Error> {
    let mut named: BTreeMap<(&str, u32), Vec<u8>> = BTreeMap::new();
    for &gid in gids {
        if let Some(name) = machine.group(gid) {
            named.insert(("group", gid), name);
        }
    }
    for &uid in uids {
        if let Some(name) = machine.user(uid) {
            named.insert(("user", uid), name);
        }
    }
    let named: Vec<_> = named.into_iter().collect();
    let mut writer = TableWriter::new(TableName::Owners)?;
    for group in named.chunks(TableName::Owners.group_rows()) {
        writer.group(folder, group.len(), |column, cells| {
            for ((kind, id), name) in group {
                match column {
                    "kind" => cells.bytes(kind.as_bytes()),
                    "id" => cells.number(i64::from(*id)),
                    "name" => cells.bytes(text_of_bytes(name).as_bytes()),
                    _ => raw_where_it_differs(name, cells),
                }
            }
        })?;
    }
    writer.finish(folder)
}

/// Writes `filesystems`.
pub(crate) fn write_file_systems(
    all: &[FileSystem],
    folder: &Folder,
) -> Result<Vec<FileRecord>, Error> {
    let mut writer = TableWriter::new(TableName::Filesystems)?;
    for (at, group) in all.chunks(TableName::Filesystems.group_rows()).enumerate() {
        let first = at * TableName::Filesystems.group_rows();
        writer.group(folder, group.len(), |column, cells| {
            for (at, file_system) in group.iter().enumerate() {
                match column {
                    "fs" => cells.number((first + at) as i64),
                    "identity" => {
                        let text = text_of_bytes(file_system.identity.as_bytes());
                        cells.bytes(text.as_bytes());
                    }
                    "type" => {
                        cells.bytes(text_of_bytes(file_system.kind.as_bytes()).as_bytes());
                    }
                    "mount_point" => {
                        cells.bytes(text_of_bytes(&file_system.mount_point).as_bytes());
                    }
                    _ => {
                        let number = space_number(column, file_system);
                        cells.number_or_none(number.map(|number| number as i64));
                    }
                }
            }
        })?;
    }
    writer.finish(folder)
}

fn raw_where_it_differs(name: &[u8], cells: &mut Cells) {
    match text_of_bytes(name) {
        Cow::Borrowed(_) => cells.none(),
        Cow::Owned(_) => cells.bytes(name),
    }
}

fn fill_ending(rows: &Rows, row: usize, cells: &mut Cells) {
    let ending = match rows.kind(row) {
        FileType::Directory => Vec::new(),
        _ => Extension::of_name(rows.name(row)).to_vec(),
    };
    match ending.is_empty() {
        true => cells.none(),
        false => cells.bytes(&ending),
    }
}

fn small(value: Option<u64>, cells: &mut Cells) {
    cells.number_or_none(value.and_then(|value| i64::try_from(value).ok()));
}

fn large(value: Option<u64>, cells: &mut Cells) {
    match value {
        Some(value) => cells.large(u128::from(value)),
        None => cells.none(),
    }
}

/// Which time a column has, and whether it has its seconds.
fn time_of(column: &str) -> Option<(usize, bool)> {
    let (name, is_odd) = match column.strip_suffix("_s") {
        Some(name) => (name, true),
        None => (column, false),
    };
    let time = TIME_NAMES.iter().position(|other| *other == name);
    time.map(|time| (time, is_odd))
}

/// The cell of a column of sums.
fn fill_sum(column: &str, sums: &Sums, cells: &mut Cells) {
    match column {
        "below_entries" => cells.number(sums.entries as i64),
        "below_files" => cells.number(sums.files as i64),
        "below_dirs" => cells.number(sums.dirs as i64),
        "below_size" => cells.small(sums.size_bytes),
        "below_size_big" => cells.large(sums.size_bytes),
        "below_allocated" => cells.small(sums.allocated_bytes),
        "below_allocated_big" => cells.large(sums.allocated_bytes),
        _ => cells.number_or_none(sums.newest_ns),
    }
}

/// The number of a column of `filesystems` that begins with `begin_` or `end_`.
fn space_number(column: &str, file_system: &FileSystem) -> Option<u64> {
    let names = &crate::schema::FILESYSTEMS[4..];
    let at = names.iter().position(|other| other.name == column)?;
    let of: Option<Space> = if at < 6 {
        file_system.begin
    } else {
        file_system.end
    };
    of.map(|space| space.numbers()[at % 6])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::TIMES;
    use crate::sums::EntryFacts;

    #[test]
    fn names_of_times_are_those_of_columns() {
        assert_eq!(TIME_NAMES.len(), TIMES);
        assert_eq!(time_of("ctime"), Some((2, false)));
        assert_eq!(time_of("btime_s"), Some((3, true)));
        assert_eq!(time_of("below_files"), None);
    }

    #[test]
    fn the_space_has_a_column_for_each_number() {
        let space = |first| {
            Some(Space::of_numbers(std::array::from_fn(|at| {
                first + at as u64
            })))
        };
        let file_system = FileSystem {
            begin: space(10),
            end: space(20),
            ..FileSystem::default()
        };
        assert_eq!(space_number("begin_block_bytes", &file_system), Some(10));
        assert_eq!(space_number("end_free_inodes", &file_system), Some(25));
    }

    #[test]
    fn facts_of_entries_have_what_sums_need() {
        let mut sums = Sums::default();
        sums.add_entry(
            &EntryFacts {
                kind: FileType::Socket,
                counts: true,
                size_bytes: Some(5),
                allocated_bytes: Some(u64::MAX),
                mtime_ns: None,
            },
            0,
        );
        assert_eq!(
            (sums.size_bytes, sums.allocated_bytes),
            (0, u128::from(u64::MAX))
        );
    }
}
