// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers in which the bytes of each inode count under its first name of now.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::data::{Data, Fault, Inode, Item, ItemId, Notes};

/// Other data, where some inodes count under another name than there.
///
/// Data without removed items lacks the bytes that counted under one of them, although a
/// name elsewhere stays. Data with a newer directory has them twice where both readings
/// counted them.
pub(crate) struct Recounted {
    below: Arc<dyn Data>,
    moves: Arc<Moves>,
}

/// The differences from other data.
#[derive(Clone, Default)]
pub(crate) struct Moves {
    /// The names of each inode that are other than in the data.
    names: HashMap<(u64, u64), Vec<Name>>,
    /// Their notes, by name.
    notes: HashMap<ItemId, Noted>,
    /// The bytes that directories have more, or less.
    sums: HashMap<ItemId, Sums>,
    /// The newest scan of each of these inodes, and how many names it has.
    links: HashMap<(u64, u64), (u64, u32)>,
}

#[derive(Clone, Copy)]
struct Name {
    id: ItemId,
    /// The bytes that its directories have more.
    change: Sums,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Noted {
    counts_elsewhere: bool,
    has_other_names: bool,
}

impl Noted {
    fn of(notes: &Notes) -> Noted {
        Noted {
            counts_elsewhere: notes.counts_elsewhere,
            has_other_names: notes.has_other_names,
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    allocated_bytes: i128,
    apparent_bytes: i128,
}

impl Sums {
    fn add(&mut self, other: Sums, sign: i128) {
        self.allocated_bytes += sign * other.allocated_bytes;
        self.apparent_bytes += sign * other.apparent_bytes;
    }

    fn of(item: &Item<'_>) -> Sums {
        Sums {
            allocated_bytes: signed(item.allocated_bytes),
            apparent_bytes: signed(item.apparent_bytes),
        }
    }
}

fn signed(bytes: u128) -> i128 {
    i128::try_from(bytes).unwrap_or(i128::MAX)
}

impl Moves {
    pub(crate) fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.sums.is_empty()
    }

    /// Notes that these names were removed for good; each is in the data still.
    pub(crate) fn remove(&mut self, names: &[(u64, u64)], data: &dyn Data) {
        for inode in names {
            let links = self.count_links(*inode, &data.names(*inode), data);
            if let Some(links) = links {
                *links = links.saturating_sub(1);
            }
        }
    }

    /// Takes the differences of inodes back, before the data changes.
    pub(crate) fn release(&mut self, inodes: &HashSet<(u64, u64)>, data: &dyn Data) {
        for inode in inodes {
            for name in self.names.remove(inode).unwrap_or_default() {
                self.notes.remove(&name.id);
                self.add(name, -1, data);
            }
        }
    }

    /// Finds the differences of inodes, after the data changed.
    pub(crate) fn settle(&mut self, inodes: &HashSet<(u64, u64)>, data: &dyn Data) {
        for inode in inodes {
            let names = data.names(*inode);
            let first = names.iter().copied().min_by(|a, b| data.order(*a, *b));
            let links = self.count_links(*inode, &names, data).copied();
            let mut changed = Vec::new();
            for id in names {
                let Some(item) = data.item(id) else { continue };
                let before = Noted::of(&item.notes);
                let after = Noted {
                    counts_elsewhere: Some(id) != first,
                    has_other_names: links.map_or(before.has_other_names, |links| links > 1),
                };
                if before == after {
                    continue;
                }
                let mut change = Sums::default();
                let counts = |noted: Noted| i128::from(!noted.counts_elsewhere);
                change.add(Sums::of(&item), counts(after) - counts(before));
                let name = Name { id, change };
                self.notes.insert(id, after);
                self.add(name, 1, data);
                changed.push(name);
            }
            if !changed.is_empty() {
                self.names.insert(*inode, changed);
            }
        }
    }

    /// The number of names that an inode has: as the newest scan of one of them had it, less
    /// those that were removed for good since.
    fn count_links(
        &mut self,
        inode: (u64, u64),
        names: &[ItemId],
        data: &dyn Data,
    ) -> Option<&mut u32> {
        let newest = names.iter().copied().max_by_key(|id| id.scan);
        if let Some((newest, found)) = newest.and_then(|id| Some((id, data.inode(id)?))) {
            let known = (self.links.entry(inode)).or_insert((newest.scan, found.links));
            if known.0 < newest.scan {
                *known = (newest.scan, found.links);
            }
        }
        self.links.get_mut(&inode).map(|(_, links)| links)
    }

    /// Adds the change of a name to its directories, or takes it away.
    fn add(&mut self, name: Name, sign: i128, data: &dyn Data) {
        if name.change == Sums::default() {
            return;
        }
        let mut above = data.parent(name.id);
        while let Some(dir) = above {
            let sums = self.sums.entry(dir).or_default();
            sums.add(name.change, sign);
            if *sums == Sums::default() {
                self.sums.remove(&dir);
            }
            above = data.parent(dir);
        }
    }
}

/// The inodes with several names in these subtrees.
pub(crate) fn inodes(items: &[ItemId], data: &dyn Data) -> Vec<(u64, u64)> {
    let mut inodes = Vec::new();
    for &item in items {
        data.linked(item, &mut |_, inode| inodes.push(inode.id));
    }
    inodes
}

impl fmt::Debug for Recounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recounted")
            .field("inode_count", &self.moves.names.len())
            .finish_non_exhaustive()
    }
}

impl Recounted {
    pub(crate) fn new(below: Arc<dyn Data>, moves: Arc<Moves>) -> Recounted {
        Recounted { below, moves }
    }

    fn adapted<'a>(&self, id: ItemId, item: Item<'a>) -> Item<'a> {
        let mut item = item;
        if let Some(sums) = self.moves.sums.get(&id) {
            let changed = |bytes: u128, change| bytes.saturating_add_signed(change);
            item.allocated_bytes = changed(item.allocated_bytes, sums.allocated_bytes);
            item.apparent_bytes = changed(item.apparent_bytes, sums.apparent_bytes);
        }
        if let Some(noted) = self.moves.notes.get(&id) {
            item.notes.counts_elsewhere = noted.counts_elsewhere;
            item.notes.has_other_names = noted.has_other_names;
        }
        item
    }
}

impl Data for Recounted {
    fn roots(&self) -> Vec<ItemId> {
        self.below.roots()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        Some(self.adapted(id, self.below.item(id)?))
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        self.below.settled(id)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        self.below.parent(id)
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        self.below.identity(id)
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.below.inode(id)
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        self.below.linked(top, visit);
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        self.below.names(inode)
    }

    fn order(&self, a: ItemId, b: ItemId) -> std::cmp::Ordering {
        self.below.order(a, b)
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        (self.below).children(dir, &mut |id, item| visit(id, self.adapted(id, item)));
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        self.below.faults(dir)
    }

    fn is_final(&self) -> bool {
        self.below.is_final()
    }
}
