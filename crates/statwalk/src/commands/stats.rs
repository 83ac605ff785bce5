// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk stats`: entries in groups by type, category, owner, group, age, size or depth.

use serde::Serialize;
use statwalk_core::{GroupKey, Grouping, Stats, Tally, Totals};
use statwalk_view::{Align, Cell, Column, grouped, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{By, StatsFlags, StatsSortName};
use crate::output::ending::Errors;
use crate::output::group_label::label;
use crate::output::json::{Counted, GroupJson, GroupsAnswer};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned, print};
use crate::output::screen::Screen;
use crate::request::filters::Filters;
use crate::request::{Request, Sizes};
use crate::watch::watch;

/// The groups in the order of their rows.
struct StatsAnswer {
    by: By,
    sizes: Sizes,
    groups: Vec<(GroupKey, Tally)>,
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    /// The bytes of all groups, with or without a row.
    whole: u128,
    scanned: Scanned,
}

pub(super) fn run(flags: StatsFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let filters = Filters::new(&flags.filters)?;
    let request = Request::new(&flags.scan, flags.paths)?;
    let by = flags.by;
    let mut stats = Stats::by(grouping(by));
    if let Some((fields, test)) = filters.test() {
        stats = stats.filter(fields, test);
    }
    let progress = request.progress(Some(sizes.format));
    let sink = (Totals::with_sizes(), stats);
    let outcome = watch(&request.scan, &sink, progress)?;
    let (totals, mut groups) = outcome.output;

    let bytes = |tally: &Tally| sizes.of(tally.allocated_bytes, tally.apparent_bytes);
    let sort = flags.sort.unwrap_or(match by {
        By::Type | By::Category | By::Owner | By::Group => StatsSortName::Size,
        By::Age | By::Size | By::Depth => StatsSortName::Name,
    });
    // Groups come in the order of their keys, and the sort is stable.
    match sort {
        StatsSortName::Name => {}
        StatsSortName::Count => groups.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.entries)),
        StatsSortName::Size => groups.sort_by_key(|(_, tally)| std::cmp::Reverse(bytes(tally))),
    }
    if flags.reverse {
        groups.reverse();
    }
    let whole = groups.iter().map(|(_, tally)| bytes(tally)).sum();
    groups.truncate(flags.lines.unwrap_or(usize::MAX));
    let answer = StatsAnswer {
        by,
        sizes,
        groups,
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

impl Answer for StatsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.scanned.has_root() {
            return Vec::new();
        }
        let largest = self.groups.iter().map(|(_, tally)| self.bytes(tally)).max();
        let title = name_of(self.by).to_ascii_uppercase();
        let columns = [
            Column::new(self.sizes.title(), Align::Right),
            Column::new("SHARE", Align::Left).optional(),
            Column::new("ENTRIES", Align::Right).optional(),
            Column::new(&title, Align::Left),
        ];
        let mut below = vec![String::new()];
        below.extend(self.scanned.lines_below(self.sizes.format, screen));
        let fitting = self.scanned.rows_that_fit(below.len(), screen);
        let (shown, hidden) = self.groups.split_at(match self.rows_max {
            None if self.groups.len() > fitting => fitting - 1,
            _ => self.groups.len(),
        });
        let cells = |bytes: u128, entries: u64, label| {
            vec![
                Cell::Text(self.sizes.format.text(bytes).into()),
                Cell::Share {
                    part: bytes,
                    whole: self.whole,
                    largest: largest.unwrap_or(0).max(bytes),
                },
                Cell::Text(grouped(entries).into()),
                label,
            ]
        };
        let mut rows: Vec<_> = shown
            .iter()
            .map(|(key, tally)| cells(self.bytes(tally), tally.entries, Cell::Name(label(key))))
            .collect();
        if !hidden.is_empty() {
            let bytes = hidden.iter().map(|(_, tally)| self.bytes(tally)).sum();
            let entries = hidden.iter().map(|(_, tally)| tally.entries).sum();
            let ellipsis = screen.terminal.charset.ellipsis();
            let label = format!("{ellipsis} {} more", grouped(hidden.len() as u64));
            rows.push(cells(bytes, entries, Cell::Text(label.into())));
        }
        let mut lines = list_table(&columns, &rows, screen.terminal);
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for (key, tally) in &self.groups {
            let bytes = self.sizes.format_in_rows.text(self.bytes(tally));
            rows.row(&[&bytes, &tally.entries.to_string()], &label(key))?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let groups = self.groups.iter();
        let answer = GroupsAnswer {
            by: name_of(self.by),
            groups: groups
                .map(|(key, tally)| GroupJson::new(key, tally))
                .collect(),
        };
        self.scanned.document(Counted::Sizes, answer)
    }
}

impl StatsAnswer {
    fn bytes(&self, tally: &Tally) -> u128 {
        self.sizes.of(tally.allocated_bytes, tally.apparent_bytes)
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
