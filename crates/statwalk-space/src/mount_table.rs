// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of mounts for looks at several file systems one after another.

use std::io;

use statwalk_sys::mount_table::{Mount, Watch};

/// The table of mounts, for [`FileSystem::holding_by`](crate::FileSystem::holding_by). It
/// holds one descriptor open.
///
/// Each look sees all changes before it, and the table is read again only where there are
/// any.
#[derive(Debug, Default)]
pub struct MountTable {
    watch: Option<Watch>,
    known: Vec<Mount>,
    #[cfg(test)]
    reads: usize,
}

impl MountTable {
    /// The mounts as they are. Unknown without `/proc`.
    pub(crate) fn look(&mut self) -> &[Mount] {
        let has_changed = |watch: &Watch| watch.has_changed().unwrap_or(true);
        if self.watch.as_ref().is_none_or(has_changed) {
            self.known = self.read().unwrap_or_default();
        }
        &self.known
    }

    fn read(&mut self) -> io::Result<Vec<Mount>> {
        #[cfg(test)]
        {
            self.reads += 1;
        }
        let mut watch = self.watch.take().map_or_else(Watch::open, Ok)?;
        let mounts = watch.read()?;
        self.watch = Some(watch);
        Ok(mounts)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use statwalk_testkit::mounts::FileSystem;
    use statwalk_testkit::{Scratch, or_skip};

    use super::*;

    /// It was read anew for each file system of `statwalk df`.
    #[test]
    fn a_fresh_table_is_read_once() {
        let mut table = MountTable::default();
        for _ in 0..1000 {
            assert!(table.look().iter().any(|mount| mount.point == b"/"));
        }
        // Other tests mount meanwhile, in this mount namespace: most looks meet no change.
        assert!(table.reads < 500);
    }

    #[test]
    fn a_fresh_table_misses_no_mount() {
        let scratch = Scratch::new().unwrap();
        let point = scratch.subdirectory("point").unwrap();
        let has = |table: &mut MountTable| {
            let point = point.as_os_str().as_bytes();
            table.look().iter().any(|mount| mount.point == point)
        };
        let mut table = MountTable::default();
        assert!(!has(&mut table));
        let mounted = or_skip!(FileSystem::Tmpfs.mount(&point));
        assert!(has(&mut table));
        mounted.unmount().unwrap();
        assert!(!has(&mut table));
    }
}
