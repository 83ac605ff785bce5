// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of directories, and the order of all rows.
//!
//! Directories are numbered depth first, siblings by the raw bytes of their names. Rows are
//! sorted by the number of their directory and then by the raw bytes of their name, after
//! those of the roots.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::error::Error;
use crate::part::{Part, PartDir, Rows, mark};

/// Stands for no directory.
pub(crate) const NONE: u32 = u32::MAX;

/// The directories of a part in their order, each fact by number.
pub(crate) struct Numbering {
    /// The row of its name in the part.
    pub(crate) rows: Vec<u32>,
    /// The directory in the part.
    pub(crate) dirs: Vec<u32>,
    /// [`NONE`] for a root.
    pub(crate) parents: Vec<u32>,
    /// The last number of its subtree.
    pub(crate) lasts: Vec<u32>,
    /// How far it lies from its root.
    pub(crate) depths: Vec<u32>,
    /// Where its rows begin, and for one more where the last end.
    pub(crate) first_entries: Vec<u64>,
    /// All rows of the part in their order.
    pub(crate) order: Vec<u32>,
    /// The number of each row's directory, by the row in the part; [`NONE`] for a root.
    pub(crate) of_rows: Vec<u32>,
    /// The numbers of directories in a directory, one after another.
    children: Vec<u32>,
    child_begins: Vec<u32>,
    /// The numbers by the number in the part.
    by_id: HashMap<u32, u32, RandomState>,
}

impl Numbering {
    /// Gives the directories of a part their numbers.
    pub(crate) fn of(part: &Part) -> Result<Numbering, Error> {
        let (rows, dirs) = (&part.rows, &part.dirs);
        if rows.len() >= NONE as usize {
            return Err(Error::unfit("a part has too many rows"));
        }
        // By the place in the part at first, by number at the end.
        let mut by_id = HashMap::with_capacity_and_hasher(dirs.len(), RandomState::default());
        for (at, dir) in dirs.iter().enumerate() {
            if by_id.insert(dir.id, at as u32).is_some() {
                return Err(Error::unfit("two directories have one number"));
            }
        }
        let mut parents = Vec::with_capacity(dirs.len());
        let mut roots = Vec::new();
        for (at, dir) in dirs.iter().enumerate() {
            match parent_of(dir, rows) {
                None => {
                    roots.push(at as u32);
                    parents.push(NONE);
                }
                Some(id) => {
                    let parent = by_id.get(&id);
                    parents.push(*parent.ok_or_else(no_directory)?);
                }
            }
        }
        let name = |at: u32| rows.name(dirs[at as usize].row as usize);
        roots.sort_by_key(|&at| rows.dirs[dirs[at as usize].row as usize]);
        let (begins, mut children) = grouped(&parents);
        for begin in begins.windows(2) {
            let siblings = &mut children[begin[0] as usize..begin[1] as usize];
            siblings.sort_unstable_by(|&a, &b| name(a).cmp(name(b)));
        }
        let mut numbers = vec![NONE; dirs.len()];
        let mut places = Vec::with_capacity(dirs.len());
        let mut waiting = roots;
        waiting.reverse();
        while let Some(at) = waiting.pop() {
            numbers[at as usize] = places.len() as u32;
            places.push(at);
            let below = begins[at as usize] as usize..begins[at as usize + 1] as usize;
            waiting.extend(children[below].iter().rev());
        }
        if places.len() < dirs.len() {
            return Err(Error::unfit("a directory lies in itself"));
        }
        for at in by_id.values_mut() {
            *at = numbers[*at as usize];
        }
        let number_of = |at: u32| {
            if at == NONE {
                NONE
            } else {
                numbers[at as usize]
            }
        };
        let parents: Vec<u32> = places
            .iter()
            .map(|&at| number_of(parents[at as usize]))
            .collect();
        let mut lasts: Vec<u32> = (0..places.len() as u32).collect();
        let mut depths = vec![0; places.len()];
        for number in (0..places.len()).rev() {
            if let Some(last) = lasts.get(parents[number] as usize) {
                lasts[parents[number] as usize] = (*last).max(lasts[number]);
            }
        }
        for number in 0..places.len() {
            if let Some(&depth) = depths.get(parents[number] as usize) {
                depths[number] = depth + 1;
            }
        }
        // Siblings have numbers in the order of their names.
        let (child_begins, children) = grouped(&parents);
        let mut numbering = Numbering {
            rows: places.iter().map(|&at| dirs[at as usize].row).collect(),
            dirs: places,
            parents,
            lasts,
            depths,
            first_entries: Vec::new(),
            order: Vec::new(),
            of_rows: Vec::new(),
            children,
            child_begins,
            by_id,
        };
        numbering.sort_rows(rows)?;
        Ok(numbering)
    }

    /// Brings all rows into their order.
    fn sort_rows(&mut self, rows: &Rows) -> Result<(), Error> {
        let count = self.rows.len();
        self.of_rows.reserve_exact(rows.len());
        let mut known = (NONE, NONE);
        for (row, &id) in rows.dirs.iter().enumerate() {
            if rows.has(row, mark::ROOT) {
                self.of_rows.push(NONE);
                continue;
            }
            if known.0 != id || known.1 == NONE {
                known = (id, *self.by_id.get(&id).ok_or_else(no_directory)?);
            }
            self.of_rows.push(known.1);
        }
        let group = |number: u32| {
            if number == NONE {
                0
            } else {
                number as usize + 1
            }
        };
        let mut begins = vec![0_u32; count + 2];
        for &number in &self.of_rows {
            begins[group(number) + 1] += 1;
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        let mut next = begins.clone();
        self.order = vec![0; rows.len()];
        for (row, &number) in self.of_rows.iter().enumerate() {
            let at = &mut next[group(number)];
            self.order[*at as usize] = row as u32;
            *at += 1;
        }
        for (group, range) in begins.windows(2).enumerate() {
            let order = &mut self.order[range[0] as usize..range[1] as usize];
            if group == 0 {
                // Those of roots, by the index of the root.
                order.sort_by_key(|&row| rows.dirs[row as usize]);
                let twice =
                    |pair: &[u32]| rows.dirs[pair[0] as usize] == rows.dirs[pair[1] as usize];
                if order.windows(2).any(twice) {
                    return Err(Error::unfit("two rows are one root"));
                }
                continue;
            }
            order.sort_unstable_by(|&a, &b| {
                let [a, b] = [a, b].map(|row| row as usize);
                rows.name(a).cmp(rows.name(b)).then(a.cmp(&b))
            });
        }
        self.first_entries = begins[1..].iter().map(|&begin| u64::from(begin)).collect();
        Ok(())
    }

    /// Forgets the order of rows, which a part of directories alone has no use for.
    pub(crate) fn forget_rows(&mut self) {
        (self.order, self.of_rows) = (Vec::new(), Vec::new());
    }

    /// Forgets how rows find their directory and their place.
    pub(crate) fn forget_search(&mut self) {
        self.by_id = HashMap::default();
        (self.depths, self.children, self.child_begins) = (Vec::new(), Vec::new(), Vec::new());
    }

    /// How many directories there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows of a directory, as places in the order.
    pub(crate) fn entries(&self, number: usize) -> Range<usize> {
        self.first_entries[number] as usize..self.first_entries[number + 1] as usize
    }

    /// The number of a directory of the part.
    pub(crate) fn number(&self, id: u32) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The numbers of the directories in a directory, in the order of their names.
    pub(crate) fn children(&self, number: u32) -> &[u32] {
        let begin = self.child_begins[number as usize] as usize;
        &self.children[begin..self.child_begins[number as usize + 1] as usize]
    }

    /// Where a name in a directory lies among all in path order: the last directory before it,
    /// and then the deeper of two first.
    ///
    /// Two names with one place are in one directory.
    pub(crate) fn place(&self, rows: &Rows, number: u32, name: &[u8]) -> (u32, u32) {
        let children = self.children(number);
        let before =
            children.partition_point(|&child| rows.name(self.rows[child as usize] as usize) < name);
        let before = before.checked_sub(1).map(|at| children[at]);
        let last = before.map_or(number, |child| self.lasts[child as usize]);
        (last, u32::MAX - self.depths[number as usize])
    }
}

fn no_directory() -> Error {
    Error::unfit("a row belongs to a directory that has no row")
}

fn parent_of(dir: &PartDir, rows: &Rows) -> Option<u32> {
    let row = dir.row as usize;
    (!rows.has(row, mark::ROOT)).then(|| rows.dirs[row])
}

/// The indices of values by value, where each begins, and for one more where the last end.
/// Those without a value are left out.
fn grouped(values: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut begins = vec![0; values.len() + 2];
    for &value in values.iter().filter(|&&value| value != NONE) {
        begins[value as usize + 2] += 1;
    }
    for at in 1..begins.len() {
        begins[at] += begins[at - 1];
    }
    let count = begins[begins.len() - 1];
    let mut members = vec![0; count as usize];
    for (index, &value) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != NONE)
    {
        let next = &mut begins[value as usize + 1];
        members[*next as usize] = index as u32;
        *next += 1;
    }
    begins.pop();
    (begins, members)
}
