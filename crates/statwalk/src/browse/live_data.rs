// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers while a scan goes on: directories, and their files as one row.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use statwalk_browse::{Data, Fault, Item, ItemId, Kind, Notes};
use statwalk_core::{DirId, LiveDir, LiveTree};

use super::numbers::Place;
use crate::request::owners;

/// The numbers of a scan that goes on.
pub(crate) struct LiveData {
    pub(crate) tree: LiveTree,
    /// The roots, as the user gave them.
    pub(crate) roots: Vec<Vec<u8>>,
    /// The files of directories, as their rows were made: to sum them up takes longer than
    /// a frame may.
    pub(crate) rests: Mutex<HashMap<DirId, Item<'static>>>,
}

impl LiveData {
    pub(crate) fn new(tree: LiveTree, roots: Vec<Vec<u8>>) -> LiveData {
        LiveData {
            tree,
            roots,
            rests: Mutex::default(),
        }
    }

    fn root_of(&self, index: usize) -> Option<LiveDir> {
        self.tree.root(index)
    }

    /// The files of a directory together: its sums without those of its directories.
    fn rest(&self, id: DirId, children: &[LiveDir]) -> Option<Item<'static>> {
        let dir = self.tree.directory(id)?;
        let mut rest = (dir.entries, dir.allocated_bytes, dir.apparent_bytes);
        rest.0 = rest.0.saturating_sub(1);
        for child in children {
            // The sums of the parent are read first, and lag behind.
            rest.0 = rest.0.saturating_sub(child.entries);
            rest.1 = rest.1.saturating_sub(child.allocated_bytes);
            rest.2 = rest.2.saturating_sub(child.apparent_bytes);
        }
        let rest = (rest.0 > 0).then(|| Item {
            name: b"".into(),
            kind: Kind::Rest,
            allocated_bytes: rest.1.into(),
            apparent_bytes: rest.2.into(),
            entries: rest.0,
            newest_ns: None,
            uid: None,
            notes: Notes::default(),
        })?;
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        rests.insert(id, rest.clone());
        Some(rest)
    }
}

fn item_of(dir: LiveDir) -> Item<'static> {
    Item {
        name: dir.name.into(),
        kind: match dir.dirs {
            0 => Kind::File,
            _ => Kind::Directory,
        },
        allocated_bytes: dir.allocated_bytes.into(),
        apparent_bytes: dir.apparent_bytes.into(),
        entries: dir.entries.max(1),
        newest_ns: None,
        uid: None,
        notes: Notes::default(),
    }
}

impl Data for LiveData {
    fn roots(&self) -> Vec<ItemId> {
        let root = |index| match self.root_of(index) {
            Some(dir) => Place::Dir(dir.id),
            None => Place::Root(index),
        };
        (0..self.roots.len())
            .map(|index| root(index).id())
            .collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match Place::of(id) {
            Place::Dir(dir) => self.tree.directory(dir).map(item_of),
            Place::Rest(dir) => {
                let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
                rests.get(&dir).cloned()
            }
            Place::File(..) => None,
            Place::Root(index) => Some(Item {
                name: (&self.roots.get(index)?[..]).into(),
                kind: Kind::Other,
                allocated_bytes: 0,
                apparent_bytes: 0,
                entries: 0,
                newest_ns: None,
                uid: None,
                notes: Notes::default(),
            }),
        }
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        match Place::of(id) {
            Place::Dir(dir) => {
                let parent = self.tree.directory(dir)?.parent?;
                Some(Place::Dir(parent).id())
            }
            Place::Rest(dir) | Place::File(dir, _) => Some(Place::Dir(dir).id()),
            Place::Root(_) => None,
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        let Place::Dir(dir) = Place::of(dir) else {
            return;
        };
        let children = self.tree.children(dir);
        let rest = self.rest(dir, &children);
        for child in children {
            let id = Place::Dir(child.id).id();
            if visit(id, item_of(child)).is_break() {
                return;
            }
        }
        if let Some(rest) = rest {
            let _ = visit(Place::Rest(dir).id(), rest);
        }
    }

    fn faults(&self, _: ItemId) -> (Vec<Fault>, u64) {
        (Vec::new(), 0)
    }

    fn owner_name(&self, uid: u32) -> Option<String> {
        owner_name(uid)
    }

    fn is_final(&self) -> bool {
        false
    }
}

/// The name of an owner, as far as it is text.
pub(super) fn owner_name(uid: u32) -> Option<String> {
    owners::user_name(uid).map(|name| String::from_utf8_lossy(&name).into_owned())
}
