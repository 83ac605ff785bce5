// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer of the default view: the tree that fits on the screen, or the totals.

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_core::{RootTotals, Tree};
use statwalk_view::{
    Align, Cell, Column, Files, SizeFormat, TreeOptions, grouped, list_table, tree_table,
};

use crate::clock;
use crate::failure::Failure;
use crate::output::ending;
use crate::output::json::{Counted, TreeAnswer, TreeRows};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned};
use crate::output::rows::{Order, Selection, Side, bytes, is_left_out, roots};
use crate::output::screen::Screen;
use crate::output::tree_picture::TreePicture;
use crate::request::Sizes;

/// The settings of the default view.
pub(crate) struct SummaryView {
    pub(crate) sizes: Sizes,
    pub(crate) order: Order,
    pub(crate) counted: Counted,
    /// The deepest level; absent where the user set none.
    pub(crate) depth_max: Option<u32>,
    /// The number of rows; absent where the user set none.
    pub(crate) rows_max: Option<usize>,
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
                self.pictures(tree, screen.rows.saturating_sub(used), screen)
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
            for (path, totals) in self.own_roots() {
                rows.row(&[&format.text(self.number_of(totals))], path)?;
            }
            return Ok(());
        };
        let order = self.view.order;
        let selected = self.selection(Side::Behind);
        let selected = selected.rows(roots(tree), move |a, b| order.compare(a, b));
        // du, too, has no row for a mount that it does not enter, and none for a
        // further name of a file.
        let nodes = selected.map(|row| row.node);
        for node in nodes.filter(|node| !is_left_out(node) && !node.is_extra_link()) {
            let number = bytes(&node, self.view.sizes.column);
            rows.row(&[&format.text(number)], &node.path())?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let rows = TreeRows {
            tree: self.tree.as_ref(),
            selection: self.selection(Side::Before),
            order: self.view.order,
            totals: &self.scanned.totals,
        };
        let answer = TreeAnswer { tree: rows };
        self.scanned.document(self.view.counted, answer)
    }
}

impl SummaryAnswer {
    /// The nodes that rows and JSON have.
    fn selection(&self, side: Side) -> Selection {
        Selection {
            depth_max: self.view.depth_max.unwrap_or(DEPTH_DEFAULT),
            files: self.view.files == Files::Shown,
            side,
            rows_max: self.view.rows_max,
        }
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
    /// root had reached.
    fn own_roots(&self) -> impl Iterator<Item = (&[u8], &RootTotals)> {
        let Scanned {
            request,
            report,
            totals,
        } = &self.scanned;
        let roots = request.paths.iter().zip(&report.roots).zip(totals);
        roots.filter_map(|((path, root), totals)| {
            let is_own = root.missing.is_none() && !root.reached_earlier && totals.entries > 0;
            is_own.then_some((path.as_os_str().as_bytes(), totals))
        })
    }

    /// The trees of all roots, which share `rows`.
    fn pictures(&self, tree: &Tree, rows: usize, screen: Screen) -> Vec<String> {
        let view = &self.view;
        let now_ns = clock::now_ns();
        let roots: Vec<_> = roots(tree).collect();
        let mut lines = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            // The rows that an earlier root did not use are for later ones.
            let trees_left = roots.len() - index;
            let share = rows.saturating_sub(lines.len() + trees_left - 1) / trees_left;
            let options = TreeOptions {
                // The head is a row, too.
                rows_max: view
                    .rows_max
                    .unwrap_or(share.saturating_sub(1).max(PICTURE_ROWS_MIN)),
                depth_max: view.depth_max.map(|depth| depth as usize),
                files: view.files,
                column: view.sizes.column,
                size: view.sizes.format,
                sort: view.order.key,
                direction: view.order.direction,
                now_ns,
                terminal: screen.terminal,
            };
            let picture = TreePicture::new(*root, view.files == Files::Shown);
            lines.extend(tree_table(&picture, &options));
        }
        lines
    }

    /// A row for each root.
    fn root_table(&self, screen: Screen) -> Vec<String> {
        let sizes = &self.view.sizes;
        let title = match self.view.counted {
            Counted::Names => "ENTRIES",
            Counted::Sizes => sizes.title(),
        };
        let mut columns = vec![Column::new(title, Align::Right)];
        let roots: Vec<_> = self.own_roots().collect();
        let whole = roots.iter().map(|(_, totals)| self.number_of(totals)).sum();
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
