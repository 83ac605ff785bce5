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
