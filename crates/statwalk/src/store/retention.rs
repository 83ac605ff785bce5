// SPDX-License-Identifier: MIT OR Apache-2.0

//! How long snapshots stay: `--keep` by their ages, `--keep-size` by their bytes.
//!
//! The newest one stays in any case, and so does the newest that is complete.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil::Date};

use super::stored::Stored;

/// A stored snapshot with the facts that decide on its stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) stored: Stored,
    pub(crate) bytes: u64,
    /// Whether its scan was not interrupted.
    pub(crate) is_whole: bool,
}

/// `7d,4w,12m`: the newest snapshot of each of the last seven days that have one, of the last
/// four such weeks, and of the last twelve such months.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keep {
    days: usize,
    weeks: usize,
    months: usize,
}

impl FromStr for Keep {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Keep, &'static str> {
        const REASON: &str = "must be numbers with d, w or m, each once, such as 7d,4w,12m";
        let mut keep = Keep::default();
        for part in text.split(',') {
            let (number, unit) = part
                .split_at_checked(part.len().wrapping_sub(1))
                .ok_or(REASON)?;
            let own = match unit {
                "d" => &mut keep.days,
                "w" => &mut keep.weeks,
                "m" => &mut keep.months,
                _ => return Err(REASON),
            };
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let number: usize = number.parse().map_err(|_| REASON)?;
            if !is_number || number == 0 || *own != 0 {
                return Err(REASON);
            }
            *own = number;
        }
        Ok(keep)
    }
}

impl Keep {
    /// The snapshots that go, oldest first. Days are those of a time zone.
    pub(crate) fn going(self, all: &[Kept], zone: &TimeZone) -> Vec<Stored> {
        let mut stays = staying(all);
        let newest = newest_first(all);
        let mut keep = |count, period: fn(Date) -> Date| {
            let mut periods = BTreeSet::new();
            for kept in &newest {
                let own = period(day_of(kept.stored, zone));
                if periods.len() < count && periods.insert(own) {
                    stays.insert(kept.stored);
                }
            }
        };
        keep(self.days, |day| day);
        keep(self.weeks, first_of_week);
        keep(self.months, Date::first_of_month);
        oldest_first(all, |kept| !stays.contains(&kept.stored))
    }
}

/// The snapshots that go, oldest first, until the others have at most `bytes`.
pub(crate) fn going_by_size(all: &[Kept], bytes: u64) -> Vec<Stored> {
    let stays = staying(all);
    let mut sum: u128 = all.iter().map(|kept| u128::from(kept.bytes)).sum();
    oldest_first(all, |kept| {
        let goes = sum > u128::from(bytes) && !stays.contains(&kept.stored);
        if goes {
            sum -= u128::from(kept.bytes);
        }
        goes
    })
}

/// The newest snapshot, and the newest whole one.
fn staying(all: &[Kept]) -> BTreeSet<Stored> {
    let newest = newest_first(all);
    let first = newest.first();
    let whole = newest.iter().find(|kept| kept.is_whole);
    first
        .into_iter()
        .chain(whole)
        .map(|kept| kept.stored)
        .collect()
}

fn newest_first(all: &[Kept]) -> Vec<Kept> {
    let mut all = all.to_vec();
    all.sort_by_key(|kept| Reverse(kept.stored));
    all
}

fn oldest_first(all: &[Kept], goes: impl FnMut(&Kept) -> bool) -> Vec<Stored> {
    let mut all = newest_first(all);
    all.reverse();
    let mut goes = goes;
    all.retain(|kept| goes(kept));
    all.into_iter().map(|kept| kept.stored).collect()
}

fn day_of(stored: Stored, zone: &TimeZone) -> Date {
    let moment = Timestamp::from_second(stored.began_s).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(zone.clone()).date()
}

/// The Monday of a week.
fn first_of_week(day: Date) -> Date {
    let since = i64::from(day.weekday().to_monday_zero_offset());
    let monday = day.checked_sub(jiff::Span::new().days(since));
    monday.unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    /// Monday, 30 November 2026, 00:00 UTC.
    const MONDAY: i64 = 1_795_996_800;

    /// One whole snapshot a moment, of 10 bytes each, numbered in their order.
    fn all(moments: &[i64]) -> Vec<Kept> {
        let kept = |(place, &began_s): (usize, &i64)| Kept {
            stored: Stored {
                number: place as u64 + 1,
                began_s,
            },
            bytes: 10,
            is_whole: true,
        };
        moments.iter().enumerate().map(kept).collect()
    }

    fn numbers(going: Vec<Stored>) -> Vec<u64> {
        going.into_iter().map(|stored| stored.number).collect()
    }

    fn going(keep: &str, all: &[Kept]) -> Vec<u64> {
        numbers(keep.parse::<Keep>().unwrap().going(all, &TimeZone::UTC))
    }

    #[test]
    fn the_newest_of_each_day_stays() {
        let all = all(&[
            MONDAY - 2 * DAY,
            MONDAY - DAY,
            MONDAY - DAY + 3600,
            MONDAY,
            MONDAY + 60,
        ]);
        assert_eq!(going("1d", &all), [1, 2, 3, 4]);
        assert_eq!(going("2d", &all), [1, 2, 4]);
        assert_eq!(going("9d", &all), [2, 4]);
    }

    #[test]
    fn a_week_begins_on_monday_and_a_month_on_its_first_day() {
        let all = all(&[
            MONDAY - 30 * DAY,
            MONDAY - 8 * DAY,
            MONDAY - 7 * DAY,
            MONDAY - DAY,
            MONDAY,
        ]);
        // Weeks: of 26 October, 16, 23 and 30 November.
        assert_eq!(going("2w", &all), [1, 2, 3]);
        assert_eq!(going("3w", &all), [1, 3]);
        assert_eq!(going("9w", &all), [3]);
        // Months: October and November.
        assert_eq!(going("1m", &all), [1, 2, 3, 4]);
        assert_eq!(going("2m", &all), [2, 3, 4]);
        // What one rule keeps stays.
        assert_eq!(going("2d,2w,2m", &all), [2, 3]);
    }

    #[test]
    fn a_day_is_one_of_the_time_zone() {
        let all = all(&[MONDAY - 3600, MONDAY + 3600]);
        assert!(going("2d", &all).is_empty());
        let east = TimeZone::fixed(jiff::tz::offset(8));
        let keep: Keep = "2d".parse().unwrap();
        assert_eq!(numbers(keep.going(&all, &east)), [1]);
    }

    #[test]
    fn the_newest_never_goes() {
        let mut all = all(&[MONDAY, MONDAY + 1, MONDAY - 400 * DAY]);
        all[2].is_whole = false;
        // The clock went back: the newest has the earliest time.
        assert_eq!(going("1d", &all), [1]);
        assert_eq!(numbers(going_by_size(&all, 0)), [1]);
        all[1].is_whole = false;
        // Nor does the newest that is whole.
        assert_eq!(numbers(going_by_size(&all, 0)), [2]);
        assert!(going_by_size(&[], 0).is_empty());
        assert!(going("1d", &[]).is_empty());
    }

    #[test]
    fn the_oldest_go_until_the_rest_is_small_enough() {
        let all = all(&[MONDAY, MONDAY + 1, MONDAY + 2]);
        assert!(going_by_size(&all, 30).is_empty());
        assert_eq!(numbers(going_by_size(&all, 29)), [1]);
        assert_eq!(numbers(going_by_size(&all, 10)), [1, 2]);
        assert_eq!(numbers(going_by_size(&all, 9)), [1, 2]);
    }

    #[test]
    fn a_rule_without_a_meaning_is_refused() {
        for text in [
            "", "d", "7", "7d,", "0d", "7d,8d", "7y", "-1d", "+7d", "7 d", "7ä",
        ] {
            assert!(text.parse::<Keep>().is_err(), "{text}");
        }
        let keep: Keep = "12m,7d".parse().unwrap();
        assert_eq!((keep.days, keep.weeks, keep.months), (7, 0, 12));
    }
}
