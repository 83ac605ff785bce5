// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes the tables of a snapshot from the rows of a scan.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use statwalk_format::{FileType, path_order, text_of_bytes};
use statwalk_group::Extension;

use crate::error::Error;
use crate::first_names::counting;
use crate::folder::Folder;
use crate::listing::ListingHash;
use crate::machine::{FileSystem, Machine, Space};
use crate::manifest::{Counts, Facts, Manifest, Missing, Tables};
use crate::numbering::{NONE, Numbering};
use crate::part::{Class, DirState, Part, PartError, Rows, TIME_NAMES, mark, type_word};
use crate::schema::{PATH_BYTES_MAX, TableName};
use crate::sums::{Sums, bring_up, sums};
use crate::table_writer::{Cells, TableWriter};

/// The name of the file that marks a cache.
const TAG_NAME: &[u8] = b"CACHEDIR.TAG";

/// Options of [`merge`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Keep the times of the last access. Two snapshots of the same tree differ by them.
    pub access_times: bool,
    /// Store a scan that was interrupted.
    pub partial: bool,
}

/// Writes the tables of a snapshot into a folder. [`Folder::finish`] takes the manifest.
///
/// The same tree at rest gives the same bytes of `entries`, `dirs`, `errors` and `owners`, in
/// whatever order the rows come.
///
/// # Errors
///
/// Returns an error if the rows contradict each other, if the scan was interrupted and `partial`
/// is not set, or if the disk does not take the files.
pub fn merge(
    part: &Part,
    facts: Facts,
    machine: &mut dyn Machine,
    folder: &Folder,
    options: &MergeOptions,
) -> Result<Manifest, Error> {
    if facts.interrupted && !options.partial {
        return Err(Error::unfit("the scan was interrupted"));
    }
    let numbering = Numbering::of(part)?;
    let merge = Merge::of(part, numbering, &facts, machine, *options)?;
    let tables = Tables {
        entries: merge.write_entries(folder)?,
        dirs: merge.write_dirs(folder, machine)?,
        errors: merge.write_errors(folder)?,
        owners: merge.write_owners(folder, machine)?,
        filesystems: merge.write_file_systems(folder)?,
    };
    merge.manifest(facts, tables)
}

/// All that is known before the first row is written.
struct Merge<'a> {
    part: &'a Part,
    rows: &'a Rows,
    numbering: Numbering,
    options: MergeOptions,
    /// The root of each directory, by number.
    roots: Vec<u32>,
    counts: Vec<bool>,
    sums: Vec<Sums>,
    total: Sums,
    file_systems: FileSystems,
    /// The directory of each row that has one, by row: [`NONE`] for others.
    errors: Vec<ErrorRow<'a>>,
    /// The losses in and below each directory, by number.
    missing: Vec<Missing>,
    total_missing: Missing,
    /// By number.
    is_incomplete: Vec<bool>,
    is_finished: Vec<bool>,
}

/// A path of which something is missing, and where it lies.
struct ErrorRow<'a> {
    error: Cow<'a, PartError>,
    /// The number of the directory that it is, or that holds it.
    dir: u32,
}

/// The file systems in the order in which they appear.
#[derive(Default)]
struct FileSystems {
    all: Vec<FileSystem>,
    devices: Vec<Vec<u64>>,
    by_dev: HashMap<u64, u32, RandomState>,
}

impl FileSystems {
    /// Gives the file system of each device a number.
    fn of(rows: &Rows, numbering: &Numbering, machine: &mut dyn Machine) -> FileSystems {
        let mut found = FileSystems::default();
        let of_dirs = numbering.rows.iter();
        let mut last = None;
        for &row in of_dirs.chain(&numbering.order) {
            let dev = rows.of(&rows.devs, row as usize);
            if dev == last {
                continue;
            }
            last = dev;
            if let Some(dev) = dev {
                found.add(dev, machine);
            }
        }
        found
    }

    fn add(&mut self, dev: u64, machine: &mut dyn Machine) {
        if self.by_dev.contains_key(&dev) {
            return;
        }
        let file_system = machine.file_system(dev);
        let known = self
            .all
            .iter()
            .position(|other| other.identity == file_system.identity);
        let fs = known.unwrap_or_else(|| {
            self.all.push(file_system);
            self.devices.push(Vec::new());
            self.all.len() - 1
        });
        self.devices[fs].push(dev);
        self.by_dev.insert(dev, fs as u32);
    }

    #[inline]
    fn number(&self, dev: u64) -> Option<i64> {
        self.by_dev.get(&dev).map(|&fs| i64::from(fs))
    }
}

impl<'a> Merge<'a> {
    fn of(
        part: &'a Part,
        numbering: Numbering,
        facts: &Facts,
        machine: &mut dyn Machine,
        options: MergeOptions,
    ) -> Result<Merge<'a>, Error> {
        let rows = &part.rows;
        let roots: Vec<u32> = numbering
            .dirs
            .iter()
            .map(|&at| part.dirs[at as usize].root)
            .collect();
        check_roots(rows, &numbering, &roots, facts)?;
        let counts = counting(rows, &numbering, &roots, (facts.links, facts.follows));
        let (sums, total) = sums(rows, &numbering, &counts);
        let file_systems = FileSystems::of(rows, &numbering, machine);
        let mut merge = Merge {
            part,
            rows,
            is_incomplete: marked(&numbering, &part.incomplete)?,
            is_finished: marked(&numbering, &part.finished)?,
            missing: vec![Missing::default(); numbering.len()],
            total_missing: Missing::default(),
            numbering,
            options,
            roots,
            counts,
            sums,
            total,
            file_systems,
            errors: Vec::new(),
        };
        merge.find_errors(facts);
        Ok(merge)
    }

    /// Brings errors and directories that were not entered into one list, in path order.
    fn find_errors(&mut self, facts: &Facts) {
        let mut errors: Vec<ErrorRow<'a>> = Vec::new();
        for error in &self.part.errors {
            let dir = self.dir_of(error, facts);
            errors.push(ErrorRow {
                error: Cow::Borrowed(error),
                dir,
            });
        }
        for number in 0..self.numbering.len() {
            let state = self.state(number);
            let Some(reason) = state.reason() else {
                continue;
            };
            let error = PartError {
                path: self.path(number as u32, usize::MAX).unwrap_or_default(),
                root: self.roots[number],
                op: "enter",
                errno: None,
                class: Class::NotEntered,
                reason: Some(reason),
            };
            errors.push(ErrorRow {
                error: Cow::Owned(error),
                dir: number as u32,
            });
        }
        errors.sort_by(|a, b| {
            let [a, b] = [&a.error, &b.error];
            (a.root.cmp(&b.root))
                .then_with(|| path_order(&a.path, &b.path))
                .then(a.class.cmp(&b.class))
                .then_with(|| (a.op, a.errno, a.reason).cmp(&(b.op, b.errno, b.reason)))
        });
        let mut nowhere = Missing::default();
        for ErrorRow { error, dir } in &errors {
            let missing = self.missing.get_mut(*dir as usize).unwrap_or(&mut nowhere);
            match error.class {
                Class::Unreadable => missing.unreadable += 1,
                Class::Changed => missing.changed += 1,
                Class::Vanished => missing.vanished += 1,
                Class::NotEntered => missing.not_entered += 1,
            }
        }
        self.total_missing = bring_up(&mut self.missing, &self.numbering.parents);
        self.total_missing.add(&nowhere);
        // They have no paths.
        let vanished = facts.roots.iter().map(|root| root.vanished);
        self.total_missing.vanished = self.total_missing.vanished.max(vanished.sum());
        self.errors = errors;
    }

    /// The directory that an error is of, or that holds its path; [`NONE`] where there is none.
    fn dir_of(&self, error: &PartError, facts: &Facts) -> u32 {
        let Some(root) = facts.roots.get(error.root as usize) else {
            return NONE;
        };
        // Those of roots are in their order.
        let first = (0..self.numbering.len() as u32).find(|&number| {
            let number = number as usize;
            self.numbering.parents[number] == NONE && self.roots[number] == error.root
        });
        let (Some(mut dir), Some(below)) = (first, error.path.strip_prefix(&root.path[..])) else {
            return NONE;
        };
        for name in below
            .split(|&byte| byte == b'/')
            .filter(|name| !name.is_empty())
        {
            let children = self.numbering.children(dir);
            let of = |child: &u32| {
                self.rows
                    .name(self.numbering.rows[*child as usize] as usize)
            };
            match children.binary_search_by(|child| of(child).cmp(name)) {
                Ok(at) => dir = children[at],
                Err(_) => break,
            }
        }
        dir
    }

    fn state(&self, number: usize) -> DirState {
        self.part.dirs[self.numbering.dirs[number] as usize].state
    }

    /// The path of a directory, beginning with its root as given; absent if it is longer than
    /// a limit.
    fn path(&self, number: u32, bytes_max: usize) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let (mut at, mut bytes) = (number, 0);
        while at != NONE {
            let name = self.rows.name(self.numbering.rows[at as usize] as usize);
            bytes += name.len() + 1;
            if bytes > bytes_max.saturating_add(1) {
                return None;
            }
            names.push(name);
            at = self.numbering.parents[at as usize];
        }
        Some(join(names.into_iter().rev()))
    }

    fn write_entries(&self, folder: &Folder) -> Result<Vec<crate::manifest::FileRecord>, Error> {
        let dirs = self.numbers_of_rows();
        let mut writer = TableWriter::new(TableName::Entries)?;
        for order in self.numbering.order.chunks(TableName::Entries.group_rows()) {
            writer.group(folder, order.len(), |column, cells| {
                self.fill_entries(column, order, &dirs, cells);
            })?;
        }
        writer.finish(folder)
    }

    /// The number of the directory that each row is, by row; [`NONE`] for others.
    fn numbers_of_rows(&self) -> Vec<u32> {
        let mut numbers = vec![NONE; self.rows.len()];
        for (number, &row) in self.numbering.rows.iter().enumerate() {
            numbers[row as usize] = number as u32;
        }
        numbers
    }

    /// The cells of a column of `entries` for some rows.
    fn fill_entries(&self, column: &str, order: &[u32], dirs: &[u32], cells: &mut Cells) {
        let rows = self.rows;
        let each = order.iter().map(|&row| row as usize);
        macro_rules! numbers {
            ($column:expr) => {
                each.for_each(|row| cells.number_or_none(rows.of($column, row).map(|v| v as i64)))
            };
        }
        let sums = |row: usize| self.sums.get(dirs[row] as usize);
        match column {
            "dir" => each.for_each(|row| match self.numbering.of_rows[row] {
                NONE => cells.none(),
                number => cells.number(i64::from(number)),
            }),
            "name" => each.for_each(|row| cells.bytes(text_of_bytes(rows.name(row)).as_bytes())),
            "name_raw" => each.for_each(|row| raw_where_it_differs(rows.name(row), cells)),
            "ext" => each.for_each(|row| fill_ending(rows, row, cells)),
            "type" => each.for_each(|row| cells.bytes(type_word(rows.kind(row)).as_bytes())),
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
            "child" => each.for_each(|row| match dirs[row] {
                NONE => cells.none(),
                number => cells.number(i64::from(number)),
            }),
            _ => match time_of(column) {
                Some((time, is_odd)) => self.fill_time(time, is_odd, order, cells),
                None => each.for_each(|row| match sums(row) {
                    Some(sums) => fill_sum(column, sums, cells),
                    None => cells.none(),
                }),
            },
        }
    }

    fn fill_time(&self, time: usize, is_odd: bool, order: &[u32], cells: &mut Cells) {
        let is_kept = time != 1 || self.options.access_times;
        for &row in order {
            let value = match (is_kept, is_odd) {
                (false, _) => None,
                (true, false) => self.rows.time(time, row as usize),
                (true, true) => self.rows.odd_time(time, row as usize),
            };
            cells.number_or_none(value);
        }
    }

    fn write_dirs(
        &self,
        folder: &Folder,
        machine: &mut dyn Machine,
    ) -> Result<Vec<crate::manifest::FileRecord>, Error> {
        let mut entries_of_dirs = vec![0_u64; self.numbering.len()];
        let numbers = self.numbers_of_rows();
        for (place, &row) in self.numbering.order.iter().enumerate() {
            if let Some(entry) = entries_of_dirs.get_mut(numbers[row as usize] as usize) {
                *entry = place as u64;
            }
        }
        let mut writer = TableWriter::new(TableName::Dirs)?;
        let all: Vec<usize> = (0..self.numbering.len()).collect();
        for group in all.chunks(TableName::Dirs.group_rows()) {
            writer.group(folder, group.len(), |column, cells| {
                for &number in group {
                    self.fill_dir(column, number, &entries_of_dirs, machine, cells);
                }
            })?;
        }
        writer.finish(folder)
    }

    /// The cell of a column of `dirs` for a directory.
    fn fill_dir(
        &self,
        column: &str,
        number: usize,
        entries_of_dirs: &[u64],
        machine: &mut dyn Machine,
        cells: &mut Cells,
    ) {
        let numbering = &self.numbering;
        let missing = &self.missing[number];
        match column {
            "dir" => cells.number(number as i64),
            "last" => cells.number(i64::from(numbering.lasts[number])),
            "parent" => match numbering.parents[number] {
                NONE => cells.none(),
                parent => cells.number(i64::from(parent)),
            },
            "root" => cells.number(i64::from(self.roots[number])),
            "entry" => cells.number(entries_of_dirs[number] as i64),
            "path" => match self.path(number as u32, PATH_BYTES_MAX) {
                Some(path) => cells.bytes(text_of_bytes(&path).as_bytes()),
                None => cells.none(),
            },
            "first_entry" => cells.number(numbering.first_entries[number] as i64),
            "entries" => cells.number(numbering.entries(number).len() as i64),
            "state" => cells.bytes(self.state(number).word().as_bytes()),
            "incomplete" => cells.bool(self.is_incomplete[number]),
            "finished" => cells.bool(self.is_finished[number]),
            "cachedir_tag" => match self.cachedir_tag(number, machine) {
                Some(is_tagged) => cells.bool(is_tagged),
                None => cells.none(),
            },
            "unreadable" => cells.number(missing.unreadable as i64),
            "changed" => cells.number(missing.changed as i64),
            "vanished" => cells.number(missing.vanished as i64),
            "not_entered" => cells.number(missing.not_entered as i64),
            "listing" => cells.number(self.listing(number)),
            _ => fill_sum(column, &self.sums[number], cells),
        }
    }

    /// Whether a directory has a valid tag of a cache; absent where that is not known.
    fn cachedir_tag(&self, number: usize, machine: &mut dyn Machine) -> Option<bool> {
        if self.state(number) != DirState::Listed {
            return None;
        }
        let order = &self.numbering.order[self.numbering.entries(number)];
        let name = |row: &u32| self.rows.name(*row as usize);
        let Ok(at) = order.binary_search_by(|row| name(row).cmp(TAG_NAME)) else {
            return Some(false);
        };
        match self.rows.kind(order[at] as usize) {
            FileType::File => {
                let path = self.path(number as u32, usize::MAX);
                machine.is_cachedir(&path.unwrap_or_default())
            }
            _ => Some(false),
        }
    }

    /// The hash of a directory's rows.
    fn listing(&self, number: usize) -> i64 {
        let mut hash = ListingHash::new();
        for &row in &self.numbering.order[self.numbering.entries(number)] {
            self.hash_row(row as usize, &mut hash);
        }
        hash.finish()
    }

    #[inline]
    fn hash_row(&self, row: usize, hash: &mut ListingHash) {
        let rows = self.rows;
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
            hash.value(5, dev.and_then(|dev| self.file_systems.identity_hash(*dev)));
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
            hash.value(21, Some(i64::from(self.counts[row])));
            for (bit, value) in [(22, size), (23, allocated)] {
                let large = value.filter(|&&value| i64::try_from(value).is_err());
                hash.value(bit, large.map(|&value| value as i64));
            }
        } else {
            hash.value(18, Some(i64::from(rows.has(row, mark::FOLLOWED))));
            hash.value(19, Some(0));
            hash.value(20, rows.refusal(row).map(i64::from));
            hash.value(21, Some(i64::from(self.counts[row])));
        }
        hash.end();
    }

    fn write_errors(&self, folder: &Folder) -> Result<Vec<crate::manifest::FileRecord>, Error> {
        let mut writer = TableWriter::new(TableName::Errors)?;
        for group in self.errors.chunks(TableName::Errors.group_rows()) {
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

    fn write_owners(
        &self,
        folder: &Folder,
        machine: &mut dyn Machine,
    ) -> Result<Vec<crate::manifest::FileRecord>, Error> {
        let mut named: BTreeMap<(&str, u32), Vec<u8>> = BTreeMap::new();
        for (kind, column) in [("group", &self.rows.gids), ("user", &self.rows.uids)] {
            let known = (0..column.len()).filter(|&row| self.rows.has(row, mark::KNOWN));
            let ids: BTreeSet<u32> = known.map(|row| column[row]).collect();
            for id in ids {
                let name = match kind {
                    "user" => machine.user(id),
                    _ => machine.group(id),
                };
                if let Some(name) = name {
                    named.insert((kind, id), name);
                }
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

    fn write_file_systems(
        &self,
        folder: &Folder,
    ) -> Result<Vec<crate::manifest::FileRecord>, Error> {
        let mut writer = TableWriter::new(TableName::Filesystems)?;
        let all = &self.file_systems.all;
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

    fn manifest(self, facts: Facts, tables: Tables) -> Result<Manifest, Error> {
        let is_there = |root: &crate::manifest::Root| {
            root.missing.is_none()
                && !root.interrupted
                && root.unreadable == 0
                && root.changed_dirs == 0
        };
        let mut root_rows = vec![None; facts.roots.len()];
        let of_roots = self.numbering.order.iter().zip(0..);
        for (&row, place) in
            of_roots.take_while(|(row, _)| self.rows.has(**row as usize, mark::ROOT))
        {
            root_rows[self.rows.dirs[row as usize] as usize] = Some(place);
        }
        Ok(Manifest {
            complete: !facts.interrupted
                && facts.roots.iter().all(is_there)
                && self.total_missing.is_whole(),
            counts: Counts {
                entries: self.total.entries,
                dirs: self.total.dirs,
                files: self.total.files,
                size_bytes: self.total.size_bytes,
                allocated_bytes: self.total.allocated_bytes,
            },
            missing: self.total_missing,
            devices: self.file_systems.devices,
            root_rows,
            facts,
            tables,
        })
    }
}

impl FileSystems {
    /// Stands for the file system of a device in hashes: its number can be another in the next
    /// snapshot.
    fn identity_hash(&self, dev: u64) -> Option<i64> {
        let fs = *self.by_dev.get(&dev)?;
        let identity = self.all[fs as usize].identity.as_bytes();
        Some(twox_hash::XxHash64::oneshot(0, identity) as i64)
    }
}

/// Whether each row of a root is of one of the roots, and each directory of the root of its
/// parent.
fn check_roots(
    rows: &Rows,
    numbering: &Numbering,
    roots: &[u32],
    facts: &Facts,
) -> Result<(), Error> {
    let is_root = |&&row: &&u32| rows.has(row as usize, mark::ROOT);
    let of_roots = numbering.order.iter().take_while(is_root);
    let is_known = |&row: &u32| (rows.dirs[row as usize] as usize) < facts.roots.len();
    if !of_roots.copied().all(|row| is_known(&row)) {
        return Err(Error::unfit("a root is not one of the scan"));
    }
    for (number, &root) in roots.iter().enumerate() {
        let row = numbering.rows[number] as usize;
        let expected = match numbering.parents[number] {
            NONE => rows.dirs[row],
            parent => roots[parent as usize],
        };
        if root != expected {
            return Err(Error::unfit(
                "a directory belongs to another root than its parent",
            ));
        }
    }
    Ok(())
}

/// By number, which directories of the part a list names.
fn marked(numbering: &Numbering, ids: &[u32]) -> Result<Vec<bool>, Error> {
    let mut marked = vec![false; numbering.len()];
    for &id in ids {
        let number = numbering.number(id);
        let number = number.ok_or_else(|| Error::unfit("an end of a directory that has no row"))?;
        marked[number as usize] = true;
    }
    Ok(marked)
}

/// Joins the names that lead to a directory. The first is a root, which can end in a slash.
pub(crate) fn join<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    let mut path: Vec<u8> = Vec::new();
    for (at, name) in names.enumerate() {
        if at > 0 && !path.is_empty() && path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    path
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
    fn a_root_that_ends_in_a_slash_has_no_second_one() {
        let path = |names: &[&'static str]| {
            String::from_utf8(join(names.iter().map(|name| name.as_bytes()))).unwrap()
        };
        assert_eq!(path(&["/", "a", "b"]), "/a/b");
        assert_eq!(path(&["", "a"]), "a");
        assert_eq!(path(&["/srv"]), "/srv");
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
        sums.add_entry(&EntryFacts {
            kind: FileType::Socket,
            counts: true,
            size_bytes: Some(5),
            allocated_bytes: Some(u64::MAX),
            mtime_ns: None,
        });
        assert_eq!(
            (sums.size_bytes, sums.allocated_bytes),
            (0, u128::from(u64::MAX))
        );
    }
}
