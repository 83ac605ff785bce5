// SPDX-License-Identifier: MIT OR Apache-2.0

//! The few groups of ages and sizes that one screen shows.
//!
//! Each is a union of the finer groups of `statwalk stats` and of the report, so that no two
//! answers put an entry on two sides of a limit.

/// A group of ages: longer ago than the limit before, and at most this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeBucket {
    /// Its name on a screen.
    pub label: &'static str,
    /// Its end, in whole seconds.
    pub limit_s: u64,
}

/// A group of sizes: from the end of the one before up to, and without, this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeBucket {
    /// Its name on a screen.
    pub label: &'static str,
    /// Its end, in bytes.
    pub end_bytes: u128,
}

const DAY_S: u64 = 86_400;
const YEAR_S: u64 = 365 * DAY_S;

const fn age(label: &'static str, limit_s: u64) -> AgeBucket {
    AgeBucket { label, limit_s }
}

const fn size(label: &'static str, end_bytes: u128) -> SizeBucket {
    SizeBucket { label, end_bytes }
}

/// The groups of ages, the youngest first. The last has no end.
pub const AGE_BUCKETS: [AgeBucket; 8] = [
    age("within a day", DAY_S),
    age("a day to a week", 7 * DAY_S),
    age("a week to a month", 30 * DAY_S),
    age("1 to 6 months", 182 * DAY_S),
    age("6 months to a year", YEAR_S),
    age("1 to 2 years", 2 * YEAR_S),
    age("2 to 5 years", 5 * YEAR_S),
    age("more than 5 years", u64::MAX),
];

/// The groups of sizes, the smallest first. The last has no end.
pub const SIZE_BUCKETS: [SizeBucket; 7] = [
    size("empty", 1),
    size("below 4 KiB", 4 << 10),
    size("4 to 64 KiB", 64 << 10),
    size("64 KiB to 1 MiB", 1 << 20),
    size("1 to 64 MiB", 64 << 20),
    size("64 MiB to 1 GiB", 1 << 30),
    size("1 GiB and more", u128::MAX),
];

/// The place of an age in [`AGE_BUCKETS`].
///
/// ```
/// use statwalk_view::{AGE_BUCKETS, age_bucket};
///
/// assert_eq!(AGE_BUCKETS[age_bucket(86_400)].label, "within a day");
/// assert_eq!(AGE_BUCKETS[age_bucket(86_401)].label, "a day to a week");
/// ```
#[must_use]
pub fn age_bucket(age_s: u64) -> usize {
    AGE_BUCKETS.partition_point(|bucket| bucket.limit_s < age_s)
}

/// The place of a size in [`SIZE_BUCKETS`].
///
/// ```
/// use statwalk_view::{SIZE_BUCKETS, size_bucket};
///
/// assert_eq!(SIZE_BUCKETS[size_bucket(4_095)].label, "below 4 KiB");
/// assert_eq!(SIZE_BUCKETS[size_bucket(4_096)].label, "4 to 64 KiB");
/// ```
#[must_use]
pub fn size_bucket(bytes: u128) -> usize {
    let place = SIZE_BUCKETS.partition_point(|bucket| bucket.end_bytes <= bytes);
    place.min(SIZE_BUCKETS.len() - 1)
}
