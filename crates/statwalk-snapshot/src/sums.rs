// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of directories.

use statwalk_format::FileType;

use crate::manifest::Facts;
use crate::numbering::Numbering;
use crate::part::Rows;

/// The sums over all that is below a directory, without the directory itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Names.
    pub entries: u64,
    /// Regular files among them.
    pub files: u64,
    /// Directories among them.
    pub dirs: u64,
    /// The sizes of files and symbolic links, of those names that count.
    pub size_bytes: u128,
    /// The space that the entries take whose names count, and the directories.
    pub allocated_bytes: u128,
    /// The latest change of the content of an entry that is no directory, in nanoseconds since
    /// 1970.
    pub newest_ns: Option<i64>,
}

/// How far a modification can lie after the beginning of a scan, as the engine has it: files
/// change while a scan goes on, and the clocks of machines differ. A later one would hide all
/// others.
const AHEAD_NS: i64 = 3600 * 1_000_000_000;

/// The last modification that counts in a scan.
pub(crate) fn latest_ns(facts: &Facts) -> i64 {
    facts.began_ns.saturating_add(AHEAD_NS)
}

impl Sums {
    /// Adds what is below another directory.
    pub fn add(&mut self, more: &Sums) {
        self.entries += more.entries;
        self.files += more.files;
        self.dirs += more.dirs;
        self.size_bytes = self.size_bytes.saturating_add(more.size_bytes);
        self.allocated_bytes = self.allocated_bytes.saturating_add(more.allocated_bytes);
        self.newest_ns = self.newest_ns.max(more.newest_ns);
    }

    /// Adds an entry. Modifications after the latest one are errors of a clock.
    pub(crate) fn add_entry(&mut self, entry: &EntryFacts, latest_ns: i64) {
        let EntryFacts { kind, counts, .. } = *entry;
        self.entries += 1;
        self.files += u64::from(kind == FileType::File);
        self.dirs += u64::from(kind == FileType::Directory);
        if counts {
            if matches!(kind, FileType::File | FileType::Symlink) {
                self.size_bytes += u128::from(entry.size_bytes.unwrap_or(0));
            }
            self.allocated_bytes += u128::from(entry.allocated_bytes.unwrap_or(0));
        }
        if kind != FileType::Directory {
            let mtime_ns = entry.mtime_ns.filter(|&mtime_ns| mtime_ns <= latest_ns);
            self.newest_ns = self.newest_ns.max(mtime_ns);
        }
    }
}

/// The facts about an entry that sums need.
pub(crate) struct EntryFacts {
    pub(crate) kind: FileType,
    pub(crate) counts: bool,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) allocated_bytes: Option<u64>,
    pub(crate) mtime_ns: Option<i64>,
}

impl EntryFacts {
    pub(crate) fn of(rows: &Rows, row: usize, counts: bool) -> EntryFacts {
        EntryFacts {
            kind: rows.kind(row),
            counts,
            size_bytes: rows.of(&rows.sizes, row),
            allocated_bytes: rows.of(&rows.allocated, row),
            mtime_ns: rows.time(0, row),
        }
    }
}

/// The sums of all directories, by number, and those of all roots together.
pub(crate) fn sums(
    rows: &Rows,
    numbering: &Numbering,
    counts: &[bool],
    latest_ns: i64,
) -> (Vec<Sums>, Sums) {
    let mut all = vec![Sums::default(); numbering.len()];
    let mut total = Sums::default();
    for (row, &number) in numbering.of_rows.iter().enumerate() {
        let entry = EntryFacts::of(rows, row, counts[row]);
        let sums = all.get_mut(number as usize).unwrap_or(&mut total);
        sums.add_entry(&entry, latest_ns);
    }
    for number in (0..numbering.len()).rev() {
        let below = all[number];
        let above = all.get_mut(numbering.parents[number] as usize);
        above.unwrap_or(&mut total).add(&below);
    }
    (all, total)
}
