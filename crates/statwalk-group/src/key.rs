// SPDX-License-Identifier: MIT OR Apache-2.0

//! The properties that entries are grouped by, and their values.

use crate::category::Category;
use crate::class::{age_class, size_class};
use crate::extension::Extension;
use statwalk_format::FileType;

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
    /// All of them.
    pub const ALL: [Grouping; 7] = [
        Grouping::Type,
        Grouping::Category,
        Grouping::Owner,
        Grouping::Group,
        Grouping::Age,
        Grouping::Size,
        Grouping::Depth,
    ];

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Grouping::Type => "type",
            Grouping::Category => "category",
            Grouping::Owner => "owner",
            Grouping::Group => "group",
            Grouping::Age => "age",
            Grouping::Size => "size",
            Grouping::Depth => "depth",
        }
    }

    /// A word about it in the help.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Grouping::Type => "Type, and for files the extension",
            Grouping::Category => "Type, and for files the kind of content that the name promises",
            Grouping::Owner => "User",
            Grouping::Group => "Group",
            Grouping::Age => "Time since the last modification",
            Grouping::Size => "Apparent size",
            Grouping::Depth => "Distance from the root",
        }
    }

    /// The grouping with this name; absent where none has it.
    ///
    /// ```
    /// use statwalk_group::Grouping;
    /// assert_eq!(Grouping::of_name("age"), Some(Grouping::Age));
    /// assert_eq!(Grouping::of_name("colour"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: &str) -> Option<Grouping> {
        Grouping::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The key of an entry. Ages count from `now_ns`.
    #[must_use]
    pub fn key(self, facts: &Facts<'_>, now_ns: i64) -> GroupKey {
        let is_file = facts.kind == FileType::File;
        let known = match self {
            Grouping::Type if is_file => Some(GroupKey::Extension(Extension::of_name(facts.name))),
            Grouping::Category if is_file => {
                Some(GroupKey::Category(Category::of_name(facts.name)))
            }
            Grouping::Type | Grouping::Category => Some(GroupKey::Kind(facts.kind)),
            Grouping::Owner => facts.uid.map(GroupKey::Owner),
            Grouping::Group => facts.gid.map(GroupKey::Group),
            Grouping::Age => facts.mtime_ns.map(|ns| GroupKey::of_age(now_ns, ns)),
            Grouping::Size => facts.size_bytes.map(GroupKey::of_size),
            Grouping::Depth => Some(GroupKey::Depth(facts.depth)),
        };
        known.unwrap_or(GroupKey::Unknown)
    }
}

/// The facts about an entry that decide its group; one that could not be read is absent.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its type.
    pub kind: FileType,
    /// The distance from the root.
    pub depth: u32,
    /// `st_size`.
    pub size_bytes: Option<u64>,
    /// The last modification, in nanoseconds since 1970. A time that does not fit is the
    /// nearest one that does.
    pub mtime_ns: Option<i64>,
    /// The owner.
    pub uid: Option<u32>,
    /// The group.
    pub gid: Option<u32>,
}

/// One value of a [`Grouping`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupKey {
    /// Anything but a regular file, by its type.
    Kind(FileType),
    /// Regular files by the extension.
    Extension(Extension),
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

    /// The group of a time.
    #[must_use]
    pub fn of_age(now_ns: i64, mtime_ns: i64) -> GroupKey {
        let age_ns = u64::try_from(i128::from(now_ns) - i128::from(mtime_ns)).ok();
        let limit = |age_ns: u64| {
            let (age_s, mut limits) = (age_ns / 1_000_000_000, GroupKey::AGE_LIMITS_S.into_iter());
            limits.find(|&limit_s| age_s <= limit_s)
        };
        GroupKey::ModifiedWithin(age_ns.and_then(limit))
    }

    /// The group of a size.
    #[must_use]
    pub fn of_size(size_bytes: u64) -> GroupKey {
        GroupKey::SizeBelowPower(u64::BITS - size_bytes.leading_zeros())
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
                _ => "unknown",
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
            GroupKey::ModifiedWithin(Some(limit_s)) => age_class(limit_s).1,
            GroupKey::SizeBelowPower(power) => size_class(power).1,
            GroupKey::Unknown => "unknown",
        };
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_fall_into_their_limits() {
        let second = 1_000_000_000;
        let check = |age_s: i64, limit| {
            let key = GroupKey::of_age(0, -age_s * second);
            assert_eq!(key, GroupKey::ModifiedWithin(limit));
        };
        check(0, Some(3_600));
        check(3_600, Some(3_600));
        check(3_601, Some(86_400));
        check(-1, None);
        check(4_000_000_000, Some(u64::MAX));
        let now_ns = 1_800_000_000 * second;
        let of = |mtime_ns| GroupKey::of_age(now_ns, mtime_ns);
        assert_eq!(of(i64::MAX), GroupKey::ModifiedWithin(None));
        assert_eq!(of(i64::MIN), GroupKey::ModifiedWithin(Some(u64::MAX)));
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
        check(GroupKey::ModifiedWithin(Some(90 * 86_400)), "1 to 6 months");
        check(
            GroupKey::ModifiedWithin(Some(10 * 365 * 86_400)),
            "more than 5 years",
        );
        check(GroupKey::of_size(0), "empty");
        check(GroupKey::of_size(4_095), "below 4 KiB");
        check(GroupKey::of_size(4_096), "4 to 64 KiB");
        check(GroupKey::of_size(u64::MAX), "1 GiB and more");
    }
}
