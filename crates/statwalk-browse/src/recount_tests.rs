// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees with hard links and directories that lack something, and random removals,
//! returns and readings: the numbers and marks are those of a new scan.
//!
//! The user removed the directory of the first name of a file of 10 MB, and all sums lost
//! its bytes, although another name stayed. After the removal of the only directory that
//! could not be read, those above it stayed lower bounds.

use statwalk_group::Grouping;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use statwalk_view::{Kind, NamePattern};

use crate::data::{Data, Inode, ItemId};
use crate::edited::Edited;
use crate::filter::{Bytes, Filter};
use crate::filtered::Filtered;
use crate::removal::Manner;
use crate::tally::tally;
use crate::trial::{NOW_NS, Small};
use crate::way::item_at;

const ROOTS: [&str; 2] = ["/a", "/r"];
const TRASH: &str = "/r/.Trash";

/// Directories, and files by their names, each with its inode.
#[derive(Clone, Debug, Default)]
struct Disk {
    dirs: BTreeSet<String>,
    /// Those that lack something by themselves.
    lacking: BTreeSet<String>,
    files: BTreeMap<String, u64>,
    /// Names that no scan meets, by inode.
    outside: BTreeMap<u64, u32>,
}

/// In the order of a scan, which is that of paths.
fn key(path: &str) -> Vec<&str> {
    path.split('/').collect()
}

fn is_in(path: &str, dir: &str) -> bool {
    let rest = path.strip_prefix(dir);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Disk {
    fn links(&self, inode: u64) -> u32 {
        let names = self.files.values().filter(|other| **other == inode).count();
        names as u32 + self.outside.get(&inode).copied().unwrap_or(0)
    }

    /// The numbers of a scan of these roots.
    fn scan(&self, scan: u64, roots: &[&str]) -> Small {
        let mut small = Small {
            scan,
            ..Small::default()
        };
        let (mut numbers, mut seen) = (BTreeMap::new(), BTreeSet::new());
        for root in roots {
            let dirs = self.dirs.iter().filter(|dir| is_in(dir, root));
            let files = self.files.keys().filter(|file| is_in(file, root));
            let mut all: Vec<&String> = dirs.chain(files).collect();
            all.sort_by_key(|path| key(path));
            for path in all {
                let number = numbers.len() as u64 + 1;
                numbers.insert(path.clone(), number);
                let (parent, name) = path.rsplit_once('/').unwrap();
                let (parent, name) = match path == root {
                    true => (None, &path[..]),
                    false => (Some(numbers[parent]), name),
                };
                let Some(&inode) = self.files.get(path) else {
                    small.put(number, parent, name.as_bytes(), Kind::Directory, 4096);
                    small.items.get_mut(&number).unwrap().1.uid = Some(0);
                    if self.lacking.contains(path) {
                        small.lack(number);
                    }
                    continue;
                };
                let bytes = 8192 * u128::from(inode + 1);
                let counts = seen.insert(inode);
                let counted = if counts { bytes } else { 0 };
                small.put(number, parent, name.as_bytes(), Kind::File, counted);
                let item = &mut small.items.get_mut(&number).unwrap().1;
                (item.allocated_bytes, item.apparent_bytes) = (bytes, bytes / 2);
                item.uid = Some(inode as u32 % 2);
                item.newest_ns = None;
                let links = self.links(inode);
                item.notes.counts_elsewhere = !counts;
                item.notes.has_other_names = links > 1;
                if links > 1 {
                    let id = (1, inode);
                    small.inodes.insert(number, Inode { id, links });
                }
            }
        }
        small
    }

    /// Everything in a directory, with the directory.
    fn below(&self, dir: &str) -> Vec<String> {
        let all = self.dirs.iter().chain(self.files.keys());
        all.filter(|path| is_in(path, dir)).cloned().collect()
    }

    fn take(&mut self, top: &str) -> Disk {
        let mut taken = Disk::default();
        for path in self.below(top) {
            match self.files.remove(&path) {
                Some(inode) => drop(taken.files.insert(path, inode)),
                None => {
                    taken.lacking.extend(self.lacking.take(&path));
                    taken.dirs.insert(self.dirs.take(&path).unwrap());
                }
            }
        }
        taken
    }

    /// Puts items back, with another path in place of `from`.
    fn put(&mut self, items: Disk, from: &str, to: &str) {
        let moved = |path: String| format!("{to}{}", &path[from.len()..]);
        self.dirs.extend(items.dirs.into_iter().map(moved));
        self.lacking.extend(items.lacking.into_iter().map(moved));
        let files = items.files.into_iter();
        self.files
            .extend(files.map(|(path, inode)| (moved(path), inode)));
    }
}

/// Each item with its path, without times: the newest change above a removed item is known
/// to be too new.
fn items(data: &dyn Data) -> BTreeMap<String, (u128, u128, u64, [bool; 3])> {
    let mut items = BTreeMap::new();
    let mut take = |id: ItemId| {
        let path = String::from_utf8(data.path(id).unwrap()).unwrap();
        let item = data.item(id).unwrap();
        let notes = item.notes;
        let facts = (
            item.allocated_bytes,
            item.apparent_bytes,
            item.entries,
            [
                notes.counts_elsewhere,
                notes.has_other_names,
                notes.is_incomplete,
            ],
        );
        assert_eq!(items.insert(path, facts), None);
    };
    for root in data.roots() {
        take(root);
        data.walk(root, &mut |entry| {
            assert_eq!(data.item(entry.id).as_ref(), Some(&entry.item));
            take(entry.id);
            ControlFlow::Continue(())
        });
    }
    items
}

fn groups(data: &dyn Data) -> Vec<(String, u64, u128)> {
    let mut groups = Vec::new();
    for root in data.roots() {
        for by in [Grouping::Category, Grouping::Owner, Grouping::Size] {
            let tallies = tally(data, root, by, NOW_NS, &|| false).unwrap();
            let bytes = |tally: &crate::GroupTally| Bytes::Disk.of_sums(&tally.sums);
            let lines = tallies.iter();
            groups.extend(lines.map(|tally| {
                (
                    format!("{:?}", tally.group),
                    tally.sums.entries,
                    bytes(tally),
                )
            }));
        }
    }
    groups.sort();
    groups
}

struct World {
    disk: Disk,
    edited: Edited,
    scans: u64,
    /// The last move to the trash: paths, their places there, and their numbers.
    moved: Vec<(String, String, ItemId)>,
    trashed: u64,
}

impl World {
    fn new(files: Vec<(u8, u8, u8)>, outside: Vec<u8>, lacking: Vec<u8>) -> World {
        let mut disk = Disk::default();
        disk.dirs.extend(ROOTS.map(str::to_owned));
        for (dir, name, inode) in files {
            // Names that are hard to order, in directories of up to three levels.
            let part = |at: u8| ["b", "b.c", "b!", "d"][usize::from(at) % 4];
            let mut path = ROOTS[usize::from(dir) % 2].to_owned();
            for level in 0..(dir / 2) % 4 {
                path = format!("{path}/{}", part((dir / 8) >> (2 * level)));
                disk.dirs.insert(path.clone());
            }
            let file = format!("{path}/{}", ["a", "b.a", "c", "e"][usize::from(name) % 4]);
            disk.files.insert(file, u64::from(inode) % 9);
        }
        let dirs: Vec<String> = disk.dirs.iter().cloned().collect();
        for which in lacking {
            disk.lacking
                .insert(dirs[usize::from(which) % dirs.len()].clone());
        }
        for inode in outside {
            *disk.outside.entry(u64::from(inode) % 9).or_default() += 1;
        }
        World {
            edited: Edited::new(Arc::new(disk.scan(0, &ROOTS))),
            disk,
            scans: 1,
            moved: Vec::new(),
            trashed: 0,
        }
    }

    fn id(&self, path: &str) -> ItemId {
        item_at(path.as_bytes(), &self.edited).expect("it is in the numbers")
    }

    fn scan(&mut self, root: &str) -> Arc<dyn Data> {
        self.scans += 1;
        Arc::new(self.disk.scan(self.scans, &[root]))
    }

    /// Reads a directory again. Absent where the browser could not, too.
    fn read(&mut self, dir: &str) -> Option<()> {
        let (id, newer) = (self.id(dir), self.scan(dir));
        let before = self.edited.item(id)?.allocated_bytes;
        let [(is_less, bytes), _] = self.edited.renew(id, newer)?;
        let after = self.edited.item(id)?.allocated_bytes;
        assert_eq!((is_less, bytes), (after < before, after.abs_diff(before)));
        // Ids of items in it mean nothing any more, unless they were out of the numbers.
        Some(())
    }

    fn read_trash(&mut self) -> Option<()> {
        let parent = self.id("/r");
        if item_at(TRASH.as_bytes(), &self.edited).is_some() {
            return self.read(TRASH);
        }
        let newer = self.scan(TRASH);
        (self.edited.graft(parent, b".Trash", newer)).then_some(())
    }

    /// Some items, none of which is in another one.
    fn some_items(&self, which: u16, count: u16) -> Vec<String> {
        let all: Vec<String> = (self.disk.dirs.iter())
            .chain(self.disk.files.keys())
            .filter(|path| !ROOTS.contains(&&path[..]) && !is_in(path, TRASH))
            .cloned()
            .collect();
        let mut some: Vec<String> = Vec::new();
        for number in 0..1 + usize::from(count) % 3 {
            let Some(path) = all.get((usize::from(which) + 7 * number) % all.len().max(1)) else {
                break;
            };
            let is_apart = |other: &String| !is_in(path, other) && !is_in(other, path);
            if some.iter().all(is_apart) {
                some.push(path.clone());
            }
        }
        some
    }

    fn act(&mut self, (what, which, count): (u8, u16, u16)) -> Option<()> {
        match what % 10 {
            0 | 1 => {
                let paths = self.some_items(which, count);
                let ids: Vec<ItemId> = paths.iter().map(|path| self.id(path)).collect();
                for path in &paths {
                    self.disk.take(path);
                }
                self.edited.remove(&ids, Manner::Permanent);
            }
            2 | 3 => {
                let paths = self.some_items(which, count);
                let ids: Vec<ItemId> = paths.iter().map(|path| self.id(path)).collect();
                self.moved.clear();
                self.disk.dirs.insert(TRASH.to_owned());
                for (path, id) in paths.into_iter().zip(&ids) {
                    self.trashed += 1;
                    let there = format!("{TRASH}/{}", self.trashed);
                    let taken = self.disk.take(&path);
                    self.disk.put(taken, &path, &there);
                    self.moved.push((path, there, *id));
                }
                self.edited.remove(&ids, Manner::Trash);
                return self.read_trash();
            }
            4 | 5 => {
                let moved = std::mem::take(&mut self.moved);
                let is_possible = |(path, ..): &&(String, String, ItemId)| {
                    let (dir, _) = path.rsplit_once('/').unwrap();
                    self.disk.dirs.contains(dir)
                        && !self.disk.dirs.contains(path)
                        && !self.disk.files.contains_key(path)
                };
                let moved: Vec<_> = moved.iter().filter(is_possible).cloned().collect();
                if moved.is_empty() {
                    return Some(());
                }
                for (path, there, _) in &moved {
                    let taken = self.disk.take(there);
                    self.disk.put(taken, there, path);
                }
                let ids: Vec<ItemId> = moved.iter().map(|(.., id)| *id).collect();
                let is_back = self.edited.bring_back(&ids);
                for ((path, ..), is_back) in moved.iter().zip(is_back) {
                    if !is_back {
                        let (dir, _) = path.rsplit_once('/').unwrap();
                        self.read(dir)?;
                    }
                }
                return self.read_trash();
            }
            6 => {
                // Somebody else adds names and files to a directory, which is read again.
                let dirs: Vec<String> = (self.disk.dirs.iter())
                    .filter(|path| !is_in(path, TRASH))
                    .cloned()
                    .collect();
                let dir = dirs[usize::from(which) % dirs.len()].clone();
                let inode = u64::from(count) % 9;
                // A file of one name has no identity in the numbers.
                let inode = match self.disk.links(inode) {
                    1 => 20 + u64::from(count),
                    _ => inode,
                };
                self.disk.files.entry(format!("{dir}/new")).or_insert(inode);
                return self.read(&dir);
            }
            8 | 9 => {
                // A directory can be read again, or not any more. It is read, or one above.
                let dirs: Vec<String> = (self.disk.dirs.iter())
                    .filter(|path| !is_in(path, TRASH))
                    .cloned()
                    .collect();
                let dir = dirs[usize::from(which) % dirs.len()].clone();
                if !self.disk.lacking.remove(&dir) {
                    self.disk.lacking.insert(dir.clone());
                }
                let above = dirs.iter().filter(|above| is_in(&dir, above));
                let above: Vec<&String> = above.collect();
                return self.read(above[usize::from(count) % above.len()]);
            }
            _ => {
                let dirs: Vec<String> = (self.disk.dirs.iter())
                    .filter(|path| !is_in(path, TRASH))
                    .cloned()
                    .collect();
                return self.read(&dirs[usize::from(which) % dirs.len()]);
            }
        }
        Some(())
    }

    fn check(&self) {
        let fresh: Arc<dyn Data> = Arc::new(self.disk.scan(999, &ROOTS));
        let data: Arc<dyn Data> = Arc::new(self.edited.clone());
        assert_eq!(items(&*data), items(&*fresh));
        assert_eq!(groups(&*data), groups(&*fresh));
        let filter = Filter {
            name_end: Some(NamePattern::end("a").unwrap()),
            ..Filter::default()
        };
        let filtered = |data: &Arc<dyn Data>| {
            let (data, filter) = (Arc::clone(data), filter.clone());
            Filtered::new(data, filter, NOW_NS, &|| false).unwrap()
        };
        assert_eq!(items(&filtered(&data)), items(&filtered(&fresh)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_numbers_are_those_of_a_new_scan(
        files in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..24),
        outside in proptest::collection::vec(any::<u8>(), 0..4),
        lacking in proptest::collection::vec(any::<u8>(), 0..4),
        acts in proptest::collection::vec(any::<(u8, u16, u16)>(), 1..9),
    ) {
        let mut world = World::new(files, outside, lacking);
        world.check();
        for act in acts {
            if world.act(act).is_none() {
                break;
            }
            world.check();
        }
    }
}
