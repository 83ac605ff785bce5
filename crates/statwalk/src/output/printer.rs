// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one way of an answer to stdout: as lines, as rows or as JSON.

use serde::Serialize;
use statwalk_core::{Report, RootTotals};
use statwalk_view::SizeFormat;

use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::ending::{self, Errors, PathError};
use crate::output::json;
use crate::output::plain::Rows;
use crate::output::screen::Screen;
use crate::request::{Form, Request};

/// On a screen of fewer rows, the sentences below a table are brief.
pub(crate) const ROWS_FOR_SENTENCES: usize = 16;
/// A table of fewer rows would say nothing.
const ROWS_MIN: usize = 3;

/// An answer, in each form that a user can ask for.
pub(crate) trait Answer {
    /// The lines for a person, none wider than the screen.
    fn lines(&self, screen: Screen) -> Vec<String>;

    /// Writes the rows for a program.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout does not take them.
    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure>;

    /// The JSON document.
    fn document(&self) -> impl Serialize;
}

/// Prints an answer in the form that the user asked for.
///
/// # Errors
///
/// Returns an error if stdout does not take it.
pub(crate) fn print(answer: &impl Answer, form: Form) -> Result<(), Failure> {
    match form {
        Form::Screen(screen) => {
            let mut out = Output::new();
            out.lines(answer.lines(screen.with_present_size()))?;
            out.finish()
        }
        Form::Rows(end) => {
            let mut rows = Rows::new(end);
            answer.write_rows(&mut rows)?;
            rows.finish()
        }
        Form::Json(screen) => json::write(screen, &answer.document()),
    }
}

/// A finished scan: the part that the answers of all scanning commands share.
pub(crate) struct Scanned {
    pub(crate) request: Request,
    pub(crate) report: Report,
    pub(crate) totals: Vec<RootTotals>,
}

impl Scanned {
    /// The sentences below a table: the totals, and the parts of the tree that are
    /// not in them.
    pub(crate) fn closing_lines(&self, format: SizeFormat, screen: Screen) -> Vec<String> {
        let summary = ending::summary(&self.report, &self.totals);
        let mut lines = summary.lines(format, screen.terminal);
        lines.extend(ending::left_out_line(&self.report, screen.terminal));
        lines
    }

    /// The same sentences below a table that fills the screen: on few rows they are brief
    /// and give way to it.
    pub(crate) fn lines_below(&self, format: SizeFormat, screen: Screen) -> Vec<String> {
        if screen.rows >= ROWS_FOR_SENTENCES {
            return self.closing_lines(format, screen);
        }
        let summary = ending::summary(&self.report, &self.totals);
        summary.brief_lines(screen.terminal)
    }

    /// The number of rows that fit on the screen between the head of a table and
    /// `below` lines, with the errors and the prompt below them; at least three.
    pub(crate) fn rows_that_fit(&self, below: usize, screen: Screen) -> usize {
        // One line for the head, one for the prompt.
        let used = below + ending::error_lines(&self.request, &self.report) + 2;
        screen.rows.saturating_sub(used).max(ROWS_MIN)
    }

    /// The time at which the scan ended, to which ages refer: no clock is asked, so that
    /// the answer can be printed later.
    pub(crate) fn ended_ns(&self) -> i64 {
        let elapsed = i64::try_from(self.report.elapsed.as_nanos()).unwrap_or(i64::MAX);
        self.request.origin.started_ns.saturating_add(elapsed)
    }

    /// Whether any root exists: without one, a table would be a table of nothing.
    pub(crate) fn has_root(&self) -> bool {
        let mut roots = self.report.roots.iter();
        roots.any(|root| root.missing.is_none())
    }

    /// The JSON document, with the fields of one command.
    pub(crate) fn document(&self, answer: impl Serialize) -> impl Serialize {
        let errors = ending::errors(&self.request, &self.report);
        self.document_with_errors(errors, answer)
    }

    /// The JSON document with these errors.
    pub(crate) fn document_with_errors<'a>(
        &'a self,
        errors: impl Iterator<Item = PathError<'a>>,
        answer: impl Serialize,
    ) -> impl Serialize {
        json::of_scan(&self.request, &self.report, &self.totals, errors, answer)
    }

    /// Writes to stderr the rest of the report, and gives the exit status.
    pub(crate) fn conclude(&self, errors: Errors) -> ExitStatus {
        ending::conclude(&self.request, &self.report, errors)
    }
}
