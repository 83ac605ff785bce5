// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of the groups of a property.

use statwalk_group::{GroupKey, Grouper, Grouping};
use statwalk_report::Sums;

/// Groups, numbered as they come, with their sums.
pub(super) struct GroupSums {
    grouper: Grouper,
    /// By number.
    sums: Vec<Sums>,
}

impl GroupSums {
    pub(super) fn new(by: Grouping) -> GroupSums {
        GroupSums {
            grouper: Grouper::new(by, 0),
            sums: Vec::new(),
        }
    }

    /// Adds an entry, and returns the number of its group.
    #[inline]
    pub(super) fn add(&mut self, key: GroupKey, sums: Sums) -> u32 {
        let number = self.grouper.number_of(key);
        if number == self.sums.len() {
            self.sums.push(Sums::default());
        }
        self.sums[number].add(sums);
        // So many groups do not fit into memory.
        number as u32
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = (GroupKey, Sums)> {
        let keys = self.grouper.keys().iter().copied();
        keys.zip(self.sums.iter().copied())
    }

    /// The sums of a class of groups, of which none need have come.
    pub(super) fn of_class(&self, class: GroupKey) -> Sums {
        let mut sums = Sums::default();
        let all = self.all().filter(|(key, _)| key.class() == class);
        all.for_each(|(_, of_group)| sums.add(of_group));
        sums
    }
}
