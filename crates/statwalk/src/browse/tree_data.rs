// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers at the end of a scan.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use statwalk_browse::{Data, Fault, Inode, Item, ItemId};
use statwalk_core::{Cause, DirId, FileId, Node, Report, Tree};
use statwalk_view::Kind;

use super::early_files::{EarlyFiles, Files};
use super::place::Place;
use crate::output::scanned_tree::{Part, ScannedTree};

/// The numbers of a scan that is over.
pub(crate) struct TreeData {
    /// The number of the scan.
    number: u64,
    tree: ScannedTree<'static, Tree>,
    /// The roots that a stopped scan did not come to, by their places, with their paths.
    unread: HashMap<usize, Vec<u8>>,
    faults: Vec<Fault>,
    fault_count: u64,
    /// Directories that changed each time that they were read.
    changed: HashSet<DirId>,
    /// The files that were known before the end. Rows and marks can still be theirs.
    early: Arc<EarlyFiles>,
    /// Their places in the tree, in their order; absent where a file is gone.
    places: HashMap<DirId, Vec<Option<usize>>>,
}

impl TreeData {
    /// The numbers of a scan, with the number of the scan.
    pub(crate) fn new(
        number: u64,
        tree: Tree,
        roots: &[Vec<u8>],
        report: &Report,
        early: Arc<EarlyFiles>,
    ) -> TreeData {
        let missing = roots.iter().zip(&report.roots).filter_map(|(path, root)| {
            Some(Fault {
                path: path.clone(),
                cause: root.missing?.to_string(),
            })
        });
        let mut faults: Vec<Fault> = missing.collect();
        faults.extend(report.errors.iter().map(|error| Fault {
            path: error.path.clone(),
            cause: error.cause.to_string(),
        }));
        faults.extend(report.hanging.iter().map(|path| Fault {
            path: path.clone(),
            cause: "no answer".to_owned(),
        }));
        // Here, and not when a mark asks: all 10,000 files of a directory can be marked.
        let settled = early.all().into_iter();
        let settled = settled.map(|(dir, files)| (dir, places(&tree, dir, &files)));
        let counted: u64 = report.error_counts.iter().map(|(.., count)| count).sum();
        let kept = report.errors.len() as u64;
        let changed = report.errors.iter();
        let changed = changed.filter(|error| error.cause == Cause::Changed);
        let changed = changed.filter_map(|error| {
            let path = error.path.strip_prefix(&roots.get(error.root)?[..])?;
            found(tree.root(error.root)?, path)?.dir_id()
        });
        let changed = changed.collect();
        let unread = roots.iter().zip(&report.roots).enumerate();
        let unread = unread.filter(|(index, (_, root))| {
            root.interrupted && root.missing.is_none() && tree.root(*index).is_none()
        });
        let unread = unread.map(|(index, (path, _))| (index, path.clone()));
        TreeData {
            number,
            unread: unread.collect(),
            changed,
            places: settled.collect(),
            tree: ScannedTree::new(tree),
            fault_count: faults.len() as u64 + counted.saturating_sub(kept),
            faults,
            early,
        }
    }

    fn item_of(&self, node: Node<'_>) -> Item<'_> {
        let mut item = Item::of(&self.tree, Part::Node(node.id()));
        if item.notes.counts_elsewhere {
            // A row has them all the same.
            item.allocated_bytes = node.allocated_bytes().unwrap_or(0);
            item.apparent_bytes = node.apparent_bytes().unwrap_or(0);
        }
        // Most scans meet no such directory.
        item.notes.has_changed = !self.changed.is_empty()
            && (node.dir_id()).is_some_and(|id| self.changed.contains(&id));
        item
    }

    fn place(&self, id: ItemId) -> Option<Place> {
        Place::of(id, self.number)
    }

    fn id(&self, place: Place) -> ItemId {
        place.id(self.number)
    }

    fn node(&self, id: ItemId) -> Option<Node<'_>> {
        match self.place(id)? {
            Place::Dir(dir) => self.tree.tree.directory(dir),
            Place::File(dir, place) => self.tree.tree.directory(dir)?.file_at(place),
            Place::Early(..) | Place::Rest(_) | Place::Root(_) => None,
        }
    }
}

/// The place of a node that is no early file.
fn place_of(node: Node<'_>) -> Option<Place> {
    match node.dir_id() {
        Some(dir) => Some(Place::Dir(dir)),
        None => Some(Place::File(node.parent()?.dir_id()?, node.file_place()?)),
    }
}

fn inode_of(node: Node<'_>) -> Option<Inode> {
    let (id, links) = node.inode()?;
    let ino = u64::try_from(id.ino()).ok()?;
    Some(Inode {
        id: (id.dev(), ino),
        links,
    })
}

/// The directory at a path below another one.
fn found<'t>(from: Node<'t>, path: &[u8]) -> Option<Node<'t>> {
    let mut names = path.split(|&byte| byte == b'/');
    let mut names = names.by_ref().filter(|name| !name.is_empty());
    names.try_fold(from, |dir, name| {
        dir.children().find(|child| child.name() == name)
    })
}

/// The places that files of a directory have in the tree.
fn places(tree: &Tree, dir: DirId, files: &Files) -> Vec<Option<usize>> {
    let Some(node) = tree.directory(dir) else {
        return Vec::new();
    };
    let known: HashMap<&[u8], usize> = (files.all().iter())
        .enumerate()
        .map(|(place, file)| (&*file.name, place))
        .collect();
    let mut places = vec![None; files.all().len()];
    for (place, file) in node.files().enumerate() {
        if let Some(&early) = known.get(file.name()) {
            places[early] = Some(place);
        }
    }
    places
}

impl Data for TreeData {
    fn roots(&self) -> Vec<ItemId> {
        let place = |index| match self.tree.tree.root(index) {
            Some(root) => root.dir_id().map(Place::Dir),
            None => (self.unread.get(&index)).map(|_| Place::Root(index)),
        };
        let places = (0..self.tree.tree.root_count()).filter_map(place);
        places.map(|place| self.id(place)).collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match self.place(id)? {
            Place::Early(dir, place) => self.early.of(dir)?.get(place).cloned(),
            Place::Root(index) => self.unread.get(&index).map(|path| {
                // Nobody knows what it is.
                let mut item = Item::unknown(&path[..], Kind::Other);
                item.notes.is_incomplete = true;
                item
            }),
            _ => self.node(id).map(|node| self.item_of(node)),
        }
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        match self.place(id)? {
            Place::Dir(_) | Place::File(..) => self.node(id).map(|_| id),
            Place::Early(dir, place) => {
                let place = *self.places.get(&dir)?.get(place)?;
                Some(self.id(Place::File(dir, place?)))
            }
            Place::Root(index) if self.unread.contains_key(&index) => Some(id),
            Place::Root(index) => {
                let dir = self.tree.tree.root(index)?.dir_id()?;
                Some(self.id(Place::Dir(dir)))
            }
            Place::Rest(_) => None,
        }
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        if let Place::Early(dir, _) = self.place(id)? {
            return Some(self.id(Place::Dir(dir)));
        }
        let parent = self.node(id)?.parent()?.dir_id()?;
        Some(self.id(Place::Dir(parent)))
    }

    fn lacks_itself(&self, dir: ItemId) -> bool {
        self.node(dir).is_some_and(|node| node.lacks_itself())
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        let id = self.node(id)?.identity()?;
        // A removal compares with the inode number of statx, which has 64 bits.
        Some((id.dev(), u64::try_from(id.ino()).ok()?))
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.node(id).and_then(inode_of)
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        let Some(top) = self.node(top).filter(|_| self.tree.tree.has_link_names()) else {
            return;
        };
        let mut visit = |node: Node<'_>| {
            if let (Some(place), Some(inode)) = (place_of(node), inode_of(node)) {
                visit(self.id(place), inode);
            }
        };
        // A root can be a file.
        visit(top);
        let mut waiting = vec![top];
        while let Some(dir) = waiting.pop() {
            dir.linked_files().for_each(&mut visit);
            waiting.extend(dir.children());
        }
    }

    fn names(&self, (dev, ino): (u64, u64)) -> Vec<ItemId> {
        let nodes = self.tree.tree.names_of(FileId::new(dev, ino));
        let places = nodes.filter_map(place_of);
        places.map(|place| self.id(place)).collect()
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        match (self.node(a), self.node(b)) {
            (Some(a), Some(b)) => a.cmp_path(&b),
            _ => a.cmp(&b),
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        let Some(Place::Dir(dir)) = self.place(dir) else {
            return;
        };
        let Some(node) = self.tree.tree.directory(dir) else {
            return;
        };
        let dirs = node.children().filter_map(|child| {
            let id = child.dir_id()?;
            Some((Place::Dir(id), child))
        });
        let files = node.files().enumerate();
        let files = files.map(|(place, file)| (Place::File(dir, place), file));
        for (place, child) in dirs.chain(files) {
            if visit(self.id(place), self.item_of(child)).is_break() {
                return;
            }
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        let Some(path) = self.path(dir) else {
            return (Vec::new(), 0);
        };
        let is_below = |fault: &&Fault| {
            let rest = fault.path.strip_prefix(&path[..]);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(b"/") || path.ends_with(b"/")
            })
        };
        let below: Vec<Fault> = self.faults.iter().filter(is_below).cloned().collect();
        let is_all = below.len() == self.faults.len();
        let count = if is_all {
            self.fault_count
        } else {
            below.len() as u64
        };
        (below, count)
    }
}

#[cfg(test)]
pub(super) mod tests;
