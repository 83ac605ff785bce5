// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of `stats`: groups, and with two keys the parts of each below it.

use statwalk_core::{GroupKey, Tally};
use statwalk_view::{Align, Cell, Column, Terminal, grouped, list_table};

use crate::output::group_label::label;
use crate::request::Sizes;

/// How many parts of a group are shown before groups go.
const PARTS_MIN: usize = 2;

/// The indent of a part below its group.
const INDENT: &str = "  ";

/// A group by the first key.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) key: GroupKey,
    pub(crate) tally: Tally,
    /// Its parts by the second key; empty where there is none.
    pub(crate) parts: Vec<(GroupKey, Tally)>,
}

impl Section {
    pub(crate) fn new(key: GroupKey) -> Section {
        Section {
            key,
            tally: Tally::default(),
            parts: Vec::new(),
        }
    }

    /// Adds a group with this second key.
    pub(crate) fn add(&mut self, second: Option<GroupKey>, tally: Tally) {
        add(&mut self.tally, &tally);
        self.parts.extend(second.map(|key| (key, tally)));
    }

    /// The rows of the section where it shows about `parts` parts. A part more needs no
    /// more rows than the row that counts it.
    fn row_count(&self, parts: usize) -> usize {
        1 + self.parts.len().min(parts.saturating_add(1))
    }

    fn shown(&self, parts: usize) -> usize {
        match self.parts.len() <= parts.saturating_add(1) {
            true => self.parts.len(),
            false => parts,
        }
    }
}

/// A table of groups.
pub(crate) struct GroupsTable<'a> {
    /// The names of the keys.
    pub(crate) title: String,
    pub(crate) sizes: Sizes,
    pub(crate) sections: &'a [Section],
    /// The bytes of all groups, with or without a row.
    pub(crate) whole: u128,
    /// The bytes of the largest group.
    pub(crate) largest: u128,
}

impl GroupsTable<'_> {
    /// The lines of the table, its head and at most `rows_max` rows. Sections with parts
    /// lose parts first.
    pub(crate) fn lines(&self, rows_max: usize, terminal: Terminal) -> Vec<String> {
        let columns = [
            Column::new(self.sizes.title(), Align::Right),
            Column::new("SHARE", Align::Left).optional(),
            Column::new("ENTRIES", Align::Right).optional(),
            Column::new(&self.title, Align::Left),
        ];
        let (sections, parts) = self.fit(rows_max);
        let ellipsis = terminal.charset.ellipsis();
        let rest = |indent: &str, tallies: &mut dyn Iterator<Item = &Tally>| {
            let mut sum = Tally::default();
            let mut count = 0;
            for tally in tallies {
                add(&mut sum, tally);
                count += 1;
            }
            let text = format!("{indent}{ellipsis} {} more", grouped(count));
            self.cells(&sum, Cell::Text(text.into()))
        };
        let mut rows = Vec::new();
        for section in &self.sections[..sections] {
            rows.push(self.cells(&section.tally, Cell::Name(label(&section.key))));
            let (shown, hidden) = section.parts.split_at(section.shown(parts));
            for (key, tally) in shown {
                let name = [INDENT.as_bytes(), &label(key)].concat();
                rows.push(self.cells(tally, Cell::Name(name.into())));
            }
            if !hidden.is_empty() {
                rows.push(rest(INDENT, &mut hidden.iter().map(|(_, tally)| tally)));
            }
        }
        let hidden = &self.sections[sections..];
        if !hidden.is_empty() {
            rows.push(rest("", &mut hidden.iter().map(|section| &section.tally)));
        }
        list_table(&columns, &rows, terminal)
    }

    /// The number of sections that fit, and that of the parts that each shows.
    fn fit(&self, rows_max: usize) -> (usize, usize) {
        let row_count = |parts| -> usize {
            let sections = self.sections.iter();
            sections.map(|section| section.row_count(parts)).sum()
        };
        let all = self.sections.len();
        let parts_most = self.sections.iter().map(|section| section.parts.len());
        let parts_most = parts_most.max().unwrap_or(0);
        let mut fitting = (PARTS_MIN..=parts_most.max(PARTS_MIN)).rev();
        if let Some(parts) = fitting.find(|&parts| row_count(parts) <= rows_max) {
            return (all, parts);
        }
        // One row says how many are missing.
        let mut used = 1;
        let fits = |section: &&Section| {
            used += section.row_count(PARTS_MIN);
            used <= rows_max
        };
        let sections = self.sections.iter().take_while(fits).count();
        (sections.max(1).min(all), PARTS_MIN)
    }

    fn cells<'c>(&self, tally: &Tally, name: Cell<'c>) -> Vec<Cell<'c>> {
        let bytes = self.bytes(tally);
        vec![
            Cell::Text(self.sizes.format.text(bytes).into()),
            Cell::Share {
                part: bytes,
                whole: self.whole,
                largest: self.largest.max(bytes),
            },
            Cell::Text(grouped(tally.entries).into()),
            name,
        ]
    }

    fn bytes(&self, tally: &Tally) -> u128 {
        self.sizes.of(tally.allocated_bytes, tally.apparent_bytes)
    }
}

fn add(sum: &mut Tally, more: &Tally) {
    sum.entries += more.entries;
    sum.apparent_bytes += more.apparent_bytes;
    sum.allocated_bytes += more.allocated_bytes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_view::SizeColumn;
    use statwalk_view::SizeFormat;

    /// Sections with so many parts each; every entry has a kibibyte.
    fn sections(parts: &[u32]) -> Vec<Section> {
        let sections = (0..).zip(parts).map(|(depth, &count)| {
            let mut section = Section::new(GroupKey::Depth(depth));
            let mut tally = Tally::default();
            tally.entries = 1;
            tally.allocated_bytes = 1024;
            for uid in 0..count {
                section.add(Some(GroupKey::Owner(4_000_000_000 + uid)), tally);
            }
            if count == 0 {
                section.add(None, tally);
            }
            section
        });
        sections.collect()
    }

    fn names(parts: &[u32], rows_max: usize) -> Vec<String> {
        let sections = sections(parts);
        let table = GroupsTable {
            title: "X".to_owned(),
            sizes: Sizes {
                column: SizeColumn::Disk,
                format: SizeFormat::Bytes,
                format_in_rows: SizeFormat::Bytes,
            },
            sections: &sections,
            whole: 10_240,
            largest: 5_120,
        };
        let lines = table.lines(rows_max, Terminal::default());
        assert!(lines.len() <= rows_max + 1 || rows_max < 4, "{lines:#?}");
        let at = lines[0].len() - 1;
        let name = |line: &String| line.chars().skip(at).collect();
        lines[1..].iter().map(name).collect()
    }

    #[test]
    fn groups_go_where_rows_are_few() {
        assert_eq!(names(&[0, 0, 0], 3), ["0", "1", "2"]);
        assert_eq!(names(&[0, 0, 0, 0], 3), ["0", "1", "… 2 more"]);
        assert_eq!(names(&[], 3), [""; 0]);
    }

    #[test]
    fn parts_go_before_groups() {
        let all = [
            "0",
            "  4000000000",
            "  4000000001",
            "  4000000002",
            "  4000000003",
            "1",
            "  4000000000",
        ];
        assert_eq!(names(&[4, 1], 7), all);
        assert_eq!(
            names(&[4, 1], 6),
            [
                "0",
                "  4000000000",
                "  4000000001",
                "  … 2 more",
                "1",
                "  4000000000"
            ]
        );
        assert_eq!(
            names(&[4, 1, 3, 3], 6),
            [
                "0",
                "  4000000000",
                "  4000000001",
                "  … 2 more",
                "… 3 more"
            ]
        );
    }
}
