// SPDX-License-Identifier: MIT OR Apache-2.0

//! The groups that one worker saw, each with a number and its sums.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use statwalk_group::{GroupKey, Grouper, Grouping, SizeHistogram};

use super::Tally;
use super::sample::Sample;

/// The key of a group, and the second one where two groupings cross.
pub(super) type Keys = (GroupKey, Option<GroupKey>);

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
            cross: second.map(|second| Cross::new(Grouper::new(second, now_ns))),
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
            Some(cross) => cross.number(first, sample),
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
            Some(cross) => {
                let (first, second) = cross.pairs[number];
                (self.keys.keys()[first], Some(cross.second.keys()[second]))
            }
        }
    }

    /// All groups, with the sizes of their files where any came.
    pub(super) fn all(&self) -> impl Iterator<Item = (Keys, Tally, Option<&SizeHistogram>)> {
        let tallies = self.tallies.iter().enumerate();
        tallies.map(|(number, tally)| (self.keys(number), *tally, self.sizes.get(number)))
    }
}

/// The pairs of a first and a second key, numbered as they come.
struct Cross {
    second: Grouper,
    /// The numbers of both keys.
    pairs: Vec<(usize, usize)>,
    numbers: HashMap<(usize, usize), usize, RandomState>,
    /// The one that was asked for last.
    last: usize,
}

impl Cross {
    fn new(second: Grouper) -> Cross {
        Cross {
            second,
            pairs: Vec::new(),
            numbers: HashMap::default(),
            last: 0,
        }
    }

    #[inline(never)]
    fn number(&mut self, first: usize, sample: &Sample<'_>) -> usize {
        let pair = (first, self.second.number(&sample.facts));
        if self.pairs.get(self.last) != Some(&pair) {
            let next = self.pairs.len();
            self.last = *self.numbers.entry(pair).or_insert(next);
            if self.last == next {
                self.pairs.push(pair);
            }
        }
        self.last
    }
}
