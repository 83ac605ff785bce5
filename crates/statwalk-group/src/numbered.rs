// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys, numbered as they come.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Keys, each with a number: how many others came before it.
///
/// ```
/// let mut keys = statwalk_group::Numbered::default();
/// assert_eq!(["a", "b", "a"].map(|key| keys.number(key)), [0, 1, 0]);
/// assert_eq!(keys.all(), ["a", "b"]);
/// ```
#[derive(Clone, Debug)]
pub struct Numbered<K> {
    keys: Vec<K>,
    numbers: HashMap<K, usize, RandomState>,
    /// The one that was asked for last: neighbours are often alike.
    last: usize,
}

impl<K> Default for Numbered<K> {
    fn default() -> Numbered<K> {
        Numbered {
            keys: Vec::new(),
            numbers: HashMap::default(),
            last: 0,
        }
    }
}

impl<K: Copy + Eq + Hash> Numbered<K> {
    /// All keys, by number.
    #[must_use]
    pub fn all(&self) -> &[K] {
        &self.keys
    }

    /// The number of a key.
    #[inline]
    pub fn number(&mut self, key: K) -> usize {
        if self.keys.get(self.last) != Some(&key) {
            let next = self.keys.len();
            self.last = *self.numbers.entry(key).or_insert(next);
            if self.last == next {
                self.keys.push(key);
            }
        }
        self.last
    }
}
