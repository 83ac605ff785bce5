// SPDX-License-Identifier: MIT OR Apache-2.0

//! Failures: the reasons for which a command gives no answer.

use std::fmt;
use std::io;

use statwalk_view::{Charset, escape};

use crate::system::stdio::reason;

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
}
