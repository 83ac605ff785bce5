// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where other mounts hide what a file system holds.

use std::collections::HashSet;
use std::ffi::{CStr, CString};

use rustix::fs::{CWD, StatxFlags};

use crate::entry::FileId;
use crate::mounts::Mount;
use crate::statx;

/// Where other mounts hide what a file system holds.
#[derive(Debug, Default)]
pub(crate) struct MountPoints {
    /// The directories that hold them: they are the kernel's to read.
    holders: HashSet<FileId>,
    /// Their names. The kernel lists a mount point with the inode that it hides,
    /// so whatever has such a name is the kernel's to open.
    names: HashSet<Vec<u8>>,
}

impl MountPoints {
    /// Those on a mount.
    pub(crate) fn on(id: u64, table: &[Mount]) -> MountPoints {
        let mask = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
        let mut points = MountPoints::default();
        for mount in table.iter().filter(|mount| mount.parent == id) {
            let Some(slash) = mount.point.iter().rposition(|&byte| byte == b'/') else {
                continue;
            };
            points.names.insert(mount.point[slash + 1..].to_vec());
            let holder = CString::new(&mount.point[..slash.max(1)]).unwrap_or_default();
            // Where another mount covers the holder, nobody gets there.
            if let Ok(found) = statx::by_name(CWD, &holder, mask)
                && statx::mount_id(&found) == id
            {
                points.holders.insert(statx::file_id(&found));
            }
        }
        points
    }

    /// Whether something is mounted on an entry of a directory.
    pub(crate) fn lie_in(&self, directory: FileId) -> bool {
        !self.holders.is_empty() && self.holders.contains(&directory)
    }

    /// Whether something may be mounted on a directory of this name.
    pub(crate) fn have_name(&self, name: &CStr) -> bool {
        !self.names.is_empty() && self.names.contains(name.to_bytes())
    }
}
