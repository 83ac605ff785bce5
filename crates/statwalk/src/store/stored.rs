// SPDX-License-Identifier: MIT OR Apache-2.0

//! A snapshot in the store: its folder's name, and the choice of one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use jiff::Timestamp;

use super::name::Selector;

/// The folder's name in parts.
///
/// The number orders the snapshots of a key, and the time does not: after a clock went back,
/// the newest snapshot has an earlier time than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stored {
    pub(crate) number: u64,
    /// When the scan began, in whole seconds since 1970.
    pub(crate) began_s: i64,
}

const FORM: &str = "%Y-%m-%dT%H-%M-%SZ";

impl Stored {
    /// The snapshot behind all those of its key.
    pub(crate) fn next(all: &[Stored], began_ns: i64) -> Stored {
        let last = all.iter().map(|stored| stored.number).max();
        Stored {
            number: last.map_or(1, |last| last.saturating_add(1)),
            began_s: began_ns.div_euclid(1_000_000_000),
        }
    }

    /// The name of its folder.
    pub(crate) fn folder(&self) -> String {
        let moment = Timestamp::from_second(self.began_s).unwrap_or(Timestamp::UNIX_EPOCH);
        format!("{}-{}", moment.strftime(FORM), self.number)
    }

    /// Reads the name of a folder; absent where no snapshot has it.
    pub(crate) fn parse(folder: &OsStr) -> Option<Stored> {
        let name = std::str::from_utf8(folder.as_bytes()).ok()?;
        let (time, number) = name.rsplit_once('-')?;
        let time = time.strip_suffix('Z')?;
        let moment = jiff::civil::DateTime::strptime("%Y-%m-%dT%H-%M-%S", time).ok()?;
        let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        let stored = Stored {
            number: number.parse().ok()?,
            began_s: moment.timestamp().as_second(),
        };
        (stored.folder() == name).then_some(stored)
    }
}

/// The snapshot that a name means, among those of one root.
pub(crate) fn selected(all: &[Stored], selector: Selector) -> Option<Stored> {
    let mut newest_first = all.to_vec();
    newest_first.sort_by(|a, b| b.cmp(a));
    match selector {
        Selector::Before(count) => newest_first.get(count).copied(),
        Selector::NotAfter(ns) => {
            let at = ns.div_euclid(1_000_000_000);
            newest_first.into_iter().find(|stored| stored.began_s <= at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64, began_s: i64) -> Stored {
        Stored { number, began_s }
    }

    #[test]
    fn the_name_of_a_folder_has_time_and_number() {
        let stored = at(42, 1_796_000_000);
        assert_eq!(stored.folder(), "2026-11-30T00-53-20Z-42");
        let of = |name: &str| Stored::parse(OsStr::new(name));
        assert_eq!(of("2026-11-30T00-53-20Z-42"), Some(stored));
        assert_eq!(of("1969-12-31T23-59-59Z-1"), Some(at(1, -1)));
        for other in [
            "2026-11-30T00-53-20Z",
            "2026-11-30T00-53-20Z-042",
            "2026-13-30T00-53-20Z-4",
            ".2026-11-30T00-53-20Z-42",
            "2026-11-30",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_number_counts_back_from_the_newest() {
        let all = [at(3, 300), at(1, 100), at(2, 200)];
        let number = |selector| selected(&all, selector).map(|stored| stored.number);
        assert_eq!(number(Selector::Before(0)), Some(3));
        assert_eq!(number(Selector::Before(1)), Some(2));
        assert_eq!(number(Selector::Before(3)), None);
        let not_after = |seconds: i64| number(Selector::NotAfter(seconds * 1_000_000_000));
        assert_eq!(not_after(300), Some(3));
        assert_eq!(not_after(299), Some(2));
        assert_eq!(not_after(99), None);
    }

    #[test]
    fn a_clock_that_goes_back_makes_no_snapshot_older() {
        let mut all = vec![at(1, 5000)];
        all.push(Stored::next(&all, 100_000_000_000));
        assert_eq!(all[1], at(2, 100));
        assert_eq!(selected(&all, Selector::Before(0)), Some(at(2, 100)));
        let early = Selector::NotAfter(200_000_000_000);
        assert_eq!(selected(&all, early), Some(at(2, 100)));
    }
}
