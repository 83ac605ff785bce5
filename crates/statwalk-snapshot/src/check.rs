// SPDX-License-Identifier: MIT OR Apache-2.0

//! Verifies a whole snapshot, and names each thing that is wrong.

use std::fmt;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use statwalk_format::{FileType, path_order, text_of_bytes};

use crate::error::{Error, ErrorKind};
use crate::hex::hex;
use crate::listing::ListingHash;
use crate::manifest::{Links, Missing};
use crate::part::{Class, type_of_word};
use crate::regular_file;
use crate::snapshot::{Dir, ErrorRow, Snapshot, ranges};
use crate::sums::{EntryFacts, Sums, latest_ns};
use crate::table::Columns;
use crate::tree::join;

/// How many faults are named.
const FAULTS_MAX: usize = 100;

/// The result of [`check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The faults, up to 100.
    pub faults: Vec<Fault>,
    /// How many there are.
    pub fault_count: u64,
    /// How many rows of `entries` were verified.
    pub entries: u64,
    /// How many directories were verified.
    pub dirs: u64,
}

/// Something that is wrong with a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, or the table and the row.
    pub place: String,
    /// The fault in words.
    pub words: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.words)
    }
}

impl std::error::Error for Fault {}

/// Verifies the hashes of all files, the order of the rows, the sums, the hashes of listings, and
/// which name of each inode counts.
///
/// Memory: about 250 bytes for each directory, and 60 for each name of an inode with several.
///
/// # Errors
///
/// Returns an error if the manifest cannot be read. Everything else is a fault.
pub fn check(folder: &Path) -> Result<Checked, Error> {
    let snapshot = Snapshot::open(folder)?;
    let mut check = Check {
        snapshot: &snapshot,
        checked: Checked::default(),
        dirs: Vec::new(),
        own: Vec::new(),
        identities: Vec::new(),
        names: Vec::new(),
    };
    check.files();
    // Damage that a reader refuses ends the check of its table.
    if let Err(error) = check.tables() {
        check.refused(&error);
    }
    Ok(check.checked)
}

struct Check<'s> {
    snapshot: &'s Snapshot,
    checked: Checked,
    dirs: Vec<Dir>,
    /// The sums of the rows of each directory, and their hash.
    own: Vec<Own>,
    /// The hash of the identity of each file system.
    identities: Vec<i64>,
    /// The names of inodes with several.
    names: Vec<Name>,
}

#[derive(Clone, Copy, Default)]
struct Own {
    sums: Sums,
    /// How many rows it has had.
    rows: u64,
}

/// A name of an inode that can have others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    fs: u64,
    ino: u64,
    is_behind_link: bool,
    root: u64,
    path: PathKey,
    row: u64,
    counts: bool,
}

/// A path that is compared in path order.
#[derive(PartialEq, Eq)]
struct PathKey(Vec<u8>);

impl Ord for PathKey {
    fn cmp(&self, other: &PathKey) -> std::cmp::Ordering {
        path_order(&self.0, &other.0)
    }
}

impl PartialOrd for PathKey {
    fn partial_cmp(&self, other: &PathKey) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The entry that the walk is at.
struct Walk {
    hash: ListingHash,
    dir: Option<u64>,
    name: Vec<u8>,
}

impl Check<'_> {
    fn fault(&mut self, place: impl Into<String>, words: impl Into<String>) {
        self.checked.fault_count += 1;
        if self.checked.faults.len() < FAULTS_MAX {
            self.checked.faults.push(Fault {
                place: place.into(),
                words: words.into(),
            });
        }
    }

    fn refused(&mut self, error: &Error) {
        let place = error.path().map_or_else(
            || "tables".to_owned(),
            |path| {
                let path = path.strip_prefix(self.snapshot.folder()).unwrap_or(path);
                path.display().to_string()
            },
        );
        let words = match error.kind() {
            ErrorKind::Io => error.to_string(),
            _ => error.message().to_owned(),
        };
        self.fault(place, words);
    }

    /// Compares the hash of each file.
    fn files(&mut self) {
        let snapshot = self.snapshot;
        for (name, table) in snapshot.tables() {
            for record in snapshot.manifest().tables.of(name) {
                match hash_of(&snapshot.folder().join(&record.name), record.bytes) {
                    Ok(hash) if hash == record.sha256 => {}
                    Ok(_) => self.fault(&record.name, "the hash is another than in the manifest"),
                    Err(error) => self.refused(&error),
                }
            }
            if let Err(error) = table.open_all() {
                self.refused(&error);
            }
        }
    }

    fn tables(&mut self) -> Result<(), Error> {
        let file_systems = self.snapshot.file_systems()?;
        let of = |identity: &str| twox_hash::XxHash64::oneshot(0, identity.as_bytes()) as i64;
        self.identities = file_systems.iter().map(|one| of(&one.identity)).collect();
        self.snapshot.owners()?;
        for range in ranges(0..self.snapshot.dir_count()) {
            self.dirs.extend(self.snapshot.dirs(range)?);
        }
        self.check_dirs()?;
        self.own = vec![Own::default(); self.dirs.len()];
        self.check_entries()?;
        self.check_sums();
        self.check_links();
        self.check_errors()
    }

    /// Verifies the numbers of directories, and their ranges.
    fn check_dirs(&mut self) -> Result<(), Error> {
        let root_rows = self.snapshot.manifest().root_rows.iter().flatten().count() as u64;
        let mut next_entry = root_rows;
        // The last numbers of the directories that lead to one.
        let mut above: Vec<(u64, u64)> = Vec::new();
        for at in 0..self.dirs.len() {
            let number = at as u64;
            let (last, parent, first, count) = {
                let dir = &self.dirs[at];
                (dir.last, dir.parent, dir.first_entry, dir.entry_count)
            };
            while above.last().is_some_and(|&(_, last)| last < number) {
                above.pop();
            }
            if above.last().map(|&(number, _)| number) != parent {
                self.fault(
                    place_of("dirs", number),
                    "the parent is not the directory that holds it",
                );
            }
            if above.last().is_some_and(|&(_, end)| last > end) {
                self.fault(
                    place_of("dirs", number),
                    "the subtree reaches out of that of the parent",
                );
            }
            above.push((number, last));
            if first != next_entry {
                self.fault(
                    place_of("dirs", number),
                    "the entries do not follow those before",
                );
            }
            next_entry = first + count;
            let root = parent
                .and_then(|parent| self.dirs.get(parent as usize))
                .map(|dir| dir.root);
            if root.is_some_and(|root| root != self.dirs[at].root) {
                self.fault(
                    place_of("dirs", number),
                    "the root is not that of the parent",
                );
            }
            self.checked.dirs += 1;
        }
        if next_entry != self.snapshot.entries.rows() {
            self.fault(
                "dirs",
                "the directories have other entries than the table of entries",
            );
        }
        Ok(())
    }

    fn check_entries(&mut self) -> Result<(), Error> {
        let mut walk = Walk {
            hash: ListingHash::new(),
            dir: None,
            name: Vec::new(),
        };
        let mut next_child: Vec<u64> = Vec::new();
        for number in 0..self.dirs.len() as u64 {
            next_child.push(number + 1);
        }
        for range in ranges(0..self.snapshot.entries.rows()) {
            let columns = self.snapshot.entries.read_all(range.clone())?;
            let entries = self.snapshot.entries(range)?;
            for (at, entry) in entries.iter().enumerate() {
                let place = place_of("entries", entry.row);
                self.checked.entries += 1;
                if entry.dir != walk.dir || entry.row == 0 {
                    self.end_dir(&walk);
                    if entry.dir < walk.dir {
                        self.fault(&place, "the directory comes after a later one");
                    }
                    walk.dir = entry.dir;
                    walk.hash = ListingHash::new();
                } else if entry.dir.is_some() && entry.name <= walk.name {
                    self.fault(&place, "the name does not come after the one before");
                }
                walk.name.clone_from(&entry.name);
                let text = columns.required_text("name", at)?;
                if *text_of_bytes(&entry.name) != *text {
                    self.fault(&place, "the name has another text than its bytes");
                }
                let raw = columns
                    .values("name_raw")
                    .and_then(|values| values.text(at));
                let expected = (text.as_bytes() != entry.name).then_some(&entry.name[..]);
                if raw != expected {
                    self.fault(&place, "name_raw are not the bytes of the name");
                }
                if (entry.kind == FileType::Directory) != entry.child.is_some() {
                    self.fault(
                        &place,
                        "the type does not go with the number of a directory",
                    );
                }
                if let Some(child) = entry.child {
                    let dir = self.dirs.get(child as usize);
                    let place_of_dir = dir.map(|dir| (dir.entry, dir.parent));
                    let sums = dir.map(|dir| dir.sums);
                    if place_of_dir != Some((entry.row, entry.dir)) {
                        self.fault(&place, "the directory has another row, or another parent");
                    }
                    if entry.sums != sums {
                        self.fault(&place, "the sums are not those of the directory");
                    }
                }
                self.add_row(&mut walk, &columns, at, entry)?;
            }
        }
        self.end_dir(&walk);
        for number in 0..self.dirs.len() {
            let (expected, found) = (self.dirs[number].entry_count, self.own[number].rows);
            if expected != found {
                self.fault(
                    place_of("dirs", number as u64),
                    format!("has {found} entries, not {expected}"),
                );
            }
            if found == 0 && self.dirs[number].listing != ListingHash::new().finish() as u64 {
                self.fault(
                    place_of("dirs", number as u64),
                    "the hash of its rows is another",
                );
            }
        }
        Ok(())
    }

    /// Adds a row to the sums and the hash of its directory.
    fn add_row(
        &mut self,
        walk: &mut Walk,
        columns: &Columns,
        at: usize,
        entry: &crate::snapshot::Entry,
    ) -> Result<(), Error> {
        hash_row(&mut walk.hash, columns, at, &entry.name, &self.identities)?;
        let facts = EntryFacts {
            kind: entry.kind,
            counts: entry.counts,
            size_bytes: entry.size_bytes,
            allocated_bytes: entry.allocated_bytes,
            mtime_ns: entry.times_ns[0],
        };
        let latest_ns = latest_ns(&self.snapshot.manifest().facts);
        if let Some(own) = entry.dir.and_then(|dir| self.own.get_mut(dir as usize)) {
            own.sums.add_entry(&facts, latest_ns);
            own.rows += 1;
        }
        let facts = &self.snapshot.manifest().facts;
        let may_repeat = match facts.follows {
            true => {
                !(entry.kind == FileType::Symlink
                    && entry.size_bytes.unwrap_or(0) == 0
                    && entry.allocated_bytes.unwrap_or(0) == 0)
            }
            false => entry.links.is_some_and(|links| links > 1),
        };
        let can_repeat = entry.kind != FileType::Directory && entry.is_known && may_repeat;
        match (
            entry.fs.zip(entry.ino),
            can_repeat && facts.links == Links::Once,
        ) {
            (Some((fs, ino)), true) if entry.links.is_some() => {
                let path = match entry.dir {
                    None => entry.name.clone(),
                    Some(dir) => {
                        let path = self.path(dir);
                        join([&path[..], &entry.name[..]].into_iter())
                    }
                };
                let root = match entry.dir.and_then(|dir| self.dirs.get(dir as usize)) {
                    Some(dir) => dir.root,
                    None => {
                        let rows = &self.snapshot.manifest().root_rows;
                        let root = rows.iter().position(|row| *row == Some(entry.row));
                        root.unwrap_or(0) as u64
                    }
                };
                self.names.push(Name {
                    fs,
                    ino,
                    is_behind_link: facts.follows && self.is_behind_link(entry),
                    root,
                    path: PathKey(path),
                    row: entry.row,
                    counts: entry.counts,
                });
            }
            _ if !entry.counts => {
                self.fault(
                    place_of("entries", entry.row),
                    "does not count, and has no other name",
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn is_behind_link(&self, entry: &crate::snapshot::Entry) -> bool {
        // Only a scan that follows links has such entries; there are few.
        let mut is_behind = entry.is_followed;
        let mut at = entry.dir;
        while let Some(dir) = at.and_then(|number| self.dirs.get(number as usize)) {
            let own = self.snapshot.entry(dir.entry);
            is_behind |= own.is_ok_and(|own| own.is_followed);
            at = dir.parent;
        }
        is_behind
    }

    fn path(&self, number: u64) -> Vec<u8> {
        let known = self
            .dirs
            .get(number as usize)
            .and_then(|dir| dir.path.clone());
        known.unwrap_or_else(|| self.snapshot.path(number).unwrap_or_default())
    }

    fn end_dir(&mut self, walk: &Walk) {
        let Some(number) = walk.dir else { return };
        let listing = self.dirs.get(number as usize).map(|dir| dir.listing);
        if listing.is_some_and(|listing| listing != walk.hash.finish() as u64) {
            self.fault(place_of("dirs", number), "the hash of its rows is another");
        }
    }

    fn check_sums(&mut self) {
        for number in (0..self.dirs.len()).rev() {
            let sums = self.own[number].sums;
            if sums != self.dirs[number].sums {
                self.fault(
                    place_of("dirs", number as u64),
                    "the sums are not those of its rows",
                );
            }
            let parent = self.dirs[number].parent;
            if let Some(above) = parent.and_then(|parent| self.own.get_mut(parent as usize)) {
                above.sums.add(&sums);
            }
        }
    }

    fn check_links(&mut self) {
        let mut names = std::mem::take(&mut self.names);
        names.sort();
        let mut last = None;
        for name in &names {
            let is_first = last != Some((name.fs, name.ino));
            last = Some((name.fs, name.ino));
            if name.counts != is_first {
                let words = match name.counts {
                    true => "counts, and another name of the inode comes before",
                    false => "does not count, and is the first name of its inode",
                };
                self.fault(place_of("entries", name.row), words);
            }
        }
    }

    fn check_errors(&mut self) -> Result<(), Error> {
        let errors = self.snapshot.errors()?;
        let mut missing = vec![Missing::default(); self.dirs.len()];
        let (mut total, mut before): (Missing, Option<&ErrorRow>) = Default::default();
        for (row, error) in errors.iter().enumerate() {
            let place = place_of("errors", row as u64);
            if let Some(before) = before
                && (before.root.cmp(&error.root))
                    .then_with(|| path_order(&before.path, &error.path))
                    .is_gt()
            {
                self.fault(&place, "the path does not come after the one before");
            }
            before = Some(error);
            let own = error.dir.map(|dir| missing.get_mut(dir as usize));
            let one = match error.class {
                Class::Unreadable => Missing {
                    unreadable: 1,
                    ..Missing::default()
                },
                Class::Changed => Missing {
                    changed: 1,
                    ..Missing::default()
                },
                Class::Vanished => Missing {
                    vanished: 1,
                    ..Missing::default()
                },
                Class::NotEntered => Missing {
                    not_entered: 1,
                    ..Missing::default()
                },
            };
            total.add(&one);
            match own {
                Some(Some(own)) => own.add(&one),
                Some(None) => self.fault(&place, "there is no such directory"),
                None => {}
            }
        }
        for number in (0..self.dirs.len()).rev() {
            let own = missing[number];
            if own != self.dirs[number].missing {
                self.fault(
                    place_of("dirs", number as u64),
                    "lacks something else than the errors say",
                );
            }
            if let Some(above) = self.dirs[number]
                .parent
                .and_then(|at| missing.get_mut(at as usize))
            {
                above.add(&own);
            }
        }
        let said = self.snapshot.manifest().missing;
        if (total.unreadable, total.changed, total.not_entered)
            != (said.unreadable, said.changed, said.not_entered)
        {
            self.fault("errors", "other paths are missing than the manifest says");
        }
        Ok(())
    }
}

fn place_of(table: &str, row: u64) -> String {
    format!("{table}, row {row}")
}

/// Adds a row to a hash, from its columns.
fn hash_row(
    hash: &mut ListingHash,
    columns: &Columns,
    row: usize,
    name: &[u8],
    identities: &[i64],
) -> Result<(), Error> {
    hash.begin(name);
    let kind = type_of_word(columns.required_text("type", row)?.as_bytes());
    hash.value(0, kind.map(|kind| i64::from(kind.number())));
    for (bit, column) in crate::listing::VALUES.iter().enumerate().skip(1) {
        let value = match *column {
            "fs" => {
                let fs = columns
                    .count("fs", row)?
                    .and_then(|fs| usize::try_from(fs).ok());
                fs.and_then(|fs| identities.get(fs).copied())
            }
            "size_big" | "allocated_big" => {
                let large = columns
                    .values(column)
                    .and_then(|values| values.decimal(row));
                large.map(|value| value as i64)
            }
            column => columns.number(column, row),
        };
        hash.value(bit, value);
    }
    hash.end();
    Ok(())
}

fn hash_of(path: &Path, bytes: u64) -> Result<String, Error> {
    let failed = |error| Error::io("read", path, error);
    let file = regular_file::open(path).map_err(failed)??;
    let mut file = file.take(bytes.saturating_add(1));
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}
