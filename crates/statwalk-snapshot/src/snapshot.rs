// SPDX-License-Identifier: MIT OR Apache-2.0

//! A snapshot that is read, as far as the caller asks.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::{Path, PathBuf};

use statwalk_format::{FileType, bytes_of_text, is_entry_name};

use crate::error::Error;
use crate::machine::{FileSystem, Space};
use crate::manifest::{Manifest, Missing};
use crate::part::{Class, DirState, TIME_NAMES, type_of_word};
use crate::schema::{FILESYSTEMS, TableName};
use crate::sums::Sums;
use crate::table::{Columns, Table, Window};
use crate::tree::join;

/// How many rows are read at once where all of a table are wanted.
pub(crate) const ROWS_AT_ONCE: u64 = 16_384;

/// A snapshot. It reads its files when it is asked for something in them.
///
/// Threads can share it.
#[derive(Debug)]
pub struct Snapshot {
    folder: PathBuf,
    manifest: Manifest,
    pub(crate) entries: Table,
    pub(crate) dirs: Table,
    errors: Table,
    owners: Table,
    filesystems: Table,
}

/// A directory of a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Dir {
    /// Its number.
    pub number: u64,
    /// The last number of its subtree. All from its own to this one are in it.
    pub last: u64,
    /// The number of the directory that holds it; absent for a root.
    pub parent: Option<u64>,
    /// Which root it belongs to.
    pub root: u64,
    /// The row of its name in `entries`.
    pub entry: u64,
    /// The path, beginning with its root as given; absent above 4,096 bytes.
    pub path: Option<Vec<u8>>,
    /// The first of its rows in `entries`.
    pub first_entry: u64,
    /// How many rows it has there.
    pub entry_count: u64,
    /// How far it was read.
    pub state: DirState,
    /// Whether it lacks something, which could not be read.
    pub is_incomplete: bool,
    /// Whether all in it and below it was read.
    pub is_finished: bool,
    /// Whether it has a valid `CACHEDIR.TAG`; absent where that is not known.
    pub cachedir_tag: Option<bool>,
    /// The sums below it.
    pub sums: Sums,
    /// The number of paths in it and below it of which something is missing.
    pub missing: Missing,
    /// A hash of its rows, by which a comparison finds equal directories.
    pub listing: u64,
}

/// A name of a snapshot, with its attributes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// Its row in `entries`.
    pub row: u64,
    /// The number of its directory; absent for a root.
    pub dir: Option<u64>,
    /// The name; of a root the path as given.
    pub name: Vec<u8>,
    /// The type.
    pub kind: FileType,
    /// Whether the attributes are known.
    pub is_known: bool,
    /// The error for which the system has refused them.
    pub errno: Option<i32>,
    /// Type and permission bits.
    pub mode: Option<u16>,
    /// User id.
    pub uid: Option<u32>,
    /// Group id.
    pub gid: Option<u32>,
    /// The number of hard links.
    pub links: Option<u32>,
    /// The file system: a row of `filesystems`.
    pub fs: Option<u64>,
    /// Inode number.
    pub ino: Option<u64>,
    /// The device that a device node stands for.
    pub rdev: Option<u64>,
    /// The size in bytes.
    pub size_bytes: Option<u64>,
    /// The space taken, in bytes.
    pub allocated_bytes: Option<u64>,
    /// The flags that hold.
    pub flags: Option<u32>,
    /// The flags that are known.
    pub flags_mask: Option<u32>,
    /// Times in nanoseconds since 1970: of modification, access, change and birth.
    pub times_ns: [Option<i64>; 4],
    /// The same in seconds, of those that nanoseconds do not hold.
    pub odd_times_s: [Option<i64>; 4],
    /// Whether a symbolic link was followed to it.
    pub is_followed: bool,
    /// Whether its bytes count here: an inode with several names counts at the first.
    pub counts: bool,
    /// The number of the directory that it is.
    pub child: Option<u64>,
    /// The sums below that directory.
    pub sums: Option<Sums>,
}

/// The place that a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A directory.
    Dir(Box<Dir>),
    /// An entry that is no directory.
    Entry(Box<Entry>),
}

/// A path of which something is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRow {
    /// The path, beginning with its root as given.
    pub path: Vec<u8>,
    /// Which root it belongs to.
    pub root: u64,
    /// The number of the directory that it is, or that holds it.
    pub dir: Option<u64>,
    /// The operation that failed: `open`, `read`, `stat`, `enter` and others.
    pub op: String,
    /// The error number of the system.
    pub errno: Option<i32>,
    /// The class.
    pub class: Class,
    /// Why a directory was not entered: `mount`, `exclusion` or `limit`.
    pub reason: Option<String>,
}

/// The names of users and groups at the time of the scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    users: Vec<(u32, Vec<u8>)>,
    groups: Vec<(u32, Vec<u8>)>,
}

impl Owners {
    /// The name of a user.
    #[must_use]
    pub fn user(&self, uid: u32) -> Option<&[u8]> {
        name_of(&self.users, uid)
    }

    /// The name of a group.
    #[must_use]
    pub fn group(&self, gid: u32) -> Option<&[u8]> {
        name_of(&self.groups, gid)
    }
}

fn name_of(names: &[(u32, Vec<u8>)], id: u32) -> Option<&[u8]> {
    let found = names.binary_search_by_key(&id, |(id, _)| *id);
    found.ok().map(|at| &names[at].1[..])
}

impl Snapshot {
    /// Opens the snapshot in a folder. It reads the manifest alone.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder is no snapshot, or if its format is a newer one.
    pub fn open(folder: &Path) -> Result<Snapshot, Error> {
        let manifest = Manifest::read(folder)?;
        let table = |name| Table::new(name, folder, &manifest);
        Ok(Snapshot {
            entries: table(TableName::Entries),
            dirs: table(TableName::Dirs),
            errors: table(TableName::Errors),
            owners: table(TableName::Owners),
            filesystems: table(TableName::Filesystems),
            folder: folder.to_owned(),
            manifest,
        })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How many directories it has.
    #[must_use]
    pub fn dir_count(&self) -> u64 {
        self.dirs.rows()
    }

    pub(crate) fn tables(&self) -> [(TableName, &Table); 5] {
        [
            (TableName::Entries, &self.entries),
            (TableName::Dirs, &self.dirs),
            (TableName::Errors, &self.errors),
            (TableName::Owners, &self.owners),
            (TableName::Filesystems, &self.filesystems),
        ]
    }

    /// The rows of the roots, in the order of the arguments. One that was missing has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the files are damaged, or cannot be read.
    pub fn roots(&self) -> Result<Vec<Entry>, Error> {
        let count = self.manifest.root_rows.iter().flatten().count();
        self.entries(0..count as u64)
    }

    /// Some rows of `entries`, which the caller has memory for: about 400 bytes each.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots), and if there are no such rows.
    pub fn entries(&self, rows: Range<u64>) -> Result<Vec<Entry>, Error> {
        let columns = self.entries.read_all(rows)?;
        (0..columns.len())
            .map(|row| self.entry_of(&columns, row))
            .collect()
    }

    /// The entries of a directory, sorted by the raw bytes of their names.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots).
    pub fn children(&self, dir: &Dir) -> Result<Vec<Entry>, Error> {
        self.entries(dir.rows())
    }

    /// A directory by its number.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots), and if there is no such directory.
    pub fn dir(&self, number: u64) -> Result<Dir, Error> {
        let mut found = self.dirs(number..number.saturating_add(1))?;
        found
            .pop()
            .ok_or_else(|| Error::damaged("there is no such directory"))
    }

    /// Some directories by their numbers, which the caller has memory for.
    ///
    /// # Errors
    ///
    /// As for [`dir`](Self::dir).
    pub fn dirs(&self, numbers: Range<u64>) -> Result<Vec<Dir>, Error> {
        let columns = self.dirs.read_all(numbers)?;
        (0..columns.len())
            .map(|row| self.dir_of(&columns, row))
            .collect()
    }

    /// The path of a directory, beginning with its root as given.
    ///
    /// # Errors
    ///
    /// As for [`dir`](Self::dir).
    pub fn path(&self, number: u64) -> Result<Vec<u8>, Error> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut dirs = Window::new(&self.dirs, &["parent", "entry", "path"]);
        let mut entries = Window::new(&self.entries, &["name"]);
        let mut at = number;
        loop {
            let (columns, row) = dirs.row(at)?;
            if let Some(path) = columns.text("path", row)? {
                names.push(bytes_of_text(path).into_owned());
                break;
            }
            let entry = columns.required_count("entry", row)?;
            let parent = columns.count("parent", row)?;
            // So no loop has no end.
            if parent.is_some_and(|parent| parent >= at) {
                return Err(columns.wrong("parent", row));
            }
            let (columns, row) = entries.row(entry)?;
            names.push(bytes_of_text(columns.required_text("name", row)?).into_owned());
            match parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        Ok(join(names.iter().rev().map(Vec::as_slice)))
    }

    /// Finds a path, which begins with a root as given or with its absolute path.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots).
    pub fn find(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        // The longest root is the nearest one.
        let mut ways: Vec<(usize, &[u8], u64)> = Vec::new();
        let roots = self
            .manifest
            .facts
            .roots
            .iter()
            .zip(&self.manifest.root_rows);
        for (root, row) in roots {
            for start in [&root.path, &root.absolute] {
                if let (Some(row), Some(below)) = (row, below(path, start)) {
                    ways.push((start.len(), below, *row));
                }
            }
        }
        ways.sort_by_key(|&(length, _, row)| (std::cmp::Reverse(length), row));
        for (_, below, row) in ways {
            if let Some(found) = self.find_below(row, below)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn find_below(&self, root: u64, below: &[u8]) -> Result<Option<Found>, Error> {
        let mut dirs = Window::new(&self.dirs, &["first_entry", "entries"]);
        let mut entries = Window::new(&self.entries, &["name", "child"]);
        let mut at = root;
        let names = below.split(|&byte| byte == b'/');
        for name in names.filter(|name| !name.is_empty() && *name != b".") {
            let (columns, row) = entries.row(at)?;
            let Some(child) = columns.count("child", row)? else {
                return Ok(None);
            };
            let (columns, row) = dirs.row(child)?;
            let first = columns.required_count("first_entry", row)?;
            let count = columns.required_count("entries", row)?;
            let end = first
                .checked_add(count)
                .filter(|&end| end <= self.entries.rows());
            let end = end.ok_or_else(|| columns.wrong("entries", row))?;
            let Some(row) = row_of_name(&mut entries, first..end, name)? else {
                return Ok(None);
            };
            at = row;
        }
        let entry = self.entry(at)?;
        Ok(Some(match entry.child {
            Some(child) => Found::Dir(Box::new(self.dir(child)?)),
            None => Found::Entry(Box::new(entry)),
        }))
    }

    /// One row of `entries`.
    ///
    /// # Errors
    ///
    /// As for [`entries`](Self::entries).
    pub fn entry(&self, row: u64) -> Result<Entry, Error> {
        let columns = self.entries.read_all(row..row.saturating_add(1))?;
        self.entry_of(&columns, 0)
    }

    /// The paths of which something is missing, by root and in path order.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots).
    pub fn errors(&self) -> Result<Vec<ErrorRow>, Error> {
        let mut rows = Vec::new();
        for range in ranges(0..self.errors.rows()) {
            let columns = self.errors.read_all(range)?;
            for row in 0..columns.len() {
                let class = columns.required_text("class", row)?;
                let class = Class::ALL.into_iter().find(|other| other.word() == class);
                rows.push(ErrorRow {
                    path: bytes_of_text(columns.required_text("path", row)?).into_owned(),
                    root: columns.required_count("root", row)?,
                    dir: columns.count("dir", row)?,
                    op: columns.required_text("op", row)?.to_owned(),
                    errno: narrow(&columns, "errno", row)?,
                    class: class.ok_or_else(|| columns.wrong("class", row))?,
                    reason: columns.text("reason", row)?.map(str::to_owned),
                });
            }
        }
        Ok(rows)
    }

    /// The names of users and groups.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots).
    pub fn owners(&self) -> Result<Owners, Error> {
        let mut owners = Owners::default();
        for range in ranges(0..self.owners.rows()) {
            let columns = self.owners.read_all(range)?;
            for row in 0..columns.len() {
                let id = narrow(&columns, "id", row)?;
                let id = id.ok_or_else(|| columns.wrong("id", row))?;
                let name = bytes_of_text(columns.required_text("name", row)?).into_owned();
                match columns.required_text("kind", row)? {
                    "user" => owners.users.push((id, name)),
                    "group" => owners.groups.push((id, name)),
                    _ => return Err(columns.wrong("kind", row)),
                }
            }
        }
        owners.users.sort();
        owners.groups.sort();
        Ok(owners)
    }

    /// The file systems, by their number.
    ///
    /// # Errors
    ///
    /// As for [`roots`](Self::roots).
    pub fn file_systems(&self) -> Result<Vec<FileSystem>, Error> {
        let mut all = Vec::new();
        for range in ranges(0..self.filesystems.rows()) {
            let columns = self.filesystems.read_all(range)?;
            for row in 0..columns.len() {
                let text = |name| -> Result<Vec<u8>, Error> {
                    Ok(bytes_of_text(columns.required_text(name, row)?).into_owned())
                };
                let string = |name| -> Result<String, Error> {
                    String::from_utf8(text(name)?).map_err(|_| columns.wrong(name, row))
                };
                all.push(FileSystem {
                    identity: string("identity")?,
                    kind: string("type")?,
                    mount_point: text("mount_point")?,
                    begin: space_of(&columns, row, 0),
                    end: space_of(&columns, row, 6),
                });
            }
        }
        Ok(all)
    }

    fn entry_of(&self, columns: &Columns, row: usize) -> Result<Entry, Error> {
        let at = columns.rows().start + row as u64;
        let dir = columns.count("dir", row)?;
        let name = bytes_of_text(columns.required_text("name", row)?).into_owned();
        if dir.is_some() && !is_entry_name(&name) {
            return Err(columns.wrong("name", row));
        }
        let kind = type_of_word(columns.required_text("type", row)?.as_bytes());
        let kind = kind.ok_or_else(|| columns.wrong("type", row))?;
        let child = columns.count("child", row)?;
        if child.is_some_and(|child| !self.is_child(child, dir)) {
            return Err(columns.wrong("child", row));
        }
        let bits = |name| columns.number(name, row).map(|value| value as u64);
        let large = |name| -> Result<Option<u64>, Error> {
            let sum = columns.sum(name, row)?.map(u64::try_from);
            sum.transpose().map_err(|_| columns.wrong(name, row))
        };
        let odd = |name: &str| columns.number(&format!("{name}_s"), row);
        Ok(Entry {
            row: at,
            dir,
            name,
            kind,
            is_known: columns.holds("known", row),
            errno: narrow(columns, "errno", row)?,
            mode: narrow(columns, "mode", row)?,
            uid: narrow(columns, "uid", row)?,
            gid: narrow(columns, "gid", row)?,
            links: narrow(columns, "links", row)?,
            fs: columns.count("fs", row)?,
            ino: bits("ino"),
            rdev: bits("rdev"),
            size_bytes: large("size")?,
            allocated_bytes: large("allocated")?,
            flags: narrow(columns, "flags", row)?,
            flags_mask: narrow(columns, "flags_mask", row)?,
            times_ns: TIME_NAMES.map(|name| columns.number(name, row)),
            odd_times_s: TIME_NAMES.map(odd),
            is_followed: columns.holds("followed", row),
            counts: columns.holds("counts", row),
            child,
            sums: child.map(|_| sums_of(columns, row)).transpose()?,
        })
    }

    /// Whether a directory can lie in another one, or be a root.
    pub(crate) fn is_child(&self, child: u64, dir: Option<u64>) -> bool {
        child < self.dirs.rows() && dir.is_none_or(|dir| dir < child)
    }

    fn dir_of(&self, columns: &Columns, row: usize) -> Result<Dir, Error> {
        let count = |name| columns.required_count(name, row);
        let number = columns.rows().start + row as u64;
        let (last, parent) = (count("last")?, columns.count("parent", row)?);
        if count("dir")? != number {
            return Err(columns.wrong("dir", row));
        }
        if last < number || last >= self.dirs.rows() {
            return Err(columns.wrong("last", row));
        }
        if parent.is_some_and(|parent| parent >= number) {
            return Err(columns.wrong("parent", row));
        }
        let (first_entry, entry_count) = (count("first_entry")?, count("entries")?);
        let end = first_entry.checked_add(entry_count);
        if end.is_none_or(|end| end > self.entries.rows()) {
            return Err(columns.wrong("entries", row));
        }
        let entry = count("entry")?;
        if entry >= first_entry {
            return Err(columns.wrong("entry", row));
        }
        let root = count("root")?;
        if root >= self.manifest.facts.roots.len() as u64 {
            return Err(columns.wrong("root", row));
        }
        let path = columns.text("path", row)?;
        Ok(Dir {
            number,
            last,
            parent,
            root,
            entry,
            path: path.map(|path| bytes_of_text(path).into_owned()),
            first_entry,
            entry_count,
            state: state_of(columns, row)?,
            is_incomplete: columns.holds("incomplete", row),
            is_finished: columns.holds("finished", row),
            cachedir_tag: columns.number("cachedir_tag", row).map(|value| value == 1),
            sums: sums_of(columns, row)?,
            missing: Missing {
                unreadable: count("unreadable")?,
                changed: count("changed")?,
                vanished: count("vanished")?,
                not_entered: count("not_entered")?,
            },
            listing: columns.number("listing", row).unwrap_or(0) as u64,
        })
    }
}

impl Dir {
    /// Its rows in `entries`.
    #[must_use]
    pub fn rows(&self) -> Range<u64> {
        self.first_entry..self.first_entry + self.entry_count
    }
}

/// The row of a name among those of a directory, found by halves.
fn row_of_name(
    entries: &mut Window<'_>,
    rows: Range<u64>,
    name: &[u8],
) -> Result<Option<u64>, Error> {
    let Range { mut start, mut end } = rows;
    while start < end {
        let middle = start + (end - start) / 2;
        let (columns, row) = entries.row(middle)?;
        let found = bytes_of_text(columns.required_text("name", row)?);
        match name.cmp(&found[..]) {
            Ordering::Less => end = middle,
            Ordering::Equal => return Ok(Some(middle)),
            Ordering::Greater => start = middle + 1,
        }
    }
    Ok(None)
}

/// The state of a directory.
pub(crate) fn state_of(columns: &Columns, row: usize) -> Result<DirState, Error> {
    let word = columns.required_text("state", row)?;
    let state = DirState::ALL.into_iter().find(|state| state.word() == word);
    state.ok_or_else(|| columns.wrong("state", row))
}

fn sums_of(columns: &Columns, row: usize) -> Result<Sums, Error> {
    Ok(Sums {
        entries: columns.required_count("below_entries", row)?,
        files: columns.required_count("below_files", row)?,
        dirs: columns.required_count("below_dirs", row)?,
        size_bytes: columns.sum("below_size", row)?.unwrap_or(0),
        allocated_bytes: columns.sum("below_allocated", row)?.unwrap_or(0),
        newest_ns: columns.number("below_newest", row),
    })
}

fn space_of(columns: &Columns, row: usize, first: usize) -> Option<Space> {
    let number = |at: usize| columns.number(FILESYSTEMS[4 + first + at].name, row);
    number(0)?;
    Some(Space::of_numbers(std::array::from_fn(|at| {
        number(at).unwrap_or(0) as u64
    })))
}

/// A number that is smaller than 64 bits.
pub(crate) fn narrow<T: TryFrom<i64>>(
    columns: &Columns,
    name: &str,
    row: usize,
) -> Result<Option<T>, Error> {
    let number = columns.number(name, row).map(T::try_from);
    number.transpose().map_err(|_| columns.wrong(name, row))
}

/// A range of rows in pieces that fit into memory.
pub(crate) fn ranges(rows: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = rows.end;
    let starts = (rows.start..end).step_by(ROWS_AT_ONCE as usize);
    starts.map(move |start| start..end.min(start + ROWS_AT_ONCE))
}

/// The rest of a path behind a directory that it leads through.
fn below<'p>(path: &'p [u8], start: &[u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(start)?;
    let is_end = rest.is_empty() || rest.starts_with(b"/") || start.ends_with(b"/");
    is_end.then_some(rest)
}
