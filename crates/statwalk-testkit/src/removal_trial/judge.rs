// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rules of a removal: for the disk, and for its journal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::forest::Forest;
use super::mounter::Cover;
use super::picture::{Id, Kind, Picture, Thing};

/// A removal, as the disk shows it.
pub(super) struct Case<'a> {
    pub(super) forest: &'a Forest,
    /// When the dialog was confirmed, and after the end.
    pub(super) before: &'a Picture,
    pub(super) after: &'a Picture,
    /// The picture before, with the trash that a mount of before left in an item.
    pub(super) whole: &'a Picture,
    /// The inodes that may go, with all that was below them.
    pub(super) allowed: &'a BTreeSet<Id>,
    /// The mounts that were there all the time, without those of a confirmed item that has
    /// another path to what they cover.
    pub(super) covers: &'a [Cover],
    pub(super) is_trash: bool,
    /// Whether something moved meanwhile.
    pub(super) is_stormy: bool,
    /// The new lines of the journal.
    pub(super) journal: &'a [Value],
}

impl Case<'_> {
    /// The differences from what must be, as sentences.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.innocents();
        faults.extend(self.trash());
        faults.extend(self.lines());
        faults
    }

    /// The paths of the picture before that are confirmed, or lie below.
    fn covered(&self) -> BTreeSet<&Path> {
        let mut covered: BTreeSet<&Path> = BTreeSet::new();
        // A directory comes before what it holds.
        for (path, thing) in &self.before.things {
            let is_below = path.parent().is_some_and(|above| covered.contains(above));
            let is_under_a_mount = self.covers.iter().any(|cover| cover.hidden == *path);
            if !is_under_a_mount && (is_below || self.allowed.contains(&thing.id())) {
                covered.insert(path);
            }
        }
        covered
    }

    /// Things that went and were not confirmed.
    fn innocents(&self) -> Vec<String> {
        let covered = self.covered();
        let mut must_stay: BTreeMap<Thing, u64> = BTreeMap::new();
        for (path, thing) in &self.before.things {
            if !covered.contains(path.as_path()) {
                *must_stay.entry(*thing).or_insert(0) += 1;
            }
        }
        let left = self.after.links();
        let is_gone = |thing: &Thing, count: &u64| left.get(thing).copied().unwrap_or(0) < *count;
        let gone = (must_stay.iter()).filter(|(thing, count)| is_gone(thing, count));
        let path = |thing: &Thing| {
            let path = self.before.paths_of(thing.id()).next();
            path.map_or_else(String::new, |path| path.display().to_string())
        };
        gone.map(|(thing, _)| format!("nobody confirmed {}, and it is gone", path(thing)))
            .collect()
    }

    /// The confirmed inodes that went from the trees.
    pub(super) fn gone(&self) -> BTreeSet<Id> {
        let left = self.after.ids();
        let was = self.before.ids();
        let gone = self.allowed.iter().copied();
        gone.filter(|id| was.contains(id) && !left.contains(id))
            .collect()
    }

    /// A move to the trash loses nothing.
    fn trash(&self) -> Vec<String> {
        if !self.is_trash {
            return Vec::new();
        }
        let all = self.forest.picture_with_trash().links();
        let lost = self
            .before
            .things
            .iter()
            .filter(|(_, thing)| !all.contains_key(thing));
        lost.map(|(path, _)| format!("{} is not in the trash", path.display()))
            .collect()
    }

    /// Each end has a beginning with a confirmed identity, and says what the disk says.
    fn lines(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut begun: BTreeMap<&str, Id> = BTreeMap::new();
        let mut told: BTreeSet<Id> = BTreeSet::new();
        let gone = self.gone();
        let left = self.after.ids();
        for line in self.journal {
            let Some(id) = line["id"].as_str() else {
                faults.push(format!("a line without an id: {line}"));
                continue;
            };
            if let (Some(device), Some(inode)) = (line["device"].as_u64(), line["inode"].as_u64()) {
                begun.insert(id, (device, inode));
                if !self.allowed.contains(&(device, inode)) {
                    faults.push(format!("the journal has what nobody confirmed: {line}"));
                }
                let kind = if self.is_trash { "trash" } else { "permanent" };
                if line["kind"] != kind {
                    faults.push(format!("the manner must be {kind}: {line}"));
                }
            }
            let Some(end) = line["end"].as_str() else {
                continue;
            };
            let Some(&item) = begun.get(id) else {
                faults.push(format!("an end without a beginning: {line}"));
                continue;
            };
            if end == "removed" {
                told.insert(item);
            }
            // What lay in another confirmed directory went with it.
            let may_be_gone = end != "removed" && self.is_inside(item);
            let is_gone = !left.contains(&item) && !may_be_gone;
            if (end == "removed") != is_gone {
                faults.push(format!("the disk says something else: {line}"));
            }
            let below = self.count_below(item);
            let is_exact = line["entries"] == if self.is_trash { 1 } else { below };
            if end == "removed" && !self.is_stormy && !is_exact {
                faults.push(format!("{below} entries must have gone: {line}"));
            }
            if end == "stayed" && line["entries"] != 0 {
                faults.push(format!("what stayed lost entries: {line}"));
            }
        }
        for item in gone.difference(&told) {
            // What lay in another confirmed directory went with it.
            if !self.is_inside(*item) {
                let inode = item.1;
                faults.push(format!("the journal does not tell that inode {inode} went"));
            }
        }
        faults
    }

    fn count_below(&self, item: Id) -> u64 {
        let Some(top) = self.whole.paths_of(item).next() else {
            return 0;
        };
        let paths = self.whole.things.keys();
        paths.filter(|path| path.starts_with(top)).count() as u64
    }

    fn is_inside(&self, item: Id) -> bool {
        let mut paths = self.before.paths_of(item);
        paths.any(|path| {
            let mut above = path.ancestors().skip(1);
            above.any(|above| {
                let thing = self.before.things.get(above);
                thing.is_some_and(|thing| {
                    thing.kind == Kind::Directory && self.allowed.contains(&thing.id())
                })
            })
        })
    }
}

/// The lines of the journal after a place in it, and the place after them.
pub(super) fn journal(path: &Path, place: &mut usize) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let new = &text[*place..];
    *place = text.len();
    let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    new.lines().map(line).collect()
}

/// The paths of the items with this end, by the lines of their removal.
pub(super) fn ended(lines: &[Value], end: &str) -> Vec<String> {
    let is_end = |line: &&Value| line["end"] == end;
    let ids: BTreeSet<&str> = (lines.iter().filter(is_end))
        .filter_map(|line| line["id"].as_str())
        .collect();
    let is_it = |line: &&Value| line["id"].as_str().is_some_and(|id| ids.contains(id));
    let paths = lines.iter().filter(is_it);
    paths
        .filter_map(|line| line["path"].as_str().map(str::to_owned))
        .collect()
}
