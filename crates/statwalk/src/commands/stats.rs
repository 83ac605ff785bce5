// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk stats`: entries in groups by type, category, owner, group, age, size or depth.

use std::cmp::Reverse;

use serde::Serialize;
use statwalk_core::{GroupKey, Grouping, Stats, StatsGroup, Tally, Totals};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{By, StatsFlags, StatsSortName};
use crate::output::ending::Errors;
use crate::output::group_label::label;
use crate::output::groups_table::{GroupsTable, Section};
use crate::output::json::{Counted, GroupJson, GroupsAnswer};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned, print};
use crate::output::screen::Screen;
use crate::request::filters::Filters;
use crate::request::{Request, Sizes, invalid};
use crate::watch::watch;

/// The groups in the order of their rows.
struct StatsAnswer {
    by: Vec<By>,
    sizes: Sizes,
    sections: Vec<Section>,
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    /// The bytes of all groups, with or without a row.
    whole: u128,
    scanned: Scanned,
}

pub(super) fn run(flags: StatsFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let filters = Filters::new(&flags.filters)?;
    let mut stats = grouped_by(&flags.by)?;
    let request = Request::new(&flags.scan, flags.paths)?;
    if let Some((fields, test)) = filters.test() {
        stats = stats.filter(fields, test);
    }
    let progress = request.progress(Some(sizes.format));
    let sink = (Totals::with_sizes(), stats);
    let outcome = watch(&request.scan, &sink, progress)?;
    let (totals, groups) = outcome.output;

    let order = Order {
        sizes,
        sort: flags.sort,
        reverse: flags.reverse,
        rows_max: flags.lines.unwrap_or(usize::MAX),
    };
    let mut sections = sections(groups);
    let tallies = sections.iter().map(|section| &section.tally);
    let whole = tallies.map(|tally| order.bytes(tally)).sum();
    order.apply(&mut sections, flags.by[0], |section| &section.tally);
    if let Some(&second) = flags.by.get(1) {
        for section in &mut sections {
            order.apply(&mut section.parts, second, |(_, tally)| tally);
        }
    }
    let answer = StatsAnswer {
        by: flags.by,
        sizes,
        sections,
        rows_max: flags.lines,
        whole,
        scanned: Scanned {
            request,
            report: outcome.report,
            totals,
        },
    };
    print(&answer, answer.scanned.request.form)?;
    Ok(answer.scanned.conclude(Errors::Untold))
}

/// The sink that groups by one key or two.
///
/// # Errors
///
/// Returns an error for more keys, and for one that stands twice.
fn grouped_by(by: &[By]) -> Result<Stats, Failure> {
    match *by {
        [first] => Ok(Stats::by(grouping(first))),
        [first, second] if first != second => {
            Ok(Stats::by(grouping(first)).and_by(grouping(second)))
        }
        _ => {
            let names: Vec<_> = by.iter().map(|&by| name_of(by)).collect();
            let reason = "must be one key or two different ones";
            Err(invalid("--by", &names.join(","), reason))
        }
    }
}

/// Puts the groups with the same first key together; they come in the order of their keys.
fn sections(groups: Vec<StatsGroup>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for group in groups {
        let mut keys = group.keys.into_iter();
        let Some(first) = keys.next() else {
            continue;
        };
        if sections.last().is_none_or(|last| last.key != first) {
            sections.push(Section::new(first));
        }
        if let Some(section) = sections.last_mut() {
            section.add(keys.next(), group.tally);
        }
    }
    sections
}

/// The order of rows, and their number.
struct Order {
    sizes: Sizes,
    sort: Option<StatsSortName>,
    reverse: bool,
    rows_max: usize,
}

impl Order {
    fn bytes(&self, tally: &Tally) -> u128 {
        self.sizes.of(tally.allocated_bytes, tally.apparent_bytes)
    }

    /// Sorts groups by one key. They come in the key's own order, and the sort is stable.
    fn apply<T>(&self, groups: &mut Vec<T>, by: By, tally: impl Fn(&T) -> &Tally) {
        let sort = self.sort.unwrap_or(match by {
            By::Type | By::Category | By::Owner | By::Group => StatsSortName::Size,
            By::Age | By::Size | By::Depth => StatsSortName::Name,
        });
        match sort {
            StatsSortName::Name => {}
            StatsSortName::Count => groups.sort_by_key(|group| Reverse(tally(group).entries)),
            StatsSortName::Size => groups.sort_by_key(|group| Reverse(self.bytes(tally(group)))),
        }
        if self.reverse {
            groups.reverse();
        }
        groups.truncate(self.rows_max);
    }
}

impl Answer for StatsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.scanned.has_root() {
            return Vec::new();
        }
        let mut below = vec![String::new()];
        below.extend(self.scanned.lines_below(self.sizes.format, screen));
        let fitting = self.scanned.rows_that_fit(below.len(), screen);
        let names: Vec<_> = self.by.iter().map(|&by| name_of(by)).collect();
        let bytes = |section: &Section| {
            let Tally {
                allocated_bytes,
                apparent_bytes,
                ..
            } = section.tally;
            self.sizes.of(allocated_bytes, apparent_bytes)
        };
        let table = GroupsTable {
            title: names.join(", ").to_ascii_uppercase(),
            sizes: self.sizes,
            sections: &self.sections,
            whole: self.whole,
            largest: self.sections.iter().map(bytes).max().unwrap_or(0),
        };
        let rows_max = self.rows_max.map_or(fitting, |_| usize::MAX);
        let mut lines = table.lines(rows_max, screen.terminal);
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for (keys, tally) in self.groups() {
            let bytes = self.sizes.of(tally.allocated_bytes, tally.apparent_bytes);
            let bytes = self.sizes.format_in_rows.text(bytes);
            let labels: Vec<_> = keys.into_iter().map(label).collect();
            let entries = tally.entries.to_string();
            rows.row(&[&bytes, &entries], &labels.join(&b'\t'))?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let groups = self.groups();
        let answer = GroupsAnswer {
            by: self.by.iter().map(|&by| name_of(by)).collect(),
            groups: groups
                .map(|(keys, tally)| GroupJson::new(keys, tally))
                .collect(),
        };
        self.scanned.document(Counted::Sizes, answer)
    }
}

impl StatsAnswer {
    /// All groups with their keys; with two keys those of the second.
    fn groups(&self) -> impl Iterator<Item = (Vec<&GroupKey>, &Tally)> {
        let is_crossed = self.by.len() > 1;
        self.sections.iter().flat_map(move |section| {
            let whole = (!is_crossed).then(|| (vec![&section.key], &section.tally));
            let parts = section.parts.iter();
            let parts = parts.map(|(key, tally)| (vec![&section.key, key], tally));
            whole.into_iter().chain(parts)
        })
    }
}

fn grouping(by: By) -> Grouping {
    match by {
        By::Type => Grouping::Type,
        By::Category => Grouping::Category,
        By::Owner => Grouping::Owner,
        By::Group => Grouping::Group,
        By::Age => Grouping::Age,
        By::Size => Grouping::Size,
        By::Depth => Grouping::Depth,
    }
}

fn name_of(by: By) -> &'static str {
    match by {
        By::Type => "type",
        By::Category => "category",
        By::Owner => "owner",
        By::Group => "group",
        By::Age => "age",
        By::Size => "size",
        By::Depth => "depth",
    }
}
