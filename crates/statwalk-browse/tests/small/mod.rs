// SPDX-License-Identifier: MIT OR Apache-2.0

//! A small tree for all tests of the browser, in the crate and beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use statwalk_view::{Kind, Notes};

use super::{DAY_NS, Data, Fault, Inode, Item, ItemId, NOW_NS};

/// A tree of few items.
#[derive(Clone, Default)]
pub(crate) struct Small {
    /// The number of its scan.
    pub(crate) scan: u64,
    pub(crate) items: BTreeMap<u64, (Option<u64>, Item<'static>)>,
    /// The inodes of items that have several names.
    pub(crate) inodes: BTreeMap<u64, Inode>,
    pub(crate) faults: Vec<Fault>,
    /// The directories that lack something by themselves.
    pub(crate) lacking: BTreeSet<u64>,
    pub(crate) is_live: bool,
    /// Items of earlier data, and their numbers here.
    pub(crate) moved: BTreeMap<u64, u64>,
}

impl Small {
    pub(crate) fn put(
        &mut self,
        id: u64,
        parent: Option<u64>,
        name: &[u8],
        kind: Kind,
        bytes: u128,
    ) {
        let is_dir = kind == Kind::Directory;
        let item = Item {
            name: name.to_vec().into(),
            kind,
            allocated_bytes: bytes,
            apparent_bytes: if is_dir { 0 } else { bytes / 2 },
            entries: 1,
            newest_ns: (!is_dir).then_some(NOW_NS - 3 * DAY_NS * id.cast_signed()),
            uid: Some(if id.is_multiple_of(2) { 0 } else { 1000 }),
            notes: Notes::default(),
        };
        let mut above = parent;
        while let Some(id) = above {
            let (next, sum) = self.items.get_mut(&id).expect("directories come first");
            sum.allocated_bytes += item.allocated_bytes;
            sum.apparent_bytes += item.apparent_bytes;
            sum.entries += 1;
            sum.newest_ns = sum.newest_ns.max(item.newest_ns);
            above = *next;
        }
        self.items.insert(id, (parent, item));
    }

    /// `/data` with two directories, four files and hostile names.
    pub(crate) fn example() -> Small {
        let mut small = Small::default();
        small.put(1, None, b"/data", Kind::Directory, 4096);
        small.put(2, Some(1), b"photos", Kind::Directory, 4096);
        small.put(3, Some(1), b"src", Kind::Directory, 4096);
        small.put(4, Some(2), b"sea.JPG", Kind::File, 50 << 20);
        small.put(5, Some(2), b"hills.jpg", Kind::File, 20 << 20);
        small.put(6, Some(3), b"main.rs", Kind::File, 8 << 10);
        small.put(7, Some(1), b"\x1b[2Jred\n", Kind::File, 1 << 20);
        small.put(8, Some(1), "日本語.txt".as_bytes(), Kind::File, 2 << 20);
        small.put(9, Some(1), b".hidden", Kind::Link, 0);
        small
    }
}

impl Small {
    fn id(&self, number: u64) -> ItemId {
        ItemId {
            scan: self.scan,
            number,
        }
    }

    fn found(&self, id: ItemId) -> Option<&(Option<u64>, Item<'static>)> {
        let is_own = id.scan == self.scan;
        self.items.get(&id.number).filter(|_| is_own)
    }
}

impl Data for Small {
    fn roots(&self) -> Vec<ItemId> {
        let roots = self
            .items
            .iter()
            .filter(|(_, (parent, _))| parent.is_none());
        roots.map(|(id, _)| self.id(*id)).collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        self.found(id).map(|(_, item)| item.clone())
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        let moved = self.moved.get(&id.number).copied();
        let settled = self.id(moved.unwrap_or(id.number));
        (id.scan == self.scan && self.found(settled).is_some()).then_some(settled)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        let (parent, _) = self.found(id)?;
        parent.map(|number| self.id(number))
    }

    fn lacks_itself(&self, dir: ItemId) -> bool {
        self.found(dir).is_some() && self.lacking.contains(&dir.number)
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.found(id)?;
        self.inodes.get(&id.number).copied()
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        for (&number, &inode) in &self.inodes {
            let id = self.id(number);
            let mut way = std::iter::successors(Some(id), |id| self.parent(*id));
            if way.any(|above| above == top) {
                visit(id, inode);
            }
        }
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let names = self.inodes.iter().filter(|(_, known)| known.id == inode);
        names.map(|(number, _)| self.id(*number)).collect()
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        for (id, (parent, item)) in &self.items {
            let is_inside = dir.scan == self.scan && *parent == Some(dir.number);
            if is_inside && visit(self.id(*id), item.clone()).is_break() {
                return;
            }
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        let path = self.path(dir).unwrap_or_default();
        let below = |fault: &&Fault| {
            let rest = fault.path.strip_prefix(&path[..]);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let faults: Vec<Fault> = self.faults.iter().filter(below).cloned().collect();
        let count = faults.len() as u64;
        (faults, count)
    }

    fn is_final(&self) -> bool {
        !self.is_live
    }
}
