// SPDX-License-Identifier: MIT OR Apache-2.0

//! The last steps of a command: the answer to stdout, then the rest to stderr.
//!
//! Here the terminal is asked. The code that prints gets size and letters as values.

use std::ffi::OsStr;
use std::io;

use crate::answer::about::About;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::FormFlags;
use crate::flags::command_names::{is_command, similar_command};
use crate::flags::foreign::of_other_program;
use crate::output::ending::{self, Errors};
use crate::output::printer::{self, Answer};
use crate::request::{Form, Request, RowEnd};
use crate::system::screen;
use crate::system::signals;
use crate::system::stdio::{line, say};

/// The form that the flags select. Without one, a terminal gets a picture or a table, and
/// everything else gets rows.
pub(super) fn form_of(flags: &FormFlags) -> Form {
    let screen = || screen::of_stdout(flags.color);
    let wants_table = flags.table || flags.width.is_some();
    match (flags.json, flags.print0) {
        (true, _) => Form::Json(screen()),
        (false, true) => Form::Rows(RowEnd::Nul),
        (false, false) if wants_table => Form::Screen(screen::table(flags.color, flags.width)),
        (false, false) => screen().map_or(Form::Rows(RowEnd::Newline), Form::Screen),
    }
}

/// Prints an answer in the form that the user asked for. A terminal may have another size
/// now than at the beginning.
pub(super) fn print(answer: &impl Answer, form: Form) -> Result<(), Failure> {
    let form = match form {
        Form::Screen(screen) => Form::Screen(screen.with_present_size()),
        form => form,
    };
    printer::print(answer, form)
}

/// The remark on a missing root that is perhaps no path.
fn hint(word: &OsStr) -> String {
    if is_command(word) {
        return " (a command must be the first word)".to_owned();
    }
    if let Some(tip) = of_other_program(word) {
        return format!("; {tip}");
    }
    if cfg!(feature = "snapshot") && word.as_encoded_bytes().contains(&b'@') {
        return "; a snapshot has a name such as /home@last, /home@1 or /home@7d".to_owned();
    }
    similar_command(word)
        .map(|name| format!("; try the command 'statwalk {name}'"))
        .unwrap_or_default()
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
        hint,
        screen: screen::stderr_or_default(),
    };
    let (lines, status) = ending::last_lines(about, &form);
    for text in lines {
        line(&text);
    }
    signal.map_or(status, ExitStatus::Interrupted)
}

/// Writes the reason of a failure to stderr, and gives the exit status.
pub(crate) fn fail(failure: Failure) -> ExitStatus {
    let status = match &failure {
        // The reader has closed the pipe, as in `statwalk | head`. A socket with
        // unread bytes gives ECONNRESET instead (unix(7)).
        Failure::Output(error)
            if matches!(
                error.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ) =>
        {
            ExitStatus::Complete
        }
        _ => {
            say(&failure.to_string());
            ExitStatus::Failed
        }
    };
    signals::caught().map_or(status, ExitStatus::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let closed = io::Error::from_raw_os_error(32);
        assert_eq!(fail(Failure::Output(closed)), ExitStatus::Complete);
    }
}
