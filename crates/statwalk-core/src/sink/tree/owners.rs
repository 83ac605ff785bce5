// SPDX-License-Identifier: MIT OR Apache-2.0

//! The owners of a tree: a byte for a file, because few trees have more than 254.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::whole_blocks;
use crate::lock::lock;

/// The number of an owner within its scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OwnerNumber(u8);

impl OwnerNumber {
    /// An owner that is not known.
    pub(super) const UNKNOWN: OwnerNumber = OwnerNumber(u8::MAX);
    /// One of those that came when all numbers were given. It is kept apart.
    pub(super) const APART: OwnerNumber = OwnerNumber(u8::MAX - 1);
}

/// The owners that one worker has met.
#[derive(Clone, Default)]
pub(super) struct Owners {
    /// Those with a number, for all workers.
    numbered: Arc<Mutex<Vec<u32>>>,
    /// The owner that this worker met last: most neighbours have the same.
    last: Option<(u32, OwnerNumber)>,
    dirs: Vec<(u32, OwnerNumber)>,
    /// Owners that are kept apart, by directory.
    dirs_apart: Vec<(u32, u32)>,
    /// The same by file, in the order of the files of this worker.
    files_apart: Vec<(u64, u32)>,
}

impl Owners {
    /// Keeps the owner of a directory.
    pub(super) fn keep_dir(&mut self, dir: u32, uid: u32) {
        let number = self.number(uid);
        self.dirs.push((dir, number));
        if number == OwnerNumber::APART {
            self.dirs_apart.push((dir, uid));
        }
    }

    /// The number of the owner of a file, whose number among the files of this worker is
    /// given by `file`.
    #[inline]
    pub(super) fn keep_file(&mut self, uid: u32, file: impl FnOnce() -> u64) -> OwnerNumber {
        let number = self.number(uid);
        if number == OwnerNumber::APART {
            self.files_apart.push((file(), uid));
        }
        number
    }

    #[inline]
    fn number(&mut self, uid: u32) -> OwnerNumber {
        match self.last {
            Some((last, number)) if last == uid => number,
            _ => self.number_of_other(uid),
        }
    }

    fn number_of_other(&mut self, uid: u32) -> OwnerNumber {
        let mut numbered = lock(&self.numbered);
        let known = numbered.iter().position(|&known| known == uid);
        let index = known.unwrap_or_else(|| {
            if numbered.len() < usize::from(OwnerNumber::APART.0) {
                numbered.push(uid);
            }
            numbered.len() - 1
        });
        let number = match numbered[index] == uid {
            true => OwnerNumber(index as u8),
            false => OwnerNumber::APART,
        };
        self.last = Some((uid, number));
        number
    }
}

/// The owners of all files and directories.
#[derive(Default)]
pub(super) struct AllOwners {
    numbered: Vec<u32>,
    /// By the number of the directory; empty where none are kept.
    dirs: Vec<OwnerNumber>,
    dirs_apart: HashMap<u32, u32>,
    /// In the order of files.
    files_apart: Vec<(u64, u32)>,
}

impl AllOwners {
    /// Adds those of a worker, whose files begin behind those that were added before.
    pub(super) fn add(&mut self, worker: Owners, first_file: u64) {
        let mut numbered = lock(&worker.numbered);
        if !numbered.is_empty() {
            self.numbered = std::mem::take(&mut numbered);
        }
        drop(numbered);
        for (dir, owner) in worker.dirs {
            let index = dir as usize;
            if self.dirs.len() <= index {
                let len = whole_blocks(index);
                self.dirs.resize(len, OwnerNumber::UNKNOWN);
            }
            self.dirs[index] = owner;
        }
        self.dirs_apart.extend(worker.dirs_apart);
        let files = worker.files_apart.into_iter();
        (self.files_apart).extend(files.map(|(file, uid)| (first_file + file, uid)));
    }

    /// The owner of a file, whose record has this number.
    #[inline]
    pub(super) fn of_file(&self, file: u64, number: OwnerNumber) -> Option<u32> {
        match number {
            OwnerNumber::UNKNOWN => None,
            OwnerNumber::APART => self.of_file_apart(file),
            OwnerNumber(number) => self.numbered.get(usize::from(number)).copied(),
        }
    }

    fn of_file_apart(&self, file: u64) -> Option<u32> {
        let found = self
            .files_apart
            .binary_search_by_key(&file, |&(file, _)| file);
        Some(self.files_apart[found.ok()?].1)
    }

    /// The owner of a directory.
    #[inline]
    pub(super) fn of_dir(&self, dir: u32) -> Option<u32> {
        match *self.dirs.get(dir as usize)? {
            OwnerNumber::UNKNOWN => None,
            OwnerNumber::APART => self.dirs_apart.get(&dir).copied(),
            OwnerNumber(number) => self.numbered.get(usize::from(number)).copied(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // A bucket has a byte of control beside its pair.
        self.numbered.capacity() * size_of::<u32>()
            + self.dirs.capacity()
            + self.dirs_apart.capacity() * (size_of::<(u32, u32)>() + 1)
            + self.files_apart.capacity() * size_of::<(u64, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_owner_comes_back_however_many_there_are() {
        let mut one = Owners::default();
        let mut other = one.clone();
        let uid = |number: u64| (number % 1000) as u32 * 7;
        let numbers: Vec<_> = (0..2000)
            .map(|file| one.keep_file(uid(file), || file))
            .collect();
        let others: Vec<_> = (0..2000)
            .map(|file| other.keep_file(uid(file + 500), || file))
            .collect();
        for dir in 0..1500 {
            let worker = if dir % 2 == 0 { &mut one } else { &mut other };
            worker.keep_dir(dir, uid(dir.into()));
        }
        assert!(numbers.contains(&OwnerNumber::APART) && others.contains(&OwnerNumber::APART));
        assert!(!numbers.contains(&OwnerNumber::UNKNOWN));
        let mut all = AllOwners::default();
        all.add(one, 0);
        all.add(other, 4096);
        for (file, &number) in (0..).zip(&numbers) {
            assert_eq!(all.of_file(file, number), Some(uid(file)));
        }
        for (file, &number) in (0..).zip(&others) {
            assert_eq!(all.of_file(4096 + file, number), Some(uid(file + 500)));
        }
        for dir in 0..1500 {
            assert_eq!(all.of_dir(dir), Some(uid(dir.into())));
        }
        assert_eq!(all.of_file(0, OwnerNumber::UNKNOWN), None);
        assert_eq!((all.of_dir(1500), all.of_dir(u32::MAX)), (None, None));
    }
}
