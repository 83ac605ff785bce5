// SPDX-License-Identifier: MIT OR Apache-2.0

//! The groups that one worker saw, each with a number and its sums.

use statwalk_group::{GroupKey, Grouper, Grouping, Numbered, SizeHistogram};

use super::Tally;
use super::sample::Sample;

/// The key of a group, and the second one where two groupings cross.
pub(super) type Keys = (GroupKey, Option<GroupKey>);

/// The second keys, and the pairs of the numbers of a first and a second one.
type Cross = (Grouper, Numbered<(usize, usize)>);

/// Tallies by one key or by two.
pub(super) struct Groups {
    keys: Grouper,
    cross: Option<Cross>,
    tallies: Vec<Tally>,
    /// The sizes of the files of the first groups; of the rest, none came yet.
    sizes: Vec<SizeHistogram>,
}

impl Groups {
    pub(super) fn new(by: Grouping, second: Option<Grouping>, now_ns: i64) -> Groups {
        Groups {
            keys: Grouper::new(by, now_ns),
            cross: second.map(|second| (Grouper::new(second, now_ns), Numbered::default())),
            tallies: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// The number of the group that an entry belongs to.
    #[inline(always)]
    pub(super) fn number(&mut self, sample: &Sample<'_>) -> usize {
        let first = self.keys.number(&sample.facts);
        let number = match &mut self.cross {
            None => first,
            Some(cross) => number_of_pair(cross, first, sample),
        };
        if number >= self.tallies.len() {
            self.tallies.resize(number + 1, Tally::default());
        }
        number
    }

    #[inline]
    pub(super) fn tally(&mut self, number: usize) -> &mut Tally {
        &mut self.tallies[number]
    }

    /// Counts the size of a file of a group.
    pub(super) fn add_size(&mut self, number: usize, size_bytes: u64) {
        if number >= self.sizes.len() {
            let count = self.tallies.len();
            self.sizes.resize_with(count, SizeHistogram::default);
        }
        self.sizes[number].add(size_bytes);
    }

    pub(super) fn keys(&self, number: usize) -> Keys {
        match &self.cross {
            None => (self.keys.keys()[number], None),
            Some((seconds, pairs)) => {
                let (first, second) = pairs.all()[number];
                (self.keys.keys()[first], Some(seconds.keys()[second]))
            }
        }
    }

    /// All groups, with the sizes of their files where any came.
    pub(super) fn all(&self) -> impl Iterator<Item = (Keys, Tally, Option<&SizeHistogram>)> {
        let tallies = self.tallies.iter().enumerate();
        tallies.map(|(number, tally)| (self.keys(number), *tally, self.sizes.get(number)))
    }
}

/// Apart from statistics by one key, which are nearly all.
#[inline(never)]
fn number_of_pair((second, pairs): &mut Cross, first: usize, sample: &Sample<'_>) -> usize {
    pairs.number((first, second.number(&sample.facts)))
}
