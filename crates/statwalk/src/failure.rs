// SPDX-License-Identifier: MIT OR Apache-2.0

//! Failures: the reasons for which a command gives no answer.

use std::fmt;
use std::io;

use statwalk_core::Errno;
use statwalk_view::{Charset, escape};

use crate::exit_status::ExitStatus;
use crate::output::Stderr;
use crate::watch::signals;

/// The reason for which a command gives no answer.
///
/// An entry that statwalk cannot read is no failure but part of the answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A flag or a word has no meaning.
    Usage(String),
    /// The scan cannot begin.
    Scan(statwalk_core::Error),
    /// Stdout does not take the answer.
    Output(io::Error),
}

impl From<statwalk_core::Error> for Failure {
    fn from(error: statwalk_core::Error) -> Failure {
        Failure::Scan(error)
    }
}

impl Failure {
    /// Writes the reason to stderr, and gives the exit status.
    pub(crate) fn report(self) -> ExitStatus {
        let status = match &self {
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
                say(&self.to_string());
                ExitStatus::Failed
            }
        };
        signals::caught().map_or(status, ExitStatus::Interrupted)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) => f.write_str(message),
            Failure::Output(error) => write!(f, "cannot write the output: {}", reason(error)),
            Failure::Scan(error) => match (error.io_error(), error.path()) {
                (Some(cause), Some(path)) => {
                    let path = escape(path, Charset::Unicode);
                    let op = error.op().name();
                    write!(f, "cannot {op} {path}: {}", reason(cause))
                }
                (cause, path) => {
                    let text = error.to_string();
                    let text = escape(text.as_bytes(), Charset::Unicode);
                    match (cause, path) {
                        // The text of the engine begins with the path.
                        (None, Some(_)) => write!(f, "cannot {} {text}", error.op().name()),
                        // The text begins with the operation.
                        (Some(_), _) => write!(f, "cannot {text}"),
                        (None, None) => f.write_str(&text),
                    }
                }
            },
        }
    }
}

/// Ends the program where the system refuses memory. Nothing here allocates.
#[cfg_attr(test, allow(dead_code, reason = "tests keep their own allocator"))]
pub(crate) fn out_of_memory(bytes: usize) -> ! {
    use io::Write as _;
    crate::browse::give_terminal_back();
    let mut text = [0; 128];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "statwalk: cannot allocate memory: the system or a limit refuses {bytes} bytes"
    );
    let length = 128 - rest.len();
    // Where stderr is closed, there is no reader.
    let _ = rustix::io::write(rustix::stdio::stderr(), &text[..length]);
    statwalk_sys::allocator::end_process(ExitStatus::Failed.code())
}

/// Ends the program where the standard library found no memory for itself. It has said so.
#[cfg_attr(test, allow(dead_code, reason = "tests keep their own end"))]
pub(crate) fn aborted() -> ! {
    crate::browse::give_terminal_back();
    statwalk_sys::allocator::end_process(ExitStatus::Failed.code())
}

/// The system's words for an error, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => Errno(number).to_string(),
        None => error.to_string(),
    }
}

/// Writes a line to stderr, if there is one.
pub(crate) fn say(message: &str) {
    line(&format!("statwalk: {message}"));
}

/// Writes a line to stderr as it is.
pub(crate) fn line(text: &str) {
    use io::Write as _;
    // One write a line, so that lines of several programs do not mix. Where stderr is
    // closed, there is no reader.
    let _ = Stderr.write_all(format!("{text}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_cause_without_numbers() {
        let full = io::Error::from_raw_os_error(28);
        assert_eq!(
            Failure::Output(full).to_string(),
            "cannot write the output: no space left on device"
        );
        let file = std::path::Path::new("/nonexistent/\x1b[2J");
        let error = statwalk_core::Exclusions::new()
            .glob_file(file)
            .unwrap_err();
        assert_eq!(
            Failure::from(error).to_string(),
            r"cannot read patterns from /nonexistent/\x1b[2J: no such file or directory"
        );
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let closed = io::Error::from_raw_os_error(32);
        assert_eq!(Failure::Output(closed).report(), ExitStatus::Complete);
    }
}
