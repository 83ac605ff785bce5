// SPDX-License-Identifier: MIT OR Apache-2.0

//! Aligned tables of one row an item, for `top` and `stats`.

use std::borrow::Cow;

use crate::line::Line;
use crate::{Style, Terminal, bar, escape, share, text_width, truncate_to_width};

/// Stands behind a name whose numbers are lower bounds.
pub(crate) const INCOMPLETE: &str = " (incomplete)";

/// The columns of a bar.
pub(crate) const BAR_WIDTH: usize = 10;

/// The columns of a share with its per cent sign.
pub(crate) const SHARE_WIDTH: usize = 5;

/// The head of a column, and where its cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<'a> {
    /// The words above the column.
    pub title: &'a str,
    /// Where the title and the cells stand.
    pub align: Align,
    /// Whether the column goes where the last one has too little room.
    pub optional: bool,
}

impl<'a> Column<'a> {
    /// Returns a column that is always there.
    #[must_use]
    pub fn new(title: &'a str, align: Align) -> Column<'a> {
        Column {
            title,
            align,
            optional: false,
        }
    }

    /// Returns the column as one that goes where there is little room.
    #[must_use]
    pub fn optional(self) -> Column<'a> {
        Column {
            optional: true,
            ..self
        }
    }
}

/// The room that the last column has before another one goes; less where its cells
/// are shorter. Bars go before any cell of it is cut.
const LAST_WIDTH: usize = 40;

/// Where a cell stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, as words do.
    Left,
    /// At the right, as numbers do.
    Right,
}

/// The content of one row of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Text made by the program.
    Text(Cow<'a, str>),
    /// A name or path from a disk; it is escaped here.
    Name(Cow<'a, [u8]>),
    /// A name or path whose numbers lack something. A mark follows it.
    Incomplete(Cow<'a, [u8]>),
    /// A share of the whole, and its bar, which is full for the whole.
    Share {
        /// The amount of the row.
        part: u128,
        /// The amount of all rows together, shown or not.
        whole: u128,
    },
}

/// Returns the lines of a table: its head, then one for each row.
///
/// The last column takes the room that the others leave. Where it needs more, the bars go:
/// the share beside them has the number. Where it then has less than 40 columns and needs
/// more, the optional columns go from the right. A cell that is still too long is cut in
/// its middle. Missing cells are blank.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Align, Cell, Column, Terminal, list_table};
///
/// let columns = [
///     Column::new("DISK", Align::Right),
///     Column::new("SHARE", Align::Left).optional(),
///     Column::new("FILE", Align::Left),
/// ];
/// let share = |part| Cell::Share { part, whole: 420 };
/// let rows = [
///     vec![Cell::Text("2.02 TiB".into()), share(202), Cell::Name(b"/data/a".into())],
///     vec![Cell::Text("412 GiB".into()), share(41), Cell::Name(b"/data/b\n".into())],
/// ];
/// assert_eq!(list_table(&columns, &rows, Terminal::default()), [
///     r"    DISK  SHARE             FILE",
///     r"2.02 TiB   48 % ████▊       /data/a",
///     r" 412 GiB   10 % █           /data/b\n",
/// ]);
/// ```
#[must_use]
pub fn list_table(
    columns: &[Column<'_>],
    rows: &[Vec<Cell<'_>>],
    terminal: Terminal,
) -> Vec<String> {
    let titles = columns.iter().map(|column| Text::plain(column.title));
    let mut table = vec![titles.collect::<Vec<Text>>()];
    table.extend(rows.iter().map(|row| {
        let cells = row.iter().map(|cell| Text::of(cell, terminal));
        cells.take(columns.len()).collect()
    }));

    let mut columns = columns.to_vec();
    if lacks_room(&columns, &table, usize::MAX, terminal) {
        remove_bars(&mut table);
    }
    while lacks_room(&columns, &table, LAST_WIDTH, terminal)
        && remove_optional(&mut columns, &mut table)
    {}

    let Some((last, others)) = columns.split_last() else {
        return vec![String::new(); table.len()];
    };
    let (widths, last_width) = widths(&table, others.len());
    let last_width = last_width.min(room(&widths, terminal));

    let aligns = others.iter().map(|column| column.align);
    let layout = Layout {
        columns: aligns.zip(widths).collect(),
        last: (last.align, last_width),
        terminal,
    };
    let mut lines = Vec::with_capacity(table.len());
    for (index, row) in table.iter().enumerate() {
        let header = (index == 0).then_some(Style::Header);
        lines.push(layout.line(row, header));
    }
    lines
}

/// Returns the widths of all columns but the last, and that of the last.
fn widths(table: &[Vec<Text>], others: usize) -> (Vec<usize>, usize) {
    let width = |index: usize| {
        let cells = table.iter().filter_map(|row| row.get(index));
        cells.map(Text::width).max().unwrap_or(0)
    };
    ((0..others).map(width).collect(), width(others))
}

/// Returns the room that the last column has beside the others.
fn room(widths: &[usize], terminal: Terminal) -> usize {
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    terminal.width.saturating_sub(taken)
}

/// Whether the last column has less room than it needs, and less than `enough`.
fn lacks_room(
    columns: &[Column<'_>],
    table: &[Vec<Text>],
    enough: usize,
    terminal: Terminal,
) -> bool {
    let (widths, last_width) = widths(table, columns.len().saturating_sub(1));
    room(&widths, terminal) < last_width.min(enough)
}

fn remove_bars(table: &mut [Vec<Text>]) {
    let texts = table.iter_mut().flatten();
    for text in texts.filter(|text| !text.bar.is_empty()) {
        text.bar.clear();
        text.plain.truncate(text.plain.trim_end().len());
    }
}

/// Takes the last optional column away. Returns whether there was any.
fn remove_optional(columns: &mut Vec<Column<'_>>, table: &mut [Vec<Text>]) -> bool {
    let Some(index) = columns.iter().rposition(|column| column.optional) else {
        return false;
    };
    columns.remove(index);
    for row in table.iter_mut().filter(|row| row.len() > index) {
        row.remove(index);
    }
    true
}

/// The text of a cell, in a part without a style and a part with one.
struct Text {
    plain: String,
    bar: String,
    /// A mark behind the text, which is never cut.
    mark: &'static str,
}

impl Text {
    fn plain(text: &str) -> Text {
        Text {
            plain: text.to_owned(),
            bar: String::new(),
            mark: "",
        }
    }

    fn of(cell: &Cell<'_>, terminal: Terminal) -> Text {
        match cell {
            Cell::Text(text) => Text::plain(text),
            Cell::Name(name) => Text::plain(&escape(name, terminal.charset)),
            Cell::Incomplete(name) => Text {
                mark: INCOMPLETE,
                ..Text::plain(&escape(name, terminal.charset))
            },
            Cell::Share { part, whole } => Text {
                mark: "",
                plain: format!("{:>SHARE_WIDTH$} ", share(*part, *whole)),
                bar: bar(*part, *whole, BAR_WIDTH, terminal.charset),
            },
        }
    }

    fn width(&self) -> usize {
        text_width(&self.plain) + text_width(&self.bar) + text_width(self.mark)
    }
}

struct Layout {
    columns: Vec<(Align, usize)>,
    last: (Align, usize),
    terminal: Terminal,
}

impl Layout {
    fn line(&self, row: &[Text], style: Option<Style>) -> String {
        let blank = Text::plain("");
        let mut line = Line::default();
        let all = self.columns.iter().chain([&self.last]);
        for (index, &(align, columns)) in all.enumerate() {
            let text = row.get(index).unwrap_or(&blank);
            let plain = if index < self.columns.len() {
                Cow::Borrowed(&*text.plain)
            } else {
                let room = columns.saturating_sub(text_width(text.mark));
                truncate_to_width(&text.plain, room, self.terminal.charset)
            };
            let taken = text_width(&plain) + text_width(&text.bar) + text_width(text.mark);
            let space = columns.saturating_sub(taken);
            if index > 0 {
                line.pad(2);
            }
            if align == Align::Right {
                line.pad(space);
            }
            line.push_as(style, plain);
            line.push_as(Style::Bar, &*text.bar);
            line.push_as(Style::Warning, text.mark);
            if align == Align::Left && index < self.columns.len() {
                line.pad(space);
            }
        }
        line.finish(self.terminal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::plain;
    use crate::escape::tests::hostile_name;
    use crate::{Charset, Colour};
    use proptest::prelude::*;

    #[test]
    fn a_mark_is_never_cut() {
        let columns = [
            Column::new("DISK", Align::Right),
            Column::new("PATH", Align::Left),
        ];
        let long = "long".repeat(20);
        let rows = [
            vec![
                Cell::Text("9 B".into()),
                Cell::Incomplete(long.as_bytes().into()),
            ],
            vec![Cell::Text("9 B".into()), Cell::Name(long.as_bytes().into())],
        ];
        let terminal = Terminal {
            width: 40,
            ..Terminal::default()
        };
        let lines = list_table(&columns, &rows, terminal);
        assert!(lines[1].ends_with("long (incomplete)"), "{lines:?}");
        assert!(lines[2].ends_with("long"), "{lines:?}");
        assert!(lines.iter().all(|line| text_width(line) <= 40), "{lines:?}");
    }

    fn columns() -> [Column<'static>; 4] {
        [
            Column::new("DISK", Align::Right),
            Column::new("SHARE", Align::Left).optional(),
            Column::new("FILES", Align::Right).optional(),
            Column::new("TYPE", Align::Left),
        ]
    }

    fn rows() -> Vec<Vec<Cell<'static>>> {
        let share = |part| Cell::Share { part, whole: 100 };
        vec![
            vec![
                Cell::Text("600 GiB".into()),
                share(60),
                Cell::Text("1,204".into()),
                Cell::Name(b"netcdf"[..].into()),
            ],
            vec![
                Cell::Text("39.5 GiB".into()),
                share(39),
                Cell::Text("12,403,118".into()),
                Cell::Name(b"no\x1btype"[..].into()),
            ],
            vec![Cell::Text("0 B".into()), share(0)],
        ]
    }

    fn terminal(width: usize) -> Terminal {
        Terminal {
            width,
            ..Terminal::default()
        }
    }

    #[test]
    fn columns_are_aligned() {
        assert_eq!(
            list_table(&columns(), &rows(), terminal(80)),
            [
                r"    DISK  SHARE                  FILES  TYPE",
                r" 600 GiB   60 % ██████           1,204  netcdf",
                r"39.5 GiB   39 % ███▉        12,403,118  no\x1btype",
                r"     0 B    0 %",
            ]
        );
    }

    #[test]
    fn the_last_column_gives_way_last() {
        let first = |width| {
            let lines = list_table(&columns(), &rows(), terminal(width));
            lines[..3].to_vec()
        };
        assert_eq!(
            first(46),
            [
                r"    DISK  SHARE       FILES  TYPE",
                r" 600 GiB   60 %       1,204  netcdf",
                r"39.5 GiB   39 %  12,403,118  no\x1btype",
            ]
        );
        assert_eq!(
            first(30),
            [
                r"    DISK  SHARE  TYPE",
                r" 600 GiB   60 %  netcdf",
                r"39.5 GiB   39 %  no\x1btype",
            ]
        );
        assert_eq!(
            first(20),
            [
                r"    DISK  TYPE",
                r" 600 GiB  netcdf",
                r"39.5 GiB  no\x1btype",
            ]
        );
        assert_eq!(
            first(16),
            [r"    DISK  TYPE", r" 600 GiB  netcdf", r"39.5 GiB  no…ype"]
        );
    }

    /// `top` on 80 columns cut paths of 45 letters in their middle, and drew bars.
    #[test]
    fn no_path_is_cut_for_a_bar() {
        let mut rows = rows();
        let long = "x".repeat(45);
        rows[0][3] = Cell::Name(long.as_bytes().to_vec().into());
        for width in 74..=90 {
            let lines = list_table(&columns(), &rows, terminal(width));
            assert!(lines[1].ends_with(&long), "{lines:#?}");
            let has_bars = lines[1].contains('█');
            assert_eq!(has_bars, width >= 85, "{lines:#?}");
        }
    }

    /// The bar of 60 % was full, because no other row was larger.
    #[test]
    fn the_bar_is_the_share() {
        let lines = list_table(&columns(), &rows(), terminal(80));
        assert!(lines[1].contains("60 % ██████  "), "{}", lines[1]);
    }

    #[test]
    fn nothing_to_show() {
        assert_eq!(list_table(&columns()[..1], &[], terminal(80)), ["DISK"]);
        assert_eq!(list_table(&[], &[vec![]], terminal(80)), ["", ""]);
    }

    #[test]
    fn colour_changes_no_letter() {
        let coloured = Terminal {
            colour: Colour::On,
            ..terminal(80)
        };
        let lines = list_table(&columns(), &rows(), coloured);
        assert!(
            lines[1].contains("\x1b[36m██████    \x1b[0m"),
            "{:?}",
            lines[1]
        );
        let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        let without = list_table(&columns(), &rows(), terminal(80));
        let trimmed: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        assert_eq!(trimmed, without);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            names in proptest::collection::vec(hostile_name(), 0..5), width in 0usize..120,
        ) {
            let mut rows = rows();
            for (index, name) in names.into_iter().enumerate() {
                let mut row = rows[index % 3].clone();
                row.truncate(index % 4);
                row.push(Cell::Name(name.into()));
                rows.push(row);
            }
            for charset in [Charset::Unicode, Charset::Ascii] {
                for colour in [Colour::Off, Colour::On] {
                    let lines = list_table(&columns(), &rows, Terminal { width, charset, colour });
                    prop_assert_eq!(lines.len(), rows.len() + 1);
                    for line in lines {
                        let line = plain(&line);
                        prop_assert!(text_width(&line) <= width, "{line}");
                        prop_assert!(!line.chars().any(char::is_control));
                    }
                }
            }
        }
    }
}
