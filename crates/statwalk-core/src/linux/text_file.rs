// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files of text that decide what is left out, read whole.
//!
//! Unlike `std::fs::read`, which makes a call again as often as it is
//! interrupted: a file system in user space can answer EINTR for ever.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, StatxFlags, openat};
use rustix::io::Errno;

use crate::entry::FileType;
use crate::linux::statx::{by_descriptor, uninterrupted};

/// How much is read at once.
const PIECE: usize = 8 << 10;

/// Reads a file to its end, and waits for it: it may be a pipe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = uninterrupted(|| openat(CWD, path, flags, Mode::empty()))?;
    Ok(read_start(file.as_fd(), usize::MAX)?)
}

/// Reads at most `max` bytes of a regular file, and waits for nothing else.
pub(crate) fn read_regular(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    // O_NONBLOCK: a FIFO of this name must not hold the scan.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = uninterrupted(|| openat(CWD, path, flags, Mode::empty()))?;
    let start = read_start_of_regular(file.as_fd(), max)?;
    start.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// As [`read_regular`], of what is open; absent where it is something else.
pub(crate) fn read_start_of_regular(
    file: BorrowedFd<'_>,
    max: usize,
) -> Result<Option<Vec<u8>>, Errno> {
    let found = by_descriptor(file, StatxFlags::TYPE)?;
    match FileType::of_mode(found.stx_mode) {
        FileType::File => read_start(file, max).map(Some),
        _ => Ok(None),
    }
}

fn read_start(file: BorrowedFd<'_>, max: usize) -> Result<Vec<u8>, Errno> {
    let mut text = Vec::new();
    while text.len() < max {
        let known = text.len();
        text.resize(known.saturating_add(PIECE).min(max), 0);
        let count = uninterrupted(|| rustix::io::read(file, &mut text[known..]))?;
        text.truncate(known + count);
        if count == 0 {
            break;
        }
    }
    Ok(text)
}
