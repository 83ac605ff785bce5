// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items that are scanned one after another: roots, then crossings, overlays, links.
//!
//! Two ways can lead to one directory, and chance must not choose. So such ways wait,
//! and are taken one by one in path order.

use std::ffi::CStr;
use std::sync::Arc;

use crate::directory::{Dir, Place};
use crate::handle::OpenParent;
use crate::sink::path_order;

/// The items that are scanned one after another.
#[derive(Default)]
pub(super) struct Agenda {
    roots: Vec<Arc<CStr>>,
    next_root: usize,
    /// Mounts that show the directories of another mount.
    pub(super) crossings: Vec<(Arc<OpenParent>, u32)>,
    /// Overlays, which are left out if all their layers were read.
    pub(super) overlays: Vec<(Arc<OpenParent>, u32)>,
    /// Symbolic links to follow.
    pub(super) links: Vec<(Arc<Dir>, u32)>,
    /// Subdirectories that were not found. A second listing decides whether they
    /// have vanished.
    pub(super) vanished: Vec<(Arc<Dir>, u32)>,
    /// The crossings or links that come next, the first in path order at the end.
    sorted: Vec<Item>,
}

/// An item of the agenda.
pub(super) enum Item {
    Root(usize, Arc<CStr>),
    Crossing(Arc<OpenParent>, u32),
    Link(Arc<Dir>, u32),
    /// Subdirectories of one directory that were not found.
    Vanished(Arc<Dir>, Vec<u32>),
}

impl Agenda {
    pub(super) fn new(roots: Vec<Arc<CStr>>) -> Agenda {
        Agenda {
            roots,
            ..Agenda::default()
        }
    }

    /// Drops all items.
    pub(super) fn clear(&mut self) {
        self.crossings.clear();
        self.overlays.clear();
        self.links.clear();
        self.vanished.clear();
        self.sorted.clear();
    }

    /// The next item, to be called when all items before are done. It leaves out roots
    /// that an earlier root has reached.
    pub(super) fn next(&mut self, is_reached_earlier: impl Fn(usize) -> bool) -> Option<Item> {
        if self.sorted.is_empty() && !self.crossings.is_empty() {
            let crossings = std::mem::take(&mut self.crossings);
            self.sorted = last_first(crossings, |parent| &parent.dir, Item::Crossing);
        }
        if self.sorted.is_empty() && !self.overlays.is_empty() {
            // Those that come up again can lie in a layer.
            self.sorted = by_parent(std::mem::take(&mut self.vanished));
        }
        if self.sorted.is_empty() && !self.overlays.is_empty() {
            let overlays = std::mem::take(&mut self.overlays);
            self.sorted = last_first(overlays, |parent| &parent.dir, Item::Crossing);
        }
        if self.sorted.is_empty() && !self.links.is_empty() {
            let links = std::mem::take(&mut self.links);
            self.sorted = last_first(links, |dir| dir, Item::Link);
        }
        if self.sorted.is_empty() {
            self.sorted = by_parent(std::mem::take(&mut self.vanished));
        }
        if let Some(item) = self.sorted.pop() {
            return Some(item);
        }
        while let Some(path) = self.roots.get(self.next_root) {
            let root = self.next_root;
            self.next_root += 1;
            if !is_reached_earlier(root) {
                return Some(Item::Root(root, Arc::clone(path)));
            }
        }
        None
    }
}

/// Groups the names that one listing can judge.
pub(super) fn by_parent(mut vanished: Vec<(Arc<Dir>, u32)>) -> Vec<Item> {
    vanished.sort_by_key(|(parent, offset)| (parent.id, *offset));
    let groups = vanished.chunk_by(|a, b| Arc::ptr_eq(&a.0, &b.0));
    let offsets = |group: &[(_, u32)]| group.iter().map(|&(_, offset)| offset).collect();
    groups
        .map(|group| Item::Vanished(Arc::clone(&group[0].0), offsets(group)))
        .collect()
}

/// Sorts items against the order of paths.
fn last_first<P>(
    waiting: Vec<(P, u32)>,
    dir: fn(&P) -> &Arc<Dir>,
    item: fn(P, u32) -> Item,
) -> Vec<Item> {
    let mut with_paths: Vec<_> = waiting
        .into_iter()
        .map(|(parent, offset)| {
            let path = Place::Child(Arc::clone(dir(&parent)), offset).path();
            (path, parent, offset)
        })
        .collect();
    with_paths.sort_by(|a, b| path_order(&b.0, &a.0));
    with_paths
        .into_iter()
        .map(|(_, parent, offset)| item(parent, offset))
        .collect()
}
