// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes below each directory of a tree, by category and by owner.

use statwalk_core::DirId;
use statwalk_report::{NO_OWNER, NONE, Tally, most};

/// The tallies of all directories.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    /// By the number of the directory.
    places: Vec<Place>,
    sums: Vec<Sum>,
}

/// More sums are not kept of a directory, because each above it would have as many.
const SUMS_MAX: usize = 64;

/// Where the sums of a directory are: first those of categories, then those of owners.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    /// Else the largest sums alone are there, each with all that equal it.
    is_whole: bool,
    /// There are fewer categories than numbers of one byte.
    categories: u8,
    owners: u32,
}

/// The bytes of a category or of an owner.
#[derive(Clone, Copy, Debug)]
struct Sum {
    key: u32,
    /// Bits 64 to 95.
    high: u32,
    low: u64,
}

impl Sum {
    fn new(key: u32, bytes: u128) -> Sum {
        Sum {
            key,
            high: u32::try_from(bytes >> 64).unwrap_or(u32::MAX),
            low: bytes as u64,
        }
    }

    fn bytes(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

impl Tallies {
    pub(super) fn keep(&mut self, directory: DirId, tally: &Tally) {
        let (categories, owners) = (tally.categories(), tally.owners());
        let is_whole = categories.len() + owners.len() <= SUMS_MAX;
        let start = self.sums.len();
        let categories = categories.iter().map(|&(key, bytes)| (key.into(), bytes));
        let categories = self.keep_some(categories, is_whole);
        let owners = self.keep_some(owners.iter().copied(), is_whole);
        let index = directory.index();
        if index >= self.places.len() {
            self.places.resize(index + 1, Place::default());
        }
        self.places[index] = Place {
            start,
            is_whole,
            categories: u8::try_from(categories).expect("a category has one byte"),
            owners: u32::try_from(owners).expect("an owner has a number of 32 bits"),
        };
    }

    /// Keeps all sums or the largest, and returns how many.
    fn keep_some(
        &mut self,
        sums: impl Iterator<Item = (u32, u128)> + Clone,
        is_whole: bool,
    ) -> usize {
        let start = self.sums.len();
        let least = match is_whole {
            true => 0,
            false => sums.clone().map(|(_, bytes)| bytes).max().unwrap_or(0),
        };
        let kept = sums.filter(|&(_, bytes)| bytes >= least);
        let kept = kept.map(|(key, bytes)| Sum::new(key, bytes));
        self.sums.extend(kept);
        self.sums.len() - start
    }

    /// The sums of a directory by category and by owner, whole or the largest alone.
    fn of(&self, directory: DirId) -> (&[Sum], &[Sum], bool) {
        let place = self.places.get(directory.index()).copied();
        let place = place.unwrap_or_default();
        let (categories, behind) = self.sums[place.start..].split_at(place.categories.into());
        (categories, &behind[..place.owners as usize], place.is_whole)
    }

    /// The places of the category and of the owner with most bytes. The functions give the
    /// places of the keys here.
    pub(super) fn most(
        &self,
        directory: DirId,
        category: impl Fn(u8) -> u8,
        owner: impl Fn(u32) -> u32,
    ) -> (u8, u32) {
        let (categories, owners, _) = self.of(directory);
        let categories = categories.iter();
        let categories = categories.map(|sum| (category(sum.key as u8), sum.bytes()));
        let owners = owners.iter().map(|sum| (owner(sum.key), sum.bytes()));
        (
            most(categories).unwrap_or(NONE),
            most(owners).unwrap_or(NO_OWNER),
        )
    }

    /// Adds the tally of a directory, and returns whether that is known.
    pub(super) fn add_to(
        &self,
        tally: &mut Tally,
        directory: DirId,
        category: impl Fn(u8) -> u8,
        owner: impl Fn(u32) -> u32,
    ) -> bool {
        let (categories, owners, is_whole) = self.of(directory);
        if is_whole {
            for sum in categories {
                tally.add_category(category(sum.key as u8), sum.bytes());
            }
            for sum in owners {
                tally.add_owner(owner(sum.key), sum.bytes());
            }
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_owners_the_largest_is_known() {
        let directory = |index| DirId::from_index(index).unwrap();
        // Places are the other way round than keys.
        let (category, owner) = (|key: u8| 10 - key, |key: u32| 5000 - key);
        for sizes in [1, 50, 1000] {
            let tally_of = |owners: u32, category: fn(u8) -> u8, owner: fn(u32) -> u32| {
                let mut tally = Tally::default();
                for number in 0..owners {
                    let bytes = 1 << 70 | u128::from(number % sizes);
                    tally.add_entry(category((number % 5) as u8), owner(number), bytes);
                }
                tally
            };
            let mut tallies = Tallies::default();
            let counts = [0, 1, 58, 59, 60, 1000];
            for (index, owners) in counts.into_iter().enumerate() {
                let tally = tally_of(owners, |key| key, |key| key);
                tallies.keep(directory(2 * index), &tally);
            }
            for (index, owners) in counts.into_iter().enumerate() {
                let placed = tally_of(owners, category, owner);
                let found = tallies.most(directory(2 * index), category, owner);
                assert_eq!(
                    found,
                    (placed.category(), placed.owner()),
                    "{owners} owners"
                );
                let mut sum = Tally::default();
                let is_known = tallies.add_to(&mut sum, directory(2 * index), category, owner);
                assert_eq!(is_known, owners < 60);
                if is_known {
                    assert_eq!(sum.owners(), placed.owners());
                    assert_eq!(sum.categories(), placed.categories());
                }
            }
            // One without a tally.
            assert_eq!(
                tallies.most(directory(1), category, owner),
                (NONE, NO_OWNER)
            );
            assert_eq!(
                tallies.most(directory(99), category, owner),
                (NONE, NO_OWNER)
            );
        }
    }
}
