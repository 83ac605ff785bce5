// SPDX-License-Identifier: MIT OR Apache-2.0

//! Errors of a snapshot: of its files, or of the rows that should become one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A snapshot that could not be written or read.
///
/// Its text is a lowercase fragment, to be read after "cannot read the snapshot: ".
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    io: Option<io::Error>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system has refused a call.
    Io,
    /// The folder has no manifest, or one of something else.
    NotASnapshot,
    /// The snapshot has a format that came after this program.
    NewerFormat,
    /// The files contradict the format, the manifest or each other.
    Damaged,
    /// The name of the new snapshot is taken.
    Exists,
    /// The rows cannot become a snapshot.
    Unfit,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            path: None,
            message: message.into(),
            io: None,
        }
    }

    pub(crate) fn damaged(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Damaged, message)
    }

    pub(crate) fn unfit(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unfit, message)
    }

    /// An operation that the system has refused.
    pub(crate) fn io(operation: &str, path: &Path, error: impl Into<io::Error>) -> Error {
        Error {
            kind: ErrorKind::Io,
            path: Some(path.to_owned()),
            message: operation.to_owned(),
            io: Some(error.into()),
        }
    }

    /// The same about a file, unless it names one.
    pub(crate) fn at(mut self, path: &Path) -> Error {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The words without the file.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The file or folder that it is about, where there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The error of the system, where there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        self.io.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.io, &self.path) {
            (Some(error), Some(path)) => {
                write!(f, "{} {}: {error}", self.message, path.display())
            }
            (None, Some(path)) => write!(f, "{}: {}", path.display(), self.message),
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.io.as_ref().map(|error| error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_file() {
        let damaged = Error::damaged("rows are missing").at(Path::new("/s/entries"));
        assert_eq!(damaged.to_string(), "/s/entries: rows are missing");
        let refused = Error::io("open", Path::new("/s"), io::ErrorKind::NotFound);
        assert_eq!(refused.to_string(), "open /s: entity not found");
        assert_eq!(refused.kind(), ErrorKind::Io);
        assert!(refused.io_error().is_some());
    }
}
