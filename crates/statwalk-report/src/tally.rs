// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes by category and by owner, and which of them has most.

use std::collections::BTreeMap;

use crate::tree::{NO_OWNER, NONE};

/// Bytes by category and by owner.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    categories: BTreeMap<u8, u128>,
    owners: BTreeMap<u32, u128>,
}

impl Tally {
    /// Adds the bytes of an entry. An entry without bytes adds nothing.
    #[inline]
    pub fn add_entry(&mut self, category: u8, owner: u32, bytes: u128) {
        if bytes > 0 {
            add(&mut self.categories, category, bytes);
            add(&mut self.owners, owner, bytes);
        }
    }

    /// Adds all bytes of another, which has something else then: the larger of the two takes
    /// in the smaller.
    pub fn absorb(&mut self, other: &mut Tally) {
        absorb(&mut self.categories, &mut other.categories);
        absorb(&mut self.owners, &mut other.owners);
    }

    /// Adds bytes of a category. Their owners are added by
    /// [`add_owner`](Self::add_owner).
    #[inline]
    pub fn add_category(&mut self, category: u8, bytes: u128) {
        add(&mut self.categories, category, bytes);
    }

    /// Adds bytes of an owner.
    #[inline]
    pub fn add_owner(&mut self, owner: u32, bytes: u128) {
        add(&mut self.owners, owner, bytes);
    }

    /// Returns the categories with their bytes.
    pub fn categories(&self) -> impl ExactSizeIterator<Item = (u8, u128)> + Clone {
        self.categories.iter().map(|(&key, &bytes)| (key, bytes))
    }

    /// Returns the owners with their bytes.
    pub fn owners(&self) -> impl ExactSizeIterator<Item = (u32, u128)> + Clone {
        self.owners.iter().map(|(&key, &bytes)| (key, bytes))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.categories.clear();
        self.owners.clear();
    }

    /// Returns the category with most bytes, and [`NONE`] where there is none.
    #[must_use]
    pub fn category(&self) -> u8 {
        most(self.categories()).unwrap_or(NONE)
    }

    /// Returns the owner with most bytes, and [`NO_OWNER`] where there is none.
    #[must_use]
    pub fn owner(&self) -> u32 {
        most(self.owners()).unwrap_or(NO_OWNER)
    }
}

fn add<K: Ord>(sums: &mut BTreeMap<K, u128>, key: K, bytes: u128) {
    let sum = sums.entry(key).or_default();
    *sum = sum.saturating_add(bytes);
}

fn absorb<K: Copy + Ord>(sums: &mut BTreeMap<K, u128>, other: &mut BTreeMap<K, u128>) {
    if sums.len() < other.len() {
        std::mem::swap(sums, other);
    }
    other
        .iter()
        .for_each(|(&key, &bytes)| add(sums, key, bytes));
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
                let owners: Vec<_> = tally.owners().collect();
                let both = |owner| {
                    let times =
                        u128::from(small.contains(&owner)) + u128::from(large.contains(&owner));
                    (owner, times * (1 + u128::from(owner)))
                };
                let expected: Vec<_> = (0..300).map(both).filter(|&(_, bytes)| bytes > 0).collect();
                assert_eq!(owners, expected);
                let bytes: u128 = tally.categories().map(|(_, bytes)| bytes).sum();
                assert_eq!(bytes, expected.iter().map(|&(_, bytes)| bytes).sum());
            }
        }
    }
}
