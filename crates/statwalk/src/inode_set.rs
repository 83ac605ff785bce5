// SPDX-License-Identifier: MIT OR Apache-2.0

//! A set of inodes that many workers share, with a number for each.
//!
//! It is cut into parts with a lock each, so that workers rarely meet. Only
//! inodes that can be reached by several names go in: hard links, directories
//! of file systems that are mounted twice, everything when links are followed.
//! Each inode is kept once; what else there is to know of it lies in columns of
//! others, under its number.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crossbeam_utils::CachePadded;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::chunks::Chunks;
use crate::entry::FileId;

const PART_BITS: u32 = 6;

/// Which of the inodes were seen.
pub(crate) struct InodeSet {
    parts: Parts<Part>,
    hasher: RandomState,
}

/// Something in parts with a lock each, made when it is first needed: most scans
/// meet no hard link.
pub(crate) struct Parts<T> {
    parts: OnceLock<Box<[CachePadded<Mutex<T>>]>>,
}

/// Names an inode of an [`InodeSet`]. Within a part, numbers are dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InodeNumber {
    pub(crate) part: u32,
    pub(crate) index: u32,
}

#[derive(Default)]
struct Part {
    /// Keys by their index. Four bytes are what a table may double.
    indexes: HashTable<u32>,
    keys: Chunks<Key>,
    /// Device numbers, by their index in [`Key::dev_index`]: a scan sees few.
    devs: Vec<u64>,
}

/// An inode in 12 bytes: hundreds of millions may be kept.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Key {
    ino: u64,
    dev_index: u32,
}

impl<T: Default> Parts<T> {
    pub(crate) const fn new() -> Parts<T> {
        Parts {
            parts: OnceLock::new(),
        }
    }

    pub(crate) fn lock(&self, part: u32) -> MutexGuard<'_, T> {
        let parts = self.parts.get_or_init(|| {
            (0..1 << PART_BITS)
                .map(|_| CachePadded::default())
                .collect()
        });
        // A panic elsewhere leaves a part whole: no step of a change can fail.
        parts[part as usize % (1 << PART_BITS)]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// All parts, one after another; none if none was needed.
    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        let parts = self.parts.get().into_iter().flatten();
        parts.map(|part| part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl InodeSet {
    pub(crate) fn new() -> InodeSet {
        InodeSet {
            parts: Parts::new(),
            hasher: RandomState::default(),
        }
    }

    /// Adds an inode; false if it was there.
    pub(crate) fn insert(&self, id: FileId) -> bool {
        self.find_or_add(id).1
    }

    /// The number of an inode, which is added if it is not there.
    pub(crate) fn number(&self, id: FileId) -> InodeNumber {
        self.find_or_add(id).0
    }

    /// Whether an inode is in the set.
    pub(crate) fn contains(&self, id: FileId) -> bool {
        let hash = self.hash(id);
        let part = self.parts.lock(part_of(hash));
        let same = |&index: &u32| {
            let key = part.keys[index];
            key.ino == id.ino && part.devs[key.dev_index as usize] == id.dev
        };
        part.indexes.find(hash, same).is_some()
    }

    fn find_or_add(&self, id: FileId) -> (InodeNumber, bool) {
        let hash = self.hash(id);
        let part_number = part_of(hash);
        let mut part = self.parts.lock(part_number);
        let Part {
            indexes,
            keys,
            devs,
        } = &mut *part;
        let dev_index = match devs.iter().position(|&dev| dev == id.dev) {
            Some(index) => index as u32,
            None => {
                devs.push(id.dev);
                devs.len() as u32 - 1
            }
        };
        let key = Key {
            ino: id.ino,
            dev_index,
        };
        let hash_of = |&index: &u32| {
            let Key { ino, dev_index } = keys[index];
            let dev = devs[dev_index as usize];
            self.hash(FileId { dev, ino })
        };
        let (index, is_new) = match indexes.entry(hash, |&index| keys[index] == key, hash_of) {
            Entry::Occupied(place) => (*place.get(), false),
            Entry::Vacant(place) => {
                let index = keys.len();
                place.insert(index);
                keys.push(key);
                (index, true)
            }
        };
        let part = part_number;
        (InodeNumber { part, index }, is_new)
    }

    fn hash(&self, id: FileId) -> u64 {
        self.hasher.hash_one((id.dev, id.ino))
    }
}

impl fmt::Debug for InodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InodeSet").finish_non_exhaustive()
    }
}

/// The table uses the upper and the lower bits; these lie between.
fn part_of(hash: u64) -> u32 {
    (hash >> 32) as u32 & ((1 << PART_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_is_new_once_per_device() {
        let set = InodeSet::new();
        for dev in [7, 8] {
            for ino in 0..10_000 {
                let id = FileId { dev, ino };
                assert!(!set.contains(id) && set.insert(id) && set.contains(id));
            }
        }
        assert!((0..10_000).all(|ino| !set.insert(FileId { dev: 8, ino })));
    }

    #[test]
    fn an_inode_keeps_its_number() {
        let set = InodeSet::new();
        let number = |ino| set.number(FileId { dev: 1, ino });
        let numbers: Vec<_> = (0..10_000).map(number).collect();
        assert!((0..10_000).all(|ino| number(ino) == numbers[ino as usize]));
        for part in 0..1 << PART_BITS {
            let of_part = numbers.iter().filter(|number| number.part == part);
            assert!((of_part.map(|number| number.index)).eq(0..set.parts.lock(part).keys.len()));
        }
    }

    #[test]
    fn an_inode_takes_twelve_bytes() {
        assert_eq!(size_of::<Key>(), 12);
    }
}
