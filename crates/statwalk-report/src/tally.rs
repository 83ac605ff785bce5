// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes by category and by owner, and which of them has most.

use std::collections::HashMap;
use std::hash::Hash;

use crate::tree::{NO_OWNER, NONE};

/// Bytes by category and by owner.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    categories: ByKey<u8>,
    owners: ByKey<u32>,
}

/// Bytes by one kind of key.
#[derive(Clone, Debug)]
struct ByKey<K> {
    all: Vec<(K, u128)>,
    /// The places of those behind the first [`FEW`].
    far: HashMap<K, usize>,
}

/// Most directories have fewer keys, which are found faster one after another.
const FEW: usize = 32;

impl Tally {
    /// Adds the bytes of an entry. An entry without bytes adds nothing.
    #[inline]
    pub fn add_entry(&mut self, category: u8, owner: u32, bytes: u128) {
        if bytes > 0 {
            self.categories.add(category, bytes);
            self.owners.add(owner, bytes);
        }
    }

    /// Adds all bytes of another, which has something else then: the larger of the two takes
    /// in the smaller.
    pub fn absorb(&mut self, other: &mut Tally) {
        self.categories.absorb(&mut other.categories);
        self.owners.absorb(&mut other.owners);
    }

    /// Adds bytes of a category. Their owners are added by
    /// [`add_owner`](Self::add_owner).
    #[inline]
    pub fn add_category(&mut self, category: u8, bytes: u128) {
        self.categories.add(category, bytes);
    }

    /// Adds bytes of an owner.
    #[inline]
    pub fn add_owner(&mut self, owner: u32, bytes: u128) {
        self.owners.add(owner, bytes);
    }

    /// Returns the categories with their bytes, in no order.
    #[must_use]
    pub fn categories(&self) -> &[(u8, u128)] {
        &self.categories.all
    }

    /// Returns the owners with their bytes, in no order.
    #[must_use]
    pub fn owners(&self) -> &[(u32, u128)] {
        &self.owners.all
    }

    /// Forgets all, and keeps the room.
    pub fn clear(&mut self) {
        self.categories.clear();
        self.owners.clear();
    }

    /// Returns the category with most bytes, and [`NONE`] where there is none.
    #[must_use]
    pub fn category(&self) -> u8 {
        most(self.categories.all.iter().copied()).unwrap_or(NONE)
    }

    /// Returns the owner with most bytes, and [`NO_OWNER`] where there is none.
    #[must_use]
    pub fn owner(&self) -> u32 {
        most(self.owners.all.iter().copied()).unwrap_or(NO_OWNER)
    }
}

impl<K> Default for ByKey<K> {
    fn default() -> ByKey<K> {
        ByKey {
            all: Vec::new(),
            far: HashMap::new(),
        }
    }
}

impl<K: Copy + Hash + Ord> ByKey<K> {
    #[inline]
    fn add(&mut self, key: K, bytes: u128) {
        let mut first = self.all.iter().take(FEW);
        match first.position(|&(known, _)| known == key) {
            Some(place) => self.all[place].1 = self.all[place].1.saturating_add(bytes),
            None if self.all.len() < FEW => self.all.push((key, bytes)),
            None => self.add_far(key, bytes),
        }
    }

    fn add_far(&mut self, key: K, bytes: u128) {
        let next = self.all.len();
        let place = *self.far.entry(key).or_insert(next);
        match self.all.get_mut(place) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => self.all.push((key, bytes)),
        }
    }

    fn clear(&mut self) {
        self.all.clear();
        self.far.clear();
    }

    fn absorb(&mut self, other: &mut ByKey<K>) {
        if self.all.len() < other.all.len() {
            std::mem::swap(self, other);
        }
        other
            .all
            .iter()
            .for_each(|&(key, bytes)| self.add(key, bytes));
    }
}

/// Returns the key with most bytes; of equals, the first. Absent where there is none.
pub fn most<K: Copy + Ord>(sums: impl Iterator<Item = (K, u128)>) -> Option<K> {
    let best = |a: &(K, u128), b: &(K, u128)| a.1.cmp(&b.1).then(b.0.cmp(&a.0));
    sums.max_by(best).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_bytes_win_and_of_equals_the_first() {
        let mut tally = Tally::default();
        assert_eq!((tally.category(), tally.owner()), (NONE, NO_OWNER));
        tally.add_entry(7, 1, 0);
        assert_eq!((tally.category(), tally.owner()), (NONE, NO_OWNER));
        tally.add_entry(7, 1, 10);
        tally.add_entry(3, 0, 10);
        assert_eq!((tally.category(), tally.owner()), (3, 0));
        tally.add_category(7, 1 << 70);
        tally.add_owner(2, 11);
        assert_eq!((tally.category(), tally.owner()), (7, 2));
        tally.clear();
        assert_eq!((tally.category(), tally.owner()), (NONE, NO_OWNER));
    }

    #[test]
    fn one_absorbs_the_other_whichever_is_larger() {
        let of = |owners: std::ops::Range<u32>| {
            let mut tally = Tally::default();
            owners
                .for_each(|owner| tally.add_entry((owner % 7) as u8, owner, 1 + u128::from(owner)));
            tally
        };
        for (small, large) in [(0..3, 1..100), (0..100, 90..300), (5..5, 0..40)] {
            let (mut one, mut other) = (of(small.clone()), of(large.clone()));
            one.absorb(&mut of(large.clone()));
            other.absorb(&mut of(small.clone()));
            for tally in [one, other] {
                let mut owners = tally.owners().to_vec();
                owners.sort_unstable();
                let both = |owner| {
                    let times =
                        u128::from(small.contains(&owner)) + u128::from(large.contains(&owner));
                    (owner, times * (1 + u128::from(owner)))
                };
                let expected: Vec<_> = (0..300).map(both).filter(|&(_, bytes)| bytes > 0).collect();
                assert_eq!(owners, expected);
                let bytes: u128 = tally.categories().iter().map(|&(_, bytes)| bytes).sum();
                assert_eq!(bytes, expected.iter().map(|&(_, bytes)| bytes).sum());
            }
        }
    }

    #[test]
    fn any_number_of_owners_is_summed() {
        let mut tally = Tally::default();
        for round in 0..3 {
            for number in 0..10_000_u32 {
                let owner = number.wrapping_mul(0x9e37_79b9);
                tally.add_entry(0, owner, u128::from(number) + round);
            }
        }
        let mut expected: Vec<(u32, u128)> = (0..10_000_u32)
            .map(|number| (number.wrapping_mul(0x9e37_79b9), 3 * u128::from(number) + 3))
            .collect();
        let mut found = tally.owners().to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert!(found == expected);
        assert_eq!(tally.owner(), 9_999_u32.wrapping_mul(0x9e37_79b9));
        tally.clear();
        tally.add_owner(7, 1);
        assert_eq!(tally.owners(), [(7, 1)]);
    }
}
