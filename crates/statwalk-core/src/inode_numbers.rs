// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers for inodes with several names, for all workers and sinks of a scan.
//!
//! An inode is kept once; what a sink keeps of it lies in a column of its own,
//! under the number. As an `InodeSet` it is in parts with a lock each, so that
//! workers rarely meet.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};

use foldhash::quality::RandomState;

use crate::chunks::Chunks;
use crate::entry::FileId;
use crate::parts::{Parts, part_of};

/// The numbers of inodes.
pub(crate) struct InodeNumbers {
    parts: Parts<Part>,
    hasher: RandomState,
    is_needed: AtomicBool,
}

/// Names an inode of an [`InodeNumbers`]. Within a part, numbers are dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InodeNumber {
    pub(crate) part: u32,
    pub(crate) index: u32,
}

#[derive(Default)]
struct Part {
    keys: Chunks<Key>,
    /// As many chains as keys, each by the index of its first key. Each key brings one
    /// more chain, which takes over its keys from another (linear hashing). A table
    /// that doubles would take twice its room, and leave its old one unused.
    chains: Chunks<u32>,
    /// Device numbers, by their index in [`Key::dev_index`]: a scan sees few.
    devs: Vec<u64>,
}

/// An inode in 16 bytes: hundreds of millions may be kept.
#[derive(Clone, Copy)]
struct Key {
    ino: u64,
    dev_index: u32,
    /// The index of the next key of the chain, or [`NONE`].
    next: u32,
}

/// No key.
const NONE: u32 = u32::MAX;

impl InodeNumbers {
    pub(crate) fn new() -> InodeNumbers {
        InodeNumbers {
            parts: Parts::new(),
            hasher: RandomState::default(),
            is_needed: AtomicBool::new(false),
        }
    }

    /// Notes, before the scan begins, that a sink will ask for numbers.
    pub(crate) fn need(&self) {
        self.is_needed.store(true, Ordering::Relaxed);
    }

    /// Whether a sink asks for numbers, so that who only wants to know an inode again
    /// can do without a set of its own.
    pub(crate) fn are_needed(&self) -> bool {
        self.is_needed.load(Ordering::Relaxed)
    }

    /// The number of an inode.
    pub(crate) fn number(&self, id: FileId) -> InodeNumber {
        let hash = self.hash(id);
        let part = part_of(hash);
        let mut inodes = self.parts.lock(part);
        let index = match inodes.find(hash, id) {
            Some(index) => index,
            None => inodes.add(hash, id, |id| self.hash(id)),
        };
        InodeNumber { part, index }
    }

    fn hash(&self, id: FileId) -> u64 {
        self.hasher.hash_one((id.dev, id.ino))
    }
}

impl Part {
    fn find(&self, hash: u64, id: FileId) -> Option<u32> {
        let chains = self.chains.len();
        if chains == 0 {
            return None;
        }
        let mut index = self.chains[chain_of(hash, chains)];
        while index != NONE {
            let key = self.keys[index];
            if key.ino == id.ino && self.devs[key.dev_index as usize] == id.dev {
                return Some(index);
            }
            index = key.next;
        }
        None
    }

    /// Adds an inode that is not there.
    fn add(&mut self, hash: u64, id: FileId, hash_of: impl Fn(FileId) -> u64) -> u32 {
        self.add_chain(hash_of);
        let dev_index = match self.devs.iter().position(|&dev| dev == id.dev) {
            Some(index) => index as u32,
            None => {
                self.devs.push(id.dev);
                self.devs.len() as u32 - 1
            }
        };
        let index = self.keys.len();
        let first = &mut self.chains[chain_of(hash, index + 1)];
        self.keys.push(Key {
            ino: id.ino,
            dev_index,
            next: std::mem::replace(first, index),
        });
        index
    }

    /// Adds a chain, of what belongs to it in the one that had it until now.
    fn add_chain(&mut self, hash_of: impl Fn(FileId) -> u64) {
        let added = self.chains.len();
        self.chains.push(NONE);
        if added == 0 {
            return;
        }
        let before = added - (1 << added.ilog2());
        let mut index = std::mem::replace(&mut self.chains[before], NONE);
        while index != NONE {
            let Key { ino, dev_index, .. } = self.keys[index];
            let dev = self.devs[dev_index as usize];
            let chain = chain_of(hash_of(FileId { dev, ino }), added + 1);
            let next = std::mem::replace(&mut self.chains[chain], index);
            index = std::mem::replace(&mut self.keys[index].next, next);
        }
    }
}

/// Which of some chains an inode belongs to: one more bit of its hash decides for
/// those that are there already.
fn chain_of(hash: u64, chains: u32) -> u32 {
    let power = (chains - 1).checked_ilog2().map_or(0, |power| power + 1);
    let chain = hash as u32 & ((1_u64 << power) - 1) as u32;
    if chain < chains {
        chain
    } else {
        chain & ((1 << (power - 1)) - 1)
    }
}

impl fmt::Debug for InodeNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InodeNumbers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inode_keeps_its_number() {
        let inodes = InodeNumbers::new();
        let ids = (0..20_000).map(|id| FileId {
            dev: id % 2,
            ino: id / 2,
        });
        let numbers: Vec<_> = ids.clone().map(|id| inodes.number(id)).collect();
        assert!(ids.map(|id| inodes.number(id)).eq(numbers.iter().copied()));
        for (part, inodes) in inodes.parts.each().enumerate() {
            let of_part = numbers.iter().filter(|number| number.part as usize == part);
            assert!((of_part.map(|number| number.index)).eq(0..inodes.keys.len()));
        }
    }

    #[test]
    fn an_inode_takes_sixteen_bytes_and_a_chain_of_four() {
        assert_eq!(size_of::<Key>(), 16);
        let inodes = InodeNumbers::new();
        for ino in 0..100_000 {
            inodes.number(FileId { dev: 1, ino });
        }
        let mut used = 0;
        for part in inodes.parts.each() {
            assert_eq!(part.chains.len(), part.keys.len());
            let is_used = |&&first: &&u32| first != NONE;
            used += part.chains.iter().filter(is_used).count();
        }
        // Of as many as inodes, chance fills 63 % of chains of equal length, and these
        // are of two lengths. Single parts can be less lucky: the hash has a random seed.
        assert!(used > 100_000 / 2, "{used}");
    }
}
