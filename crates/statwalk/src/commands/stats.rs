// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk stats`: what there is, by type, owner, group, age, size or depth.

use std::borrow::Cow;

use statwalk_core::{FileType, GroupKey, Grouping, Report, RootTotals, Stats, Tally, Totals};
use statwalk_view::{Align, Cell, Column, SizeFormat, grouped, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{By, StatsFlags, StatsSortName};
use crate::output::Output;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, Counted, GroupJson, GroupsAnswer, size_max, size_min};
use crate::output::plain::Rows;
use crate::output::screen::Screen;
use crate::request::filters::Filters;
use crate::request::owners;
use crate::request::{Form, Request, Sizes};
use crate::watch::watch;

struct Shown {
    request: Request,
    sizes: Sizes,
    by: By,
}

pub(super) fn run(flags: StatsFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let filters = Filters::new(&flags.filters)?;
    let request = Request::new(&flags.scan, flags.paths)?;
    let by = flags.by;
    let mut stats = Stats::by(grouping(by));
    if !filters.is_empty() {
        let fields = filters.fields();
        stats = stats.filter(fields, move |_, entry| {
            filters.pass(entry.name, &entry.attributes)
        });
    }
    let progress = request.progress(Some(sizes.format));
    let outcome = watch(
        &request.scan,
        &(Totals::with_sizes(), stats),
        progress,
        &mut (),
    )?;
    let (totals, mut groups) = outcome.output;

    let sort = flags.sort.unwrap_or(match by {
        By::Type | By::Owner | By::Group => StatsSortName::Size,
        By::Age | By::Size | By::Depth => StatsSortName::Name,
    });
    // Groups come in the order of their keys, and the sort is stable.
    match sort {
        StatsSortName::Name => {}
        StatsSortName::Count => groups.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.entries)),
        StatsSortName::Size => groups.sort_by_key(|(_, tally)| {
            let bytes = sizes.of(tally.allocated_bytes, tally.apparent_bytes);
            std::cmp::Reverse(bytes)
        }),
    }
    if flags.reverse {
        groups.reverse();
    }
    let whole: u128 = groups
        .iter()
        .map(|(_, tally)| sizes.of(tally.allocated_bytes, tally.apparent_bytes))
        .sum();
    groups.truncate(flags.lines.unwrap_or(usize::MAX));

    let shown = Shown { request, sizes, by };
    shown.print(&groups, whole, &outcome.report, &totals)?;
    Ok(ending::conclude(
        &shown.request,
        &outcome.report,
        Errors::Untold,
    ))
}

impl Shown {
    fn print(
        &self,
        groups: &[(GroupKey, Tally)],
        whole: u128,
        report: &Report,
        totals: &[RootTotals],
    ) -> Result<(), Failure> {
        match self.request.form {
            Form::Screen(screen) => self.print_table(groups, whole, report, totals, screen),
            Form::Rows(end) => {
                let mut rows = Rows::new(end);
                for (key, tally) in groups {
                    let bytes = self.sizes.format_in_rows.text(self.bytes(tally));
                    let label = label(key);
                    rows.row(&[&bytes, &tally.entries.to_string()], &label)?;
                }
                rows.finish()
            }
            Form::Json(screen) => {
                let groups = groups.iter().map(|(key, tally)| GroupJson::new(key, tally));
                let answer = GroupsAnswer {
                    by: name_of(self.by),
                    groups: groups.collect(),
                };
                let counted = Counted::Sizes;
                json::write(&self.request, screen, report, totals, counted, answer)
            }
        }
    }

    fn bytes(&self, tally: &Tally) -> u128 {
        self.sizes.of(tally.allocated_bytes, tally.apparent_bytes)
    }

    fn print_table(
        &self,
        groups: &[(GroupKey, Tally)],
        whole: u128,
        report: &Report,
        totals: &[RootTotals],
        screen: Screen,
    ) -> Result<(), Failure> {
        let largest = groups.iter().map(|(_, tally)| self.bytes(tally)).max();
        let title = name_of(self.by).to_ascii_uppercase();
        let column = |title, align| Column { title, align };
        let columns = [
            column(self.sizes.title(), Align::Right),
            column("SHARE", Align::Left),
            column("ENTRIES", Align::Right),
            column(&title, Align::Left),
        ];
        let rows = groups.iter().map(|(key, tally)| {
            vec![
                Cell::Text(self.sizes.format.text(self.bytes(tally)).into()),
                Cell::Share {
                    part: self.bytes(tally),
                    whole,
                    largest: largest.unwrap_or(0),
                },
                Cell::Text(grouped(tally.entries).into()),
                Cell::Name(label(key)),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let mut out = Output::new();
        out.lines(list_table(&columns, &rows, screen.terminal))?;
        out.lines([""])?;
        let summary = ending::summary(report, totals);
        out.lines(summary.lines(self.sizes.format, screen.terminal))?;
        out.lines(ending::left_out_line(report, screen.terminal))?;
        out.finish()
    }
}

fn grouping(by: By) -> Grouping {
    match by {
        By::Type => Grouping::Type,
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
        By::Owner => "owner",
        By::Group => "group",
        By::Age => "age",
        By::Size => "size",
        By::Depth => "depth",
    }
}

/// What a group is called. An extension or the name of a user may hold any bytes.
fn label(key: &GroupKey) -> Cow<'static, [u8]> {
    let text = match key {
        GroupKey::Kind(kind) => return Cow::Borrowed(kind_name(*kind).as_bytes()),
        GroupKey::Extension(extension) if extension.is_empty() => "no extension".to_owned(),
        GroupKey::Extension(extension) => return Cow::Owned([b".", &extension[..]].concat()),
        GroupKey::Owner(uid) => match owners::user_name(*uid) {
            Some(name) => return Cow::Owned(name),
            None => uid.to_string(),
        },
        GroupKey::Group(gid) => match owners::group_name(*gid) {
            Some(name) => return Cow::Owned(name),
            None => gid.to_string(),
        },
        GroupKey::ModifiedWithin(None) => "in the future".to_owned(),
        GroupKey::ModifiedWithin(Some(u64::MAX)) => "older".to_owned(),
        GroupKey::ModifiedWithin(Some(limit_s)) => format!("within {}", span(*limit_s)),
        GroupKey::SizeBelowPower(0) => "empty".to_owned(),
        GroupKey::SizeBelowPower(power) => {
            let text = |bytes: u64| SizeFormat::Binary.text(bytes.into());
            match size_max(*power).checked_add(1) {
                Some(end) => format!("{} to below {}", text(size_min(*power)), text(end)),
                None => format!("{} and more", text(size_min(*power))),
            }
        }
        GroupKey::Depth(depth) => depth.to_string(),
        _ => "unknown".to_owned(),
    };
    Cow::Owned(text.into_bytes())
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::File => "files",
        FileType::Directory => "directories",
        FileType::Symlink => "symbolic links",
        FileType::Fifo => "pipes",
        FileType::Socket => "sockets",
        FileType::CharDevice => "character devices",
        FileType::BlockDevice => "block devices",
        FileType::Unknown => "unknown",
    }
}

/// A limit of ages in words.
fn span(limit_s: u64) -> String {
    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let (count, unit) = match limit_s {
        s if s >= YEAR && s % YEAR == 0 => (s / YEAR, "year"),
        s if s >= DAY && s % DAY == 0 => (s / DAY, "day"),
        s => (s / HOUR, "hour"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_names() {
        let check = |key: GroupKey, expected: &str| {
            assert_eq!(label(&key), expected.as_bytes(), "{key:?}");
        };
        check(GroupKey::Extension(b"rs".to_vec()), ".rs");
        check(GroupKey::Extension(Vec::new()), "no extension");
        check(GroupKey::Kind(FileType::Directory), "directories");
        check(GroupKey::Owner(0), "root");
        check(GroupKey::Group(4_000_000_001), "4000000001");
        check(GroupKey::ModifiedWithin(Some(3_600)), "within 1 hour");
        check(
            GroupKey::ModifiedWithin(Some(182 * 86_400)),
            "within 182 days",
        );
        check(
            GroupKey::ModifiedWithin(Some(2 * 365 * 86_400)),
            "within 2 years",
        );
        check(GroupKey::ModifiedWithin(Some(u64::MAX)), "older");
        check(GroupKey::SizeBelowPower(0), "empty");
        check(GroupKey::SizeBelowPower(13), "4.00 KiB to below 8.00 KiB");
        check(GroupKey::SizeBelowPower(64), "8.00 EiB and more");
    }
}
