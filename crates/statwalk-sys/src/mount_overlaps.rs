// SPDX-License-Identifier: MIT OR Apache-2.0

//! The mounts of one table that show the same directories of a file system.

use std::collections::{HashMap, HashSet};

use crate::mount_table::{Mount, is_within};

/// The mounts of one moment.
#[derive(Debug, Default)]
pub struct Mounts {
    /// In the order of the table.
    pub all: Vec<Mount>,
    by_id: HashMap<u64, usize>,
    /// Whether the table could be read. In a chroot it can lack every mount and be read.
    pub is_known: bool,
}

impl Mounts {
    /// The mounts of a table that was read.
    #[must_use]
    pub fn of(all: Vec<Mount>) -> Mounts {
        let numbers = all.iter().enumerate();
        let by_id = numbers.map(|(index, mount)| (mount.id, index)).collect();
        Mounts {
            all,
            by_id,
            is_known: true,
        }
    }

    /// The mount of a number.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<&Mount> {
        self.by_id.get(&id).map(|&index| &self.all[index])
    }
}

/// A root of a scan, as the kernel shows it.
#[derive(Clone, Copy, Debug)]
pub struct RootMount {
    /// The number of its mount.
    pub id: u64,
    /// `st_dev` of the root.
    pub device: u64,
}

/// Some mounts, as far as it matters whether they are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    None,
    One(u64),
    Several,
}

impl Which {
    fn and(self, other: Which) -> Which {
        match (self, other) {
            (Which::None, which) | (which, Which::None) => which,
            (a, b) if a == b => a,
            _ => Which::Several,
        }
    }
}

/// A directory of a file system, and the mounts that show it.
struct Region<'s> {
    path: &'s [u8],
    mounts: Vec<u64>,
    above: Which,
    /// Those that show it or a part of it.
    within: Which,
}

/// The numbers of the mounts whose directories a scan of `roots` can reach by two ways.
///
/// That is so where two mounts of one file system lie in the scanned trees and
/// one shows a directory that the other shows too. Roots are absolute paths. `look` gives
/// the mount of a root, where the kernel numbers mounts.
#[must_use]
pub fn reached_twice(
    mounts: &Mounts,
    roots: &[Vec<u8>],
    look: impl Fn(usize) -> Option<RootMount>,
) -> HashSet<u64> {
    let wanted: HashSet<&[u8]> = roots.iter().map(Vec::as_slice).collect();
    let below = mounts.all.iter();
    let below = below.filter(|mount| ancestors(&mount.point).any(|above| wanted.contains(above)));
    // What each mount shows of its file system to the scan.
    let mut shown: Vec<(u64, Vec<u8>, u64)> = below
        .filter_map(|mount| Some((mount.device_number()?, key(&mount.root), mount.id)))
        .collect();
    if shown.is_empty() && roots.len() < 2 {
        return HashSet::new();
    }
    // Later mounts cover earlier ones at the same place.
    let by_point: HashMap<&[u8], &Mount> = (mounts
        .all
        .iter()
        .map(|mount| (mount.point.as_slice(), mount)))
    .collect();
    for (index, root) in roots.iter().enumerate() {
        let seen = look(index);
        let own = match seen {
            Some(seen) => mounts.find(seen.id),
            None => std::iter::once(root.as_slice())
                .chain(ancestors(root))
                .find_map(|point| by_point.get(point).copied()),
        };
        match (own, seen) {
            (Some(own), _) => {
                let below = match is_within(root, &own.point) {
                    true => key(&root[own.point.len()..]),
                    // Another path leads there.
                    false => Vec::new(),
                };
                let region = [key(&own.root), below].concat();
                shown.extend(own.device_number().map(|device| (device, region, own.id)));
            }
            // In a chroot, the table lacks the mount of the root: it can show anything.
            (None, Some(seen)) => shown.push((seen.device, Vec::new(), seen.id)),
            (None, None) => {}
        }
    }
    shown.sort_unstable();
    let mut twice = HashSet::new();
    for of_device in shown.chunk_by(|a, b| a.0 == b.0) {
        let mut regions: Vec<Region<'_>> = Vec::new();
        for (_, path, id) in of_device {
            while let Some(last) = regions.pop_if(|last| !holds(last.path, path)) {
                close(&last, &mut regions, &mut twice);
            }
            match regions.last_mut() {
                Some(last) if last.path == path => {
                    last.mounts.push(*id);
                    last.within = last.within.and(Which::One(*id));
                }
                above => {
                    let above = above.map_or(Which::None, |above| {
                        let own = above.mounts.iter().map(|&id| Which::One(id));
                        own.fold(above.above, Which::and)
                    });
                    regions.push(Region {
                        path,
                        mounts: vec![*id],
                        above,
                        within: Which::One(*id),
                    });
                }
            }
        }
        while let Some(last) = regions.pop() {
            close(&last, &mut regions, &mut twice);
        }
    }
    twice
}

/// Adds the mounts of a region of which no more parts follow.
fn close(region: &Region<'_>, above: &mut [Region<'_>], twice: &mut HashSet<u64>) {
    let all = region.above.and(region.within);
    let others = region.mounts.iter().filter(|&&id| all != Which::One(id));
    twice.extend(others);
    if let Some(above) = above.last_mut() {
        above.within = above.within.and(region.within);
    }
}

/// A path such that a directory comes right before all that lies in it.
fn key(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|&byte| byte == b'/');
    let parts = parts.filter(|part| !part.is_empty());
    parts.flat_map(|part| [&[0], part].concat()).collect()
}

/// Whether a key is that of a directory, or of something in it.
fn holds(directory: &[u8], key: &[u8]) -> bool {
    let rest = key.strip_prefix(directory);
    rest.is_some_and(|rest| rest.first().is_none_or(|&byte| byte == 0))
}

/// The directories above a path, the nearest first.
pub fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(above(path), |path| above(path))
}

fn above(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|&byte| byte == b'/')?;
    (path.len() > 1).then(|| &path[..slash.max(1)])
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
            let mounts = Mounts::of(mounts.to_vec());
            let found = reached_twice(&mounts, &roots, |_| None);
            let mut found: Vec<u64> = found.into_iter().collect();
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

    /// In a chroot the table has neither the mount of `/` nor the way to its directory.
    #[test]
    fn a_root_of_an_unknown_mount_shows_all_of_its_device() {
        let bind = mount(2, "8:1", "/jail/data", "/again");
        let other = mount(3, "8:2", "/", "/other");
        let mounts = Mounts::of(vec![bind, other]);
        let root = RootMount {
            id: 1,
            device: rustix::fs::makedev(8, 1),
        };
        let found = reached_twice(&mounts, &[b"/".to_vec()], |_| Some(root));
        assert_eq!(found, HashSet::from([1, 2]));
    }

    /// Compares each two mounts.
    fn by_pairs(mounts: &[Mount]) -> HashSet<u64> {
        let mut twice = HashSet::new();
        for (index, a) in mounts.iter().enumerate() {
            for b in &mounts[index + 1..] {
                let overlap = is_within(&a.root, &b.root) || is_within(&b.root, &a.root);
                if a.device == b.device && overlap {
                    twice.extend([a.id, b.id]);
                }
            }
        }
        twice
    }

    #[test]
    fn random_tables_are_judged_as_by_pairs() {
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let mounts: Vec<Mount> = (0..next(8))
                .map(|id| {
                    let parts = (0..next(4)).map(|_| ["/a", "/b", "/a b", "/ab"][next(4) as usize]);
                    let root = parts.collect::<String>();
                    let root = if root.is_empty() { "/" } else { &*root };
                    mount(
                        id,
                        ["8:1", "8:2"][next(2) as usize],
                        root,
                        &format!("/m/{id}"),
                    )
                })
                .collect();
            let roots = [b"/m".to_vec()];
            let found = reached_twice(&Mounts::of(mounts.clone()), &roots, |_| None);
            assert_eq!(found, by_pairs(&mounts), "{mounts:?}");
        }
    }

    /// Twice as many mounts and roots take at most 2.3 times as long, and some slack.
    #[test]
    fn time_does_not_grow_with_the_square() {
        let time_of = |count: u64| {
            let mounts = (0..count).map(|id| mount(id, "8:1", "/one", &format!("/m/{id}")));
            let mounts = Mounts::of(mounts.collect());
            let roots: Vec<_> = (0..count)
                .map(|id| format!("/m/{id}").into_bytes())
                .collect();
            let mut times: Vec<_> = (0..3)
                .map(|_| {
                    let clock = rustix::time::ClockId::ThreadCPUTime;
                    let begin = rustix::time::clock_gettime(clock);
                    let found = reached_twice(&mounts, &roots, |_| None);
                    let end = rustix::time::clock_gettime(clock);
                    assert_eq!(found.len() as u64, count);
                    (end.tv_sec - begin.tv_sec) * 1_000_000_000 + end.tv_nsec - begin.tv_nsec
                })
                .collect();
            times.sort_unstable();
            times[0]
        };
        let (some, many) = (time_of(5_000), time_of(40_000));
        assert!(many < some * 24, "{some} ns, {many} ns");
    }
}
