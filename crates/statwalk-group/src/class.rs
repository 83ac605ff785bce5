// SPDX-License-Identifier: MIT OR Apache-2.0

//! The few classes of ages and sizes that one screen shows, and the words for all groups.
//!
//! A class is a union of finer groups, so no two answers put an entry on two sides of a limit.

use crate::extension::Extension;
use crate::file_type::FileType;
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
                GroupKey::ModifiedWithin(Some(class_of(&AGES, limit_s).0))
            }
            GroupKey::SizeBelowPower(power) => GroupKey::SizeBelowPower(class_of(&SIZES, power).0),
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

    /// Its words for people; those of its class where it is finer. Owners and groups are
    /// numbers.
    #[must_use]
    pub fn label(self) -> String {
        let text = match self {
            GroupKey::Kind(kind) => match kind {
                FileType::File => "files",
                FileType::Directory => "directories",
                FileType::Symlink => "symbolic links",
                FileType::Fifo => "pipes",
                FileType::Socket => "sockets",
                FileType::CharDevice => "character devices",
                FileType::BlockDevice => "block devices",
                FileType::Unknown => "unknown",
            },
            GroupKey::Extension(Extension::NONE) => "no extension",
            GroupKey::Extension(extension) => {
                return format!(".{}", String::from_utf8_lossy(&extension.to_vec()));
            }
            GroupKey::Category(category) => category.label(),
            GroupKey::Owner(number) | GroupKey::Group(number) | GroupKey::Depth(number) => {
                return number.to_string();
            }
            GroupKey::ModifiedWithin(None) => "in the future",
            GroupKey::ModifiedWithin(Some(limit_s)) => class_of(&AGES, limit_s).1,
            GroupKey::SizeBelowPower(power) => class_of(&SIZES, power).1,
            GroupKey::Unknown => "unknown",
        };
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::Category;

    #[test]
    fn a_class_is_a_union_of_finer_groups() {
        let limits = GroupKey::AGE_LIMITS_S;
        assert!(AGES.iter().all(|(limit_s, _)| limits.contains(limit_s)));
        for key in (0..=64).map(GroupKey::SizeBelowPower) {
            assert!(key.class() >= key && key.class().class() == key.class());
        }
    }

    #[test]
    fn groups_have_words() {
        let check = |key: GroupKey, expected: &str| assert_eq!(key.label(), expected, "{key:?}");
        check(GroupKey::Extension(Extension::new("rs")), ".rs");
        check(GroupKey::Extension(Extension::NONE), "no extension");
        check(GroupKey::Kind(FileType::Directory), "directories");
        check(GroupKey::Category(Category::Source), "source code");
        check(GroupKey::Group(4_000_000_001), "4000000001");
        check(GroupKey::of_age(0, 1), "in the future");
        check(GroupKey::ModifiedWithin(Some(3_600)), "within a day");
        check(GroupKey::ModifiedWithin(Some(90 * DAY_S)), "1 to 6 months");
        check(
            GroupKey::ModifiedWithin(Some(10 * YEAR_S)),
            "more than 5 years",
        );
        check(GroupKey::of_size(0), "empty");
        check(GroupKey::of_size(4_095), "below 4 KiB");
        check(GroupKey::of_size(4_096), "4 to 64 KiB");
        check(GroupKey::of_size(u64::MAX), "1 GiB and more");
    }
}
