// SPDX-License-Identifier: MIT OR Apache-2.0

//! Errors of a scan, and of one entry.
//!
//! A scan that met unreadable entries has succeeded, with errors as data
//! ([`EntryError`]). Only a scan that could not begin is an [`Error`].

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::path::{bytes_of, path_buf};

/// The operation during which an error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Op {
    /// Opening a directory.
    Open,
    /// Listing a directory that was opened.
    Read,
    /// Reading the attributes of an entry.
    Stat,
    /// Following a symbolic link.
    Follow,
    /// Reading a file with patterns.
    Patterns,
    /// Giving entries to the sink.
    Collect,
}

impl Op {
    /// The word for it, as in messages and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Op::Open => "open",
            Op::Read => "read",
            Op::Stat => "stat",
            Op::Follow => "follow",
            Op::Patterns => "read patterns from",
            Op::Collect => "collect entries",
        }
    }
}

/// An error number of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub i32);

/// The system's words for the error, in lower case, without the number.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        // "Input/output error" begins a sentence; here it ends one.
        let mut chars = text.chars();
        if let Some(first) = chars.next() {
            write!(f, "{}{}", first.to_lowercase(), chars.as_str())?;
        }
        Ok(())
    }
}

impl std::error::Error for Errno {}

/// The same number: `raw_os_error` and `kind` of the new error work.
impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.0)
    }
}

/// Why an entry could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cause {
    /// The system's answer.
    System(Errno),
    /// A directory changed each time it was read: what was read last counts.
    Changed,
    /// A file with patterns is a FIFO, a device or a socket. The number is the system's for
    /// a wrong type.
    NotRegular(Errno),
}

impl Cause {
    /// The error number, where the system gave one.
    #[must_use]
    pub fn errno(self) -> Option<Errno> {
        match self {
            Cause::System(errno) | Cause::NotRegular(errno) => Some(errno),
            Cause::Changed => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::System(errno) => errno.fmt(f),
            Cause::Changed => f.write_str("changed while it was read"),
            Cause::NotRegular(_) => f.write_str("not a regular file"),
        }
    }
}

// No source: its words are those of the number, which `Cause::errno` gives.
impl std::error::Error for Cause {}

/// Keeps the error number, where there is one.
impl From<Cause> for io::Error {
    fn from(cause: Cause) -> io::Error {
        match cause {
            Cause::System(errno) | Cause::NotRegular(errno) => errno.into(),
            Cause::Changed => io::Error::other(cause),
        }
    }
}

/// An entry that could not be read, or a directory that did not hold still.
///
/// `?` turns it into an [`Error`] and into the errors of `std`, anyhow and others.
///
/// ```
/// use statwalk_core::{Cause, EntryError, Errno, Op};
/// let error = EntryError {
///     path: b"/data/hr".to_vec(),
///     op: Op::Open,
///     cause: Cause::System(Errno(13)),
///     root: 0,
/// };
/// assert_eq!(error.to_string(), "open /data/hr: permission denied");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EntryError {
    /// The path, beginning with its root as the caller wrote it.
    pub path: Vec<u8>,
    /// The operation that failed.
    pub op: Op,
    /// Why.
    pub cause: Cause,
    /// Which root it belongs to.
    pub root: usize,
}

impl EntryError {
    /// The path as `std` has it.
    #[must_use]
    pub fn to_path_buf(&self) -> PathBuf {
        path_buf(self.path.clone())
    }
}

/// With a readable path: `main` shows the errors that it returns in this form.
impl fmt::Debug for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryError")
            .field("path", &self.to_path_buf())
            .field("op", &self.op)
            .field("cause", &self.cause)
            .field("root", &self.root)
            .finish()
    }
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = String::from_utf8_lossy(&self.path);
        write!(f, "{} {path}: {}", self.op.name(), self.cause)
    }
}

impl std::error::Error for EntryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// For a caller to whom an entry that cannot be read is the end.
///
/// ```
/// use statwalk_core::{Error, Fields, Scan};
///
/// fn bytes_below(root: &str) -> Result<u64, Error> {
///     let mut bytes = 0;
///     let mut entries = Scan::new(root).fields(Fields::SIZE).entries()?;
///     for entry in &mut entries {
///         bytes += entry?.size_bytes().unwrap_or(0);
///     }
///     assert!(entries.finish().is_complete());
///     Ok(bytes)
/// }
/// assert!(bytes_below("src")? > 0);
/// assert_eq!(bytes_below("absent").expect_err("no such root").path(), Some(&b"absent"[..]));
/// # Ok::<(), Error>(())
/// ```
impl From<EntryError> for Error {
    fn from(error: EntryError) -> Error {
        let path = path_buf(error.path);
        Error::io(error.op, Some(path), error.cause.into())
    }
}

/// Keeps the error number where there is one, and then, as the errors of `std`, no path.
impl From<EntryError> for io::Error {
    fn from(error: EntryError) -> io::Error {
        match error.cause.errno() {
            Some(errno) => errno.into(),
            None => io::Error::other(error),
        }
    }
}

/// A scan that could not begin, or that its sink ended, or that its caller ended because
/// of an [`EntryError`].
#[derive(Debug)]
pub struct Error {
    op: Op,
    path: Option<PathBuf>,
    kind: ErrorKind,
}

#[derive(Debug)]
enum ErrorKind {
    Io(io::Error),
    Pattern(String),
}

impl Error {
    /// An operation that failed, and its path where there is one.
    ///
    /// ```
    /// use statwalk_core::{Error, Op};
    /// let error = Error::io(Op::Open, Some("/srv".into()), std::io::ErrorKind::Other.into());
    /// assert_eq!(error.to_string(), "open /srv: other error");
    /// ```
    #[must_use]
    pub fn io(op: Op, path: Option<PathBuf>, error: io::Error) -> Error {
        Error {
            op,
            path,
            kind: ErrorKind::Io(error),
        }
    }

    pub(crate) fn pattern(path: Option<PathBuf>, reason: String) -> Error {
        Error {
            op: Op::Patterns,
            path,
            kind: ErrorKind::Pattern(reason),
        }
    }

    /// The path that the error is about, where there is one.
    #[must_use]
    pub fn path(&self) -> Option<&[u8]> {
        self.path.as_deref().map(bytes_of)
    }

    /// The same path as `std` has it.
    #[must_use]
    pub fn to_path_buf(&self) -> Option<PathBuf> {
        self.path.clone()
    }

    /// The operation that failed.
    #[must_use]
    pub fn op(&self) -> Op {
        self.op
    }

    /// The underlying error, where there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Pattern(_) => None,
        }
    }
}

/// A lowercase fragment, to be read after "failed to".
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, &self.path) {
            (ErrorKind::Pattern(reason), None) => write!(f, "{reason}"),
            (ErrorKind::Pattern(reason), Some(path)) => write!(f, "{}: {reason}", path.display()),
            (ErrorKind::Io(error), Some(path)) => {
                write!(f, "{} {}: {error}", self.op.name(), path.display())
            }
            (ErrorKind::Io(error), None) => write!(f, "{}: {error}", self.op.name()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.io_error().map(|error| error as _)
    }
}

/// Keeps the error number where there is one, and then, as the errors of `std`, no path.
///
/// ```
/// use std::io;
/// use statwalk_core::Scan;
///
/// fn count(root: &str) -> io::Result<usize> {
///     let mut count = 0;
///     let mut entries = Scan::new(root).entries()?;
///     for entry in &mut entries {
///         entry?;
///         count += 1;
///     }
///     assert!(entries.finish().is_complete());
///     Ok(count)
/// }
/// let error = count("absent").expect_err("no such root");
/// assert_eq!((error.kind(), error.raw_os_error()), (io::ErrorKind::NotFound, Some(2)));
/// ```
impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let number = error
            .io_error()
            .map(|cause| (cause.raw_os_error(), cause.kind()));
        match number {
            Some((Some(number), _)) => io::Error::from_raw_os_error(number),
            Some((None, kind)) => io::Error::new(kind, error),
            None => io::Error::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

/// Errors of entries: exact counts by cause, and the errors themselves up to a limit.
#[derive(Debug, Default)]
pub(crate) struct ErrorList {
    pub(crate) kept: Vec<EntryError>,
    pub(crate) counts: Vec<(Op, Cause, u64)>,
}

impl ErrorList {
    /// Keeps an error, if fewer than `kept_max` are kept.
    pub(crate) fn keep(&mut self, kept_max: usize, error: impl FnOnce() -> EntryError) {
        if self.kept.len() < kept_max {
            self.kept.push(error());
        }
    }

    pub(crate) fn count(&mut self, op: Op, cause: Cause, more: u64) {
        match self.counts.iter_mut().find(|c| (c.0, c.1) == (op, cause)) {
            Some(count) => count.2 += more,
            None => self.counts.push((op, cause, more)),
        }
    }

    pub(crate) fn absorb(&mut self, other: ErrorList) {
        self.kept.extend(other.kept);
        for (op, cause, count) in other.counts {
            self.count(op, cause, count);
        }
    }
}
