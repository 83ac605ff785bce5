// SPDX-License-Identifier: MIT OR Apache-2.0

//! The system's numbers of the failures that the core finds out by itself.

#[cfg(unix)]
pub(crate) use of_unix::*;
#[cfg(windows)]
pub(crate) use of_windows::*;

/// `errno.h` of macOS and FreeBSD, which agree about these. macOS has no number for a
/// damaged file system, and gives EIO.
#[cfg(unix)]
mod of_unix {
    pub(crate) const NOT_FOUND: i32 = 2;
    pub(crate) const NOT_A_DIRECTORY: i32 = 20;
    pub(crate) const LOOP: i32 = 62;
    pub(crate) const OTHER_DEVICE: i32 = 18;
    pub(crate) const DAMAGED: i32 = 5;
    pub(crate) const BAD_HANDLE: i32 = 9;
    pub(crate) const OVERFLOW: i32 = 84;
    pub(crate) const TOO_LARGE: i32 = 27;
    pub(crate) const NO_MEMORY: i32 = 12;
    pub(crate) const INVALID: i32 = 22;
}

/// `winerror.h`.
#[cfg(windows)]
mod of_windows {
    /// `ERROR_FILE_NOT_FOUND`
    pub(crate) const NOT_FOUND: i32 = 2;
    /// `ERROR_DIRECTORY`
    pub(crate) const NOT_A_DIRECTORY: i32 = 267;
    /// `ERROR_CANT_RESOLVE_FILENAME`
    pub(crate) const LOOP: i32 = 1921;
    /// `ERROR_NOT_SAME_DEVICE`
    pub(crate) const OTHER_DEVICE: i32 = 17;
    /// `ERROR_FILE_CORRUPT`
    pub(crate) const DAMAGED: i32 = 1392;
    /// `ERROR_INVALID_HANDLE`
    pub(crate) const BAD_HANDLE: i32 = 6;
    /// `ERROR_ARITHMETIC_OVERFLOW`
    pub(crate) const OVERFLOW: i32 = 534;
    /// `ERROR_FILE_TOO_LARGE`
    pub(crate) const TOO_LARGE: i32 = 223;
    /// `ERROR_NOT_ENOUGH_MEMORY`
    pub(crate) const NO_MEMORY: i32 = 8;
    /// `ERROR_INVALID_PARAMETER`
    pub(crate) const INVALID: i32 = 87;
}
