// SPDX-License-Identifier: MIT OR Apache-2.0

//! Settings that change the time and not the answer.

use std::collections::BTreeSet;

use statwalk_core::tuning::{AnyOrder, Calls, Freshness, Sharing, StatOrder, TypeSource};
use statwalk_core::{Fields, Order, Scan, Source, Totals};

use crate::flags::{Axis, Level, ORDERS, OrderChoice};

/// One way to scan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Setting {
    /// None where it is left to the flags.
    pub(crate) order: Option<OrderChoice>,
    /// None where the scan decides.
    pub(crate) workers: Option<usize>,
    /// None for the default size.
    pub(crate) buffer_bytes: Option<usize>,
    pub(crate) level: Level,
    pub(crate) stats: Stats,
    /// Whether all data comes from system calls, even where statwalk could read the
    /// device.
    pub(crate) by_calls: bool,
}

/// The way to stat entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stats {
    /// As the user's flags say.
    AsAsked,
    ByInode,
    Cached,
    ForTypes,
    AloneInADirectory,
    /// Where the listing has no types: in its order.
    AnyFirst,
    WithoutLinkStop,
    LooksInside,
}

const BUFFERS: [usize; 5] = [1 << 10, 4 << 10, 256 << 10, 1 << 20, 4 << 20];

impl Setting {
    /// The user's flags, at a level.
    fn base(level: Level) -> Setting {
        Setting {
            order: None,
            workers: None,
            buffer_bytes: None,
            level,
            stats: Stats::AsAsked,
            by_calls: false,
        }
    }

    /// Whether only the level differs from the user's flags.
    pub(crate) fn is_base(&self) -> bool {
        *self == Setting::base(self.level)
    }

    /// The scan with this setting.
    pub(crate) fn apply(&self, scan: &Scan, calls: &Calls) -> Scan {
        let mut calls = calls.clone();
        if let Some(bytes) = self.buffer_bytes {
            calls = calls.buffer_bytes(bytes);
        }
        calls = match self.stats {
            Stats::AsAsked => calls,
            Stats::ByInode => calls.stat_order(StatOrder::Inode),
            Stats::Cached => calls.freshness(Freshness::DontSync),
            Stats::ForTypes => calls.types(TypeSource::Stat),
            Stats::AloneInADirectory => calls.sharing(Sharing::Never),
            Stats::AnyFirst => calls.likely_first(false),
            Stats::WithoutLinkStop => calls.link_stop(false),
            Stats::LooksInside => calls.looks_inside(true),
        };
        let mut scan = scan.clone();
        if self.level == Level::Full {
            scan = scan.fields(ALL);
        }
        if let Some(OrderChoice(order)) = self.order {
            scan = scan.order(order);
        }
        if let Some(workers) = self.workers {
            scan = scan.threads(workers);
        }
        if self.by_calls {
            scan = scan.source(Source::Posix);
        }
        scan.calls(calls)
    }

    pub(crate) fn sink(&self) -> Totals {
        match self.level {
            Level::Names => Totals::new().without_types(),
            Level::Types => Totals::new().without_sizes(),
            Level::Sizes | Level::Full => Totals::new(),
        }
    }

    /// The difference from the user's flags, in words.
    pub(crate) fn label(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.order.map(|order| order.0.name().to_owned()));
        match self.workers {
            Some(1) => words.push("1 worker".to_owned()),
            Some(workers) => words.push(format!("{workers} workers")),
            None => {}
        }
        words.extend(
            self.buffer_bytes
                .map(|bytes| format!("buffer {}", size(bytes))),
        );
        words.extend(self.stats.words().map(str::to_owned));
        words.extend(self.by_calls.then(|| "source posix".to_owned()));
        match words.is_empty() {
            true => "default".to_owned(),
            false => words.join(", "),
        }
    }

    /// The flags that select the setting; none where no flag does.
    pub(crate) fn flags(&self) -> Option<String> {
        let mut words = Vec::new();
        words.extend(
            self.order
                .map(|order| format!("--order {}", order.0.name())),
        );
        words.extend(self.workers.map(|workers| format!("-j {workers}")));
        words.extend(
            self.buffer_bytes
                .map(|bytes| format!("--buffer {}", size(bytes))),
        );
        words.extend(self.by_calls.then(|| "--source posix".to_owned()));
        match self.stats {
            Stats::AsAsked => {}
            Stats::ByInode => words.push("--stat-order inode".to_owned()),
            Stats::Cached => words.push("--cached-attributes".to_owned()),
            Stats::ForTypes
            | Stats::AloneInADirectory
            | Stats::AnyFirst
            | Stats::WithoutLinkStop
            | Stats::LooksInside => return None,
        }
        Some(words.join(" "))
    }
}

/// The fields of a stat.
const ALL: Fields = Fields::STAT.without(Fields::TYPE);

impl Stats {
    /// The way in words; none for that of the user's flags.
    pub(crate) fn words(self) -> Option<&'static str> {
        match self {
            Stats::AsAsked => None,
            Stats::ByInode => Some("stats by inode"),
            Stats::Cached => Some("cached attributes"),
            Stats::ForTypes => Some("types by stat"),
            Stats::AloneInADirectory => Some("no shared directories"),
            Stats::AnyFirst => Some("likely directories not first"),
            Stats::WithoutLinkStop => Some("no link-count stop"),
            Stats::LooksInside => Some("a stat of entry/."),
        }
    }
}

/// The settings to measure: each axis by itself, or every combination.
///
/// `asked` is the order of the user's flags.
pub(crate) fn chosen(
    vary: &[Axis],
    cross: bool,
    level: Level,
    asked: AnyOrder,
    processors: usize,
) -> Vec<Setting> {
    let mut settings = BTreeSet::from([Setting::base(level)]);
    for axis in [
        Axis::Order,
        Axis::Workers,
        Axis::Buffer,
        Axis::Level,
        Axis::Calls,
        Axis::Source,
    ] {
        if !vary.contains(&axis) {
            continue;
        }
        let start: Vec<Setting> = match cross {
            true => settings.iter().cloned().collect(),
            false => vec![Setting::base(level)],
        };
        for setting in start {
            settings.extend(varied(&setting, axis, asked, processors));
        }
    }
    settings.into_iter().collect()
}

fn varied(setting: &Setting, axis: Axis, asked: AnyOrder, processors: usize) -> Vec<Setting> {
    let with = |change: &dyn Fn(&mut Setting)| {
        let mut other = setting.clone();
        change(&mut other);
        other
    };
    match axis {
        Axis::Order => ORDERS
            .into_iter()
            .filter(|order| order.0 != asked)
            .map(|order| with(&|other| other.order = Some(order)))
            .collect(),
        Axis::Workers => {
            let mut numbers = BTreeSet::from([1, processors, processors * 2, processors * 8]);
            numbers.insert((processors / 2).max(1));
            let numbers = numbers.into_iter();
            // Recursion has one worker.
            let numbers = numbers.filter(|&n| {
                n == 1 || setting.order != Some(OrderChoice(AnyOrder::Order(Order::Recursive)))
            });
            numbers
                .map(|n| with(&|other| other.workers = Some(n)))
                .collect()
        }
        Axis::Buffer => BUFFERS
            .map(|bytes| with(&|other| other.buffer_bytes = Some(bytes)))
            .into(),
        Axis::Level => [Level::Names, Level::Types, Level::Sizes, Level::Full]
            .map(|level| with(&|other| other.level = level))
            .into(),
        Axis::Calls => {
            let ways = [
                Stats::ByInode,
                Stats::Cached,
                Stats::ForTypes,
                Stats::AloneInADirectory,
            ];
            // They find directories without types; every other level needs types.
            let tricks = [Stats::AnyFirst, Stats::WithoutLinkStop, Stats::LooksInside];
            let tricks = tricks.into_iter().filter(|_| setting.level == Level::Names);
            let ways = ways.into_iter().chain(tricks);
            ways.map(|stats| with(&|other| other.stats = stats))
                .collect()
        }
        Axis::Source => vec![with(&|other| other.by_calls = true)],
    }
}

/// A size that `--buffer` takes.
fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{}M", bytes >> 20),
        bytes => format!("{}K", bytes >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_axis_is_varied_by_itself() {
        let settings = chosen(
            &[Axis::Order, Axis::Buffer],
            false,
            Level::Sizes,
            Order::Parallel.into(),
            2,
        );
        assert_eq!(settings.len(), 1 + 6 + 5);
        for setting in &settings {
            let differs = [
                setting.order.is_some(),
                setting.buffer_bytes.is_some(),
                setting.workers.is_some(),
            ];
            assert!(
                differs.iter().filter(|differs| **differs).count() <= 1,
                "{setting:?}"
            );
        }
    }

    #[test]
    fn every_combination_is_there_once() {
        let settings = chosen(
            &[Axis::Order, Axis::Buffer],
            true,
            Level::Sizes,
            Order::Parallel.into(),
            2,
        );
        assert_eq!(settings.len(), 7 * 6);
        let settings = chosen(
            &[Axis::Order, Axis::Workers],
            true,
            Level::Sizes,
            Order::Parallel.into(),
            2,
        );
        // Recursion has no number of workers but one.
        assert_eq!(settings.len(), 6 * (1 + 4) + 2);
    }

    #[test]
    fn flags_select_what_the_label_says() {
        let settings = chosen(
            &[Axis::Buffer, Axis::Workers],
            true,
            Level::Sizes,
            Order::Parallel.into(),
            2,
        );
        let find = |label: &str| settings.iter().find(|s| s.label() == label).unwrap();
        assert_eq!(find("default").flags().as_deref(), Some(""));
        assert_eq!(
            find("4 workers, buffer 4K").flags().as_deref(),
            Some("-j 4 --buffer 4K")
        );
        assert_eq!(find("buffer 1M").flags().as_deref(), Some("--buffer 1M"));
    }

    #[test]
    fn the_tricks_for_directories_are_varied_where_types_do_not_matter() {
        let labels = |level| {
            let settings = chosen(&[Axis::Calls], false, level, Order::Parallel.into(), 2);
            let labels = settings.iter().map(Setting::label);
            labels.filter(|label| label.contains("link-count")).count()
        };
        assert_eq!((labels(Level::Names), labels(Level::Types)), (1, 0));
    }
}
