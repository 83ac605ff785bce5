// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directory from which the relative roots of a scan lead.
//!
//! A process can change its working directory while workers go on, and a later root would
//! then be another one of the same name.

use std::ffi::{CStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use crate::linux::statx::uninterrupted;

/// The working directory of the process when a scan began, or the directory that the caller
/// has given in its place.
pub(crate) struct WorkingDirectory(Option<OwnedFd>);

impl WorkingDirectory {
    /// The given one, or that of now. Nothing is opened where no root is relative.
    ///
    /// Where that of now cannot be opened, that of each later moment stands for it. An error
    /// if the given one cannot be opened.
    pub(crate) fn of(roots: &[Arc<CStr>], given: Option<&Path>) -> Result<WorkingDirectory, Errno> {
        if roots.iter().all(|root| root.to_bytes().starts_with(b"/")) {
            return Ok(WorkingDirectory(None));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &Path| uninterrupted(|| openat(CWD, path, flags, Mode::empty()));
        Ok(WorkingDirectory(match given {
            Some(path) => Some(open(path)?),
            None => open(Path::new(".")).ok(),
        }))
    }

    /// Its path. Empty where it is not open.
    pub(crate) fn path(&self) -> PathBuf {
        let Some(open) = &self.0 else {
            return PathBuf::new();
        };
        let link = format!("/proc/self/fd/{}", open.as_raw_fd());
        let path = readlinkat(CWD, link, Vec::with_capacity(4097));
        path.map_or_else(
            |_| PathBuf::new(),
            |path| OsString::from_vec(path.into_bytes()).into(),
        )
    }
}

impl AsFd for WorkingDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_ref().map_or(CWD, AsFd::as_fd)
    }
}
