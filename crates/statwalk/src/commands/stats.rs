// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk stats`: entries in groups by type, category, owner, group, age, size or depth.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::ser::{Serialize, SerializeMap};
use statwalk_core::{GroupKey, Grouping, Stats, StatsGroup, Totals};
use statwalk_view::wrap;

use crate::answer::about::{About, Root};
use crate::answer::filter_texts::FilterTexts;
use crate::answer::owner_names::{KnownOwners, OwnerNames};
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{StatsFlags, StatsSortName};
use crate::output::ending::Errors;
use crate::output::group_label::label;
use crate::output::groups_table::{GroupsTable, Percentiles, Section, Sum};
use crate::output::json::{Fields, GroupJson, Object};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, ROWS_FOR_SENTENCES};
use crate::request::filters::Filters;
use crate::request::{Form, Request, Sizes, invalid};
use crate::system::screen::Screen;
use crate::watch::progress::ProgressOptions;
use crate::watch::reading::read;

/// The groups in the order of their rows.
pub(super) struct StatsAnswer {
    by: Vec<Grouping>,
    sizes: Sizes,
    percentiles: Percentiles,
    sections: Vec<Section>,
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    /// The bytes of all groups, with or without a row.
    whole: u128,
    pub(super) about: About,
}

pub(super) fn run(flags: StatsFlags) -> Result<ExitStatus, Failure> {
    let (request, answer) = answer_of(flags)?;
    print(&answer, request.form)?;
    Ok(conclude(&request, &answer.about, Errors::Untold))
}

/// Scans, and makes the answer.
pub(super) fn answer_of(flags: StatsFlags) -> Result<(Request, StatsAnswer), Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let mut stats = grouped_by(&flags.by)?;
    let mut request = Request::new(&flags.scan, flags.paths, form_of(&flags.scan.walk.form))?;
    let filters = Filters::new(&flags.filters, request.stored())?;
    request.filters = FilterTexts::new(&flags.filters);
    if let Some((fields, test)) = filters.test() {
        stats = stats.with_filter(fields, test);
    }
    let percentiles = match flags.percentiles {
        true => Percentiles::Shown,
        false => Percentiles::Hidden,
    };
    if flags.percentiles || matches!(request.form, Form::Json(_)) {
        stats = stats.with_size_histograms();
    }
    let progress = ProgressOptions::new(&request, Some(sizes.format));
    let sink = (Totals::new(), stats);
    let read = read(&request, &sink, progress)?;
    let (totals, groups) = read.output;
    let mut about = About::of_scan(&request, read.record, &totals);
    let sizes = sizes.of_scan(&about, request.form);

    let order = Order {
        sizes,
        sort: flags.sort,
        reverse: flags.reverse,
        rows_max: flags.lines.unwrap_or(usize::MAX),
    };
    let mut sections = sections(ordered(groups, request.form));
    let all = sections.iter();
    let whole = all.map(|section| section.sum.bytes(sizes)).sum();
    order.apply(&mut sections, flags.by[0], |section| &section.sum);
    if let Some(&second) = flags.by.get(1) {
        for section in &mut sections {
            order.apply(&mut section.parts, second, |(_, sum)| sum);
        }
    }
    about.owners = owners_of(&sections, request.owners());
    let answer = StatsAnswer {
        by: flags.by,
        sizes,
        percentiles,
        sections,
        rows_max: flags.lines,
        whole,
        about,
    };
    Ok((request, answer))
}

/// The sink that groups by one key or two.
fn grouped_by(by: &[Grouping]) -> Result<Stats, Failure> {
    match *by {
        [first] => Ok(Stats::new(first)),
        [first, second] if first != second => Ok(Stats::new(first).with_subgroups(second)),
        _ => {
            let names: Vec<_> = by.iter().map(|&by| by.name()).collect();
            let reason = "must be one key or two different ones";
            Err(invalid("--by", &names.join(","), reason))
        }
    }
}

/// The groups in the order of their keys: for a program as fine as they come, for people in
/// classes of ages and sizes.
fn ordered(groups: Vec<StatsGroup>, form: Form) -> BTreeMap<Vec<GroupKey>, Sum> {
    let mut ordered = BTreeMap::<_, Sum>::new();
    for mut group in groups {
        if !matches!(form, Form::Json(_)) {
            group.keys.iter_mut().for_each(|key| *key = key.class());
        }
        ordered.entry(group.keys).or_default().add(&Sum {
            tally: group.tally,
            sizes: group.sizes,
        });
    }
    ordered
}

/// Puts the groups with the same first key together.
fn sections(groups: BTreeMap<Vec<GroupKey>, Sum>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (keys, sum) in groups {
        let mut keys = keys.into_iter();
        let Some(first) = keys.next() else {
            continue;
        };
        if sections.last().is_none_or(|last| last.key != first) {
            sections.push(Section::new(first));
        }
        if let Some(section) = sections.last_mut() {
            section.add(keys.next(), sum);
        }
    }
    sections
}

/// The names of the owners that have a row.
fn owners_of(sections: &[Section], known: KnownOwners<'_>) -> OwnerNames {
    let (mut users, mut groups) = (BTreeSet::new(), BTreeSet::new());
    let mut keep = |key: &GroupKey| match key {
        GroupKey::Owner(uid) => drop(users.insert(*uid)),
        GroupKey::Group(gid) => drop(groups.insert(*gid)),
        _ => {}
    };
    for section in sections {
        keep(&section.key);
        section.parts.iter().for_each(|(key, _)| keep(key));
    }
    let mut owners = OwnerNames::default();
    owners.keep_users(users.iter().copied(), known);
    owners.keep_groups(groups.iter().copied(), known);
    owners
}

/// The order of rows, and their number.
struct Order {
    sizes: Sizes,
    sort: Option<StatsSortName>,
    reverse: bool,
    rows_max: usize,
}

impl Order {
    /// Sorts groups by one key. They come in the key's own order, and the sort is stable.
    fn apply<T>(&self, groups: &mut Vec<T>, by: Grouping, sum: impl Fn(&T) -> &Sum) {
        let sort = self.sort.unwrap_or(match by {
            Grouping::Age | Grouping::Size | Grouping::Depth => StatsSortName::Name,
            _ => StatsSortName::Size,
        });
        match sort {
            StatsSortName::Name => {}
            StatsSortName::Count => groups.sort_by_key(|group| Reverse(sum(group).tally.entries)),
            StatsSortName::Size => {
                let by = Sizes {
                    column: self.sizes.order(),
                    ..self.sizes
                };
                groups.sort_by_key(|group| Reverse(sum(group).bytes(by)))
            }
        }
        if self.reverse {
            groups.reverse();
        }
        groups.truncate(self.rows_max);
    }
}

impl Answer for StatsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.about.has_root() {
            return Vec::new();
        }
        let mut below = vec![String::new()];
        below.extend(self.about.lines_below(self.sizes.format, screen));
        below.extend(self.lower_bound_lines(screen));
        below.extend(self.about.no_blocks_lines(&self.sizes, screen));
        let fitting = self.about.rows_that_fit(below.len(), screen);
        let names: Vec<_> = self.by.iter().map(|&by| by.name()).collect();
        let table = GroupsTable {
            title: names.join(", ").to_ascii_uppercase(),
            sizes: self.sizes,
            sections: &self.sections,
            whole: self.whole,
            owners: &self.about.owners,
            percentiles: self.percentiles,
        };
        let rows_max = self.rows_max.map_or(fitting, |_| usize::MAX);
        let mut lines = table.lines(rows_max, screen.terminal);
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for (keys, sum) in self.groups() {
            let format = self.sizes.format_in_rows;
            let mut columns = vec![
                format.text(sum.bytes(self.sizes)),
                sum.tally.entries.to_string(),
            ];
            if self.percentiles == Percentiles::Shown {
                columns.extend(sum.percentiles(format));
            }
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let owners = &self.about.owners;
            let labels: Vec<_> = (keys.into_iter()).map(|key| label(*key, owners)).collect();
            rows.row(&columns, &labels.join(&b'\t'))?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        self.about.document(self)
    }
}

impl Fields for StatsAnswer {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let by: Vec<_> = self.by.iter().map(|&by| by.name()).collect();
        object.field("by", by);
        let groups = self.groups().map(|(keys, sum)| GroupJson {
            keys,
            tally: &sum.tally,
            sizes: sum.sizes.as_ref(),
            owners: &self.about.owners,
        });
        object.list("groups", groups);
    }
}

impl StatsAnswer {
    /// The sentence in place of a mark at each row: nobody knows the groups of entries that
    /// were not read.
    fn lower_bound_lines(&self, screen: Screen) -> Vec<String> {
        if !self.about.roots.iter().any(Root::is_incomplete) {
            return Vec::new();
        }
        let sentence = match screen.rows >= ROWS_FOR_SENTENCES {
            _ if self.about.gaps.unread_patterns() > 0 => "The rows may not be exact.",
            true => "Each row is a lower bound: entries that were not read can be of any group.",
            false => "Each row is a lower bound.",
        };
        wrap(sentence, screen.terminal)
    }

    /// All groups with their keys; with two keys those of the second.
    fn groups(&self) -> impl Iterator<Item = (Vec<&GroupKey>, &Sum)> + Clone {
        let is_crossed = self.by.len() > 1;
        self.sections.iter().flat_map(move |section| {
            let whole = (!is_crossed).then(|| (vec![&section.key], &section.sum));
            let parts = section.parts.iter();
            let parts = parts.map(|(key, sum)| (vec![&section.key, key], sum));
            whole.into_iter().chain(parts)
        })
    }
}
