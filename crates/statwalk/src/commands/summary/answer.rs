// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer of the default view: the tree that fits on the screen, or the totals.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use serde::Serialize;
use statwalk_core::{RootTotals, TopOf, Tree};
use statwalk_view::{
    Align, Cell, Column, DateStyle, Direction, Files, SizeColumn, SizeFormat, Small, SortKey,
    Terminal, Tree as _, TreeOptions, escape, grouped, list_table, tree_table, truncate_end, wrap,
};

use crate::answer::about::{About, Root};
use crate::failure::Failure;
use crate::output::ending;
use crate::output::error_summary::command;
use crate::output::json::{Counted, TreeRows};
use crate::output::own_names;
use crate::output::plain::Rows;
use crate::output::printer::{Answer, ROWS_FOR_SENTENCES};
use crate::output::rows::{
    Order, Selection, Side, below, is_left_out, is_selected, newest_time, roots, size,
};
use crate::output::scanned_tree::{LargeFiles, Own, Part, ScannedTree};
use crate::request::filters::NameFilters;
use crate::request::{Form, Sizes, safe};
use crate::system::screen::Screen;
use crate::system::stdio::say;

/// The settings of the default view.
pub(super) struct SummaryView {
    pub(super) sizes: Sizes,
    pub(super) order: Order,
    /// Whether the user set the order. Else totals on a pipe stand in the order of the
    /// paths, as in du.
    pub(super) has_own_order: bool,
    pub(super) counted: Counted,
    /// The deepest level; absent where the user set none.
    pub(super) depth_max: Option<u32>,
    /// The number of rows; absent where the user set none.
    pub(super) rows_max: Option<usize>,
    /// The bytes of the smallest row.
    pub(super) min_bytes: u128,
    /// Whether only entries count that pass filters. A directory without any has no row.
    pub(super) is_filtered: bool,
    /// The filters on names, if there are any.
    pub(super) names: Option<NameFilters>,
    /// Whether rows end with one for all paths, as those of `du -c`.
    pub(super) has_total_row: bool,
    /// The newest times that rows have, where the user asks for them.
    pub(super) times: Option<Times>,
    pub(super) files: Files,
}

/// The newest times of subtrees, as dates.
pub(super) struct Times {
    /// The title of their column.
    pub(super) title: &'static str,
    pub(super) style: DateStyle,
    pub(super) zone: TimeZone,
}

impl SummaryView {
    /// The same for a scan that is over: it can be one where no file has blocks.
    pub(super) fn of_scan(mut self, about: &About, form: Form) -> SummaryView {
        self.sizes = self.sizes.of_scan(about, form);
        self.order.column = self.sizes.order();
        self
    }
}

impl Times {
    /// A time as text, as in a row; empty where there is none.
    fn text(&self, time_ns: Option<i64>) -> String {
        let text = time_ns.and_then(|ns| self.style.text(ns, &self.zone));
        text.unwrap_or_default()
    }
}

/// The answer of the default view.
pub(in crate::commands) struct SummaryAnswer {
    pub(super) view: SummaryView,
    /// Absent where the user asked for totals alone.
    pub(super) tree: Option<Tree>,
    /// The numbers of the roots that are no directories, where neither a tree nor the totals
    /// tell.
    pub(super) file_roots: BTreeSet<usize>,
    /// The largest files, where a picture shows them and the tree has none.
    pub(super) large_files: Vec<TopOf>,
    pub(in crate::commands) about: About,
}

/// The depth of rows and JSON, unless the user sets one.
const DEPTH_DEFAULT: u32 = 1;
/// A picture of fewer rows would say nothing.
const PICTURE_ROWS_MIN: usize = 3;

impl Answer for SummaryAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        if !self.about.has_root() {
            return Vec::new();
        }
        let terminal = screen.terminal;
        let mut below = vec![String::new()];
        below.extend(self.paths_without_row(screen));
        below.extend(match self.view.counted {
            Counted::Sizes if self.tree.is_some() => {
                let mut lines = self.about.lines_below(self.view.sizes.format, screen);
                if screen.rows >= ROWS_FOR_SENTENCES {
                    lines.extend(self.elsewhere(screen));
                }
                lines
            }
            Counted::Sizes | Counted::Inodes => {
                self.about.closing_lines(self.view.sizes.format, screen)
            }
            Counted::Names => {
                let summary = ending::summary(&self.about, screen);
                let mut lines = summary.count_lines(terminal);
                lines.extend(ending::left_out_line(&self.about, terminal));
                lines
            }
        });
        below.extend(self.about.no_blocks_lines(&self.view.sizes, screen));
        if screen.rows >= ROWS_FOR_SENTENCES {
            below.extend(self.own_names(screen));
        }
        let mut lines = match &self.tree {
            Some(tree) => {
                // One row is left for the prompt.
                let errors = ending::error_lines(&self.about, screen);
                let rows = screen.rows.saturating_sub(below.len() + errors + 1);
                match &self.view.times {
                    Some(times) => self.time_table(tree, times, rows, screen),
                    None => self.picture(tree, rows, screen),
                }
            }
            None => self.root_table(screen),
        };
        lines.extend(below);
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        let format = match self.view.counted {
            Counted::Names => SizeFormat::Bytes,
            Counted::Sizes | Counted::Inodes => self.view.sizes.format_in_rows,
        };
        let Some(tree) = &self.tree else {
            for root in self.own_roots(self.view.has_own_order) {
                rows.row(&[&format.text(self.number_of(&root.totals))], &root.path)?;
            }
            return self.write_total(format, rows);
        };
        let tree = &self.scanned(tree);
        for (node, number) in self.nodes(tree, self.selection(Side::Behind)) {
            let (path, number) = (tree.path(node), format.text(number));
            match self.time_of(newest_time(tree, node)) {
                Some(time) => rows.row(&[&number, &time], &path)?,
                None => rows.row(&[&number], &path)?,
            }
        }
        self.write_total(format, rows)
    }

    fn document(&self) -> impl Serialize {
        let tree = self.tree.as_ref().map(|tree| self.scanned(tree));
        self.about.document(TreeRows {
            roots: tree.as_ref().map_or_else(Vec::new, |tree| self.roots(tree)),
            tree,
            selection: self.selection(Side::Before),
            order: self.view.order,
            counted: self.view.counted,
            min_bytes: self.view.min_bytes,
            is_filtered: self.view.is_filtered,
        })
    }
}

impl SummaryAnswer {
    /// The sentence below a whole file system that has much more in use than the scan
    /// reached, as df shows.
    fn elsewhere(&self, screen: Screen) -> Vec<String> {
        let Some(elsewhere) = self.about.elsewhere else {
            return Vec::new();
        };
        let size = |bytes| self.view.sizes.format.text(bytes).replace(' ', "\u{a0}");
        let sentence = format!(
            "df says {} used; {} reached; {} elsewhere: {} tells where.",
            size(elsewhere.used_bytes),
            size(self.about.allocated_bytes()),
            size(elsewhere.bytes),
            command(&self.about, "df"),
        );
        wrap(&sentence, screen.terminal)
    }

    /// The sentence about directories that have passed a filter on names: a user who asks
    /// for `node_modules` expects what is in them.
    fn own_names(&self, screen: Screen) -> Vec<String> {
        let has_dirs = self.about.roots.iter().any(|root| root.totals.dirs > 0);
        match &self.view.names {
            Some(names) if has_dirs && self.view.counted != Counted::Names => {
                own_names::below_directories(&self.about, names, screen.terminal)
            }
            _ => Vec::new(),
        }
    }

    /// The tree with the sizes of the scan, whatever is counted.
    fn scanned<'a>(&self, tree: &'a Tree) -> ScannedTree<'a, &'a Tree> {
        ScannedTree {
            further_names: self.further_names(),
            ..ScannedTree::new(tree)
        }
    }

    /// The roots of the tree for rows and JSON: in the order of the paths, as in du,
    /// unless the user sets one.
    fn roots(&self, tree: &ScannedTree<'_, &Tree>) -> Vec<Part> {
        let roots = roots(tree.tree).map(|(index, _)| Part::Root(index as u32));
        let mut roots: Vec<_> = roots.collect();
        if self.view.has_own_order {
            let ranked = |node| (self.view.order.rank(tree, node), node);
            roots.sort_by(|&a, &b| self.view.order.compare(tree, ranked(a), ranked(b)));
        }
        roots
    }

    /// The nodes that have rows, with the number of each.
    fn nodes<'a>(
        &'a self,
        tree: &'a ScannedTree<'a, &'a Tree>,
        selection: Selection,
    ) -> impl Iterator<Item = (Part, u128)> + 'a {
        let order = self.view.order;
        let roots = self.roots(tree).into_iter();
        let roots = roots.filter(|&root| !tree.is_further_name(root));
        let nodes = selection.rows(
            roots,
            move |&node| below(tree, node, selection.files),
            move |node| order.rank(tree, node),
            move |&a, &b| order.compare(tree, a, b),
        );
        // du, too, has no row for a mount that it does not enter, and none for a
        // further name of a file.
        let nodes =
            nodes.filter(|&node| !is_left_out(tree, node) && !tree.notes(node).counts_elsewhere);
        let nodes = nodes.filter(|&node| !self.view.is_filtered || is_selected(tree, node));
        let numbered = nodes.map(|node| match self.view.counted {
            Counted::Names => (node, tree.figures(node).entries.into()),
            Counted::Sizes | Counted::Inodes => (node, size(tree, node, self.view.sizes.column)),
        });
        numbered.filter(|(_, number)| *number >= self.view.min_bytes)
    }

    /// The newest time of a row, where rows have one.
    fn time_of(&self, time_ns: Option<i64>) -> Option<String> {
        let times = self.view.times.as_ref()?;
        Some(times.text(time_ns))
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
    pub(super) fn exceeds(&self, limit: u128) -> bool {
        let mut exceeds = false;
        for root in &self.about.roots {
            let bytes = number(&root.totals, &self.view.sizes.asked());
            if bytes > limit {
                let path = safe(&String::from_utf8_lossy(&root.path));
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
        let total = format.text(self.whole());
        let newest = self.tree.iter().flat_map(roots);
        let newest = newest.filter_map(|(_, root)| root.newest_time_ns()).max();
        match self.time_of(newest) {
            Some(time) => rows.row(&[&total, &time], b"total"),
            None => rows.row(&[&total], b"total"),
        }
    }

    /// The number that stands for all roots.
    fn whole(&self) -> u128 {
        match (&self.tree, self.view.counted) {
            (Some(tree), Counted::Inodes) => roots(tree)
                .map(|(_, root)| u128::from(root.entries()))
                .sum(),
            _ => {
                let all = self.about.roots.iter();
                all.map(|root| self.number_of(&root.totals)).sum()
            }
        }
    }

    /// The number that stands for a root.
    fn number_of(&self, totals: &RootTotals) -> u128 {
        number(totals, &self.view.sizes)
    }

    /// The roots with an answer of their own: those that exist, and that no earlier
    /// root had reached. `sorted` by the user's order or in that of the paths; at most as
    /// many as the user wants, the first by that order.
    fn own_roots(&self, sorted: bool) -> Vec<&Root> {
        let own = self.about.roots.iter().enumerate();
        let own = own.filter(|(place, _)| !self.is_further_name(*place));
        let own = own.filter_map(|(_, root)| {
            let (gaps, totals) = (&root.gaps, &root.totals);
            let is_own = gaps.missing.is_none()
                && !gaps.reached_earlier
                && (totals.entries > 0 || self.view.is_filtered);
            let is_shown = is_own && self.number_of(totals) >= self.view.min_bytes;
            is_shown.then_some(root)
        });
        let mut own: Vec<_> = own.enumerate().collect();
        own.sort_by(|(_, a), (_, b)| self.compare(a, b));
        own.truncate(self.view.rows_max.unwrap_or(usize::MAX));
        if !sorted {
            own.sort_by_key(|(place, _)| *place);
        }
        own.into_iter().map(|(_, root)| root).collect()
    }

    fn compare(&self, a: &Root, b: &Root) -> Ordering {
        let by = Sizes {
            column: self.view.sizes.order(),
            ..self.view.sizes
        };
        let rank = |root: &Root| number(&root.totals, &by);
        let by_key = match self.view.order.key {
            SortKey::Size => rank(b).cmp(&rank(a)),
            SortKey::Count => b.totals.entries.cmp(&a.totals.entries),
            // The command refuses times where it reads none.
            SortKey::Name | SortKey::Mtime => Ordering::Equal,
        };
        let order = by_key.then_with(|| a.path.cmp(&b.path));
        match self.view.order.direction {
            Direction::Forward => order,
            Direction::Reversed => order.reverse(),
        }
    }

    /// A sentence for each root that has no row, because it counts under an earlier one.
    fn paths_without_row(&self, screen: Screen) -> Vec<String> {
        let Terminal { width, charset, .. } = screen.terminal;
        let roots = self.about.roots.iter().enumerate();
        roots
            .filter_map(|(place, root)| {
                let reason = match root.gaps.reached_earlier {
                    true => "an earlier path contains it",
                    false if self.is_further_name(place) => "an earlier path has its bytes",
                    false => return None,
                };
                let path = escape(&root.path, charset);
                let text = format!("{path} has no row: {reason}.");
                Some(truncate_end(&text, width, charset).into_owned())
            })
            .collect()
    }

    /// The numbers of the roots that are further names of a file in an earlier one.
    fn further_names(&self) -> Vec<usize> {
        let roots = 0..self.about.roots.len();
        roots.filter(|&root| self.is_further_name(root)).collect()
    }

    /// Whether a root is a file whose bytes count under an earlier root.
    ///
    /// A tree without files does not know it of its roots, but the totals do.
    fn is_further_name(&self, root: usize) -> bool {
        let is_file = match &self.tree {
            Some(tree) => tree.root(root).is_some_and(|node| !node.is_dir()),
            // A filter can leave a directory and count one file below it.
            None => !self.view.is_filtered || self.file_roots.contains(&root),
        };
        let totals = &self.about.roots[root].totals;
        let extra = totals.sizes.map_or(0, |sizes| sizes.extra_hard_links);
        is_file && (totals.entries, totals.dirs, extra) == (1, 0, 1)
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
            // A user who asks for a number of rows, a depth or every file gets them.
            small: match view.rows_max.is_some()
                || view.depth_max.is_some()
                || view.files == Files::Shown
                || view.min_bytes > 0
            {
                true => Small::Shown,
                false => Small::Hidden,
            },
            column: view.sizes.column,
            size: match view.counted {
                Counted::Names | Counted::Inodes => SizeFormat::Count,
                Counted::Sizes => view.sizes.format,
            },
            sort: view.order.key,
            direction: view.order.direction,
            now_ns: self.about.ended_ns(),
            terminal: screen.terminal,
        };
        let has_own = view.sizes.column == SizeColumn::Disk && view.counted == Counted::Sizes;
        let picture = ScannedTree {
            own: match has_own {
                true => Own::Large,
                false => Own::Nowhere,
            },
            large_files: (view.files == Files::Hidden).then(|| LargeFiles::new(&self.large_files)),
            counted: view.counted,
            is_filtered: view.is_filtered,
            ..self.scanned(tree)
        };
        tree_table(&picture, &options)
    }

    /// A row for each directory, with its newest time.
    fn time_table(&self, tree: &Tree, times: &Times, rows: usize, screen: Screen) -> Vec<String> {
        let format = match self.view.counted {
            Counted::Names | Counted::Inodes => SizeFormat::Count,
            Counted::Sizes => self.view.sizes.format,
        };
        let columns = [
            Column::new(self.view.sizes.title(), Align::Right),
            Column::new(times.title, Align::Left),
            Column::new("PATH", Align::Left),
        ];
        let own = self.selection(Side::Before);
        // The head is a row, too.
        let fitting = rows.saturating_sub(1).max(PICTURE_ROWS_MIN);
        let selection = Selection {
            rows_max: own.rows_max.or(Some(fitting)),
            ..own
        };
        let tree = &self.scanned(tree);
        let rows = self.nodes(tree, selection).map(|(node, number)| {
            vec![
                Cell::Text(format.text(number).into()),
                Cell::Text(times.text(newest_time(tree, node)).into()),
                match tree.figures(node).incomplete {
                    true => Cell::Incomplete(tree.path(node).into()),
                    false => Cell::Name(tree.path(node).into()),
                },
            ]
        });
        list_table(&columns, &rows.collect::<Vec<_>>(), screen.terminal)
    }

    /// A row for each root.
    fn root_table(&self, screen: Screen) -> Vec<String> {
        let sizes = &self.view.sizes;
        let title = match self.view.counted {
            Counted::Names => "ENTRIES",
            Counted::Sizes | Counted::Inodes => sizes.title(),
        };
        let mut columns = vec![Column::new(title, Align::Right)];
        let roots = self.own_roots(true);
        let all = self.about.roots.iter();
        let whole = all.map(|root| self.number_of(&root.totals)).sum();
        if roots.len() > 1 {
            columns.push(Column::new("SHARE", Align::Left).optional());
        }
        columns.push(Column::new("PATH", Align::Left));
        let rows = roots.iter().map(|root| {
            let number = self.number_of(&root.totals);
            let text = match self.view.counted {
                Counted::Names => grouped(root.totals.entries),
                Counted::Sizes | Counted::Inodes => sizes.format.text(number),
            };
            let mut row = vec![Cell::Text(text.into())];
            row.extend((roots.len() > 1).then_some(Cell::Share {
                part: number,
                whole,
            }));
            row.push(match root.is_incomplete() {
                true => Cell::Incomplete((&root.path).into()),
                false => Cell::Name((&root.path).into()),
            });
            row
        });
        list_table(&columns, &rows.collect::<Vec<_>>(), screen.terminal)
    }
}

/// The size of a root, or its entries where it has none.
fn number(totals: &RootTotals, sizes: &Sizes) -> u128 {
    // Inodes are counted in a tree; this number then stands nowhere.
    match totals.sizes {
        None => totals.entries.into(),
        Some(bytes) => sizes.of(bytes.allocated_bytes, bytes.apparent_bytes),
    }
}
