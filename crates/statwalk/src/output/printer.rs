// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one way of an answer to stdout: as lines, as rows or as JSON.

use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::output::json;
use crate::output::plain::Rows;
use crate::request::Form;
use crate::system::screen::Screen;

/// On a screen of fewer rows, the sentences below a table are brief.
pub(crate) const ROWS_FOR_SENTENCES: usize = 16;

/// An answer, in each form that a user can ask for.
pub(crate) trait Answer {
    /// The lines for a person, none wider than the screen.
    fn lines(&self, screen: Screen) -> Vec<String>;

    /// Writes the rows for a program.
    fn write_rows(&self, rows: &mut Rows) -> Result<(), Failure>;

    /// The JSON document.
    fn document(&self) -> impl Serialize;
}

/// Prints an answer in the form that the user asked for.
pub(crate) fn print(answer: &impl Answer, form: Form) -> Result<(), Failure> {
    match form {
        Form::Screen(screen) => {
            let mut out = Output::new();
            out.lines(answer.lines(screen))?;
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
