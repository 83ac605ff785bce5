// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items that the user marked.

use std::collections::BTreeSet;

use crate::data::{Data, ItemId};
use crate::filter::Bytes;

/// The marked items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    ids: BTreeSet<ItemId>,
}

impl Marks {
    pub(crate) fn invert(&mut self, id: ItemId) {
        if !self.ids.remove(&id) {
            self.ids.insert(id);
        }
    }

    pub(crate) fn has(&self, id: ItemId) -> bool {
        self.ids.contains(&id)
    }

    /// Gives the marked items the numbers that they have in other data.
    pub(crate) fn settle(&mut self, data: &dyn Data) {
        let settled = self.ids.iter().filter_map(|id| data.settled(*id));
        self.ids = settled.collect();
    }

    /// Takes back the marks of everything in a directory.
    pub(crate) fn forget_below(&mut self, dir: ItemId, data: &dyn Data) {
        let parents = |id: ItemId| std::iter::successors(data.parent(id), |id| data.parent(*id));
        let is_below = |id: ItemId| parents(id).any(|above| above == dir);
        self.ids.retain(|id| !is_below(*id));
    }

    /// Takes back the marks of items that are gone, and of everything in them.
    pub(crate) fn forget_gone(&mut self, data: &dyn Data) {
        let is_there = |id: ItemId| {
            let mut way = std::iter::successors(Some(id), |id| data.parent(*id));
            way.all(|id| data.item(id).is_some())
        };
        self.ids.retain(|id| is_there(*id));
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn all(&self) -> Vec<ItemId> {
        self.ids.iter().copied().collect()
    }

    /// The marked items that are in no other marked one.
    pub(crate) fn outermost(&self, data: &dyn Data) -> Vec<ItemId> {
        let is_inside = |id: ItemId| {
            let above = std::iter::successors(data.parent(id), |id| data.parent(*id));
            above.into_iter().any(|id| self.has(id))
        };
        let ids = self.ids.iter().copied();
        ids.filter(|id| !is_inside(*id)).collect()
    }

    /// The size of all marked items together.
    pub(crate) fn bytes(&self, data: &dyn Data, bytes: Bytes) -> u128 {
        let items = self.outermost(data);
        let items = items.into_iter().filter_map(|id| data.item(id));
        let counted = items.filter(|item| !item.notes.counts_elsewhere);
        counted.map(|item| bytes.of(&item)).sum()
    }
}
