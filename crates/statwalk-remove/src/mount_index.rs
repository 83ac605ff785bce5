// SPDX-License-Identifier: MIT OR Apache-2.0

//! The places of mounts, looked up by path: a host of containers has thousands of mounts, and
//! thousands of items can be marked.

use std::collections::HashMap;
use std::ops::Range;

use statwalk_sys::mount_table::{Mount, is_within};

/// Where the mounts of one table lie. It knows their order alone, and each question brings
/// the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct MountIndex {
    /// Places in the table, by mount point and then by place.
    by_point: Vec<usize>,
    /// The last place with a number of a mount.
    by_id: HashMap<u64, usize>,
}

impl MountIndex {
    pub(crate) fn of(mounts: &[Mount]) -> MountIndex {
        let mut by_point: Vec<usize> = (0..mounts.len()).collect();
        by_point.sort_by(|&a, &b| mounts[a].point.cmp(&mounts[b].point));
        let by_id = mounts.iter().enumerate();
        MountIndex {
            by_point,
            by_id: by_id.map(|(place, mount)| (mount.id, place)).collect(),
        }
    }

    /// The mounts at and below a path, apart from those whose points merely begin so.
    fn range(&self, path: &[u8], mounts: &[Mount], is_at: bool) -> Range<usize> {
        let point = |place: &usize| &mounts[*place].point[..];
        let mut begin = path.to_vec();
        if !is_at && begin.last() != Some(&b'/') {
            begin.push(b'/');
        }
        let is_in = |point: &[u8]| match is_at {
            true => point == path,
            false => point.starts_with(&begin),
        };
        let start = (self.by_point).partition_point(|place| point(place) < &begin[..]);
        let rest = &self.by_point[start..];
        start..start + rest.partition_point(|place| is_in(point(place)))
    }

    /// The last mount at a path, which covers the others there.
    pub(crate) fn at<'m>(&self, path: &[u8], mounts: &'m [Mount]) -> Option<&'m Mount> {
        let places = &self.by_point[self.range(path, mounts, true)];
        places.last().map(|place| &mounts[*place])
    }

    /// The first mount of the table below a path.
    pub(crate) fn below<'m>(&self, path: &[u8], mounts: &'m [Mount]) -> Option<&'m Mount> {
        let places = &self.by_point[self.range(path, mounts, false)];
        let first = places.iter().filter(|place| mounts[**place].point != path);
        first.min().map(|place| &mounts[*place])
    }

    /// The mount that a path lies on: the nearest above it, or at it.
    pub(crate) fn own<'m>(&self, path: &[u8], mounts: &'m [Mount]) -> Option<&'m Mount> {
        let mut above = path;
        loop {
            if let Some(mount) = self.at(above, mounts) {
                return is_within(path, &mount.point).then_some(mount);
            }
            above = match above.iter().rposition(|byte| *byte == b'/')? {
                0 if above.len() > 1 => b"/",
                0 => return None,
                slash => &above[..slash],
            };
        }
    }

    /// The mount with a number.
    pub(crate) fn with_id<'m>(&self, id: u64, mounts: &'m [Mount]) -> Option<&'m Mount> {
        self.by_id.get(&id).map(|place| &mounts[*place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(points: &[String]) -> Vec<Mount> {
        let line = |(id, point): (usize, &String)| format!("{id} 0 8:1 / {point} rw - xfs d rw\n");
        let lines: String = points.iter().enumerate().map(line).collect();
        statwalk_sys::mount_table::parse(lines.as_bytes())
    }

    /// Compares with a look at each mount.
    #[test]
    fn each_answer_is_that_of_a_look_at_all_mounts() {
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut path = || {
            let parts = (0..next(4)).map(|_| ["/a", "/b", "/a!", "/ab", "/a-"][next(5)]);
            let path = parts.collect::<String>();
            if path.is_empty() {
                "/".to_owned()
            } else {
                path
            }
        };
        let (mut at, mut below, mut own) = (0, 0, 0);
        for count in (0..3_000).map(|round| round % 9) {
            let points: Vec<String> = (0..count).map(|_| path()).collect();
            let mounts = table(&points);
            let index = MountIndex::of(&mounts);
            let path = path().into_bytes();
            let id = |mount: Option<&Mount>| mount.map(|mount| mount.id);
            let found = mounts.iter().rev().find(|mount| mount.point == path);
            assert_eq!(id(index.at(&path, &mounts)), id(found), "{points:?}");
            at += usize::from(found.is_some());
            let is_below = |mount: &&Mount| mount.point != path && is_within(&mount.point, &path);
            let found = mounts.iter().find(is_below);
            assert_eq!(id(index.below(&path, &mounts)), id(found), "{points:?}");
            below += usize::from(found.is_some());
            let holding = mounts.iter().enumerate();
            let holding = holding.filter(|(_, mount)| is_within(&path, &mount.point));
            let found = holding.max_by_key(|(place, mount)| (mount.point.len(), *place));
            let found = found.map(|(_, mount)| mount);
            assert_eq!(id(index.own(&path, &mounts)), id(found), "{points:?}");
            own += usize::from(found.is_some());
            let number = count as u64 / 2;
            let found = mounts.iter().rev().find(|mount| mount.id == number);
            assert_eq!(index.with_id(number, &mounts), found);
        }
        assert!(at > 100 && below > 500 && own > 500, "{at} {below} {own}");
    }
}
