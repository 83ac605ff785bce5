// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directory from which the relative roots of a scan lead.
//!
//! A process can change its working directory while workers go on, and a later root would
//! then be another one of the same name.

use std::ffi::{CStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};

use crate::linux::statx::uninterrupted;

/// The working directory of the process when a scan began.
pub(crate) struct WorkingDirectory(Option<OwnedFd>);

impl WorkingDirectory {
    /// The one of now. Nothing is opened where no root is relative.
    ///
    /// Where it cannot be opened, that of each later moment stands for it.
    pub(crate) fn of(roots: &[Arc<CStr>]) -> WorkingDirectory {
        let mut relative = roots
            .iter()
            .filter(|root| !root.to_bytes().starts_with(b"/"));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || uninterrupted(|| openat(CWD, c".", flags, Mode::empty())).ok();
        WorkingDirectory(relative.next().and_then(|_| open()))
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
