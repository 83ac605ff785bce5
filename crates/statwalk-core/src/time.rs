// SPDX-License-Identifier: MIT OR Apache-2.0

//! The four times of an entry, and those that 64 bits of nanoseconds do not hold.

use crate::fields::Fields;

/// One of the times of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Time {
    /// The last change of the content, `st_mtime`.
    Modified,
    /// The last access, `st_atime`.
    Accessed,
    /// The last change of the inode, `st_ctime`.
    Changed,
    /// The birth, `stx_btime`; absent where the file system keeps none.
    Born,
}

impl Time {
    /// All times, in the order of arrays of them.
    pub const ALL: [Time; 4] = [Time::Modified, Time::Accessed, Time::Changed, Time::Born];

    /// The field that asks for it.
    #[must_use]
    pub const fn field(self) -> Fields {
        // The bits of the four are neighbours.
        Fields::MTIME.shifted(self as u32)
    }

    /// Its name, as that of its field and of its column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Time::Modified => "mtime",
            Time::Accessed => "atime",
            Time::Changed => "ctime",
            Time::Born => "btime",
        }
    }

    /// Its place in arrays of all times.
    ///
    /// ```
    /// use statwalk_core::Time;
    /// assert_eq!(Time::ALL[Time::Changed.index()], Time::Changed);
    /// ```
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The fields of all times.
pub(crate) const ALL_TIMES: Fields = Fields::MTIME
    .union(Fields::ATIME)
    .union(Fields::CTIME)
    .union(Fields::BTIME);

/// Stand in place of a time that does not fit into 64 bits of nanoseconds: one before
/// 1677 and one after 2262. They compare with any other as the time would. Its seconds
/// lie beside it, in an [`OddTime`](crate::OddTime).
pub(crate) const TOO_EARLY: i64 = i64::MIN;
pub(crate) const TOO_LATE: i64 = i64::MAX;

/// Nanoseconds since 1970, or what stands for a time that they cannot hold.
#[inline]
pub(crate) fn nanoseconds_of(seconds: i64, nanoseconds: u32) -> i64 {
    let ns = seconds.checked_mul(1_000_000_000);
    let ns = ns.and_then(|ns| ns.checked_add(i64::from(nanoseconds)));
    ns.unwrap_or_else(|| mark_of(seconds))
}

/// Stands for a time of so many seconds since 1970 that nanoseconds do not hold.
pub(crate) fn mark_of(seconds: i64) -> i64 {
    match seconds < 0 {
        true => TOO_EARLY,
        false => TOO_LATE,
    }
}

/// Whether nanoseconds since 1970 say when, and do not stand for a time that they
/// cannot hold.
#[inline]
pub(crate) fn is_time(ns: i64) -> bool {
    ns != TOO_EARLY && ns != TOO_LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_has_its_field() {
        let fields = [Fields::MTIME, Fields::ATIME, Fields::CTIME, Fields::BTIME];
        assert_eq!(Time::ALL.map(Time::field), fields);
        for time in Time::ALL {
            assert_eq!(time.field().names().collect::<Vec<_>>(), [time.name()]);
        }
    }

    #[test]
    fn nanoseconds_end_in_1677_and_2262() {
        assert_eq!(nanoseconds_of(-1, 999_999_999), -1);
        assert_eq!(nanoseconds_of(9_223_372_036, 854_775_806), i64::MAX - 1);
        assert_eq!(nanoseconds_of(9_223_372_036, 999_999_999), TOO_LATE);
        assert_eq!(nanoseconds_of(9_223_372_037, 0), TOO_LATE);
        assert_eq!(nanoseconds_of(i64::MAX, 999_999_999), TOO_LATE);
        // The fraction must not bring it back.
        assert_eq!(nanoseconds_of(-9_223_372_037, 999_999_999), TOO_EARLY);
        assert_eq!(nanoseconds_of(i64::MIN, 999_999_999), TOO_EARLY);
    }
}
