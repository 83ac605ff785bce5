// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows of a scan, before they have an order.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use statwalk_format::FileType;

use crate::row_code::{Layout, push_row, read_row};

/// How many times an entry has. Their order is that of the engine.
pub(crate) const TIMES: usize = 4;

/// The names of their columns, in that order.
pub(crate) const TIME_NAMES: [&str; TIMES] = ["mtime", "atime", "ctime", "btime"];

/// Facts about a row that are one bit each.
pub(crate) mod mark {
    /// A symbolic link was followed to it.
    pub(crate) const FOLLOWED: u8 = 1;
    /// Its attributes are known.
    pub(crate) const KNOWN: u8 = 2;
    /// It is a root: its directory is the index of that root.
    pub(crate) const ROOT: u8 = 4;
    /// Its first time fits into nanoseconds. Those of the others have the bits above.
    pub(crate) const TIME: u8 = 16;
}

/// Rows of a scan, with directories in any order. [`merge`](crate::merge) makes a snapshot of
/// them.
#[derive(Clone, Default)]
pub struct Part {
    pub(crate) rows: Rows,
    pub(crate) dirs: Vec<PartDir>,
    /// The numbers of directories that are finished.
    pub(crate) finished: Vec<u32>,
    /// The numbers of directories that lack something.
    pub(crate) incomplete: Vec<u32>,
    pub(crate) errors: Vec<PartError>,
}

/// A directory of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartDir {
    /// Its number in the part.
    pub(crate) id: u32,
    /// The row of its name.
    pub(crate) row: u32,
    pub(crate) root: u32,
    pub(crate) state: DirState,
}

/// How far a directory was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirState {
    /// Its entries are there.
    #[default]
    Listed,
    /// It could not be opened.
    Unreadable,
    /// Another file system that was not entered.
    Mount,
    /// It was left out on request.
    Excluded,
    /// It lies as deep as the scan went.
    AtLimit,
}

/// A path of which something is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartError {
    pub(crate) path: Vec<u8>,
    pub(crate) root: u32,
    pub(crate) op: &'static str,
    pub(crate) errno: Option<i32>,
    pub(crate) class: Class,
    pub(crate) reason: Option<&'static str>,
}

/// Why something is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// It could not be read.
    Unreadable,
    /// It changed each time it was read.
    Changed,
    /// It was gone before it could be read.
    Vanished,
    /// It was not entered: a mount, an exclusion or a limit.
    NotEntered,
}

/// Names with their attributes, a column for each. A column is empty where its field was not
/// asked for.
#[derive(Clone, Default)]
pub(crate) struct Rows {
    /// The number of the directory of each row, or of a root its index.
    pub(crate) dirs: Vec<u32>,
    pub(crate) marks: Vec<u8>,
    /// The numbers of the types: [`FileType::number`].
    pub(crate) kinds: Vec<u8>,
    pub(crate) names: Vec<u8>,
    /// Where each name ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) modes: Vec<u16>,
    pub(crate) uids: Vec<u32>,
    pub(crate) gids: Vec<u32>,
    pub(crate) links: Vec<u32>,
    pub(crate) flags: Vec<u32>,
    pub(crate) flags_masks: Vec<u32>,
    pub(crate) rdevs: Vec<u64>,
    pub(crate) sizes: Vec<u64>,
    pub(crate) allocated: Vec<u64>,
    pub(crate) inos: Vec<u64>,
    pub(crate) devs: Vec<u64>,
    pub(crate) times: [Vec<i64>; TIMES],
    /// Times that nanoseconds do not hold, by row: the row, which time, and its seconds.
    pub(crate) odd_times: Vec<(u32, u8, i64)>,
    /// Rows whose attributes the system has refused, and the error numbers.
    pub(crate) refusals: Vec<(u32, i32)>,
}

impl Part {
    /// A part without a row.
    #[must_use]
    pub fn new() -> Part {
        Part::default()
    }

    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// How much memory its rows take, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let rows = self.rows.memory_bytes();
        rows + self.dirs.capacity() * size_of::<PartDir>()
    }
}

impl Part {
    /// Removes directories that lead to no root, with their rows, and ends of directories that
    /// have no row. A worker that hangs keeps such directories to itself when a scan is stopped.
    ///
    /// Gives the places of the directories that stay; nothing where all rows stay.
    pub(crate) fn drop_orphans(&mut self) -> Option<Vec<usize>> {
        let ids = self.dirs.iter().zip(0..).map(|(dir, at)| (dir.id, at));
        let places: HashMap<u32, usize, RandomState> = ids.collect();
        let stays = self.lead_to_roots(&places);
        let is_known = |id: u32| places.get(&id).is_some_and(|&at| stays[at]);
        self.finished.retain(|&id| is_known(id));
        self.incomplete.retain(|&id| is_known(id));
        let rows = &self.rows;
        let stays_row = |row: usize| rows.has(row, mark::ROOT) || is_known(rows.dirs[row]);
        if (0..rows.len()).all(stays_row) {
            return None;
        }
        let (layout, mut kept, mut value) = (Layout::of(rows), Rows::default(), Vec::new());
        let mut new_rows = vec![0; rows.len()];
        for row in (0..rows.len()).filter(|&row| stays_row(row)) {
            new_rows[row] = kept.len() as u32;
            value.clear();
            push_row(rows, row, 0, &mut value);
            let key = (rows.dirs[row], rows.name(row));
            let read = read_row(layout, key, &value, &mut kept);
            read.expect("the row was written just now");
        }
        let places: Vec<usize> = (0..self.dirs.len()).filter(|&at| stays[at]).collect();
        let of = |&at: &usize| PartDir {
            row: new_rows[self.dirs[at].row as usize],
            ..self.dirs[at]
        };
        self.dirs = places.iter().map(of).collect();
        self.rows = kept;
        Some(places)
    }

    /// For each directory, whether the way up leads to a root.
    fn lead_to_roots(&self, places: &HashMap<u32, usize, RandomState>) -> Vec<bool> {
        let parent = |at: usize| {
            let row = self.dirs[at].row as usize;
            (!self.rows.has(row, mark::ROOT)).then(|| places.get(&self.rows.dirs[row]).copied())
        };
        // Absent as long as it is not known. On the way it is false, so that a circle ends.
        let mut leads: Vec<Option<bool>> = vec![None; self.dirs.len()];
        let mut way = Vec::new();
        for first in 0..self.dirs.len() {
            let mut at = first;
            let answer = loop {
                if let Some(answer) = leads[at] {
                    break answer;
                }
                leads[at] = Some(false);
                way.push(at);
                match parent(at) {
                    None => break true,
                    Some(None) => break false,
                    Some(Some(above)) => at = above,
                }
            };
            for at in way.drain(..) {
                leads[at] = Some(answer);
            }
        }
        leads.into_iter().map(|leads| leads == Some(true)).collect()
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("rows", &self.len())
            .field("dirs", &self.dirs.len())
            .field("errors", &self.errors.len())
            .finish_non_exhaustive()
    }
}

impl DirState {
    pub(crate) const ALL: [DirState; 5] = [
        DirState::Listed,
        DirState::Unreadable,
        DirState::Mount,
        DirState::Excluded,
        DirState::AtLimit,
    ];

    /// Its word in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            DirState::Listed => "listed",
            DirState::Unreadable => "unreadable",
            DirState::Mount => "mount",
            DirState::Excluded => "excluded",
            DirState::AtLimit => "limit",
        }
    }

    /// The reason for which a directory was not entered.
    pub(crate) fn reason(self) -> Option<&'static str> {
        match self {
            DirState::Listed | DirState::Unreadable => None,
            DirState::Mount => Some("mount"),
            DirState::Excluded => Some("exclusion"),
            DirState::AtLimit => Some("limit"),
        }
    }
}

impl Class {
    pub(crate) const ALL: [Class; 4] = [
        Class::Unreadable,
        Class::Changed,
        Class::Vanished,
        Class::NotEntered,
    ];

    /// Its word in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Class::Unreadable => "unreadable",
            Class::Changed => "changed",
            Class::Vanished => "vanished",
            Class::NotEntered => "not entered",
        }
    }
}

/// The type of a word.
pub(crate) fn type_of_word(word: &[u8]) -> Option<FileType> {
    let is_it = |kind: &FileType| kind.word().as_bytes() == word;
    FileType::ALL.into_iter().find(is_it)
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Forgets all rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let small = [&mut self.marks, &mut self.kinds, &mut self.names];
        small.into_iter().for_each(Vec::clear);
        self.ends.clear();
        self.modes.clear();
        let middle = [
            &mut self.dirs,
            &mut self.uids,
            &mut self.gids,
            &mut self.links,
            &mut self.flags,
            &mut self.flags_masks,
        ];
        middle.into_iter().for_each(Vec::clear);
        let large = [
            &mut self.rdevs,
            &mut self.sizes,
            &mut self.allocated,
            &mut self.inos,
            &mut self.devs,
        ];
        large.into_iter().for_each(Vec::clear);
        self.times.iter_mut().for_each(Vec::clear);
        self.odd_times.clear();
        self.refusals.clear();
    }

    #[inline]
    pub(crate) fn name(&self, row: usize) -> &[u8] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[begin..self.ends[row]]
    }

    #[inline]
    pub(crate) fn has(&self, row: usize, mark: u8) -> bool {
        self.marks[row] & mark != 0
    }

    #[inline]
    pub(crate) fn kind(&self, row: usize) -> FileType {
        FileType::from_number(self.kinds[row]).unwrap_or(FileType::Unknown)
    }

    /// A value of a column, where it is known.
    #[inline]
    pub(crate) fn of<T: Copy>(&self, column: &[T], row: usize) -> Option<T> {
        match self.has(row, mark::KNOWN) {
            true => column.get(row).copied(),
            false => None,
        }
    }

    /// A time in nanoseconds, where it is known and they hold it.
    #[inline]
    pub(crate) fn time(&self, time: usize, row: usize) -> Option<i64> {
        let fits = self.has(row, mark::KNOWN) && self.has(row, mark::TIME << time);
        if fits {
            self.times[time].get(row).copied()
        } else {
            None
        }
    }

    /// The seconds of a time that nanoseconds do not hold.
    pub(crate) fn odd_time(&self, time: usize, row: usize) -> Option<i64> {
        let key = (row as u32, time as u8);
        let found = self
            .odd_times
            .binary_search_by_key(&key, |&(row, time, _)| (row, time));
        found.ok().map(|at| self.odd_times[at].2)
    }

    /// The error for which the system has refused the attributes of a row.
    pub(crate) fn refusal(&self, row: usize) -> Option<i32> {
        let found = self
            .refusals
            .binary_search_by_key(&(row as u32), |&(row, _)| row);
        found.ok().map(|at| self.refusals[at].1)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        fn of<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        let small = of(&self.marks) + of(&self.kinds) + of(&self.names) + of(&self.ends);
        let middle = of(&self.dirs) + of(&self.modes) + of(&self.uids) + of(&self.gids);
        let flags = of(&self.links) + of(&self.flags) + of(&self.flags_masks);
        let large = [
            &self.rdevs,
            &self.sizes,
            &self.allocated,
            &self.inos,
            &self.devs,
        ];
        let times: usize = self.times.iter().map(of).sum();
        let rare = of(&self.odd_times) + of(&self.refusals);
        small + middle + flags + large.into_iter().map(of).sum::<usize>() + times + rare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_a_word() {
        for kind in FileType::ALL {
            assert_eq!(type_of_word(kind.word().as_bytes()), Some(kind));
        }
        assert_eq!(type_of_word(b"door"), None);
    }
}
