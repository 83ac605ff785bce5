// SPDX-License-Identifier: MIT OR Apache-2.0

//! The properties that entries are grouped by, and their values.

use crate::entry::FileType;
use crate::fields::Fields;
use crate::sink::category::Category;
use crate::sink::extension::Extension;

/// By what entries are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grouping {
    /// The type, and for regular files the extension.
    Type,
    /// The type, and for regular files the category of the name.
    Category,
    /// The owner.
    Owner,
    /// The group.
    Group,
    /// The time since the last modification.
    Age,
    /// `st_size`, by powers of two.
    Size,
    /// The distance from the root.
    Depth,
}

impl Grouping {
    /// The fields that it needs besides those of the sums.
    pub(super) fn fields(self) -> Fields {
        match self {
            Grouping::Owner | Grouping::Group => Fields::OWNER,
            Grouping::Age => Fields::MTIME,
            Grouping::Type | Grouping::Category | Grouping::Size | Grouping::Depth => Fields::NONE,
        }
    }
}

/// One value of a [`Grouping`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupKey {
    /// Anything but a regular file, by its type.
    Kind(FileType),
    /// Regular files by the extension, in lower case; empty where there is none.
    ///
    /// It has two parts, as in `tar.gz`, where a tar, log, sql, json, csv, cpio or ko is
    /// compressed. The numbers of shared libraries (`libc.so.6`) and rotated logs
    /// (`auth.log.1`) do not count.
    Extension(Vec<u8>),
    /// Regular files by the category of their names.
    Category(Category),
    /// A user id.
    Owner(u32),
    /// A group id.
    Group(u32),
    /// Modified at most this many seconds ago, and longer ago than the next
    /// smaller limit; `None` for times in the future, however far.
    ModifiedWithin(Option<u64>),
    /// `st_size` below two to this power, and not below half of it; 0 for empty.
    SizeBelowPower(u32),
    /// The distance from the root.
    Depth(u32),
    /// Entries whose attributes could not be read.
    Unknown,
}

impl GroupKey {
    /// The limits of [`GroupKey::ModifiedWithin`], in seconds: hour, day, week,
    /// 30 days, 90 days, half a year, then years, and everything older.
    pub const AGE_LIMITS_S: [u64; 11] = [
        3_600,
        86_400,
        7 * 86_400,
        30 * 86_400,
        90 * 86_400,
        182 * 86_400,
        365 * 86_400,
        2 * 365 * 86_400,
        5 * 365 * 86_400,
        10 * 365 * 86_400,
        u64::MAX,
    ];
}

/// A [`GroupKey`] that can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Kind(FileType),
    Extension(Extension),
    Category(Category),
    Owner(u32),
    Group(u32),
    ModifiedWithin(Option<u64>),
    SizeBelowPower(u32),
    Depth(u32),
    Unknown,
}

/// The key of a group, and the second one where two groupings cross.
pub(super) type Keys = (Key, Option<Key>);

impl From<Key> for GroupKey {
    fn from(key: Key) -> GroupKey {
        match key {
            Key::Kind(kind) => GroupKey::Kind(kind),
            Key::Extension(extension) => GroupKey::Extension(extension.to_vec()),
            Key::Category(category) => GroupKey::Category(category),
            Key::Owner(uid) => GroupKey::Owner(uid),
            Key::Group(gid) => GroupKey::Group(gid),
            Key::ModifiedWithin(limit_s) => GroupKey::ModifiedWithin(limit_s),
            Key::SizeBelowPower(power) => GroupKey::SizeBelowPower(power),
            Key::Depth(depth) => GroupKey::Depth(depth),
            Key::Unknown => GroupKey::Unknown,
        }
    }
}

/// The limit of [`GroupKey::AGE_LIMITS_S`] that a time is within; `None` for the future.
pub(super) fn age_limit(now_ns: i64, mtime_ns: i64) -> Option<u64> {
    let age_ns = u64::try_from(i128::from(now_ns) - i128::from(mtime_ns)).ok()?;
    let age_s = age_ns / 1_000_000_000;
    GroupKey::AGE_LIMITS_S
        .into_iter()
        .find(|&limit| age_s <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{TOO_EARLY, TOO_LATE};

    #[test]
    fn ages_fall_into_their_limits() {
        let second = 1_000_000_000;
        let check = |age_s: i64, limit| {
            assert_eq!(age_limit(0, -age_s * second), limit);
        };
        check(0, Some(3_600));
        check(3_600, Some(3_600));
        check(3_601, Some(86_400));
        check(-1, None);
        check(4_000_000_000, Some(u64::MAX));
        let now_ns = 1_800_000_000 * second;
        assert_eq!(age_limit(now_ns, TOO_LATE), None);
        assert_eq!(age_limit(now_ns, TOO_EARLY), Some(u64::MAX));
    }
}
