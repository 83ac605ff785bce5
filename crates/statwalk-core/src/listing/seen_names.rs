// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names that one reading of a directory has listed.
//!
//! A server can list a name twice: a union of branches that both have it, or one that gives
//! a part of the list again. Both times it is the same entry, so it counts once. A kernel
//! file system lists a name once, and is not checked.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::events::{Events, Note};

/// Names that follow one another without a new one, at least and for each known name, until
/// a listing counts as one without end.
const STALE_MIN: u64 = 1 << 16;
const STALE_ROUNDS: u64 = 16;

/// The names of one reading, and how many of them came again.
///
/// It keeps 128 bits of each, of two hashes with random keys. So memory does not grow with
/// the length of names, and no server can make two names that are taken for one.
pub(super) struct SeenNames {
    hashers: [RandomState; 2],
    marks: HashTable<u128>,
    names_max: usize,
    /// Whether a name was not remembered.
    is_over: bool,
    repeated: u64,
    /// The repeated names since the last new one.
    stale: u64,
}

/// The repeated names of one reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) names: u64,
    /// Whether there may be more of them, which were not recognised.
    pub(super) may_be_more: bool,
}

impl Repeated {
    /// Notes them, with the reading that was delivered.
    pub(super) fn note(self, root: u32, out: &mut dyn Events) {
        if self.names > 0 {
            out.note(root, Note::NamesRepeated(self.names));
        }
    }
}

impl SeenNames {
    pub(super) fn of_at_most(names_max: usize) -> SeenNames {
        SeenNames {
            hashers: [RandomState::new(), RandomState::new()],
            marks: HashTable::new(),
            names_max,
            is_over: false,
            repeated: 0,
            stale: 0,
        }
    }

    /// Adds a name; false if it was there.
    pub(super) fn add(&mut self, name: &[u8]) -> bool {
        let [low, high] = [0, 1].map(|index: usize| self.hashers[index].hash_one(name));
        let mark = u128::from(high) << 64 | u128::from(low);
        if self.marks.find(low, |other| *other == mark).is_some() {
            self.repeated += 1;
            self.stale += 1;
            return false;
        }
        self.stale = 0;
        match self.marks.len() < self.names_max {
            true => drop(self.marks.insert_unique(low, mark, |mark| *mark as u64)),
            false => self.is_over = true,
        }
        true
    }

    /// Whether the listing goes on and on with names that it has given.
    pub(super) fn goes_in_circles(&self) -> bool {
        self.stale > STALE_MIN.max(STALE_ROUNDS * self.marks.len() as u64)
    }

    /// The names that came again since the last call.
    pub(super) fn take_repeated(&mut self) -> Repeated {
        let names = std::mem::take(&mut self.repeated);
        Repeated {
            names,
            may_be_more: names > 0 && self.is_over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::NAMES_MAX;

    #[test]
    fn a_name_is_new_once() {
        let mut seen = SeenNames::of_at_most(NAMES_MAX);
        for round in 0..3 {
            for number in 0..10_000_u32 {
                assert_eq!(seen.add(&number.to_le_bytes()), round == 0);
            }
        }
        let repeated = Repeated {
            names: 20_000,
            may_be_more: false,
        };
        assert_eq!(seen.take_repeated(), repeated);
        assert_eq!(seen.take_repeated().names, 0);
    }

    #[test]
    fn names_past_the_bound_are_new_and_leave_a_doubt() {
        let mut seen = SeenNames::of_at_most(2);
        assert!(
            ["a", "b", "c", "c"]
                .iter()
                .all(|name| seen.add(name.as_bytes()))
        );
        assert!(!seen.take_repeated().may_be_more, "nothing came again");
        assert!(!seen.add(b"a"));
        assert!(seen.take_repeated().may_be_more);
    }

    #[test]
    fn a_listing_goes_in_circles_where_nothing_new_comes_for_long() {
        let mut seen = SeenNames::of_at_most(NAMES_MAX);
        for _ in 0..=STALE_MIN + 1 {
            assert!(!seen.goes_in_circles());
            seen.add(b"a");
        }
        assert!(seen.goes_in_circles());
        seen.add(b"b");
        assert!(!seen.goes_in_circles());
    }

    #[test]
    fn the_largest_table_takes_as_much_as_is_said() {
        let mut marks: HashTable<u128> = HashTable::new();
        marks.reserve(NAMES_MAX, |mark| *mark as u64);
        assert_eq!(marks.allocation_size() >> 20, 17);
        assert_eq!(marks.capacity(), NAMES_MAX);
    }
}
