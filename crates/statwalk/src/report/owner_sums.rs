// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of owners.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use statwalk_report::Sums;

/// Owners, numbered as they come. One stands for all entries whose owner is not known.
#[derive(Default)]
pub(super) struct OwnerSums {
    numbers: HashMap<Option<u32>, u32, RandomState>,
    /// By number.
    all: Vec<(Option<u32>, Sums)>,
    /// The one that was asked for last: most neighbours have the same.
    last: u32,
}

impl OwnerSums {
    /// Adds an entry, and returns the number of its owner.
    #[inline]
    pub(super) fn add(&mut self, uid: Option<u32>, sums: Sums) -> u32 {
        let is_last = |&(last, _): &(Option<u32>, Sums)| last == uid;
        if !self.all.get(self.last as usize).is_some_and(is_last) {
            self.last = self.number(uid);
        }
        self.all[self.last as usize].1.add(sums);
        self.last
    }

    fn number(&mut self, uid: Option<u32>) -> u32 {
        // There are at most 2^32 owners, and as many numbers without the unknown one:
        // so many entries do not fit into memory.
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(uid).or_insert(next);
        if number == next {
            self.all.push((uid, Sums::default()));
        }
        number
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[(Option<u32>, Sums)] {
        &self.all
    }
}
