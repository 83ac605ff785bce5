// SPDX-License-Identifier: MIT OR Apache-2.0

//! The look of rows.

use std::borrow::Cow;

use super::row::{Label, Names, Row};
use super::{SizeColumn, TreeOptions};
use crate::age::is_future;
use crate::charset::Position;
use crate::line::Line;
use crate::list_table::{INCOMPLETE, SHARE_WIDTH};
use crate::{
    Figures, Kind, SizeFormat, Style, Tree, age, bar, escape, grouped, share, text_width,
    truncate_to_width,
};

/// The least room for a bar.
const BAR_WIDTH_MIN: usize = 10;

/// The widest bar. In a longer one the eye finds no more, and loses the row of the name.
const BAR_WIDTH_MAX: usize = 40;

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

/// The columns that are shown, fewer where there is little room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Columns {
    Size,
    SizeShare,
    SizeShareEntries,
    SizeShareEntriesNewest,
    All,
}

/// The parts of the last column of a row.
struct LabelText {
    /// The columns that it takes, with the whole name.
    width: usize,
    prefix: String,
    style: Option<Style>,
    name: String,
    mark: &'static str,
    hidden: String,
}

/// The properties that all lines have in common.
pub(super) struct Layout<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    columns: Columns,
    size_width: usize,
    entries_width: usize,
    bar_width: usize,
    label_width: usize,
    /// The width of all guides and the branch of a row at most.
    prefix_width: usize,
    whole_bytes: u128,
}

impl<'a, T: Tree> Layout<'a, T> {
    pub(super) fn new(tree: &'a T, options: &'a TreeOptions, rows: &[Row<T::Node>]) -> Self {
        let root = tree.figures(tree.root());
        let sizes = rows.iter().map(|row| options.column.of(&row.figures));
        let size_texts = sizes.map(|bytes| options.size.text(bytes).len());
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
                (Columns::All, 1 + BAR_WIDTH_MIN),
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
        let mut layout = Layout {
            tree,
            options,
            columns,
            size_width,
            entries_width,
            bar_width: BAR_WIDTH_MIN,
            label_width: room(columns),
            prefix_width: room(columns).saturating_sub(NAME_WIDTH_MIN),
            whole_bytes: options.column.of(&root),
        };
        let labels = positions_of(rows).map(|(row, positions)| layout.label(row, &positions).width);
        let title = text_width(&layout.title());
        let longest = labels.fold(title, usize::max);
        if columns == Columns::All && !rows.is_empty() {
            let spare = layout.label_width.saturating_sub(longest);
            let widened = spare.min(BAR_WIDTH_MAX - BAR_WIDTH_MIN);
            layout.bar_width += widened;
            layout.label_width -= widened;
        }
        layout
    }

    /// Whether a column of a number that sizes do not bring is shown.
    fn shows(&self, column: Columns) -> bool {
        self.columns >= column && self.options.size != SizeFormat::Count
    }

    pub(super) fn lines(&self, rows: &[Row<T::Node>]) -> Vec<String> {
        let mut lines = Vec::with_capacity(rows.len() + 1);
        lines.push(self.header());
        for (row, positions) in positions_of(rows) {
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
            text.extend(std::iter::repeat_n(' ', 1 + self.bar_width));
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
        let title = self.title();
        line.push_as(Style::Header, self.cut(&title, self.label_width));
        line.finish(self.options.terminal)
    }

    /// Whether the children of the root are rows without guides.
    fn is_forest(&self) -> bool {
        self.tree.kind(self.tree.root()) == Kind::Roots
    }

    /// Returns the head of the names.
    fn title(&self) -> String {
        match self.is_forest() {
            true => PATH_TITLE.to_owned(),
            false => {
                let name = self.tree.name(self.tree.root());
                escape(&name, self.options.terminal.charset).into_owned()
            }
        }
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
            let bar = bar(bytes, self.whole_bytes, self.bar_width, charset);
            line.push_as(Style::Bar, bar);
        }
        if self.shows(Columns::SizeShareEntries) {
            let width = self.entries_width;
            line.push(format!("  {:>width$}", grouped(row.figures.entries)));
        }
        if self.shows(Columns::SizeShareEntriesNewest) {
            // One wrong clock would hide the others, and its time is not an age.
            let newest = row.figures.newest_mtime_ns;
            let newest = newest.filter(|&mtime_ns| !is_future(mtime_ns, self.options.now_ns));
            let newest = newest.map_or_else(
                || charset.absent().to_owned(),
                |mtime_ns| age(mtime_ns, self.options.now_ns),
            );
            // Units stand below one another, and numbers have two digits mostly.
            let number = newest.split(' ').next().map_or(0, text_width);
            let blanks = " ".repeat(2_usize.saturating_sub(number));
            let newest = format!("{blanks}{newest}");
            line.push(format!("  {newest:<width$}", width = NEWEST_TITLE.len()));
        }
        line.pad(2);

        let label = self.label(row, positions);
        line.push(label.prefix);
        line.push_as(label.style, label.name);
        line.push_as(Style::Warning, label.mark);
        line.push_as(Style::Rest, label.hidden);
        line.finish(self.options.terminal)
    }

    fn label(&self, row: &Row<T::Node>, positions: &[Position]) -> LabelText {
        // The trees of a forest stand at the left.
        let prefix = self.prefix(&positions[usize::from(self.is_forest())..]);
        let mark = if row.figures.incomplete {
            INCOMPLETE
        } else {
            ""
        };
        let (style, name, hidden) = match &row.label {
            Label::Nodes {
                chain,
                is_dir,
                hidden,
            } => {
                let style = is_dir.then_some(Style::Directory);
                let hidden = hidden.map(|(names, rest)| self.numbers_behind(row, names, &rest));
                (style, self.path(chain, *is_dir), hidden.unwrap_or_default())
            }
            Label::Rest(names) => (Some(Style::Rest), self.rest(*names), Vec::new()),
        };
        let taken = text_width(&prefix) + text_width(mark);
        let width = taken + text_width(&name);
        let name = self.cut(&name, self.label_width.saturating_sub(taken));
        let name = name.into_owned();
        // The number gives way to the name.
        let room = self.label_width.saturating_sub(width);
        let mut hidden = hidden.into_iter();
        let hidden = hidden.find(|text| text_width(text) <= room);
        let hidden = hidden.unwrap_or_default();
        LabelText {
            width: width + text_width(&hidden),
            prefix,
            style,
            name,
            mark,
            hidden,
        }
    }

    /// Returns the names of a chain of directories, or that of a file.
    fn path(&self, chain: &[T::Node], is_dir: bool) -> String {
        let mut text = String::new();
        for &node in chain {
            text.push_str(&escape(
                &self.tree.name(node),
                self.options.terminal.charset,
            ));
            // The path of a root can end in a slash.
            if is_dir && !text.ends_with('/') {
                text.push('/');
            }
        }
        text
    }

    fn rest(&self, names: Names) -> String {
        let ellipsis = self.options.terminal.charset.ellipsis();
        match names {
            Names::Files(1) => format!("{ellipsis} 1 file"),
            Names::Files(count) => format!("{ellipsis} {} files", grouped(count)),
            Names::Any(count) => format!("{ellipsis} {} more", grouped(count)),
            Names::Itself => format!("{ellipsis} itself"),
        }
    }

    /// Returns the texts for the part of a directory that no row below it has.
    ///
    /// The longest comes first. There is none where nothing is hidden, and the rows add up
    /// as far as digits go.
    fn numbers_behind(&self, row: &Row<T::Node>, names: Names, rest: &Figures) -> Vec<String> {
        let size = |bytes| self.options.size.text(bytes);
        let all = self.options.column.of(&row.figures);
        let hidden = self.options.column.of(rest);
        let is_seen = size(all) != size(all.saturating_sub(hidden));
        let ellipsis = self.options.terminal.charset.ellipsis();
        match names {
            // Of names, every directory has one itself.
            Names::Itself if !is_seen || self.options.size == SizeFormat::Count => Vec::new(),
            // The count is the size.
            names if self.options.size == SizeFormat::Count => {
                vec![format!("  {}", self.rest(names))]
            }
            names => vec![
                format!("  {}, {}", self.rest(names), size(hidden)),
                format!("  {ellipsis} {}", size(hidden)),
            ],
        }
    }

    /// Returns the guides and the branch left of a name; of many guides, the
    /// inner ones.
    fn prefix(&self, positions: &[Position]) -> String {
        let charset = self.options.terminal.charset;
        let Some((last, outer)) = positions.split_last() else {
            return String::new();
        };
        let room = self.prefix_width / GUIDE_WIDTH;
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

/// Returns the rows, each with its place among its siblings and those of its parents.
fn positions_of<N>(rows: &[Row<N>]) -> impl Iterator<Item = (&Row<N>, Vec<Position>)> {
    let mut positions = Vec::new();
    rows.iter().map(move |row| {
        positions.truncate(row.depth - 1);
        positions.push(row.position);
        (row, positions.clone())
    })
}
