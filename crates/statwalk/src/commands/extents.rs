// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk extents PATH…`: the space on the device, and the space that deleting frees.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use statwalk_core::{DirState, ExtentDir, ExtentUsage, Inodes, Report, Totals, extent_usage};
use statwalk_view::{Align, Cell, Column, grouped, list_table, share};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::{ExtentsFlags, ExtentsSortName};
use crate::output::Output;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, Counted, ExtentsAnswer};
use crate::output::plain::Rows;
use crate::output::rows::Side;
use crate::output::screen::Screen;
use crate::request::{Form, Request, Sizes};
use crate::watch::progress::ShareLine;
use crate::watch::watch;

/// How deep rows go where nobody says.
const DEPTH_DEFAULT: u32 = 1;

/// Which directories are told, and in which order.
struct Selection {
    depth_max: u32,
    by_name: bool,
    reverse: bool,
    rows_max: usize,
    side: Side,
}

pub(super) fn run(flags: ExtentsFlags) -> Result<ExitStatus, Failure> {
    let sizes = Sizes::on_disk(&flags.units)?;
    let request = Request::of_walk(&flags.walk, flags.paths)?;
    let selection = Selection {
        depth_max: match flags.summarize {
            true => 0,
            false => flags.max_depth.unwrap_or(DEPTH_DEFAULT),
        },
        by_name: flags.sort == ExtentsSortName::Name,
        reverse: flags.reverse,
        rows_max: flags.lines.unwrap_or(usize::MAX),
        side: match request.form {
            Form::Rows(_) => Side::Behind,
            Form::Screen(_) | Form::Json(_) => Side::Before,
        },
    };
    let progress = request.progress(Some(sizes.format));
    let sink = (Totals::with_sizes(), Inodes);
    let outcome = watch(&request.scan, &sink, progress, &mut ())?;
    let (totals, inodes) = outcome.output;
    let report = outcome.report;
    if report.interrupted || report.roots.iter().all(|root| root.missing.is_some()) {
        return Ok(ending::conclude(&request, &report, Errors::Untold));
    }
    let line = ShareLine::new(request.progress);
    let usage = extent_usage(inodes, |progress| {
        line.tick("of files and extents", progress.done, progress.of);
        ControlFlow::Continue(())
    });
    line.clear();
    let usage = usage?;
    let rows = selection.rows(&usage);
    match request.form {
        Form::Screen(screen) => print_table(&usage, &rows, &report, &sizes, screen)?,
        Form::Rows(end) => {
            let mut out = Rows::new(end);
            for dir in &rows {
                let sums = dir.sums();
                let bytes = [sums.disk_bytes, sums.exclusive_bytes, sums.referenced_bytes];
                let bytes = bytes.map(|bytes| sizes.format_in_rows.text(bytes.into()));
                out.row(&bytes.each_ref().map(String::as_str), &dir.path())?;
            }
            out.finish()?;
        }
        Form::Json(screen) => {
            let answer = ExtentsAnswer::new(&usage, &rows);
            json::write(&request, screen, &report, &totals, Counted::Sizes, answer)?;
        }
    }
    Ok(ending::conclude(&request, &report, Errors::Untold))
}

impl Selection {
    /// The directories that are told.
    fn rows<'a>(&self, usage: &'a ExtentUsage) -> Vec<ExtentDir<'a>> {
        let mut rows: Vec<ExtentDir<'a>> = Vec::new();
        // What is on top comes next; with whether what is in it has been put there.
        let mut waiting: Vec<(ExtentDir<'a>, bool)> = Vec::new();
        waiting.extend(usage.roots().map(|root| (root, false)));
        waiting.reverse();
        while let Some((dir, is_open)) = waiting.pop() {
            if matches!(dir.state(), DirState::Crossing | DirState::Excluded) {
                continue;
            }
            if is_open == (self.side == Side::Behind) {
                rows.push(dir);
            }
            if is_open {
                continue;
            }
            if self.side == Side::Behind {
                waiting.push((dir, true));
            }
            if dir.depth() < self.depth_max {
                let mut children: Vec<_> = dir.children().collect();
                children.sort_by(|a, b| self.compare(b, a));
                waiting.extend(children.into_iter().map(|child| (child, false)));
            }
        }
        // Where there are more, the first by the order stay, where they stood.
        let mut ranked: Vec<_> = rows.into_iter().enumerate().collect();
        ranked.sort_by(|(_, a), (_, b)| self.compare(a, b));
        ranked.truncate(self.rows_max);
        ranked.sort_by_key(|(place, _)| *place);
        ranked.into_iter().map(|(_, dir)| dir).collect()
    }

    fn compare(&self, a: &ExtentDir<'_>, b: &ExtentDir<'_>) -> Ordering {
        let by_size = b.sums().disk_bytes.cmp(&a.sums().disk_bytes);
        let by_name = || a.name().cmp(b.name());
        let order = match self.by_name {
            true => by_name(),
            false => by_size.then_with(by_name),
        };
        match self.reverse {
            true => order.reverse(),
            false => order,
        }
    }
}

fn print_table(
    usage: &ExtentUsage,
    rows: &[ExtentDir<'_>],
    report: &Report,
    sizes: &Sizes,
    screen: Screen,
) -> Result<(), Failure> {
    let column = |title, align| Column { title, align };
    let columns = [
        column("ON DISK", Align::Right),
        column("EXCLUSIVE", Align::Right),
        column("SHARED", Align::Right),
        column("REFERENCED", Align::Right),
        column("PATH", Align::Left),
    ];
    let size = |bytes: u64| sizes.format.text(bytes.into());
    let cells = |dir: &ExtentDir<'_>| {
        let sums = dir.sums();
        let bytes = [
            sums.disk_bytes,
            sums.exclusive_bytes,
            sums.shared_bytes(),
            sums.referenced_bytes,
        ];
        let mut cells: Vec<_> = bytes.map(|bytes| Cell::Text(size(bytes).into())).into();
        cells.push(Cell::Name(dir.path().into()));
        cells
    };
    let table: Vec<_> = rows.iter().map(cells).collect();
    let mut out = Output::new();
    out.lines(list_table(&columns, &table, screen.terminal))?;
    out.lines([""])?;
    let total = usage.total;
    out.lines([format!(
        "{} on disk, of which deleting all frees {}.",
        size(total.disk_bytes),
        size(total.exclusive_bytes),
    )])?;
    for way in &usage.compression {
        out.lines([format!(
            "Compression {}: {} for {} ({}) in {} extents.",
            way.compression.name(),
            size(way.disk_bytes),
            size(way.plain_bytes),
            share(way.disk_bytes.into(), way.plain_bytes.into()),
            grouped(way.extents),
        )])?;
    }
    if total.inline_bytes > 0 {
        out.lines([format!(
            "Besides, {} of small files lie in the trees.",
            size(total.inline_bytes)
        )])?;
    }
    if usage.files_elsewhere > 0 {
        out.lines([format!(
            "Not in these sums: {} files on other file systems.",
            grouped(usage.files_elsewhere)
        )])?;
    }
    out.lines(ending::left_out_line(report, screen.terminal))?;
    out.finish()
}
