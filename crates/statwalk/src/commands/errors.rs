// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk errors`: every path that statwalk cannot read, with the reason.
//!
//! The scan stats as the default view does, so it meets the same errors.

use serde::Serialize;
use statwalk_core::Totals;
use statwalk_view::{Align, Cell, Column, SizeFormat, counted, list_table};

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ErrorsFlags;
use crate::output::ending::{self, Errors, PathError};
use crate::output::json::NothingElse;
use crate::output::plain::Rows;
use crate::output::printer::{Answer, Scanned, print};
use crate::output::screen::Screen;
use crate::request::Request;
use crate::watch::watch;

/// The errors of a scan.
struct ErrorsAnswer {
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    scanned: Scanned,
}

pub(super) fn run(flags: ErrorsFlags) -> Result<ExitStatus, Failure> {
    let has_json = flags.scan.walk.form.json;
    if flags.scan.links.count_links && !has_json {
        let message = "--count-links counts bytes, which errors prints only with --json";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut request = Request::new(&flags.scan, flags.paths)?;
    request.scan = request.scan.errors_kept(usize::MAX);
    request.limit_depth(flags.max_depth);
    let progress = request.progress(Some(SizeFormat::default()));
    let outcome = watch(&request.scan, &Totals::new(), progress)?;
    let answer = ErrorsAnswer {
        rows_max: flags.lines,
        scanned: Scanned {
            request,
            report: outcome.report,
            totals: outcome.output,
        },
    };
    print(&answer, answer.scanned.request.form)?;
    Ok(answer.scanned.conclude(Errors::Told))
}

impl Answer for ErrorsAnswer {
    fn lines(&self, screen: Screen) -> Vec<String> {
        let mut lines = Vec::new();
        let rows: Vec<_> = self.errors().map(cells).collect();
        if !rows.is_empty() {
            let column = |title| Column::new(title, Align::Left);
            let columns = [column("DOING").optional(), column("REASON"), column("PATH")];
            lines.extend(list_table(&columns, &rows, screen.terminal));
            lines.push(String::new());
        }
        lines.push(self.verdict());
        lines
    }

    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure> {
        for error in self.errors() {
            rows.row(&[error.op.name(), &error.cause.to_string()], error.path)?;
        }
        Ok(())
    }

    fn document(&self) -> impl Serialize {
        let errors = self.errors();
        self.scanned.document_with_errors(errors, NothingElse {})
    }
}

impl ErrorsAnswer {
    fn errors(&self) -> impl Iterator<Item = PathError<'_>> {
        let errors = ending::errors(&self.scanned.request, &self.scanned.report);
        errors.take(self.rows_max.unwrap_or(usize::MAX))
    }

    /// The sentence below the table.
    fn verdict(&self) -> String {
        let report = &self.scanned.report;
        let sum = report.sum();
        let missing = report.roots.iter().filter(|root| root.missing.is_some());
        let mut parts = Vec::new();
        let missing = missing.count() as u64;
        if missing > 0 {
            let paths = counted(missing, "path", "paths");
            parts.push(format!("statwalk cannot open {paths}"));
        }
        if sum.unreadable > 0 {
            let entries = counted(sum.unreadable, "entry", "entries");
            parts.push(format!("statwalk cannot read {entries}"));
        }
        if parts.is_empty() && sum.changed_dirs == 0 {
            parts.push("statwalk can read everything".to_owned());
        }
        if sum.changed_dirs > 0 {
            let dirs = counted(sum.changed_dirs, "directory", "directories");
            parts.push(format!("{dirs} changed during the scan"));
        }
        if sum.vanished > 0 {
            let entries = counted(sum.vanished, "entry", "entries");
            parts.push(format!("{entries} vanished during the scan"));
        }
        if report.interrupted {
            parts.push("interrupted, lower bound".to_owned());
        }
        parts.join("; ") + "."
    }
}

fn cells(error: PathError<'_>) -> Vec<Cell<'_>> {
    vec![
        Cell::Text(error.op.name().into()),
        Cell::Text(error.cause.to_string().into()),
        Cell::Name(error.path.into()),
    ]
}
