// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers with a directory that came after the scan.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::data::{Data, Fault, Inode, Item, ItemId, Kind, order_by_path};
use crate::way::child;

/// Other data, where one directory has one more subdirectory.
///
/// A first move to the trash makes `.Trash-1000` at the top of a file system. To read the
/// directory above again would do the same, and read all of that file system.
///
/// The new directory is a scan of its own, so the numbers of items say where they belong.
/// The sums of the directories above grow by its own.
pub struct Grafted {
    below: Arc<dyn Data>,
    /// The directory that holds the new one.
    parent: ItemId,
    name: Vec<u8>,
    newer: Arc<dyn Data>,
    /// The new directory.
    root: ItemId,
    /// The directories that hold it.
    above: HashSet<ItemId>,
}

impl fmt::Debug for Grafted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grafted")
            .field("parent", &self.parent)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Grafted {
    /// Puts a directory into another one, under a name. `newer` has it as its only root.
    ///
    /// Absent where the other directory is not there or has an entry of that name, and where
    /// the new one is no directory.
    pub fn new(
        below: Arc<dyn Data>,
        parent: ItemId,
        name: &[u8],
        newer: Arc<dyn Data>,
    ) -> Option<Grafted> {
        let [root] = newer.roots()[..] else {
            return None;
        };
        let is_directory = |item: Item<'_>| item.kind == Kind::Directory;
        let is_possible = newer.item(root).is_some_and(is_directory)
            && below.item(parent).is_some_and(is_directory)
            && child(&*below, parent, name).is_none();
        let above = std::iter::successors(Some(parent), |id| below.parent(*id)).collect();
        is_possible.then(|| Grafted {
            above,
            below,
            parent,
            name: name.to_vec(),
            newer,
            root,
        })
    }

    fn is_new(&self, id: ItemId) -> bool {
        id.scan == self.root.scan
    }

    fn adapted<'a>(&'a self, id: ItemId, item: Item<'a>) -> Item<'a> {
        if !self.above.contains(&id) {
            return item;
        }
        let Some(new) = self.newer.item(self.root) else {
            return item;
        };
        let mut notes = item.notes;
        notes.is_incomplete |= new.notes.is_incomplete || new.notes.is_unreadable;
        Item {
            entries: item.entries + new.entries,
            allocated_bytes: item.allocated_bytes + new.allocated_bytes,
            apparent_bytes: item.apparent_bytes + new.apparent_bytes,
            newest_ns: item.newest_ns.max(new.newest_ns),
            notes,
            ..item
        }
    }

    fn new_item(&self, id: ItemId) -> Option<Item<'_>> {
        let item = self.newer.item(id)?;
        Some(match id == self.root {
            // As a root it has its whole path.
            true => Item {
                name: Cow::Borrowed(&self.name),
                ..item
            },
            false => item,
        })
    }
}

impl Data for Grafted {
    fn roots(&self) -> Vec<ItemId> {
        self.below.roots()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match self.is_new(id) {
            true => self.new_item(id),
            false => Some(self.adapted(id, self.below.item(id)?)),
        }
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        match self.is_new(id) {
            true => self.newer.settled(id),
            false => self.below.settled(id),
        }
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        match self.is_new(id) {
            true if id == self.root => Some(self.parent),
            true => self.newer.parent(id),
            false => self.below.parent(id),
        }
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        match self.is_new(id) {
            true => self.newer.identity(id),
            false => self.below.identity(id),
        }
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        match self.is_new(id) {
            true => self.newer.inode(id),
            false => self.below.inode(id),
        }
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        if self.is_new(top) {
            return self.newer.linked(top, visit);
        }
        self.below.linked(top, visit);
        if self.above.contains(&top) {
            self.newer.linked(self.root, visit);
        }
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let mut names = self.below.names(inode);
        names.extend(self.newer.names(inode));
        names
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        match (self.is_new(a), self.is_new(b)) {
            (false, false) => self.below.order(a, b),
            _ => order_by_path(self, a, b),
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        if self.is_new(dir) {
            return self.newer.children(dir, visit);
        }
        let mut flow = ControlFlow::Continue(());
        (self.below).children(dir, &mut |id, item| {
            flow = visit(id, self.adapted(id, item));
            flow
        });
        if dir == self.parent
            && flow.is_continue()
            && let Some(item) = self.new_item(self.root)
        {
            let _ = visit(self.root, item);
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        if self.is_new(dir) {
            return self.newer.faults(dir);
        }
        let (mut faults, mut count) = self.below.faults(dir);
        if self.above.contains(&dir) {
            let (more, more_count) = self.newer.faults(self.root);
            faults.extend(more);
            count += more_count;
        }
        (faults, count)
    }

    fn is_final(&self) -> bool {
        self.below.is_final()
    }
}
