// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of `stats`: groups, and with two keys the parts of each below it.

use statwalk_core::{GroupKey, SizeHistogram, Tally};
use statwalk_view::{Align, Cell, Column, SizeFormat, Terminal, grouped, list_table};

use crate::answer::owner_names::OwnerNames;
use crate::output::group_label::label;
use crate::request::Sizes;

/// How many parts of a group are shown before groups go.
const PARTS_MIN: usize = 2;

/// The indent of a part below its group.
const INDENT: &str = "  ";

/// The percentiles in the table, with the titles of their columns.
pub(crate) const PERCENTILES: [(u8, &str); 3] = [(50, "MEDIAN"), (90, "90 %"), (99, "99 %")];

/// The sums of a group, and the sizes of its files where the user asked for them.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    pub(crate) tally: Tally,
    pub(crate) sizes: Option<SizeHistogram>,
}

impl Sum {
    pub(crate) fn add(&mut self, more: &Sum) {
        self.tally.entries += more.tally.entries;
        self.tally.apparent_bytes += more.tally.apparent_bytes;
        self.tally.allocated_bytes += more.tally.allocated_bytes;
        if let Some(sizes) = &more.sizes {
            self.sizes.get_or_insert_default().merge(sizes);
        }
    }

    /// One of the two sums of bytes.
    pub(crate) fn bytes(&self, sizes: Sizes) -> u128 {
        sizes.of(self.tally.allocated_bytes, self.tally.apparent_bytes)
    }

    /// The texts of the percentiles; empty where no file has a size.
    pub(crate) fn percentiles(&self, format: SizeFormat) -> [String; PERCENTILES.len()] {
        PERCENTILES.map(|(percent, _)| {
            let bytes = self.sizes.as_ref().and_then(|of| of.percentile(percent));
            bytes.map_or_else(String::new, |bytes| format.text(bytes.into()))
        })
    }
}

/// A group by the first key.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) key: GroupKey,
    pub(crate) sum: Sum,
    /// Its parts by the second key; empty where there is none.
    pub(crate) parts: Vec<(GroupKey, Sum)>,
}

impl Section {
    pub(crate) fn new(key: GroupKey) -> Section {
        Section {
            key,
            sum: Sum::default(),
            parts: Vec::new(),
        }
    }

    /// Adds a group with this second key.
    pub(crate) fn add(&mut self, second: Option<GroupKey>, sum: Sum) {
        self.sum.add(&sum);
        self.parts.extend(second.map(|key| (key, sum)));
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Percentiles {
    Hidden,
    Shown,
}

pub(crate) struct GroupsTable<'a> {
    /// The names of the keys.
    pub(crate) title: String,
    pub(crate) sizes: Sizes,
    pub(crate) sections: &'a [Section],
    /// The bytes of all groups, with or without a row.
    pub(crate) whole: u128,
    pub(crate) owners: &'a OwnerNames,
    /// Whether it has columns of percentiles.
    pub(crate) percentiles: Percentiles,
}

impl GroupsTable<'_> {
    /// The lines of the table, its head and at most `rows_max` rows. Sections with parts
    /// lose parts first.
    pub(crate) fn lines(&self, rows_max: usize, terminal: Terminal) -> Vec<String> {
        let mut columns = vec![
            Column::new(self.sizes.title(), Align::Right),
            Column::new("SHARE", Align::Left).optional(),
            Column::new("ENTRIES", Align::Right).optional(),
        ];
        if self.percentiles == Percentiles::Shown {
            let titles = PERCENTILES.iter().map(|(_, title)| title);
            columns.extend(titles.map(|title| Column::new(title, Align::Right)));
        }
        columns.push(Column::new(&self.title, Align::Left));
        let (sections, parts) = self.fit(rows_max);
        let row = |sum: &Sum, name| self.cells(sum, name);
        let ellipsis = terminal.charset.ellipsis();
        let rest = |indent: &str, sums: &mut dyn Iterator<Item = &Sum>| {
            let mut all = Sum::default();
            let mut count = 0;
            for sum in sums {
                all.add(sum);
                count += 1;
            }
            let text = format!("{indent}{ellipsis} {} more", grouped(count));
            row(&all, Cell::Text(text.into()))
        };
        let mut rows = Vec::new();
        for section in &self.sections[..sections] {
            rows.push(row(
                &section.sum,
                Cell::Name(label(section.key, self.owners).into()),
            ));
            let (shown, hidden) = section.parts.split_at(section.shown(parts));
            for (key, sum) in shown {
                let name = [INDENT.as_bytes(), &label(*key, self.owners)].concat();
                rows.push(row(sum, Cell::Name(name.into())));
            }
            if !hidden.is_empty() {
                rows.push(rest(INDENT, &mut hidden.iter().map(|(_, sum)| sum)));
            }
        }
        let hidden = &self.sections[sections..];
        if !hidden.is_empty() {
            rows.push(rest("", &mut hidden.iter().map(|section| &section.sum)));
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

    fn cells<'c>(&self, sum: &Sum, name: Cell<'c>) -> Vec<Cell<'c>> {
        let bytes = sum.bytes(self.sizes);
        let mut cells = vec![
            Cell::Text(self.sizes.format.text(bytes).into()),
            Cell::Share {
                part: bytes,
                whole: self.whole,
            },
            Cell::Text(grouped(sum.tally.entries).into()),
        ];
        if self.percentiles == Percentiles::Shown {
            let texts = sum.percentiles(self.sizes.format);
            cells.extend(texts.map(|text| Cell::Text(text.into())));
        }
        cells.push(name);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_view::SizeColumn;

    /// Sections with so many parts each; every entry has a kibibyte.
    fn sections(parts: &[u32]) -> Vec<Section> {
        let sections = (0..).zip(parts).map(|(depth, &count)| {
            let mut section = Section::new(GroupKey::Depth(depth));
            let sum = || {
                let mut sum = Sum::default();
                sum.tally.entries = 1;
                sum.tally.allocated_bytes = 1024;
                sum
            };
            for uid in 0..count {
                section.add(Some(GroupKey::Owner(4_000_000_000 + uid)), sum());
            }
            if count == 0 {
                section.add(None, sum());
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
                lacks_blocks: false,
                format: SizeFormat::Bytes,
                format_in_rows: SizeFormat::Bytes,
            },
            sections: &sections,
            whole: 10_240,
            owners: &OwnerNames::default(),
            percentiles: Percentiles::Hidden,
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
