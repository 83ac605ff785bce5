// SPDX-License-Identifier: MIT OR Apache-2.0

//! A set of inodes that many workers share.
//!
//! It is cut into parts with a lock each, so that workers rarely meet. Only
//! inodes that can be reached by several names go in: hard links, directories
//! of file systems that are mounted twice, everything when links are followed.

use std::fmt;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::entry::FileId;
use crate::parts::{Parts, part_of};

/// Which of the inodes were seen.
pub(crate) struct InodeSet {
    parts: Parts<Part>,
    hasher: RandomState,
}

#[derive(Default)]
struct Part {
    keys: HashTable<Key>,
    /// Device numbers, by their index in [`Key::dev_index`]: a scan sees few.
    devs: Vec<u64>,
}

impl Default for InodeSet {
    fn default() -> InodeSet {
        InodeSet::new()
    }
}

/// An inode in 12 bytes: hundreds of millions may be kept.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
struct Key {
    ino: u64,
    dev_index: u32,
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
        let hash = self.hash(id);
        let mut part = self.parts.lock(part_of(hash));
        let Part { keys, devs } = &mut *part;
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
        if keys.find(hash, |other| *other == key).is_some() {
            return false;
        }
        keys.insert_unique(hash, key, |other| {
            let dev = devs[other.dev_index as usize];
            self.hash(FileId {
                dev,
                ino: other.ino,
            })
        });
        true
    }

    /// Whether an inode is in the set.
    pub(crate) fn contains(&self, id: FileId) -> bool {
        let hash = self.hash(id);
        let part = self.parts.lock(part_of(hash));
        let same = |key: &Key| key.ino == id.ino && part.devs[key.dev_index as usize] == id.dev;
        part.keys.find(hash, same).is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_is_new_once_per_device() {
        let set = InodeSet::new();
        for dev in [7, 8] {
            for ino in 0..10_000 {
                assert!(set.insert(FileId { dev, ino }));
            }
        }
        assert!((0..10_000).all(|ino| !set.insert(FileId { dev: 8, ino })));
    }

    #[test]
    fn an_inode_takes_twelve_bytes() {
        assert_eq!(size_of::<Key>(), 12);
    }
}
