// SPDX-License-Identifier: MIT OR Apache-2.0

//! The last steps of a command: the answer to stdout, then the rest to stderr.
//!
//! Here the terminal is asked. The code that prints gets size and letters as values.

use crate::answer::about::About;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, line};
use crate::output::ending::{self, Errors};
use crate::output::printer::{self, Answer};
use crate::output::screen;
use crate::request::{Form, Request};
use crate::watch::signals;

/// Prints an answer in the form that the user asked for. A terminal may have another size
/// now than at the beginning.
///
/// # Errors
///
/// Returns an error if stdout does not take it.
pub(super) fn print(answer: &impl Answer, form: Form) -> Result<(), Failure> {
    let form = match form {
        Form::Screen(screen) => Form::Screen(screen.with_present_size()),
        form => form,
    };
    printer::print(answer, form)
}

/// Writes the rest of the report to stderr, and gives the exit status.
pub(super) fn conclude(request: &Request, about: &About, errors: Errors) -> ExitStatus {
    let signal = signals::caught();
    let form = ending::Form {
        is_screen: matches!(request.form, Form::Screen(_)),
        is_document: matches!(request.form, Form::Json(_)),
        shows_plan: request.explain,
        has_signal: signal.is_some(),
        errors,
        screen: screen::stderr_or_default(),
    };
    let (lines, status) = ending::last_lines(about, &form);
    for text in lines {
        line(&text);
    }
    signal.map_or(status, ExitStatus::Interrupted)
}
