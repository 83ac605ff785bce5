// SPDX-License-Identifier: MIT OR Apache-2.0

//! The groups that one worker saw, each with a number and its sums.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Tally;
use super::key::{Grouping, Key, Keys};
use super::sample::Sample;
use super::sizes::SizeHistogram;
use crate::entry::FileType;
use crate::sink::category::Category;
use crate::sink::endings::Endings;
use crate::sink::extension::{Ending, Extension};

/// Tallies by one key or by two.
pub(super) struct Groups {
    keys: KeyNumbers,
    cross: Option<Cross>,
    tallies: Vec<Tally>,
    /// The sizes of the files of the first groups; of the rest, none came yet.
    sizes: Vec<SizeHistogram>,
}

impl Groups {
    pub(super) fn new(by: Grouping, second: Option<Grouping>, now_ns: i64) -> Groups {
        Groups {
            keys: KeyNumbers::new(by, now_ns),
            cross: second.map(|second| Cross::new(KeyNumbers::new(second, now_ns))),
            tallies: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// The number of the group that an entry belongs to.
    #[inline(always)]
    pub(super) fn number(&mut self, sample: &Sample<'_>) -> usize {
        let first = self.keys.number(sample);
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
            None => (self.keys.keys[number], None),
            Some(cross) => {
                let (first, second) = cross.pairs[number];
                (self.keys.keys[first], Some(cross.second.keys[second]))
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
    second: KeyNumbers,
    /// The numbers of both keys.
    pairs: Vec<(usize, usize)>,
    numbers: HashMap<(usize, usize), usize, RandomState>,
    /// The one that was asked for last.
    last: usize,
}

impl Cross {
    fn new(second: KeyNumbers) -> Cross {
        Cross {
            second,
            pairs: Vec::new(),
            numbers: HashMap::default(),
            last: 0,
        }
    }

    #[inline(never)]
    fn number(&mut self, first: usize, sample: &Sample<'_>) -> usize {
        let pair = (first, self.second.number(sample));
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

/// The keys of one grouping, numbered as they come.
struct KeyNumbers {
    grouping: Grouping,
    now_ns: i64,
    keys: Vec<Key>,
    numbers: HashMap<Key, usize, RandomState>,
    /// The one that was asked for last: neighbours are often alike.
    last: usize,
    /// Where files of some endings belong.
    endings: Endings<usize>,
}

impl KeyNumbers {
    fn new(grouping: Grouping, now_ns: i64) -> KeyNumbers {
        KeyNumbers {
            grouping,
            now_ns,
            keys: Vec::new(),
            numbers: HashMap::default(),
            last: 0,
            endings: Endings::default(),
        }
    }

    /// The number of the key that an entry has.
    #[inline(always)]
    fn number(&mut self, sample: &Sample<'_>) -> usize {
        match (self.grouping, sample.kind) {
            (Grouping::Type | Grouping::Category, FileType::File) => {
                self.number_by_name(sample.name)
            }
            _ => self.number_of(sample.key(self.grouping, self.now_ns)),
        }
    }

    #[inline]
    fn number_of(&mut self, key: Key) -> usize {
        if self.keys.get(self.last) != Some(&key) {
            let next = self.keys.len();
            self.last = *self.numbers.entry(key).or_insert(next);
            if self.last == next {
                self.keys.push(key);
            }
        }
        self.last
    }

    /// The number of the key that files of this name have.
    #[inline]
    fn number_by_name(&mut self, name: &[u8]) -> usize {
        let ending = Ending::of(name);
        if let Some(number) = self.endings.get(ending) {
            return number;
        }
        let last = Extension::last_of(name);
        let key = self.key_by_name(name, last);
        let number = self.number_of(key);
        self.endings.keep(ending, last, number);
        number
    }

    /// The key of a file by its name, whose last extension is known.
    #[inline(never)]
    fn key_by_name(&self, name: &[u8], last: Extension) -> Key {
        match self.grouping {
            Grouping::Category => Key::Category(Category::with_last(name, last)),
            _ => Key::Extension(Extension::with_last(name, last)),
        }
    }
}
