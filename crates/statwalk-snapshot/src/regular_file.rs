// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opens a file of a snapshot, and nothing that only has its name.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::Error;

/// Opens a file to read it. An error of the system is left to the caller.
///
/// A FIFO would keep open(2) waiting for a writer, and a signal that is noted does not end that.
pub(crate) fn open(path: &Path) -> std::io::Result<Result<File, Error>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    Ok(match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::damaged("not a regular file").at(path)),
    })
}
