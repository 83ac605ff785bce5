// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries that could not be read or removed.

use std::fmt;
use std::io;

use rustix::io::Errno;
use statwalk_view::{Charset, escape};

use crate::refusal::Refusal;

/// So many failures are listed; all are counted.
pub const FAILURES_LISTED_MAX: usize = 1_000;

/// The step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Opening a directory.
    Open,
    /// Reading a directory.
    List,
    /// Reading attributes.
    Stat,
    /// Removing a name.
    Remove,
    /// Moving an item to the trash.
    Trash,
    /// Moving an item back from the trash.
    Restore,
    /// Writing the line of the journal.
    Journal,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Open => "open",
            Operation::List => "list",
            Operation::Stat => "stat",
            Operation::Remove => "remove",
            Operation::Trash => "move to the trash",
            Operation::Restore => "restore",
            Operation::Journal => "write the journal for",
        }
    }
}

/// The reason of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// An error number of the kernel.
    Errno(i32),
    /// Device, inode, type or modification time are not the confirmed ones.
    Changed,
    /// Another entry has the name of the item in the trash.
    Replaced,
    /// Nothing has the name of the item in the trash.
    NotInTrash,
    /// The item cannot go back to its path.
    StaysInTrash {
        /// Its path in the trash.
        place: Vec<u8>,
        /// The error number of the kernel.
        errno: i32,
    },
    /// Another entry took the place of the item just before the move, and cannot go back.
    OtherInTrash {
        /// Its path in the trash.
        place: Vec<u8>,
    },
    /// Another process moved the directory while it was in work.
    Moved,
    /// Something is mounted there.
    Mount,
    /// The root, the home, the working directory, or a directory above.
    Protected,
    /// The item must not be removed.
    Refused(Refusal),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Errno(number) => {
                let text = io::Error::from_raw_os_error(*number).to_string();
                let text = text.split(" (os error").next().unwrap_or_default();
                write!(f, "{}", text.to_lowercase())
            }
            Cause::Changed => write!(f, "it changed after the confirmation"),
            Cause::Replaced => write!(f, "the trash has another entry in its place, which stays"),
            Cause::NotInTrash => write!(f, "it is no longer in the trash"),
            Cause::StaysInTrash { place, errno } => {
                let place = escape(place, Charset::Unicode);
                write!(f, "it stays at {place}: {}", Cause::Errno(*errno))
            }
            Cause::OtherInTrash { place } => {
                let place = escape(place, Charset::Unicode);
                write!(
                    f,
                    "another entry took its place and went to {place}, where it stays"
                )
            }
            Cause::Moved => write!(f, "another process moved it"),
            Cause::Mount => write!(f, "another file system is mounted there"),
            Cause::Protected => write!(f, "the root, the home or the working directory"),
            Cause::Refused(refusal) => write!(f, "{refusal}"),
        }
    }
}

// No source: its words are those of the refusal or of the number.
impl std::error::Error for Cause {}

impl From<Errno> for Cause {
    fn from(errno: Errno) -> Cause {
        match errno {
            // `openat2` with RESOLVE_NO_XDEV, and `unlinkat` at a mount point.
            Errno::XDEV => Cause::Mount,
            errno => Cause::Errno(errno.raw_os_error()),
        }
    }
}

impl From<Refusal> for Cause {
    fn from(refusal: Refusal) -> Cause {
        Cause::Refused(refusal)
    }
}

/// An entry, the step that failed there, and the reason.
///
/// # Examples
///
/// ```
/// use statwalk_remove::{Cause, Failure, Operation};
///
/// let failure = Failure { path: b"/srv/a\nb".to_vec(), operation: Operation::Remove, cause: Cause::Changed };
/// assert_eq!(failure.to_string(), r"remove /srv/a\nb: it changed after the confirmation");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The entry.
    pub path: Vec<u8>,
    /// The step.
    pub operation: Operation,
    /// The reason.
    pub cause: Cause,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escape(&self.path, Charset::Unicode);
        write!(f, "{} {path}: {}", self.operation.name(), self.cause)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Failures: the first of them, and the count of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// The first [`FAILURES_LISTED_MAX`].
    pub listed: Vec<Failure>,
    /// The count of all.
    pub count: u64,
}

impl Failures {
    /// Counts a failure, and makes its path only if it is listed.
    pub(crate) fn add(
        &mut self,
        operation: Operation,
        cause: impl Into<Cause>,
        path: impl FnOnce() -> Vec<u8>,
    ) {
        self.count += 1;
        if self.listed.len() < FAILURES_LISTED_MAX {
            self.listed.push(Failure {
                path: path(),
                operation,
                cause: cause.into(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_becomes_text() {
        assert_eq!(Cause::from(Errno::ACCESS).to_string(), "permission denied");
        assert_eq!(Cause::from(Errno::XDEV), Cause::Mount);
    }

    #[test]
    fn the_list_has_a_bound_and_the_count_has_none() {
        let mut failures = Failures::default();
        for _ in 0..FAILURES_LISTED_MAX + 5 {
            failures.add(Operation::Remove, Cause::Changed, Vec::new);
        }
        assert_eq!(failures.listed.len(), FAILURES_LISTED_MAX);
        assert_eq!(failures.count, 1_005);
    }
}
