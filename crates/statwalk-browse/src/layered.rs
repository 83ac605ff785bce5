// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers in which one directory was read again.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::data::{Data, Fault, Inode, Item, ItemId, Kind, order_by_path};

/// Other data, where one directory has newer numbers.
///
/// The sums of the directories above change by the difference. A file with names both
/// inside and outside of the directory can count twice or not at all then, which
/// `Recounted` mends. The newest change above can be that of a file that is gone.
///
/// The newer data is a scan of its own, so the numbers of items say where they belong.
/// Older items in the directory are in the data no more.
pub struct Layered {
    below: Arc<dyn Data>,
    /// The directory, by its number below.
    at: ItemId,
    newer: Arc<dyn Data>,
    /// The root of the newer data.
    root: ItemId,
    above: HashSet<ItemId>,
    /// Before and after.
    sums: [Sums; 2],
}

/// The sums of the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    entries: u64,
    allocated_bytes: u128,
    apparent_bytes: u128,
}

impl Sums {
    fn of(item: &Item<'_>) -> Sums {
        Sums {
            entries: item.entries,
            allocated_bytes: item.allocated_bytes,
            apparent_bytes: item.apparent_bytes,
        }
    }
}

impl fmt::Debug for Layered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layered")
            .field("at", &self.at)
            .field("sums", &self.sums)
            .finish_non_exhaustive()
    }
}

impl Layered {
    /// Puts newer numbers of a directory over the others. `newer` has the directory as its
    /// only root.
    ///
    /// Absent where the directory is not there, and where it is no directory any more.
    pub fn new(below: Arc<dyn Data>, at: ItemId, newer: Arc<dyn Data>) -> Option<Layered> {
        let [root] = newer.roots()[..] else {
            return None;
        };
        let new = newer
            .item(root)
            .filter(|item| item.kind == Kind::Directory)?;
        let sums = [Sums::of(&below.item(at)?), Sums::of(&new)];
        let above = std::iter::successors(below.parent(at), |id| below.parent(*id));
        Some(Layered {
            above: above.collect(),
            below,
            at,
            newer,
            root,
            sums,
        })
    }

    /// The number in the newer data; absent where an item belongs to the others.
    fn newer_id(&self, id: ItemId) -> Option<ItemId> {
        match id {
            id if id == self.at => Some(self.root),
            id => (id.scan == self.root.scan).then_some(id),
        }
    }

    fn outer_id(&self, id: ItemId) -> ItemId {
        match id == self.root {
            true => self.at,
            false => id,
        }
    }

    /// Whether an item of the other data lies in the directory, as it was before.
    fn is_replaced(&self, id: ItemId) -> bool {
        let mut above = std::iter::successors(self.below.parent(id), |id| self.below.parent(*id));
        above.any(|above| above == self.at)
    }

    fn adapted<'a>(&'a self, id: ItemId, item: Item<'a>) -> Item<'a> {
        let [old, new] = self.sums;
        if id == self.at {
            let name = item.name;
            return match self.newer.item(self.root) {
                Some(newer) => Item { name, ..newer },
                None => Item { name, ..item },
            };
        }
        if !self.above.contains(&id) {
            return item;
        }
        let newer = self.newer.item(self.root);
        let newest_ns = newer.as_ref().and_then(|item| item.newest_ns);
        let mut notes = item.notes;
        let lacks = newer.map(|item| item.notes.is_incomplete || item.notes.is_unreadable);
        notes.is_incomplete |= lacks == Some(true);
        Item {
            entries: (item.entries + new.entries).saturating_sub(old.entries),
            allocated_bytes: (item.allocated_bytes + new.allocated_bytes)
                .saturating_sub(old.allocated_bytes),
            apparent_bytes: (item.apparent_bytes + new.apparent_bytes)
                .saturating_sub(old.apparent_bytes),
            newest_ns: item.newest_ns.max(newest_ns),
            notes,
            ..item
        }
    }
}

impl Data for Layered {
    fn roots(&self) -> Vec<ItemId> {
        self.below.roots()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match self.newer_id(id) {
            // It is known as the directory alone.
            _ if id == self.root => None,
            Some(newer) if id != self.at => self.newer.item(newer),
            _ if self.is_replaced(id) => None,
            _ => Some(self.adapted(id, self.below.item(id)?)),
        }
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        match self.newer_id(id) {
            _ if id == self.root => None,
            Some(newer) if id != self.at => self.newer.settled(newer),
            _ if self.is_replaced(id) => None,
            _ => self.below.settled(id),
        }
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        match self.newer_id(id) {
            Some(newer) if id != self.at => Some(self.outer_id(self.newer.parent(newer)?)),
            _ => self.below.parent(id),
        }
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        match self.newer_id(id) {
            _ if id == self.root => None,
            Some(newer) => self.newer.identity(newer),
            None if self.is_replaced(id) => None,
            None => self.below.identity(id),
        }
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        match self.newer_id(id) {
            _ if id == self.root => None,
            Some(newer) => self.newer.inode(newer),
            None if self.is_replaced(id) => None,
            None => self.below.inode(id),
        }
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        if let Some(newer) = self.newer_id(top) {
            return self.newer.linked(newer, visit);
        }
        self.below.linked(top, &mut |id, inode| {
            if !self.is_replaced(id) {
                visit(id, inode);
            }
        });
        if self.above.contains(&top) {
            self.newer.linked(self.root, visit);
        }
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let mut names = self.below.names(inode);
        names.retain(|id| !self.is_replaced(*id));
        names.extend(self.newer.names(inode));
        names
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        let is_newer = |id: ItemId| self.newer_id(id).is_some();
        match (is_newer(a), is_newer(b)) {
            (false, false) => self.below.order(a, b),
            _ => order_by_path(self, a, b),
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        match self.newer_id(dir) {
            Some(newer) => {
                (self.newer).children(newer, &mut |id, item| visit(self.outer_id(id), item));
            }
            None if self.is_replaced(dir) => {}
            None => {
                (self.below).children(dir, &mut |id, item| visit(id, self.adapted(id, item)));
            }
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        if let Some(newer) = self.newer_id(dir) {
            return self.newer.faults(newer);
        }
        if self.is_replaced(dir) {
            return (Vec::new(), 0);
        }
        let (mut faults, count) = self.below.faults(dir);
        if !self.above.contains(&dir) {
            return (faults, count);
        }
        let (old, old_count) = self.below.faults(self.at);
        let (new, new_count) = self.newer.faults(self.root);
        faults.retain(|fault| !old.contains(fault));
        faults.extend(new);
        (faults, (count + new_count).saturating_sub(old_count))
    }

    fn is_final(&self) -> bool {
        self.below.is_final()
    }
}
