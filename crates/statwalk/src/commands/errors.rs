// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk errors`: every path that could not be read, with the reason.
//!
//! Reads what the default view reads: an error that only a stat meets is met.

use serde::Serialize;
use statwalk_core::{EntryError, Totals};
use statwalk_view::{Align, Cell, Column, SizeFormat, grouped, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ErrorsFlags;
use crate::output::ending::Errors;
use crate::output::json::{Counted, NothingElse};
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned, print};
use crate::output::screen::Screen;
use crate::request::Request;
use crate::watch::watch;

/// The errors of a scan.
struct ErrorsAnswer {
    scanned: Scanned,
}

pub(super) fn run(flags: ErrorsFlags) -> Result<ExitStatus, Failure> {
    let mut request = Request::new(&flags.scan, flags.paths)?;
    request.scan = request.scan.errors_kept(usize::MAX);
    request.limit_depth(flags.max_depth);
    let progress = request.progress(Some(SizeFormat::default()));
    let outcome = watch(&request.scan, &Totals::with_sizes(), progress, &mut ())?;
    let mut report = outcome.report;
    report.errors.truncate(flags.lines.unwrap_or(usize::MAX));
    let answer = ErrorsAnswer {
        scanned: Scanned {
            request,
            report,
            totals: outcome.output,
        },
    };
    print(&answer, answer.scanned.request.form)?;
    Ok(answer.scanned.conclude(Errors::Told))
}

impl Answer for ErrorsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let mut lines = Vec::new();
        let errors = &self.scanned.report.errors;
        if !errors.is_empty() {
            let column = |title| Column {
                title,
                align: Align::Left,
            };
            let columns = [column("DOING"), column("REASON"), column("PATH")];
            let rows: Vec<_> = errors.iter().map(cells).collect();
            lines.extend(list_table(&columns, &rows, screen.terminal));
            lines.push(String::new());
        }
        lines.push(self.verdict());
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for error in &self.scanned.report.errors {
            rows.row(&[error.op.name(), &error.cause.to_string()], &error.path)?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        self.scanned.document(Counted::Sizes, NothingElse {})
    }
}

impl ErrorsAnswer {
    /// The sentence below the table.
    fn verdict(&self) -> String {
        let report = &self.scanned.report;
        let sum = report.sum();
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
        text + "."
    }
}

fn cells(error: &EntryError) -> Vec<Cell<'_>> {
    vec![
        Cell::Text(error.op.name().into()),
        Cell::Text(error.cause.to_string().into()),
        Cell::Name((&error.path).into()),
    ]
}
