// SPDX-License-Identifier: MIT OR Apache-2.0

//! Facts that follow from the table of mounted file systems.
//!
//! A scan itself does not need the table. The table says which directories a scan
//! can reach twice.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) use statwalk_sys::mount_table::{Mount, read};

/// The mounts whose directories a scan of `roots` can reach by two ways.
///
/// That is so where two mounts of one file system lie in the scanned trees and
/// one shows a directory that the other shows too. Roots are absolute paths.
pub(crate) fn reached_twice<'m>(mounts: &'m [Mount], roots: &[Vec<u8>]) -> HashSet<&'m Mount> {
    // What each mount shows of its file system to the scan.
    let mut shown: Vec<(&Mount, Vec<u8>)> = Vec::new();
    for root in roots {
        // Later mounts cover earlier ones at the same place.
        let own = mounts
            .iter()
            .enumerate()
            .filter(|(_, mount)| is_within(root, &mount.point))
            .max_by_key(|(index, mount)| (mount.point.len(), *index));
        if let Some((_, own)) = own {
            let below = Path::new(std::ffi::OsStr::from_bytes(root))
                .strip_prefix(std::ffi::OsStr::from_bytes(&own.point))
                .unwrap_or(Path::new(""));
            let region = Path::new(std::ffi::OsStr::from_bytes(&own.root)).join(below);
            shown.push((own, region.as_os_str().as_bytes().to_vec()));
        }
        shown.extend(
            mounts
                .iter()
                .filter(|mount| mount.point != *root && is_within(&mount.point, root))
                .map(|mount| (mount, mount.root.clone())),
        );
    }
    let mut twice = HashSet::new();
    for (index, (a, region_a)) in shown.iter().enumerate() {
        for (b, region_b) in &shown[index + 1..] {
            let overlap = a.id != b.id
                && a.device == b.device
                && (is_within(region_a, region_b) || is_within(region_b, region_a));
            if overlap {
                twice.insert(*a);
                twice.insert(*b);
            }
        }
    }
    twice
}

/// Whether `path` is `directory` or lies below it.
pub(crate) fn is_within(path: &[u8], directory: &[u8]) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || directory.last() == Some(&b'/'),
        None => false,
    }
}

/// The name of a file system that lives in the kernel alone, by its magic number.
///
/// Numbers: include/uapi/linux/magic.h and the file systems' own sources, Linux 6.18.
/// The oracle of the tests has a table of its own on purpose: with a common one, a
/// wrong number would be wrong on both sides.
pub(crate) fn kernel_file_system(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x9fa0 => "proc",
        0x6265_6572 => "sysfs",
        0x0027_e0eb => "cgroup",
        0x6367_7270 => "cgroup2",
        0x1cd1 => "devpts",
        0x6462_6720 => "debugfs",
        0x7472_6163 => "tracefs",
        0x7363_6673 => "securityfs",
        0xf97c_ff8c => "selinuxfs",
        0x4341_5d53 => "smackfs",
        0xcafe_4a11 => "bpf",
        0x6165_676c => "pstore",
        0xde5e_81e4 => "efivarfs",
        0x6265_6570 => "configfs",
        0x6573_5543 => "fusectl",
        0x4249_4e4d => "binfmt_misc",
        0x6c6f_6f70 => "binder",
        0x6759_6969 => "rpc_pipefs",
        0x6e66_7364 => "nfsd",
        0x0765_5821 => "resctrl",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(id: u64, device: &str, root: &str, point: &str) -> Mount {
        Mount {
            id,
            device: device.into(),
            root: root.into(),
            point: point.into(),
            ..Mount::default()
        }
    }

    #[test]
    fn finds_what_is_shown_twice() {
        let check = |mounts: &[Mount], root: &str, expected: &[u64]| {
            let roots = [root.into()];
            let mut found: Vec<u64> = (reached_twice(mounts, &roots).iter())
                .map(|mount| mount.id)
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{mounts:?} from {root}");
        };
        let plain = mount(1, "8:1", "/", "/");
        let bind = mount(2, "8:1", "/data/sub", "/data/again");
        let mounts = [plain, bind];
        check(&mounts, "/", &[1, 2]);
        check(&mounts, "/data", &[1, 2]);
        check(&mounts, "/data/again", &[]);
        check(&mounts, "/usr", &[]);
        // Two subvolumes of one btrfs, side by side, as distributions set them up.
        let subvolumes = [
            mount(1, "0:30", "/@", "/"),
            mount(2, "0:30", "/@home", "/home"),
        ];
        check(&subvolumes, "/", &[]);
    }

    #[test]
    fn within_ends_at_components() {
        assert!(is_within(b"/a/b", b"/a") && is_within(b"/a", b"/a") && is_within(b"/a", b"/"));
        assert!(!is_within(b"/ab", b"/a") && !is_within(b"/", b"/a"));
    }
}
