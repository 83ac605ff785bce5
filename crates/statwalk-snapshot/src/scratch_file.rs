// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files without a name: they go away with the process, whatever ends it.

use std::fs::File;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::error::Error;

/// Makes a file in a folder, on whose file system its bytes lie.
///
/// Where the file system has no files without a name, it has one for a moment.
pub(crate) fn scratch_file(folder: &Path) -> Result<File, Error> {
    let failed = |errno: Errno| Error::io("create a file in", folder, errno);
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, folder, flags, mode) {
        Ok(file) => return Ok(File::from(file)),
        // EISDIR comes from kernels and file systems that do not know the flag.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) => {}
        Err(errno) => return Err(failed(errno)),
    }
    // The folder belongs to this writer alone.
    let own = folder.join("part-merge");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, &own, flags, mode).map_err(failed)?;
    rustix::fs::unlinkat(CWD, &own, AtFlags::empty()).map_err(failed)?;
    Ok(File::from(file))
}
