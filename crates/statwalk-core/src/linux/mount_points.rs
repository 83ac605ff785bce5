// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a file system that other mounts cover.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use rustix::fs::{CWD, StatxFlags};

use crate::entry::FileId;
use crate::linux::mounts::Mount;
use crate::linux::statx;

/// The directories of a file system that other mounts cover.
///
/// Only the kernel may read them.
#[derive(Debug, Default)]
pub(crate) struct MountPoints {
    /// The parents of the mount points. The kernel must list them.
    holders: HashSet<FileId>,
    /// The names of the mount points. The kernel lists a mount point with the inode
    /// below the mount, so the kernel must open each directory of such a name.
    names: HashSet<Vec<u8>>,
}

impl MountPoints {
    /// The mount points on one mount, by a mount table.
    pub(crate) fn on(id: u64, table: &[Mount]) -> MountPoints {
        let mask = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
        let mut points = MountPoints::default();
        for mount in table.iter().filter(|mount| mount.parent == id) {
            let Some(slash) = mount.point.iter().rposition(|&byte| byte == b'/') else {
                continue;
            };
            points.names.insert(mount.point[slash + 1..].to_vec());
            let holder = CString::new(&mount.point[..slash.max(1)]).unwrap_or_default();
            // If another mount covers the parent, no path leads there.
            if let Ok(found) = statx::by_name(CWD, &holder, mask)
                && statx::mount_id(&found) == id
            {
                points.holders.insert(statx::file_id(&found));
            }
        }
        points
    }

    /// Whether a directory holds a mount point.
    pub(crate) fn lie_in(&self, directory: FileId) -> bool {
        !self.holders.is_empty() && self.holders.contains(&directory)
    }

    /// Whether a mount point has this name.
    pub(crate) fn have_name(&self, name: &CStr) -> bool {
        !self.names.is_empty() && self.names.contains(name.to_bytes())
    }
}
