// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk errors`: every path that statwalk cannot read, with the reason.
//!
//! The scan stats as the default view does, so it meets the same errors.

use serde::Serialize;
use statwalk_core::Totals;
use statwalk_view::{Align, Cell, Column, SizeFormat, counted, list_table};

use crate::answer::about::{About, PathError};
use crate::commands::delivery::{conclude, form_of, print};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ErrorsFlags;
use crate::output::ending::Errors;
use crate::output::json;
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::request::Request;
use crate::system::screen::Screen;
use crate::watch::progress::ProgressOptions;
use crate::watch::reading::read;

pub(super) struct ErrorsAnswer {
    /// The number of rows; absent where the user set none.
    rows_max: Option<usize>,
    pub(super) about: About,
}

pub(super) fn run(flags: ErrorsFlags) -> Result<ExitStatus, Failure> {
    let (request, answer) = answer_of(flags)?;
    print(&answer, request.form)?;
    Ok(conclude(&request, &answer.about, Errors::Told))
}

/// Scans, and makes the answer.
pub(super) fn answer_of(flags: ErrorsFlags) -> Result<(Request, ErrorsAnswer), Failure> {
    let has_json = flags.scan.walk.form.json;
    if flags.scan.links.count_links && !has_json {
        let message = "--count-links counts bytes, which errors prints only with --json";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut request = Request::new(&flags.scan, flags.paths, form_of(&flags.scan.walk.form))?;
    request.keep_all_errors();
    request.limit_depth(flags.max_depth);
    let progress = ProgressOptions::new(&request, Some(SizeFormat::default()));
    let read = read(&request, &Totals::new(), progress)?;
    let answer = ErrorsAnswer {
        rows_max: flags.lines,
        about: About::of_scan(&request, read.record, &read.output),
    };
    Ok((request, answer))
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
        json::of_scan(&self.about, self.errors(), ())
    }
}

impl ErrorsAnswer {
    fn errors(&self) -> impl Iterator<Item = PathError<'_>> {
        let errors = self.about.errors();
        errors.take(self.rows_max.unwrap_or(usize::MAX))
    }

    /// The sentence below the table.
    fn verdict(&self) -> String {
        let gaps = &self.about.gaps;
        let sum = &gaps.sum;
        let mut parts = Vec::new();
        let missing = self.about.missing().count() as u64;
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
        if gaps.interrupted {
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
