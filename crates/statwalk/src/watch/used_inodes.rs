// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many entries a whole file system has, where it can tell, and how much space they
//! use.
//!
//! Only then does a scan know how much is left. The number of used inodes is
//! that of entries, but for hard links, if the scan covers the file system
//! from its root, wholly, and nothing else.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::StatVfs;
use statwalk_sys::mount_table::{self, Mount};

/// File systems that keep count of their inodes, as themselves. Others, such as
/// btrfs, have none to count, and overlayfs shows those of another.
const COUNTING: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "tmpfs", "f2fs"];

/// The number of inodes in use below `root`, where that is a whole file system
/// of its own.
///
/// With `stays`, file systems mounted in it do not matter, for they are not
/// entered.
pub(crate) fn below(root: &Path, stays: bool) -> Option<u64> {
    let counts = of_whole(root, stays)?;
    let used = counts.f_files.checked_sub(counts.f_ffree)?;
    (used > 0).then_some(used)
}

/// The bytes in use of the file system below `root`, as df counts them; absent as in
/// [`below`].
pub(crate) fn used_bytes(root: &Path, stays: bool) -> Option<u64> {
    let counts = of_whole(root, stays)?;
    let used = counts.f_blocks.checked_sub(counts.f_bfree)?;
    used.checked_mul(counts.f_frsize).filter(|used| *used > 0)
}

/// The answer of statfs, where `root` is a whole file system of its own.
fn of_whole(root: &Path, stays: bool) -> Option<StatVfs> {
    let real = std::fs::canonicalize(root)
        .ok()?
        .into_os_string()
        .into_vec();
    let table = mount_table::read().ok()?;
    if !is_whole(&table, &real, stays) {
        return None;
    }
    rustix::fs::statvfs(root).ok()
}

fn is_whole(table: &[Mount], root: &[u8], stays: bool) -> bool {
    let mut whole = false;
    for mount in table {
        if mount.point == root {
            // A later mount at the same place covers an earlier one.
            whole = mount.root == b"/" && COUNTING.contains(&mount.file_system.as_str());
        } else if !stays && is_below(&mount.point, root) {
            return false;
        }
    }
    whole
}

fn is_below(path: &[u8], root: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).starts_with(OsStr::from_bytes(root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_testkit::mounts::FileSystem;
    use statwalk_testkit::{Scratch, or_skip};

    const TABLE: &[u8] = b"\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:20 / /proc rw shared:5 - proc proc rw
24 22 8:2 / /data rw - xfs /dev/sdb rw
25 24 8:1 /srv /data/bind rw - ext4 /dev/sda1 rw
26 22 0:30 /@ /b rw - btrfs /dev/sdc rw
27 22 8:3 / /with\\040space rw - ext4 /dev/sdd rw
28 22 8:4 / /covered rw - ext4 /dev/sde rw
29 28 8:1 /x /covered rw - ext4 /dev/sda1 rw
";

    #[test]
    fn only_a_whole_file_system_can_be_counted() {
        let check = |root: &str, stays, expected| {
            assert_eq!(
                is_whole(&mount_table::parse(TABLE), root.as_bytes(), stays),
                expected,
                "{root}"
            );
        };
        check("/", true, true);
        check("/", false, false);
        check("/data", true, true);
        check("/data", false, false);
        check("/data/bind", true, false);
        check("/usr", true, false);
        check("/b", true, false);
        check("/with space", false, true);
        check("/covered", true, false);
    }

    #[test]
    fn the_inodes_of_a_file_system_are_its_entries() {
        let scratch = Scratch::new().unwrap();
        let root = scratch.subdirectory("root").unwrap();
        assert_eq!(below(&root, true), None);
        let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&root));
        std::fs::create_dir(tmpfs.path().join("dir")).unwrap();
        for n in 0..40 {
            std::fs::write(tmpfs.path().join(format!("dir/{n}")), "").unwrap();
        }
        assert_eq!(below(tmpfs.path(), false), Some(42));
        assert_eq!(below(&tmpfs.path().join("dir"), false), None);
    }
}
