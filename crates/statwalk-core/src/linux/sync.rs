// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sync of a file system before it is read in place, and the reasons against one.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::fs::syncfs;
use statwalk_sys::memory_info::MemoryInfo;

use crate::linux::privilege;
use crate::reason::{NotInPlace, Obstacle};
use crate::source::choice::SyncPolicy;

/// Whether a file system may be synced, and what that may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncLimits {
    pub(crate) policy: SyncPolicy,
    /// The most unwritten data. Absent if the caller waits for any.
    pub(crate) unwritten_kib_max: Option<u64>,
}

impl SyncLimits {
    /// Finds a reason not to sync the file system at `point`.
    pub(crate) fn check(&self, point: &str) -> Result<(), NotInPlace> {
        if self.policy == SyncPolicy::Refused {
            let text = format!("{point} would have to be synced, which was refused");
            return Err(Obstacle::SyncRefused.because(text));
        }
        let Some(kib_max) = self.unwritten_kib_max else {
            return Ok(());
        };
        match unwritten_kib() {
            Some(kib) if kib > kib_max => {
                let mib = kib.div_ceil(1024);
                let text =
                    format!("{point} would have to be synced, and {mib} MiB wait to be written");
                Err(Obstacle::Unwritten.because(text))
            }
            _ => Ok(()),
        }
    }
}

/// Syncs the file system of an open directory, which `point` shows, and returns the time
/// that it took.
pub(crate) fn sync(top: BorrowedFd<'_>, point: &str) -> Result<Duration, NotInPlace> {
    let started = Instant::now();
    match syncfs(top) {
        Ok(()) => Ok(started.elapsed()),
        Err(errno) => Err(privilege::refused(
            &format!("{point}: syncfs"),
            &errno.into(),
            "root",
        )),
    }
}

/// The unwritten data of all file systems, in KiB. Absent if unknown.
fn unwritten_kib() -> Option<u64> {
    let info = MemoryInfo::read()?;
    Some(info.kib("Dirty")? + info.kib("Writeback")?)
}
