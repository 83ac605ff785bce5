// SPDX-License-Identifier: MIT OR Apache-2.0

//! A question to a source that failed, as the core sees it.
//!
//! The core decides on a few kinds of failures. The number of the system comes with
//! each, for messages alone: the same failure has other numbers elsewhere. A source
//! translates the errors of its system.

use crate::error::{Cause, Errno};
use crate::system::numbers;

/// A kind of failure, with the number that the system has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No entry has this name.
    NotFound(Errno),
    /// The entry is no directory.
    NotADirectory(Errno),
    /// The way leads through a link that must not be followed, or in a circle.
    Loop(Errno),
    /// Another file system begins there.
    OtherDevice(Errno),
    /// A name or a path is longer than the system takes.
    NameTooLong(Errno),
    /// It must be a regular file, and is of another type.
    NotRegular(Errno),
    /// The core makes no difference between others.
    Other(Errno),
}

/// Failures that the core finds out by itself, with the numbers that the system would give.
impl Failure {
    pub(crate) const NOT_FOUND: Failure = Failure::NotFound(Errno(numbers::NOT_FOUND));
    pub(crate) const NOT_A_DIRECTORY: Failure =
        Failure::NotADirectory(Errno(numbers::NOT_A_DIRECTORY));
    pub(crate) const LOOP: Failure = Failure::Loop(Errno(numbers::LOOP));
    pub(crate) const OTHER_DEVICE: Failure = Failure::OtherDevice(Errno(numbers::OTHER_DEVICE));
    /// The file system contradicts itself.
    pub(crate) const DAMAGED: Failure = Failure::Other(Errno(numbers::DAMAGED));
    /// The handle is of another source.
    pub(crate) const BAD_HANDLE: Failure = Failure::Other(Errno(numbers::BAD_HANDLE));
    /// There are more than a number can hold.
    pub(crate) const OVERFLOW: Failure = Failure::Other(Errno(numbers::OVERFLOW));
    /// It has more than a bound allows.
    pub(crate) const TOO_LARGE: Failure = Failure::Other(Errno(numbers::TOO_LARGE));
    /// All together have more than a bound allows.
    pub(crate) const NO_MEMORY: Failure = Failure::Other(Errno(numbers::NO_MEMORY));
    /// It must be a regular file, and is none.
    pub(crate) const NOT_REGULAR: Failure = Failure::NotRegular(Errno(numbers::INVALID));

    /// The cause as callers see it.
    pub(crate) fn cause(self) -> Cause {
        match self {
            Failure::NotRegular(errno) => Cause::NotRegular(errno),
            failure => Cause::System(failure.errno()),
        }
    }

    /// The number of the system.
    pub(crate) fn errno(self) -> Errno {
        match self {
            Failure::NotFound(errno)
            | Failure::NotADirectory(errno)
            | Failure::Loop(errno)
            | Failure::OtherDevice(errno)
            | Failure::NameTooLong(errno)
            | Failure::NotRegular(errno)
            | Failure::Other(errno) => errno,
        }
    }
}
