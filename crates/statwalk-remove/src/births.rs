// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a file system keeps the creation times of its inodes.

use std::os::fd::AsFd;

use rustix::fs::fstatfs;

use crate::seen::Seen;

/// `OVERLAYFS_SUPER_MAGIC` and `FUSE_SUPER_MAGIC` (include/uapi/linux/magic.h).
///
/// An overlay shows the creation time of the layer that an entry lies in. The first change
/// below a directory of a lower layer copies it up, and its copy is younger; device and
/// inode number stay (Documentation/filesystems/overlayfs.rst, "Inode properties"). File
/// systems in user space can be unions, too.
const OVERLAY: u64 = 0x794c_7630;
const FUSE: u64 = 0x6573_5546;

/// The creation times of one file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Births {
    stay: bool,
    is_of_overlay: bool,
}

impl Births {
    /// Those of the file system of an open file.
    pub(crate) fn of(file: impl AsFd) -> Births {
        let kind = fstatfs(file).map(|numbers| numbers.f_type as u64);
        Births {
            stay: kind.is_ok_and(|kind| kind != OVERLAY && kind != FUSE),
            is_of_overlay: kind == Ok(OVERLAY),
        }
    }

    /// Says whether a change leaves the creation time alone.
    pub(crate) fn stay(self) -> bool {
        self.stay
    }

    pub(crate) fn is_of_overlay(self) -> bool {
        self.is_of_overlay
    }

    /// The attributes without a creation time that another look need not find again.
    pub(crate) fn kept(self, seen: Seen) -> Seen {
        Seen {
            born: seen.born.filter(|_| self.stay),
            ..seen
        }
    }
}
