// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows for the sinks of the engine out.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use statwalk_core::{
    Cause, Columns, Context, DirState as State, Directories, EntryError, Errno, Fields, LinkPolicy,
    OddTime, Op, Refusal, Time,
};
use statwalk_format::{FileType, bytes_of_text, is_entry_name};

use crate::error::Error;
use crate::manifest::Links;
use crate::part::{Class, DirState, TIME_NAMES, type_of_word};
use crate::snapshot::{Dir, ROWS_AT_ONCE, Snapshot, narrow, ranges, state_of};
use crate::table::Columns as Read;
use crate::table_file::Values;

/// Rows of a snapshot, as [`Replay::columns`](statwalk_core::Replay::columns) takes them: a
/// directory comes before its entries. [`Snapshot::scan_rows`] makes it.
#[derive(Debug)]
pub struct ScanRows<'s> {
    snapshot: &'s Snapshot,
    fields: Fields,
    names: Vec<&'static str>,
    /// The directory that is the root, and its path.
    below: Option<(Dir, Vec<u8>)>,
    /// The directory whose number is 0 in the rows.
    first_dir: u64,
    left: Range<u64>,
    /// Directories that were not listed, or that lack something.
    unusual: HashMap<u64, (DirState, bool), RandomState>,
    /// The directories that are finished. They come at the end.
    finished: Option<Vec<u32>>,
    /// The roots, each with the first of its directories.
    roots: Vec<(u64, u32)>,
}

/// The columns of some rows that were read, each looked up once.
struct Handles<'r> {
    read: &'r Read,
    dir: Option<&'r Values>,
    child: Option<&'r Values>,
    name: Option<&'r Values>,
    kind: Option<&'r Values>,
    followed: Option<&'r Values>,
    known: Option<&'r Values>,
    errno: Option<&'r Values>,
    links: Option<&'r Values>,
    uid: Option<&'r Values>,
    gid: Option<&'r Values>,
    mode: Option<&'r Values>,
    flags: Option<&'r Values>,
    flags_mask: Option<&'r Values>,
    rdev: Option<&'r Values>,
    fs: Option<&'r Values>,
    ino: Option<&'r Values>,
    size: [Option<&'r Values>; 2],
    allocated: [Option<&'r Values>; 2],
    times: [Option<&'r Values>; 4],
    odd_times: [Option<&'r Values>; 4],
}

impl<'r> Handles<'r> {
    fn of(read: &'r Read) -> Handles<'r> {
        let of = |name: &str| read.values(name);
        Handles {
            read,
            dir: of("dir"),
            child: of("child"),
            name: of("name"),
            kind: of("type"),
            followed: of("followed"),
            known: of("known"),
            errno: of("errno"),
            links: of("links"),
            uid: of("uid"),
            gid: of("gid"),
            mode: of("mode"),
            flags: of("flags"),
            flags_mask: of("flags_mask"),
            rdev: of("rdev"),
            fs: of("fs"),
            ino: of("ino"),
            size: ["size", "size_big"].map(of),
            allocated: ["allocated", "allocated_big"].map(of),
            times: TIME_NAMES.map(of),
            odd_times: TIME_NAMES.map(|name| of(&format!("{name}_s"))),
        }
    }

    /// A number that is never negative.
    #[inline]
    fn count(&self, values: Option<&Values>, name: &str, row: usize) -> Result<Option<u64>, Error> {
        let wrong = |_| self.read.wrong(name, row);
        number(values, row)
            .map(|value| u64::try_from(value).map_err(wrong))
            .transpose()
    }

    /// A number that is smaller than 64 bits; 0 where there is none.
    #[inline]
    fn narrow<T: TryFrom<i64> + Default>(
        &self,
        values: Option<&Values>,
        name: &str,
        row: usize,
    ) -> Result<T, Error> {
        match number(values, row) {
            None => Ok(T::default()),
            Some(value) => T::try_from(value).map_err(|_| self.read.wrong(name, row)),
        }
    }

    /// A number of 64 bits, from its column or from that of large ones; 0 where there is none.
    #[inline]
    fn large(&self, values: [Option<&Values>; 2], name: &str, row: usize) -> Result<u64, Error> {
        if let Some(value) = self.count(values[0], name, row)? {
            return Ok(value);
        }
        let value = values[1]
            .and_then(|values| values.decimal(row))
            .unwrap_or(0);
        u64::try_from(value).map_err(|_| self.read.wrong(name, row))
    }

    #[inline]
    fn text(&self, values: Option<&'r Values>, name: &str, row: usize) -> Result<&'r str, Error> {
        let text = values.and_then(|values| values.text(row));
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        text.ok_or_else(|| self.read.wrong(name, row))
    }
}

#[inline]
fn number(values: Option<&Values>, row: usize) -> Option<i64> {
    values.and_then(|values| values.number(row))
}

impl Snapshot {
    /// The rows of the snapshot with some fields, for a sink of the engine.
    ///
    /// With a directory, that directory is the one root, and its path is the name; the sink gets
    /// [`context_below`](Self::context_below). Errors come by
    /// [`entry_errors`](Self::entry_errors).
    ///
    /// Memory: 16,384 rows, and up to 5 bytes for each directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the files are damaged, cannot be read, or have more directories than
    /// the engine has numbers for.
    pub fn scan_rows(&self, below: Option<&Dir>, fields: Fields) -> Result<ScanRows<'_>, Error> {
        let (dirs, rows) = match below {
            None => (0..self.dir_count(), 0..self.entries.rows()),
            Some(dir) => {
                let last = self.dir(dir.last)?;
                (dir.number..dir.last + 1, dir.first_entry..last.rows().end)
            }
        };
        if dirs.end - dirs.start >= u64::from(u32::MAX - 1024) {
            return Err(Error::unfit("there are too many directories"));
        }
        let mut found = ScanRows {
            snapshot: self,
            fields,
            names: names_of(fields),
            below: below
                .map(|dir| Ok::<_, Error>((dir.clone(), self.path(dir.number)?)))
                .transpose()?,
            first_dir: dirs.start,
            left: rows,
            unusual: HashMap::default(),
            finished: Some(Vec::new()),
            roots: Vec::new(),
        };
        for range in ranges(dirs) {
            found.learn(range)?;
        }
        Ok(found)
    }

    /// The facts for a sink that gets all rows.
    #[must_use]
    pub fn context(&self, now_ns: i64) -> Context {
        let roots = self.manifest().facts.roots.iter();
        self.context_of(roots.map(|root| root.path.clone()), now_ns)
    }

    /// The facts for a sink that gets the rows below a directory, by its path.
    #[must_use]
    pub fn context_below(&self, path: &[u8], now_ns: i64) -> Context {
        self.context_of([path.to_vec()], now_ns)
    }

    fn context_of(&self, roots: impl IntoIterator<Item = Vec<u8>>, now_ns: i64) -> Context {
        let mut context = Context::new(roots, now_ns);
        context.follows = self.manifest().facts.follows;
        context.links = match self.manifest().facts.links {
            Links::Once => LinkPolicy::Once,
            Links::Each => LinkPolicy::Each,
        };
        context
    }

    /// The errors of the scan, those of missing roots too: by root and in path order.
    ///
    /// # Errors
    ///
    /// As for [`errors`](Self::errors).
    pub fn entry_errors(&self) -> Result<Vec<EntryError>, Error> {
        let mut errors = Vec::new();
        for row in self.errors()? {
            let errno = row.errno.map(Errno);
            let cause = match (row.class, errno) {
                (Class::Changed, _) => Cause::Changed,
                (Class::Unreadable, Some(errno)) => match row.reason.as_deref() {
                    Some(NOT_REGULAR) => Cause::NotRegular(errno),
                    _ => Cause::System(errno),
                },
                _ => continue,
            };
            errors.push(EntryError {
                path: row.path,
                op: op_of_name(&row.op),
                cause,
                root: row.root as usize,
            });
        }
        Ok(errors)
    }
}

/// The reason of [`Cause::NotRegular`].
pub(crate) const NOT_REGULAR: &str = "not regular";

/// The operation of a name; one that the engine did not have then is a stat.
fn op_of_name(name: &str) -> Op {
    let all = [Op::Open, Op::Read, Op::Follow, Op::Patterns, Op::Collect];
    let found = all.into_iter().find(|op| op.name() == name);
    found.unwrap_or(Op::Stat)
}

/// The columns of `entries` that give some fields.
fn names_of(fields: Fields) -> Vec<&'static str> {
    let mut names = vec!["dir", "name", "type", "child", "followed", "known", "errno"];
    let of_fields: [(Fields, &[&'static str]); 9] = [
        (Fields::SIZE, &["size", "size_big"]),
        (Fields::ALLOCATED, &["allocated", "allocated_big"]),
        (Fields::LINKS, &["links"]),
        (Fields::ID, &["fs", "ino"]),
        (Fields::OWNER, &["uid", "gid"]),
        (Fields::MODE, &["mode"]),
        (Fields::RDEV, &["rdev"]),
        (Fields::FLAGS, &["flags", "flags_mask"]),
        (Fields::MTIME, &["mtime", "mtime_s"]),
    ];
    for (field, columns) in of_fields {
        if fields.contains(field) {
            names.extend(columns);
        }
    }
    for (field, columns) in [
        (Fields::ATIME, ["atime", "atime_s"]),
        (Fields::CTIME, ["ctime", "ctime_s"]),
        (Fields::BTIME, ["btime", "btime_s"]),
    ] {
        if fields.contains(field) {
            names.extend(columns);
        }
    }
    names
}

impl ScanRows<'_> {
    /// Notes the unusual ones among some directories, and those that are finished.
    fn learn(&mut self, numbers: Range<u64>) -> Result<(), Error> {
        let names = ["state", "incomplete", "finished", "root"];
        let columns = self.snapshot.dirs.read(numbers.clone(), &names)?;
        for (row, number) in numbers.enumerate() {
            let (state, lacks) = (state_of(&columns, row)?, columns.holds("incomplete", row));
            let root = if self.below.is_some() {
                0
            } else {
                narrow(&columns, "root", row)?.unwrap_or(0)
            };
            if self.roots.last().is_none_or(|&(_, last)| last != root) {
                self.roots.push((number, root));
            }
            if state != DirState::Listed || lacks {
                self.unusual.insert(number, (state, lacks));
            }
            if let (true, Some(finished)) = (columns.holds("finished", row), &mut self.finished) {
                finished.push((number - self.first_dir) as u32);
            }
        }
        Ok(())
    }

    fn next_rows(&mut self) -> Result<Option<(Columns, Directories)>, Error> {
        let (mut entries, mut directories) = (Columns::default(), Directories::default());
        entries.name_offsets.push(0);
        directories.columns.name_offsets.push(0);
        if let Some((dir, path)) = self.below.take() {
            let row = dir.entry..dir.entry.saturating_add(1);
            let read = self.snapshot.entries.read(row, &self.names)?;
            let name = Some((&path[..], 0));
            self.add(&Handles::of(&read), 0, name, &mut entries, &mut directories)?;
            return Ok(Some((entries, directories)));
        }
        if self.left.is_empty() {
            // A directory ends after all in it.
            let Some(finished) = self.finished.take() else {
                return Ok(None);
            };
            directories.finished = finished;
            return Ok(Some((entries, directories)));
        }
        let end = self.left.end.min(self.left.start + ROWS_AT_ONCE);
        let read = self
            .snapshot
            .entries
            .read(self.left.start..end, &self.names)?;
        self.left.start = end;
        let handles = Handles::of(&read);
        for row in 0..read.len() {
            let root = match number(handles.dir, row) {
                Some(_) => None,
                None => Some((&b""[..], self.root_of(read.rows().start + row as u64)?)),
            };
            self.add(&handles, row, root, &mut entries, &mut directories)?;
        }
        Ok(Some((entries, directories)))
    }

    /// The root that a row is.
    fn root_of(&self, row: u64) -> Result<u32, Error> {
        let roots = &self.snapshot.manifest().root_rows;
        let root = roots.iter().position(|other| *other == Some(row));
        let root = root.and_then(|root| u32::try_from(root).ok());
        root.ok_or_else(|| Error::damaged("a row has no directory, and is no root"))
    }

    /// Adds a row to those of its kind. A root has its path, or an empty one for that of the
    /// row, and its index.
    fn add(
        &self,
        read: &Handles<'_>,
        row: usize,
        root: Option<(&[u8], u32)>,
        entries: &mut Columns,
        directories: &mut Directories,
    ) -> Result<(), Error> {
        let wrong = |name| read.read.wrong(name, row);
        let dir = read.count(read.dir, "dir", row)?.filter(|_| root.is_none());
        let child = read.count(read.child, "child", row)?;
        let number = |number: u64| {
            let number = number.checked_sub(self.first_dir);
            let number = number.and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| wrong("child"))
        };
        let holder = match (root, dir) {
            (Some((_, root)), _) => root,
            (None, Some(dir)) => number(dir)?,
            (None, None) => return Err(wrong("dir")),
        };
        let columns = match child {
            None => entries,
            Some(child) => {
                if !self.snapshot.is_child(child, dir) {
                    return Err(wrong("child"));
                }
                let (state, lacks) = self.unusual.get(&child).copied().unwrap_or_default();
                let id = number(child)?;
                directories.ids.push(id);
                directories.states.push(State::from(state).number());
                let root = root.map_or_else(|| self.root_of_dir(child), |(_, root)| root);
                directories.roots.push(root);
                if lacks {
                    directories.incomplete.push(id);
                }
                &mut directories.columns
            }
        };
        columns.dirs.push(holder);
        columns.has_dir.push(root.is_none());
        let name = bytes_of_text(read.text(read.name, "name", row)?);
        match root {
            Some((path, _)) if !path.is_empty() => columns.names.extend_from_slice(path),
            None if !is_entry_name(&name) => return Err(wrong("name")),
            _ => columns.names.extend_from_slice(&name),
        }
        let end = i32::try_from(columns.names.len());
        columns.name_offsets.push(end.map_err(|_| wrong("name"))?);
        let kind = type_of_word(read.text(read.kind, "type", row)?.as_bytes());
        let kind = kind.ok_or_else(|| wrong("type"))?;
        if (kind == FileType::Directory) != child.is_some() {
            return Err(wrong("child"));
        }
        columns.kinds.push(kind.number());
        let is_followed = self::number(read.followed, row) == Some(1);
        columns.is_direct.push(!is_followed);
        let is_known = self::number(read.known, row) == Some(1);
        columns.is_known.push(is_known);
        self.add_attributes(read, row, is_known, columns)
    }

    /// The root of a directory.
    fn root_of_dir(&self, dir: u64) -> u32 {
        let behind = self.roots.partition_point(|&(first, _)| first <= dir);
        behind.checked_sub(1).map_or(0, |at| self.roots[at].1)
    }

    fn add_attributes(
        &self,
        read: &Handles<'_>,
        row: usize,
        is_known: bool,
        columns: &mut Columns,
    ) -> Result<(), Error> {
        let of = &mut columns.attributes;
        let at = (columns.kinds.len() - 1) as u32;
        if number(read.errno, row).is_some() {
            let errno = read.narrow(read.errno, "errno", row)?;
            of.refusals.push(Refusal::new(at, Errno(errno)));
        }
        let has = |field| self.fields.contains(field);
        macro_rules! numbers {
            ($($field:ident $column:ident $handle:ident)+) => {
                $(if has(Fields::$field) {
                    of.$column.push(read.narrow(read.$handle, stringify!($handle), row)?);
                })+
            };
        }
        numbers!(
            LINKS links links OWNER uids uid OWNER gids gid MODE modes mode
            FLAGS flags flags FLAGS flags_masks flags_mask
        );
        if has(Fields::SIZE) {
            of.size_bytes.push(read.large(read.size, "size", row)?);
        }
        if has(Fields::ALLOCATED) {
            of.allocated_bytes
                .push(read.large(read.allocated, "allocated", row)?);
        }
        if has(Fields::RDEV) {
            of.rdevs.push(number(read.rdev, row).unwrap_or(0) as u64);
        }
        if has(Fields::ID) {
            of.inos.push(number(read.ino, row).unwrap_or(0) as u64);
            let devices = &self.snapshot.manifest().devices;
            let dev = match read.count(read.fs, "fs", row)? {
                None => Some(0),
                Some(fs) => {
                    let devices = usize::try_from(fs).ok().and_then(|fs| devices.get(fs));
                    devices.and_then(|devices| devices.first().copied())
                }
            };
            of.devs.push(dev.ok_or_else(|| read.read.wrong("fs", row))?);
        }
        for time in Time::ALL {
            if !has(time.field()) {
                continue;
            }
            let ns = number(read.times[time.index()], row);
            let ns = ns.filter(|&ns| ns != i64::MIN && ns != i64::MAX);
            let odd = number(read.odd_times[time.index()], row).filter(|_| ns.is_none());
            columns.times_are_known[time.index()].push(is_known && ns.is_some());
            of.times_ns[time.index()].push(match (ns, odd) {
                (Some(ns), _) => ns,
                (None, Some(seconds)) if seconds >= 0 => i64::MAX,
                _ => i64::MIN,
            });
            if let Some(seconds) = odd {
                of.odd_times.push(OddTime::new(at, time, seconds));
            }
        }
        Ok(())
    }
}

impl Iterator for ScanRows<'_> {
    type Item = Result<(Columns, Directories), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_rows().transpose();
        if let Some(Err(_)) = next {
            // Nothing follows an error.
            self.left = 0..0;
            self.finished = None;
        }
        next
    }
}
