// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk PATH…`: where the space went.

use std::os::unix::ffi::OsStrExt;

use statwalk_core::{Report, RootTotals, Totals, Tree, TreeSink};
use statwalk_view::{
    Align, Cell, Column, Files, SizeFormat, TreeOptions, grouped, list_table, tree_table,
};

use crate::clock;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::SummaryFlags;
use crate::output::Output;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, Counted, TreeAnswer};
use crate::output::plain::Rows;
use crate::output::rows::{Order, Selection, Side, bytes, is_left_out};
use crate::output::screen::Screen;
use crate::output::tree_picture::TreePicture;
use crate::request::{Form, Request, RowEnd, Sizes};
use crate::watch::watch;

/// What the default view shows.
struct Summary {
    request: Request,
    sizes: Sizes,
    order: Order,
    counted: Counted,
    /// How deep, where that was asked for.
    depth_max: Option<u32>,
    /// How many rows, where that was asked for.
    rows_max: Option<usize>,
    files: Files,
}

/// What the scan gave.
struct Answer {
    totals: Vec<RootTotals>,
    tree: Option<Tree>,
    report: Report,
}

/// How deep rows and JSON go where nobody says.
const DEPTH_DEFAULT: u32 = 1;
/// A picture of fewer rows would say nothing.
const PICTURE_ROWS_MIN: usize = 3;

pub(super) fn run(flags: SummaryFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::new(&flags.sizes)?;
    let mut request = Request::new(&flags.scan, flags.paths)?;
    if matches!(request.form, Form::Json(_)) {
        request.scan = request.scan.errors_kept(usize::MAX);
    }
    let summary = Summary {
        request,
        sizes,
        order: Order::new(flags.sort, flags.reverse, sizes.column),
        counted: match flags.count {
            true => Counted::Names,
            false => Counted::Sizes,
        },
        depth_max: flags.max_depth,
        rows_max: flags.lines,
        files: match flags.all {
            true => Files::Shown,
            false => Files::Hidden,
        },
    };
    let answer = match flags.summarize || flags.count {
        true => summary.scan_totals(),
        false => summary.scan_tree(),
    }?;
    match summary.request.form {
        Form::Screen(screen) => summary.print_picture(&answer, screen),
        Form::Rows(end) => summary.print_rows(&answer, end),
        Form::Json(screen) => summary.print_json(&answer, screen),
    }?;
    let status = ending::conclude(&summary.request, &answer.report, Errors::Untold);
    // The program ends: giving back the memory of a large tree piece by piece
    // would only take time.
    std::mem::forget(answer);
    Ok(status)
}

impl Summary {
    fn scan_totals(&self) -> Result<Answer, Failure> {
        let (sink, shown) = match self.counted {
            Counted::Names => (Totals::of_types(), None),
            Counted::Sizes => (Totals::with_sizes(), Some(self.sizes.format)),
        };
        let progress = self.request.progress(shown);
        let outcome = watch(&self.request.scan, &sink, progress, &mut ())?;
        Ok(Answer {
            totals: outcome.output,
            tree: None,
            report: outcome.report,
        })
    }

    fn scan_tree(&self) -> Result<Answer, Failure> {
        let tree = match self.files {
            Files::Shown => TreeSink::with_files(),
            Files::Hidden => TreeSink::of_directories(),
        };
        let sink = (Totals::with_sizes(), tree);
        let progress = self.request.progress(Some(self.sizes.format));
        let outcome = watch(&self.request.scan, &sink, progress, &mut ())?;
        let (totals, tree) = outcome.output;
        Ok(Answer {
            totals,
            tree: Some(tree),
            report: outcome.report,
        })
    }

    /// The nodes that rows and JSON have.
    fn selection(&self, side: Side) -> Selection {
        Selection {
            depth_max: self.depth_max.unwrap_or(DEPTH_DEFAULT),
            files: self.files == Files::Shown,
            order: self.order,
            side,
            rows_max: self.rows_max,
        }
    }

    /// The number that stands for a root.
    fn number_of(&self, totals: &RootTotals) -> u128 {
        match self.counted {
            Counted::Names => totals.entries.into(),
            Counted::Sizes => self.sizes.of(totals.allocated_bytes, totals.apparent_bytes),
        }
    }

    /// The roots that have an answer of their own: those that are there, and
    /// were not reached by an earlier one.
    fn own_roots<'a>(
        &'a self,
        answer: &'a Answer,
    ) -> impl Iterator<Item = (&'a [u8], &'a RootTotals)> {
        let roots = self.request.paths.iter().zip(&answer.report.roots);
        roots
            .zip(&answer.totals)
            .filter_map(|((path, root), totals)| {
                let is_own = root.missing.is_none() && !root.reached_earlier && totals.entries > 0;
                is_own.then_some((path.as_os_str().as_bytes(), totals))
            })
    }

    // --- for a person ---

    fn print_picture(&self, answer: &Answer, screen: Screen) -> Result<(), Failure> {
        let terminal = screen.terminal;
        let mut below = vec![String::new()];
        let summary = ending::summary(&answer.report, &answer.totals);
        below.extend(match self.counted {
            Counted::Sizes => summary.lines(self.sizes.format, terminal),
            Counted::Names => summary.count_lines(terminal),
        });
        below.extend(ending::left_out_line(&answer.report, terminal));
        let mut out = Output::new();
        match &answer.tree {
            Some(tree) => {
                // One row is left for the prompt.
                let used = below.len() + ending::error_lines(&answer.report) + 1;
                let rows = screen.rows.saturating_sub(used);
                out.lines(self.pictures(tree, rows, screen))?;
            }
            None => out.lines(self.root_table(answer, screen))?,
        }
        out.lines(below)?;
        out.finish()
    }

    /// The trees of all roots, which share `rows`.
    fn pictures(&self, tree: &Tree, rows: usize, screen: Screen) -> Vec<String> {
        let now_ns = clock::now_ns();
        let roots: Vec<_> = (0..tree.root_count())
            .filter_map(|index| tree.root(index))
            .collect();
        let mut lines = Vec::new();
        for (index, root) in roots.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            // What an earlier one did not use is for those that come.
            let trees_left = roots.len() - index;
            let share = rows.saturating_sub(lines.len() + trees_left - 1) / trees_left;
            let options = TreeOptions {
                // The head is a row, too.
                rows_max: self
                    .rows_max
                    .unwrap_or(share.saturating_sub(1).max(PICTURE_ROWS_MIN)),
                depth_max: self.depth_max.map(|depth| depth as usize),
                files: self.files,
                column: self.sizes.column,
                size: self.sizes.format,
                sort: self.order.key,
                direction: self.order.direction,
                now_ns,
                terminal: screen.terminal,
            };
            let picture = TreePicture::new(*root, self.files == Files::Shown);
            lines.extend(tree_table(&picture, &options));
        }
        lines
    }

    /// A row for each root.
    fn root_table(&self, answer: &Answer, screen: Screen) -> Vec<String> {
        let mut columns = vec![Column {
            title: match self.counted {
                Counted::Names => "ENTRIES",
                Counted::Sizes => self.sizes.title(),
            },
            align: Align::Right,
        }];
        let roots: Vec<_> = self.own_roots(answer).collect();
        let whole = roots.iter().map(|(_, totals)| self.number_of(totals)).sum();
        let largest = roots.iter().map(|(_, totals)| self.number_of(totals)).max();
        if roots.len() > 1 {
            columns.push(Column {
                title: "SHARE",
                align: Align::Left,
            });
        }
        columns.push(Column {
            title: "PATH",
            align: Align::Left,
        });
        let rows = roots.iter().map(|(path, totals)| {
            let number = self.number_of(totals);
            let text = match self.counted {
                Counted::Names => grouped(totals.entries),
                Counted::Sizes => self.sizes.format.text(number),
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

    // --- for programs ---

    fn print_rows(&self, answer: &Answer, end: RowEnd) -> Result<(), Failure> {
        let format = match self.counted {
            Counted::Names => SizeFormat::Bytes,
            Counted::Sizes => self.sizes.format_in_rows,
        };
        let mut rows = Rows::new(end);
        match &answer.tree {
            None => {
                for (path, totals) in self.own_roots(answer) {
                    rows.row(&[&format.text(self.number_of(totals))], path)?;
                }
            }
            Some(tree) => {
                let selection = self.selection(Side::Behind);
                let nodes = selection.rows(tree).map(|row| row.node);
                // du, too, has no row for a mount that it does not enter, and
                // none for a further name of a file.
                for node in nodes.filter(|node| !is_left_out(node) && !node.is_extra_link()) {
                    let number = bytes(&node, self.sizes.column);
                    rows.row(&[&format.text(number)], &node.path())?;
                }
            }
        }
        rows.finish()
    }

    fn print_json(&self, answer: &Answer, screen: Option<Screen>) -> Result<(), Failure> {
        let tree = answer.tree.as_ref();
        let tree = tree.map(|tree| (tree, self.selection(Side::Before)));
        json::write(
            &self.request,
            screen,
            &answer.report,
            &answer.totals,
            self.counted,
            TreeAnswer::new(tree, &answer.totals),
        )
    }
}
