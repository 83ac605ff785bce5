// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes of an inode with several names count under its first name of now.
//!
//! Where the first name is removed, the sums lack its bytes although another one stays.
//! Where a directory is read again, both readings can count them.

use std::collections::{HashMap, HashSet};

use statwalk_view::Notes;

use crate::data::{Data, ItemId};
use crate::edited::{Edited, SumChange};

/// The differences from the data.
#[derive(Clone, Default)]
pub(crate) struct Recount {
    /// The names of each inode that are other than in the data, with the bytes that their
    /// directories have more.
    names: HashMap<(u64, u64), Vec<(ItemId, SumChange)>>,
    /// Their notes, by name.
    notes: HashMap<ItemId, Noted>,
    /// The newest scan of each of these inodes, and how many names it has.
    links: HashMap<(u64, u64), (u64, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Noted {
    counts_elsewhere: bool,
    has_other_names: bool,
}

impl Recount {
    pub(crate) fn adapt(&self, id: ItemId, notes: &mut Notes) {
        if let Some(noted) = self.notes.get(&id) {
            notes.counts_elsewhere = noted.counts_elsewhere;
            notes.has_other_names = noted.has_other_names;
        }
    }
}

impl Edited {
    /// Makes an edit of these items and of nothing outside of them, and finds the first names
    /// of their inodes.
    pub(crate) fn edit(&mut self, items: &[ItemId], edit: impl FnOnce(&mut Edited)) {
        let mut touched: HashSet<(u64, u64)> = self.inodes(items).into_iter().collect();
        self.release(&touched);
        edit(self);
        let more = self.inodes(items).into_iter().collect();
        self.release(&more);
        touched.extend(more);
        self.settle(&touched);
    }

    /// Notes that items were removed for good; each is in the data still.
    pub(crate) fn remove_links(&mut self, items: &[ItemId]) {
        for inode in self.inodes(items) {
            let links = self.links(inode, &self.names(inode));
            if let Some(links) = links {
                *links = links.saturating_sub(1);
            }
        }
    }

    /// The inodes with several names in these subtrees, once for each name.
    fn inodes(&self, items: &[ItemId]) -> Vec<(u64, u64)> {
        let mut inodes = Vec::new();
        for &item in items {
            self.linked(item, &mut |_, inode| inodes.push(inode.id));
        }
        inodes
    }

    /// Takes the differences of inodes back.
    fn release(&mut self, inodes: &HashSet<(u64, u64)>) {
        for inode in inodes {
            for (id, change) in self.recount.names.remove(inode).unwrap_or_default() {
                self.recount.notes.remove(&id);
                self.add_above(id, SumChange::default().plus(change, -1));
            }
        }
    }

    /// Finds the differences of inodes.
    fn settle(&mut self, inodes: &HashSet<(u64, u64)>) {
        for &inode in inodes {
            let names = self.names(inode);
            let first = names.iter().copied().min_by(|a, b| self.order(*a, *b));
            let links = self.links(inode, &names).copied();
            let mut changed = Vec::new();
            for id in names {
                let Some(item) = self.item(id) else { continue };
                let notes = item.notes;
                let before = Noted {
                    counts_elsewhere: notes.counts_elsewhere,
                    has_other_names: notes.has_other_names,
                };
                let after = Noted {
                    counts_elsewhere: Some(id) != first,
                    has_other_names: links.map_or(before.has_other_names, |links| links > 1),
                };
                if before == after {
                    continue;
                }
                let counts = |noted: Noted| i8::from(!noted.counts_elsewhere);
                let sign = counts(after) - counts(before);
                let change = SumChange::default().plus(SumChange::bytes_of(&item), sign);
                self.recount.notes.insert(id, after);
                self.add_above(id, change);
                changed.push((id, change));
            }
            if !changed.is_empty() {
                self.recount.names.insert(inode, changed);
            }
        }
    }

    /// The number of names that an inode has: as the newest scan of one of them had it, less
    /// those that were removed for good since.
    fn links(&mut self, inode: (u64, u64), names: &[ItemId]) -> Option<&mut u32> {
        let newest = names.iter().copied().max_by_key(|id| id.scan);
        if let Some((newest, found)) = newest.and_then(|id| Some((id, self.inode(id)?))) {
            let known = (newest.scan, found.links);
            let links = self.recount.links.entry(inode).or_insert(known);
            if links.0 < newest.scan {
                *links = known;
            }
        }
        let links = self.recount.links.get_mut(&inode);
        links.map(|(_, links)| links)
    }
}
