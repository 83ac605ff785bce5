// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer of the default view: the tree that fits on the screen, or the totals.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_core::{Node, RootTotals, Tree};
use statwalk_view::{
    Align, Cell, Column, Direction, Files, SizeFormat, SortKey, Terminal, TreeOptions, escape,
    grouped, list_table, tree_table, truncate_end,
};

use crate::clock;
use crate::failure::{Failure, say};
use crate::output::ending;
use crate::output::json::{Counted, TreeAnswer, TreeRows};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned};
use crate::output::rows::{Order, Selection, Side, bytes, is_left_out, roots};
use crate::output::screen::Screen;
use crate::output::tree_picture::TreePicture;
use crate::request::{Sizes, safe};

/// The settings of the default view.
pub(crate) struct SummaryView {
    pub(crate) sizes: Sizes,
    pub(crate) order: Order,
    /// Whether the user set the order. Else totals on a pipe stand in the order of the
    /// paths, as in du.
    pub(crate) has_own_order: bool,
    pub(crate) counted: Counted,
    /// The deepest level; absent where the user set none.
    pub(crate) depth_max: Option<u32>,
    /// The number of rows; absent where the user set none.
    pub(crate) rows_max: Option<usize>,
    /// The bytes of the smallest row.
    pub(crate) min_bytes: u128,
    /// Whether rows end with one for all paths, as those of `du -c`.
    pub(crate) has_total_row: bool,
    pub(crate) files: Files,
}

/// The answer of the default view.
pub(crate) struct SummaryAnswer {
    pub(crate) view: SummaryView,
    /// Absent where the user asked for totals alone.
    pub(crate) tree: Option<Tree>,
    pub(crate) scanned: Scanned,
}

/// The depth of rows and JSON, unless the user sets one.
const DEPTH_DEFAULT: u32 = 1;
/// A picture of fewer rows would say nothing.
const PICTURE_ROWS_MIN: usize = 3;

impl Answer for SummaryAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.scanned.has_root() {
            return Vec::new();
        }
        let terminal = screen.terminal;
        let report = &self.scanned.report;
        let mut below = vec![String::new()];
        below.extend(self.reached_earlier(screen));
        below.extend(match self.view.counted {
            Counted::Sizes => self.scanned.closing_lines(self.view.sizes.format, screen),
            Counted::Names => {
                let summary = ending::summary(report, &self.scanned.totals);
                let mut lines = summary.count_lines(terminal);
                lines.extend(ending::left_out_line(report, terminal));
                lines
            }
        });
        let mut lines = match &self.tree {
            Some(tree) => {
                // One row is left for the prompt.
                let used = below.len() + ending::error_lines(report) + 1;
                self.picture(tree, screen.rows.saturating_sub(used), screen)
            }
            None => self.root_table(screen),
        };
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let format = match self.view.counted {
            Counted::Names => SizeFormat::Bytes,
            Counted::Sizes => self.view.sizes.format_in_rows,
        };
        let Some(tree) = &self.tree else {
            for (path, totals) in self.own_roots(self.view.has_own_order) {
                rows.row(&[&format.text(self.number_of(totals))], path)?;
            }
            return self.write_total(format, rows);
        };
        let order = self.view.order;
        let selected = self.selection(Side::Behind);
        let selected = selected.rows(self.roots(tree).into_iter(), move |a, b| {
            order.compare(a, b)
        });
        // du, too, has no row for a mount that it does not enter, and none for a
        // further name of a file.
        let nodes = selected.map(|row| row.node);
        for node in nodes.filter(|node| !is_left_out(node) && !node.is_extra_link()) {
            let number = match self.view.counted {
                Counted::Names => node.entries().into(),
                Counted::Sizes => bytes(&node, self.view.sizes.column),
            };
            if number < self.view.min_bytes {
                continue;
            }
            rows.row(&[&format.text(number)], &node.path())?;
        }
        self.write_total(format, rows)
    }

    fn document(&self) -> impl Serialize {
        let roots = self.tree.as_ref().map(|tree| self.roots(tree));
        let rows = TreeRows {
            roots: roots.unwrap_or_default(),
            selection: self.selection(Side::Before),
            order: self.view.order,
            counted: self.view.counted,
            min_bytes: self.view.min_bytes,
        };
        let answer = TreeAnswer { tree: rows };
        self.scanned.document(self.view.counted, answer)
    }
}

impl SummaryAnswer {
    /// The roots of the tree for rows and JSON: in the order of the paths, as in du,
    /// unless the user sets one.
    fn roots<'a>(&self, tree: &'a Tree) -> Vec<(usize, Node<'a>)> {
        let mut roots: Vec<_> = roots(tree).collect();
        if self.view.has_own_order {
            roots.sort_by(|(_, a), (_, b)| self.view.order.compare(a, b));
        }
        roots
    }

    /// The nodes that rows and JSON have.
    fn selection(&self, side: Side) -> Selection {
        Selection {
            depth_max: self.view.depth_max.unwrap_or(DEPTH_DEFAULT),
            files: self.view.files == Files::Shown,
            side,
            rows_max: self.view.rows_max,
        }
    }

    /// Whether a root is larger than `limit`; says so on stderr.
    pub(crate) fn exceeds(&self, limit: u128) -> bool {
        let paths = self.scanned.request.paths.iter();
        let mut exceeds = false;
        for (path, totals) in paths.zip(&self.scanned.totals) {
            let bytes = self.number_of(totals);
            if bytes > limit {
                let path = safe(&path.to_string_lossy());
                // Two sizes with three digits could look the same.
                let [bytes, limit] = [bytes, limit].map(|bytes| SizeFormat::Count.text(bytes));
                say(&format!(
                    "{path} has {bytes} bytes, and --fail-over allows {limit}"
                ));
                exceeds = true;
            }
        }
        exceeds
    }

    fn write_total(&self, format: SizeFormat, rows: &mut Rows) -> Result<(), Failure> {
        if !self.view.has_total_row {
            return Ok(());
        }
        let all = self.scanned.totals.iter();
        let total = all.map(|totals| self.number_of(totals)).sum();
        rows.row(&[&format.text(total)], b"total")
    }

    /// The number that stands for a root.
    fn number_of(&self, totals: &RootTotals) -> u128 {
        let sizes = &self.view.sizes;
        match self.view.counted {
            Counted::Names => totals.entries.into(),
            Counted::Sizes => sizes.of(totals.allocated_bytes, totals.apparent_bytes),
        }
    }

    /// The roots with an answer of their own: those that exist, and that no earlier
    /// root had reached. `sorted` by the user's order or in that of the paths; at most as
    /// many as the user wants, the first by that order.
    fn own_roots(&self, sorted: bool) -> Vec<(&[u8], &RootTotals)> {
        let Scanned {
            request,
            report,
            totals,
        } = &self.scanned;
        let roots = request.paths.iter().zip(&report.roots).zip(totals);
        let own = roots.filter_map(|((path, root), totals)| {
            let is_own = root.missing.is_none() && !root.reached_earlier && totals.entries > 0;
            let is_shown = is_own && self.number_of(totals) >= self.view.min_bytes;
            is_shown.then_some((path.as_os_str().as_bytes(), totals))
        });
        let mut own: Vec<_> = own.enumerate().collect();
        own.sort_by(|(_, a), (_, b)| self.compare(a, b));
        own.truncate(self.view.rows_max.unwrap_or(usize::MAX));
        if !sorted {
            own.sort_by_key(|(place, _)| *place);
        }
        own.into_iter().map(|(_, root)| root).collect()
    }

    fn compare(&self, a: &(&[u8], &RootTotals), b: &(&[u8], &RootTotals)) -> Ordering {
        let by_key = match self.view.order.key {
            SortKey::Size => self.number_of(b.1).cmp(&self.number_of(a.1)),
            SortKey::Count => b.1.entries.cmp(&a.1.entries),
            // The command refuses times where it reads none.
            SortKey::Name | SortKey::Mtime => Ordering::Equal,
        };
        let order = by_key.then_with(|| a.0.cmp(b.0));
        match self.view.order.direction {
            Direction::Forward => order,
            Direction::Reversed => order.reverse(),
        }
    }

    /// A sentence for each root that an earlier one had reached: it has no row.
    fn reached_earlier(&self, screen: Screen) -> Vec<String> {
        let Terminal { width, charset, .. } = screen.terminal;
        let roots = self.scanned.request.paths.iter();
        let roots = roots.zip(&self.scanned.report.roots);
        roots
            .filter(|(_, root)| root.reached_earlier)
            .map(|(path, _)| {
                let path = escape(path.as_os_str().as_bytes(), charset);
                let text = format!("{path} has no row: an earlier path contains it.");
                truncate_end(&text, width, charset).into_owned()
            })
            .collect()
    }

    /// The trees of all roots in one table.
    fn picture(&self, tree: &Tree, rows: usize, screen: Screen) -> Vec<String> {
        let view = &self.view;
        let options = TreeOptions {
            // The head is a row, too.
            rows_max: view
                .rows_max
                .unwrap_or(rows.saturating_sub(1).max(PICTURE_ROWS_MIN)),
            // The roots are one level.
            depth_max: view.depth_max.map(|depth| depth as usize + 1),
            files: view.files,
            min_bytes: view.min_bytes,
            column: view.sizes.column,
            size: match view.counted {
                Counted::Names => SizeFormat::Count,
                Counted::Sizes => view.sizes.format,
            },
            sort: view.order.key,
            direction: view.order.direction,
            now_ns: clock::now_ns(),
            terminal: screen.terminal,
        };
        let picture = TreePicture {
            tree,
            has_files: view.files == Files::Shown,
            counted: view.counted,
            column: view.sizes.column,
        };
        tree_table(&picture, &options)
    }

    /// A row for each root.
    fn root_table(&self, screen: Screen) -> Vec<String> {
        let sizes = &self.view.sizes;
        let title = match self.view.counted {
            Counted::Names => "ENTRIES",
            Counted::Sizes => sizes.title(),
        };
        let mut columns = vec![Column::new(title, Align::Right)];
        let roots = self.own_roots(true);
        let all = self.scanned.totals.iter();
        let whole = all.map(|totals| self.number_of(totals)).sum();
        let largest = roots.iter().map(|(_, totals)| self.number_of(totals)).max();
        if roots.len() > 1 {
            columns.push(Column::new("SHARE", Align::Left).optional());
        }
        columns.push(Column::new("PATH", Align::Left));
        let rows = roots.iter().map(|(path, totals)| {
            let number = self.number_of(totals);
            let text = match self.view.counted {
                Counted::Names => grouped(totals.entries),
                Counted::Sizes => sizes.format.text(number),
            };
            let mut row = vec![Cell::Text(text.into())];
            row.extend((roots.len() > 1).then_some(Cell::Share {
                part: number,
                whole,
                largest: largest.unwrap_or(0),
            }));
            row.push(Cell::Name((*path).into()));
            row
        });
        list_table(&columns, &rows.collect::<Vec<_>>(), screen.terminal)
    }
}
