// SPDX-License-Identifier: MIT OR Apache-2.0

//! The look of rows.

use std::borrow::Cow;

use super::row::{Label, Row};
use super::{Files, SizeColumn, Tree, TreeOptions};
use crate::charset::Position;
use crate::line::Line;
use crate::list_table::{BAR_WIDTH, SHARE_WIDTH};
use crate::{SizeFormat, Style, age, bar, escape, grouped, share, text_width, truncate_to_width};

/// The least room for a name before a column gives way to it.
const LABEL_WIDTH_MIN: usize = 24;

/// The room kept for a name beside the guides.
const NAME_WIDTH_MIN: usize = 16;

/// The width of a size such as `2.02 TiB`; more only where sizes are longer.
const SIZE_WIDTH_MIN: usize = 8;

const ENTRIES_TITLE: &str = "ENTRIES";
const SHARE_TITLE: &str = "SHARE";
const NEWEST_TITLE: &str = "NEWEST";
const PATH_TITLE: &str = "PATH";
const GUIDE_WIDTH: usize = 4;
const INCOMPLETE: &str = " (incomplete)";

/// The columns that are shown, fewer where there is little room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Columns {
    Size,
    SizeShare,
    SizeShareEntries,
    SizeShareEntriesNewest,
    All,
}

/// The properties that all lines have in common.
pub(super) struct Layout<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    columns: Columns,
    size_width: usize,
    entries_width: usize,
    label_width: usize,
    whole_bytes: u128,
    largest_bytes: u128,
}

impl<'a, T: Tree> Layout<'a, T> {
    pub(super) fn new(tree: &'a T, options: &'a TreeOptions, rows: &[Row<T::Node>]) -> Self {
        let root = tree.figures(tree.root());
        let sizes = rows.iter().map(|row| options.column.of(&row.figures));
        let size_texts = sizes.clone().map(|bytes| options.size.text(bytes).len());
        let size_width = size_texts.max().unwrap_or(0).max(SIZE_WIDTH_MIN);
        let entries_width = grouped(root.entries).len().max(ENTRIES_TITLE.len());

        let all = [
            Columns::All,
            Columns::SizeShareEntriesNewest,
            Columns::SizeShareEntries,
            Columns::SizeShare,
        ];
        let room = |columns: Columns| {
            let mut taken = size_width + 2;
            let (entries, newest) = match options.size {
                SizeFormat::Count => (0, 0),
                _ => (2 + entries_width, 2 + NEWEST_TITLE.len()),
            };
            for (part, width) in [
                (Columns::SizeShare, 1 + SHARE_WIDTH),
                (Columns::SizeShareEntries, entries),
                (Columns::SizeShareEntriesNewest, newest),
                (Columns::All, 1 + BAR_WIDTH),
            ] {
                if columns >= part {
                    taken += width;
                }
            }
            options.terminal.width.saturating_sub(taken)
        };
        let columns = all
            .into_iter()
            .find(|&columns| room(columns) >= LABEL_WIDTH_MIN)
            .unwrap_or(Columns::Size);
        Layout {
            tree,
            options,
            columns,
            size_width,
            entries_width,
            label_width: room(columns),
            whole_bytes: options.column.of(&root),
            largest_bytes: sizes.max().unwrap_or(0),
        }
    }

    /// Whether a column of a number that sizes do not bring is shown.
    fn shows(&self, column: Columns) -> bool {
        self.columns >= column && self.options.size != SizeFormat::Count
    }

    pub(super) fn lines(&self, rows: &[Row<T::Node>]) -> Vec<String> {
        let mut lines = Vec::with_capacity(rows.len() + 1);
        lines.push(self.header());
        let mut positions = Vec::new();
        for row in rows {
            positions.truncate(row.depth - 1);
            positions.push(row.position);
            lines.push(self.row(row, &positions));
        }
        lines
    }

    fn header(&self) -> String {
        // One column further left than the cells, so that two blanks divide it
        // from the next title.
        let title = match self.options.size {
            SizeFormat::Count if self.options.column != SizeColumn::Inodes => ENTRIES_TITLE,
            _ => self.options.column.title(),
        };
        let title_width = (self.size_width - 1).max(title.len());
        let mut text = format!("{title:>title_width$}");
        text.extend(std::iter::repeat_n(' ', self.size_width - title_width));
        if self.columns >= Columns::SizeShare {
            text.push_str(&format!(" {SHARE_TITLE:<SHARE_WIDTH$}"));
        }
        if self.columns >= Columns::All {
            text.extend(std::iter::repeat_n(' ', 1 + BAR_WIDTH));
        }
        if self.shows(Columns::SizeShareEntries) {
            let width = self.entries_width;
            text.push_str(&format!("  {ENTRIES_TITLE:>width$}"));
        }
        if self.shows(Columns::SizeShareEntriesNewest) {
            text.push_str(&format!("  {NEWEST_TITLE}"));
        }
        let mut line = Line::default();
        line.push_as(Style::Header, text);
        line.pad(2);
        let name = match self.tree.is_forest() {
            true => PATH_TITLE.to_owned(),
            false => {
                let name = self.tree.name(self.tree.root());
                escape(&name, self.options.terminal.charset).into_owned()
            }
        };
        line.push_as(Style::Header, self.cut(&name, self.label_width));
        line.finish(self.options.terminal)
    }

    fn row(&self, row: &Row<T::Node>, positions: &[Position]) -> String {
        let charset = self.options.terminal.charset;
        let bytes = self.options.column.of(&row.figures);
        let mut line = Line::default();

        let width = self.size_width;
        line.push(format!("{:>width$}", self.options.size.text(bytes)));
        if self.columns >= Columns::SizeShare {
            let share = share(bytes, self.whole_bytes);
            line.push(format!(" {share:>SHARE_WIDTH$}"));
        }
        if self.columns >= Columns::All {
            line.pad(1);
            let bar = bar(bytes, self.largest_bytes, BAR_WIDTH, charset);
            line.push_as(Style::Bar, bar);
        }
        if self.shows(Columns::SizeShareEntries) {
            let width = self.entries_width;
            line.push(format!("  {:>width$}", grouped(row.figures.entries)));
        }
        if self.shows(Columns::SizeShareEntriesNewest) {
            let newest = row.figures.newest_mtime_ns.map_or_else(
                || charset.absent().to_owned(),
                |mtime_ns| age(mtime_ns, self.options.now_ns),
            );
            // Units below one another, and room for the longest words.
            let newest = format!("{newest:>4}");
            line.push(format!("  {newest:<width$}", width = NEWEST_TITLE.len()));
        }
        line.pad(2);

        // The trees of a forest stand at the left.
        let prefix = self.prefix(&positions[usize::from(self.tree.is_forest())..]);
        let mark = if row.figures.incomplete {
            INCOMPLETE
        } else {
            ""
        };
        let room = self
            .label_width
            .saturating_sub(text_width(&prefix) + text_width(mark));
        line.push(prefix);
        let (style, label) = self.label(&row.label);
        line.push_as(style, self.cut(&label, room).into_owned());
        line.push_as(Style::Warning, mark);
        line.finish(self.options.terminal)
    }

    fn label(&self, label: &Label<T::Node>) -> (Option<Style>, String) {
        let charset = self.options.terminal.charset;
        match *label {
            Label::Node(node, is_dir) => {
                let mut text = escape(&self.tree.name(node), charset).into_owned();
                if !is_dir {
                    return (None, text);
                }
                // The path of a root can end in a slash.
                if !text.ends_with('/') {
                    text.push('/');
                }
                (Some(Style::Directory), text)
            }
            Label::Rest(count, dir_count) => {
                let what = match self.options.files {
                    Files::Hidden if dir_count == 0 && count == 1 => "file",
                    Files::Hidden if dir_count == 0 => "files",
                    _ => "more",
                };
                let text = format!("{} {} {what}", charset.ellipsis(), grouped(count));
                (Some(Style::Rest), text)
            }
        }
    }

    /// Returns the guides and the branch left of a name; of many guides, the
    /// inner ones.
    fn prefix(&self, positions: &[Position]) -> String {
        let charset = self.options.terminal.charset;
        let Some((last, outer)) = positions.split_last() else {
            return String::new();
        };
        let room = self.label_width.saturating_sub(NAME_WIDTH_MIN) / GUIDE_WIDTH;
        // One for the branch, and where some are left out, one for their sign.
        let guides = match room.saturating_sub(1) {
            room if outer.len() <= room => outer.len(),
            room => room.saturating_sub(1),
        };
        let mut prefix = String::new();
        if guides < outer.len() {
            prefix.push_str(charset.guide_cut());
        }
        for position in &outer[outer.len() - guides..] {
            prefix.push_str(charset.guide(*position));
        }
        prefix.push_str(charset.branch(*last));
        prefix
    }

    fn cut<'t>(&self, text: &'t str, room: usize) -> Cow<'t, str> {
        truncate_to_width(text, room, self.options.terminal.charset)
    }
}
