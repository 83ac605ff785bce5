// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers without the items that were removed.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::data::{Data, Fault, Inode, Item, ItemId};

/// Other data without some items.
///
/// The directories above have smaller sums. They lack a file that counted under a name in
/// the removed items and has another one outside: `Recounted` adds it. The newest change above can be that
/// of a file that is gone.
pub struct Without {
    below: Arc<dyn Data>,
    gone: HashSet<ItemId>,
    /// The sums that the directories above have lost.
    lost: HashMap<ItemId, Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    entries: u64,
    allocated_bytes: u128,
    apparent_bytes: u128,
}

impl fmt::Debug for Without {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Without")
            .field("gone_count", &self.gone.len())
            .finish_non_exhaustive()
    }
}

impl Without {
    /// Takes items out. None of them is in another, and an unknown one changes nothing.
    #[must_use]
    pub fn new(below: Arc<dyn Data>, items: &[ItemId]) -> Without {
        let mut gone = HashSet::new();
        let mut lost: HashMap<ItemId, Sums> = HashMap::new();
        for &id in items {
            let Some(item) = below.item(id) else { continue };
            if !gone.insert(id) {
                continue;
            }
            let counted = !item.notes.counts_elsewhere;
            let above = std::iter::successors(below.parent(id), |id| below.parent(*id));
            for dir in above {
                let sums = lost.entry(dir).or_default();
                sums.entries += item.entries;
                if counted {
                    sums.allocated_bytes += item.allocated_bytes;
                    sums.apparent_bytes += item.apparent_bytes;
                }
            }
        }
        Without { below, gone, lost }
    }

    /// Whether an item was removed, or lies in a removed one.
    fn is_gone(&self, id: ItemId) -> bool {
        let mut way = std::iter::successors(Some(id), |id| self.below.parent(*id));
        way.any(|id| self.gone.contains(&id))
    }

    fn adapted<'a>(&self, id: ItemId, item: Item<'a>) -> Item<'a> {
        let Some(lost) = self.lost.get(&id) else {
            return item;
        };
        Item {
            entries: item.entries.saturating_sub(lost.entries),
            allocated_bytes: item.allocated_bytes.saturating_sub(lost.allocated_bytes),
            apparent_bytes: item.apparent_bytes.saturating_sub(lost.apparent_bytes),
            ..item
        }
    }
}

impl Data for Without {
    fn roots(&self) -> Vec<ItemId> {
        let mut roots = self.below.roots();
        roots.retain(|id| !self.gone.contains(id));
        roots
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match self.is_gone(id) {
            true => None,
            false => Some(self.adapted(id, self.below.item(id)?)),
        }
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        let settled = self.below.settled(id)?;
        (!self.is_gone(settled)).then_some(settled)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        self.below.parent(id)
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        match self.is_gone(id) {
            true => None,
            false => self.below.identity(id),
        }
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        match self.is_gone(id) {
            true => None,
            false => self.below.inode(id),
        }
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        self.below.linked(top, &mut |id, inode| {
            if !self.is_gone(id) {
                visit(id, inode);
            }
        });
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let mut names = self.below.names(inode);
        names.retain(|id| !self.is_gone(*id));
        names
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        self.below.order(a, b)
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        if self.is_gone(dir) {
            return;
        }
        (self.below).children(dir, &mut |id, item| match self.gone.contains(&id) {
            true => ControlFlow::Continue(()),
            false => visit(id, self.adapted(id, item)),
        });
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        if self.is_gone(dir) {
            return (Vec::new(), 0);
        }
        let (mut faults, mut count) = self.below.faults(dir);
        for &id in &self.gone {
            let above = std::iter::successors(self.below.parent(id), |id| self.below.parent(*id));
            if above.into_iter().any(|above| above == dir) {
                let (theirs, their_count) = self.below.faults(id);
                faults.retain(|fault| !theirs.contains(fault));
                count = count.saturating_sub(their_count);
            }
        }
        (faults, count)
    }

    fn is_final(&self) -> bool {
        self.below.is_final()
    }
}
