// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items that the user marked.

use std::collections::{BTreeSet, HashSet};

use crate::data::{Data, ItemId};
use crate::filter::Bytes;
use crate::way::{self, Way};

/// The marked items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    ids: BTreeSet<ItemId>,
    /// The ways to marked items of earlier scans, until a scan knows everything there.
    waiting: HashSet<Way>,
}

impl Marks {
    pub(crate) fn invert(&mut self, id: ItemId) {
        if !self.ids.remove(&id) {
            self.ids.insert(id);
        }
    }

    /// The marks that end with the browser, those that wait for the scan among them.
    pub(crate) fn count(&self) -> u64 {
        (self.ids.len() + self.waiting.len()) as u64
    }

    pub(crate) fn has(&self, id: ItemId) -> bool {
        self.ids.contains(&id)
    }

    /// Gives the marked items the numbers that they have in other data, and answers how
    /// many are not there.
    pub(crate) fn settle(&mut self, data: &dyn Data) -> usize {
        let before = self.ids.len();
        let settled = self.ids.iter().filter_map(|id| data.settled(*id));
        self.ids = settled.collect();
        let mut gone = before - self.ids.len();
        if data.is_final() {
            let ways: Vec<Way> = self.waiting.drain().collect();
            let found = way::find(&ways, data);
            gone += ways.len().saturating_sub(found.len());
            self.ids.extend(found);
        }
        gone
    }

    /// Remembers the ways to marked items instead of their numbers, because those in a
    /// directory, or all of them, get others. The directory itself keeps its number.
    pub(crate) fn keep_ways(&mut self, dir: Option<ItemId>, data: &dyn Data) {
        let parents = |id: ItemId| std::iter::successors(data.parent(id), |id| data.parent(*id));
        let is_in = |id: ItemId| dir.is_none_or(|dir| parents(id).any(|above| above == dir));
        let (changing, staying) = self.ids.iter().partition(|id| is_in(**id));
        self.ids = staying;
        let changing: BTreeSet<ItemId> = changing;
        let ways = changing.into_iter().filter_map(|id| Way::to(id, data));
        self.waiting.extend(ways);
    }

    /// Takes back the marks of items that are gone, and of everything in them.
    pub(crate) fn forget_gone(&mut self, data: &dyn Data) {
        let is_there = |id: ItemId| {
            let mut way = std::iter::successors(Some(id), |id| data.parent(*id));
            way.all(|id| data.item(id).is_some())
        };
        self.ids.retain(|id| is_there(*id));
    }

    /// The number of marks of items that the scan may still find.
    pub(crate) fn waiting_len(&self) -> usize {
        self.waiting.len()
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

    /// The size of all marked items together, and whether it is a lower bound.
    pub(crate) fn bytes(&self, data: &dyn Data, bytes: Bytes) -> (u128, bool) {
        let items = self.outermost(data);
        let items = items.into_iter().filter_map(|id| data.item(id));
        let items: Vec<_> = items.filter(|item| !item.notes.counts_elsewhere).collect();
        let lacks = items.iter().any(|item| item.notes.is_incomplete);
        let sum = items.iter().map(|item| bytes.of(item)).sum();
        (sum, lacks || !data.is_final())
    }
}
