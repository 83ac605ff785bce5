// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk errors`: every path that could not be read, with the reason.
//!
//! Reads what the default view reads: an error that only a stat meets is met.

use statwalk_core::{EntryError, Report, Totals};
use statwalk_view::{Align, Cell, Column, SizeFormat, grouped, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ErrorsFlags;
use crate::output::Output;
use crate::output::ending::{self, Errors};
use crate::output::json::{self, Counted, NothingElse};
use crate::output::plain::Rows;
use crate::output::screen::Screen;
use crate::request::{Form, Request};
use crate::watch::watch;

pub(super) fn run(flags: ErrorsFlags) -> Result<ExitStatus, Failure> {
    let mut request = Request::new(&flags.scan, flags.paths)?;
    request.scan = request.scan.errors_kept(usize::MAX);
    request.limit_depth(flags.max_depth);
    let progress = request.progress(Some(SizeFormat::default()));
    let outcome = watch(&request.scan, &Totals::with_sizes(), progress, &mut ())?;
    let mut report = outcome.report;
    report.errors.truncate(flags.lines.unwrap_or(usize::MAX));
    match request.form {
        Form::Screen(screen) => print_table(&report, screen)?,
        Form::Rows(end) => {
            let mut rows = Rows::new(end);
            for error in &report.errors {
                rows.row(&[error.op.name(), &error.cause.to_string()], &error.path)?;
            }
            rows.finish()?;
        }
        Form::Json(screen) => {
            let (totals, counted) = (&outcome.output, Counted::Sizes);
            json::write(&request, screen, &report, totals, counted, NothingElse {})?;
        }
    }
    Ok(ending::conclude(&request, &report, Errors::Told))
}

fn print_table(report: &Report, screen: Screen) -> Result<(), Failure> {
    let mut out = Output::new();
    let sum = report.sum();
    if !report.errors.is_empty() {
        let column = |title| Column {
            title,
            align: Align::Left,
        };
        let columns = [column("DOING"), column("REASON"), column("PATH")];
        let rows: Vec<_> = report.errors.iter().map(cells).collect();
        out.lines(list_table(&columns, &rows, screen.terminal))?;
        out.lines([""])?;
    }
    let mut text = match sum.unreadable {
        0 if sum.changed_dirs > 0 => "Everything could be opened".to_owned(),
        0 => "Everything could be read".to_owned(),
        1 => "1 entry could not be read".to_owned(),
        count => format!("{} entries could not be read", grouped(count)),
    };
    match sum.changed_dirs {
        0 => {}
        1 => text.push_str("; 1 directory changed while it was read"),
        count => {
            let count = grouped(count);
            text.push_str(&format!(
                "; {count} directories changed while they were read"
            ));
        }
    }
    if sum.vanished > 0 {
        text.push_str(&format!(
            "; {} vanished while scanning",
            grouped(sum.vanished)
        ));
    }
    if report.interrupted {
        text.push_str("; interrupted, lower bound");
    }
    out.lines([text + "."])?;
    out.finish()
}

fn cells(error: &EntryError) -> Vec<Cell<'_>> {
    vec![
        Cell::Text(error.op.name().into()),
        Cell::Text(error.cause.to_string().into()),
        Cell::Name((&error.path).into()),
    ]
}
