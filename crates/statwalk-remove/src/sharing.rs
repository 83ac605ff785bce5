// SPDX-License-Identifier: MIT OR Apache-2.0

//! Extents that a file shares with other files or with snapshots, where the file system
//! knows them.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{Mode, OFlags, fstatfs, openat};
use statwalk_sys::fiemap::{FileExtent, file_extents};

use crate::identity::EntryType;
use crate::monitor::Monitor;
use crate::seen::Seen;

/// `BTRFS_SUPER_MAGIC`, `XFS_SUPER_MAGIC` (include/uapi/linux/magic.h) and
/// `BCACHEFS_STATFS_MAGIC`: file systems whose files can share extents.
const SHARING: [u64; 3] = [0x9123_683e, 0x5846_5342, 0xca45_1a4e];

/// Asks files of one file system.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    knows: bool,
    extents: Vec<FileExtent>,
}

impl Sharing {
    /// For the file system of a directory.
    pub(crate) fn of(directory: impl AsFd) -> Sharing {
        let kind = fstatfs(directory).map(|numbers| numbers.f_type as u64);
        Sharing {
            knows: kind.is_ok_and(|kind| SHARING.contains(&kind)),
            extents: Vec::new(),
        }
    }

    /// The allocated bytes of a file that also belong to others. Nothing where the file
    /// cannot be opened, or was exchanged.
    ///
    /// Files that share with each other alone count, too: the kernel has but one flag.
    pub(crate) fn bytes(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        seen: &Seen,
        monitor: &Monitor,
    ) -> u64 {
        let is_file = seen.identity.entry_type == EntryType::File;
        if !self.knows || !is_file || seen.allocated_bytes == 0 {
            return 0;
        }
        // Only a regular file is opened: the look and the opening can see two things, and
        // neither a pipe may block nor a link be followed.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let Ok(file) = openat(directory, name, flags | OFlags::CLOEXEC, Mode::empty()) else {
            return 0;
        };
        if !Seen::of_open(&file).is_ok_and(|open| open.is_same(seen)) {
            return 0;
        }
        self.extents.clear();
        let go_on = || match monitor.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        if file_extents(file.as_fd(), &mut self.extents, go_on).is_err() {
            return 0;
        }
        let shared = self.extents.iter().filter(|extent| extent.is_shared);
        let bytes = shared.map(|extent| extent.length_bytes).sum::<u64>();
        bytes.min(seen.allocated_bytes)
    }
}
