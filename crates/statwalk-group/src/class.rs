// SPDX-License-Identifier: MIT OR Apache-2.0

//! The few classes of ages and sizes that one screen shows.
//!
//! A class is a union of finer groups, so no two answers put an entry on two sides of a limit.

use crate::key::GroupKey;

const DAY_S: u64 = 86_400;
const YEAR_S: u64 = 365 * DAY_S;

/// The classes of ages by the limit that [`GroupKey::ModifiedWithin`] has, the youngest first.
const AGES: [(u64, &str); 8] = [
    (DAY_S, "within a day"),
    (7 * DAY_S, "a day to a week"),
    (30 * DAY_S, "a week to a month"),
    (182 * DAY_S, "1 to 6 months"),
    (YEAR_S, "6 months to a year"),
    (2 * YEAR_S, "1 to 2 years"),
    (5 * YEAR_S, "2 to 5 years"),
    (u64::MAX, "more than 5 years"),
];

/// The classes of sizes by the power that [`GroupKey::SizeBelowPower`] has, the smallest first.
const SIZES: [(u32, &str); 7] = [
    (0, "empty"),
    (12, "below 4 KiB"),
    (16, "4 to 64 KiB"),
    (20, "64 KiB to 1 MiB"),
    (26, "1 to 64 MiB"),
    (30, "64 MiB to 1 GiB"),
    (u64::BITS, "1 GiB and more"),
];

/// The class that holds a limit.
fn class_of<L: Copy + PartialOrd>(classes: &[(L, &'static str)], limit: L) -> (L, &'static str) {
    let at = classes.partition_point(|&(end, _)| end < limit);
    classes[at.min(classes.len() - 1)]
}

/// The limit and the words of the class that holds an age.
pub(crate) fn age_class(limit_s: u64) -> (u64, &'static str) {
    class_of(&AGES, limit_s)
}

/// The power and the words of the class that holds a size.
pub(crate) fn size_class(power: u32) -> (u32, &'static str) {
    class_of(&SIZES, power)
}

impl GroupKey {
    /// The class of ages or sizes that this group is a part of; any other group is its own.
    ///
    /// ```
    /// use statwalk_group::GroupKey;
    /// let hour = GroupKey::ModifiedWithin(Some(3_600));
    /// assert_eq!(hour.class(), GroupKey::ModifiedWithin(Some(86_400)));
    /// assert_eq!(GroupKey::of_size(4_096).class(), GroupKey::SizeBelowPower(16));
    /// ```
    #[must_use]
    pub fn class(self) -> GroupKey {
        match self {
            GroupKey::ModifiedWithin(Some(limit_s)) => {
                GroupKey::ModifiedWithin(Some(age_class(limit_s).0))
            }
            GroupKey::SizeBelowPower(power) => GroupKey::SizeBelowPower(size_class(power).0),
            key => key,
        }
    }

    /// The classes of ages, the youngest first; the future is younger than all.
    pub fn age_classes() -> impl Iterator<Item = GroupKey> {
        let limits = AGES.iter().map(|&(limit_s, _)| Some(limit_s));
        [None]
            .into_iter()
            .chain(limits)
            .map(GroupKey::ModifiedWithin)
    }

    /// The classes of sizes, the smallest first.
    pub fn size_classes() -> impl Iterator<Item = GroupKey> {
        let powers = SIZES.iter().map(|&(power, _)| power);
        powers.map(GroupKey::SizeBelowPower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_union_of_finer_groups() {
        let limits = GroupKey::AGE_LIMITS_S;
        assert!(AGES.iter().all(|(limit_s, _)| limits.contains(limit_s)));
        for key in (0..=64).map(GroupKey::SizeBelowPower) {
            assert!(key.class() >= key && key.class().class() == key.class());
        }
    }
}
