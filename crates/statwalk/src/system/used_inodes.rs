// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many entries whole file systems have, where they can tell, and how much space they
//! use.
//!
//! Only then does a scan know how much is left. The number of used inodes is
//! that of entries, but for hard links, if the scan covers each file system from its
//! root, wholly, and nothing else.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::StatVfs;
use statwalk_sys::kernel_file_systems;
use statwalk_sys::mount_table::{self, Mount};

/// File systems whose statfs counts inodes in use.
///
/// btrfs has none to count, and overlayfs shows those of another. f2fs counts its nodes, or
/// its blocks (`f2fs_statfs`, fs/f2fs/super.c).
const COUNTING: [&str; 8] = [
    "ext2", "ext3", "ext4", "xfs", "tmpfs", "devtmpfs", "squashfs", "erofs",
];

/// File systems with a few entries at most, none of which is counted.
const NEARLY_EMPTY: [&str; 3] = ["autofs", "hugetlbfs", "mqueue"];

/// The bytes of a whole file system, as df counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) used_bytes: u128,
    /// Those that the scan did not reach.
    pub(crate) bytes: u128,
}

/// The part of the mount tree that a scan covers.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    pub(crate) roots: Vec<PathBuf>,
    /// Whether the scan stays on the file systems of its roots.
    pub(crate) stays: bool,
    /// Whether it enters those of the kernel.
    pub(crate) enters_kernel: bool,
}

/// The number of inodes in use of all file systems that a scan covers, where it covers
/// each of them wholly and each of them counts.
pub(crate) fn covered(cover: &Cover) -> Option<u64> {
    let table = mount_table::read().ok()?;
    let roots: Option<Vec<_>> = cover.roots.iter().map(|root| real(root)).collect();
    let mut sum: u64 = 0;
    for mount in covered_mounts(&table, &roots?, cover)? {
        let counts = rustix::fs::statvfs(OsStr::from_bytes(&mount.point)).ok()?;
        let used = counts.f_files.checked_sub(counts.f_ffree)?;
        sum = sum.checked_add(used).filter(|_| used > 0)?;
    }
    Some(sum)
}

/// One mount of each file system that a scan covers. Absent where the scan covers a part of
/// one, or a file system that does not count.
fn covered_mounts<'a>(
    table: &'a [Mount],
    roots: &[Vec<u8>],
    cover: &Cover,
) -> Option<Vec<&'a Mount>> {
    let mut on: HashMap<u64, Vec<&Mount>> = HashMap::new();
    for mount in table.iter().filter(|mount| mount.parent != mount.id) {
        on.entry(mount.parent).or_default().push(mount);
    }
    // A later mount at the same place covers an earlier one.
    let at: HashMap<&[u8], &Mount> =
        (table.iter().map(|mount| (mount.point.as_slice(), mount))).collect();
    let mut entered = Vec::new();
    for root in roots {
        let mount = *at.get(root.as_slice())?;
        entered.push(mount);
        let mut next = entered.len() - 1;
        while !cover.stays && next < entered.len() {
            let parent = entered[next];
            let below = on.get(&parent.id).into_iter().flatten();
            entered.extend(below.map(|mount| uppermost(&on, mount)));
            next += 1;
        }
    }
    let is_left_out = |mount: &Mount| {
        let kind = mount.file_system.as_str();
        NEARLY_EMPTY.contains(&kind) || kernel_file_systems::has(kind) && !cover.enters_kernel
    };
    let mut wholes: Vec<&Mount> = Vec::new();
    let mut devices = HashSet::new();
    let mut parts = Vec::new();
    for mount in entered.into_iter().filter(|mount| !is_left_out(mount)) {
        match mount.root == b"/" && COUNTING.contains(&mount.file_system.as_str()) {
            true if !devices.insert(&mount.device) => {}
            true => wholes.push(mount),
            false => parts.push(mount),
        }
    }
    // A directory that can be reached twice is scanned once.
    let is_within = |part: &&Mount| devices.contains(&part.device);
    let is_complete = !wholes.is_empty() && parts.iter().all(is_within);
    is_complete.then_some(wholes)
}

/// The mount that covers all others at the same place.
fn uppermost<'a>(on: &HashMap<u64, Vec<&'a Mount>>, mut mount: &'a Mount) -> &'a Mount {
    // A table that is read while it changes could have a circle.
    for _ in 0..on.len() {
        let mut above = on.get(&mount.id).into_iter().flatten();
        match above.find(|upper| upper.point == mount.point) {
            Some(upper) => mount = upper,
            None => break,
        }
    }
    mount
}

fn real(path: &Path) -> Option<Vec<u8>> {
    let real = std::fs::canonicalize(path).ok()?;
    Some(real.into_os_string().into_vec())
}

/// The bytes in use of the file system below `root`, as df counts them; absent where
/// `root` is not a whole file system of its own.
///
/// With `stays`, file systems mounted in it do not matter, for they are not entered.
fn used_bytes(root: &Path, stays: bool) -> Option<u64> {
    let counts = of_whole(root, stays)?;
    let used = counts.f_blocks.checked_sub(counts.f_bfree)?;
    used.checked_mul(counts.f_frsize).filter(|used| *used > 0)
}

/// The bytes in use of the file system that a scan covers, and those that it did not
/// reach. Absent where the scan covers no whole file system or more, and where less than
/// 1 % is elsewhere: metadata, and changes meanwhile.
pub(crate) fn elsewhere(cover: &Cover, reached_bytes: u128) -> Option<Elsewhere> {
    let used_bytes = u128::from(used_by_one(cover)?);
    let bytes = used_bytes.saturating_sub(reached_bytes);
    let is_worth_a_word = bytes > 0 && bytes >= used_bytes / 100;
    is_worth_a_word.then_some(Elsewhere { used_bytes, bytes })
}

/// The bytes in use, where a scan covers one file system wholly and nothing else.
pub(crate) fn used_by_one(cover: &Cover) -> Option<u64> {
    match &cover.roots[..] {
        [root] => used_bytes(root, cover.stays),
        _ => None,
    }
}

/// The answer of statfs, where `root` is a whole file system of its own.
fn of_whole(root: &Path, stays: bool) -> Option<StatVfs> {
    let real = real(root)?;
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

    /// The mount points that are counted.
    fn counted(roots: &[&str], stays: bool, enters_kernel: bool) -> Option<Vec<String>> {
        let table = mount_table::parse(TREE);
        let roots: Vec<_> = roots.iter().map(|root| root.as_bytes().to_vec()).collect();
        let cover = Cover {
            roots: Vec::new(),
            stays,
            enters_kernel,
        };
        let mounts = covered_mounts(&table, &roots, &cover)?;
        let point = |mount: &&Mount| String::from_utf8(mount.point.clone()).unwrap();
        Some(mounts.iter().map(point).collect())
    }

    const TREE: &[u8] = b"\
22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 0:20 / /proc rw - proc proc rw
24 22 8:2 / /data rw - xfs /dev/sdb rw
25 24 8:2 /srv /data/bind rw - xfs /dev/sdb rw
26 22 0:21 / /run rw - tmpfs tmpfs rw
27 22 8:3 / /old rw - btrfs /dev/sdd rw
28 27 8:4 / /old rw - ext4 /dev/sde rw
29 27 8:5 / /old/hidden rw - btrfs /dev/sdf rw
30 24 0:22 / /data/queue rw - mqueue mqueue rw
";

    #[test]
    fn nested_file_systems_are_counted_together() {
        let points = |points: &[&str]| -> Option<Vec<String>> {
            Some(points.iter().map(|&point| point.to_owned()).collect())
        };
        let all = points(&["/", "/data", "/run", "/old"]);
        assert_eq!(counted(&["/"], false, false), all);
        assert_eq!(counted(&["/"], true, false), points(&["/"]));
        // The kernel does not count its processes.
        assert_eq!(counted(&["/"], false, true), None);
        assert_eq!(counted(&["/data"], false, false), points(&["/data"]));
        assert_eq!(counted(&["/usr"], true, false), None);
        assert_eq!(counted(&["/data/bind"], true, false), None);
        assert_eq!(counted(&["/old"], true, false), points(&["/old"]));
    }

    #[test]
    fn several_roots_are_counted_once_each() {
        let points = |points: &[&str]| -> Option<Vec<String>> {
            Some(points.iter().map(|&point| point.to_owned()).collect())
        };
        let two = points(&["/run", "/data"]);
        assert_eq!(counted(&["/run", "/data"], true, false), two);
        assert_eq!(counted(&["/run", "/data", "/run"], false, false), two);
        assert_eq!(counted(&["/run", "/usr"], true, false), None);
        assert_eq!(counted(&["/run", "/proc"], true, false), points(&["/run"]));
    }

    #[test]
    fn the_inodes_of_a_file_system_are_its_entries() {
        let scratch = Scratch::new().unwrap();
        let root = scratch.subdirectory("root").unwrap();
        let count = |roots: &[&Path], stays| {
            covered(&Cover {
                roots: roots.iter().map(PathBuf::from).collect(),
                stays,
                enters_kernel: false,
            })
        };
        assert_eq!(count(&[&root], true), None);
        let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&root));
        let (path, below) = (tmpfs.path(), tmpfs.path().join("dir/below"));
        std::fs::create_dir_all(&below).unwrap();
        for n in 0..40 {
            std::fs::write(path.join(format!("dir/{n}")), "").unwrap();
        }
        assert_eq!(count(&[path], false), Some(43));
        assert_eq!(count(&[&path.join("dir")], false), None);
        let nested = or_skip!(FileSystem::Tmpfs.mount(&below));
        std::fs::write(nested.path().join("file"), "").unwrap();
        assert_eq!(count(&[path], false), Some(45));
        assert_eq!(count(&[path], true), Some(43));
        assert_eq!(count(&[path, nested.path()], true), Some(45));
    }

    #[test]
    fn file_systems_of_a_device_count_a_few_inodes_of_their_own() {
        for kind in [FileSystem::Ext4, FileSystem::Xfs] {
            let scratch = Scratch::new().unwrap();
            let mounted = or_skip!(kind.mount(&scratch.subdirectory("root").unwrap()));
            for n in 0..300 {
                std::fs::write(mounted.path().join(n.to_string()), "").unwrap();
            }
            let cover = Cover {
                roots: vec![mounted.path().to_owned()],
                stays: true,
                enters_kernel: false,
            };
            // The root, and reserved inodes or lost+found.
            let found = covered(&cover).unwrap();
            assert!((301..320).contains(&found), "{kind:?}: {found}");
        }
    }
}
