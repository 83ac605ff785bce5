// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of a scan, and all that changed in them since.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::data::{Data, ItemId};
use crate::grafted::Grafted;
use crate::layered::Layered;
use crate::recounted::{Moves, Recounted, inodes};
use crate::removal::Manner;
use crate::without::Without;

/// The most directories with newer numbers, and of new ones. Each makes every question slower.
const NEWER_MAX: usize = 16;

/// The numbers of a scan with a list of changes, which is made into data anew for each
/// change. So newer numbers never rest on data that lacks a removal.
pub struct Revision {
    scan: Arc<dyn Data>,
    changes: Vec<Change>,
    /// The scan with all changes, each by itself.
    changed: Arc<dyn Data>,
    /// The inodes that count under another name then.
    moves: Arc<Moves>,
    data: Arc<dyn Data>,
    /// Each removal, each return and each change of unknown extent, with the number of the
    /// change.
    moved: Vec<(u64, ItemId)>,
    number: u64,
}

enum Change {
    Gone(Vec<ItemId>),
    Newer(ItemId, Arc<dyn Data>),
    /// A directory that holds one more, its name, and its numbers.
    New(ItemId, Vec<u8>, Arc<dyn Data>),
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revision")
            .field("number", &self.number)
            .field("change_count", &self.changes.len())
            .finish_non_exhaustive()
    }
}

impl Revision {
    /// The numbers of a scan, where nothing has changed.
    #[must_use]
    pub fn new(scan: Arc<dyn Data>) -> Revision {
        Revision {
            data: Arc::clone(&scan),
            changed: Arc::clone(&scan),
            moves: Arc::default(),
            scan,
            changes: Vec::new(),
            moved: Vec::new(),
            number: 0,
        }
    }

    /// The numbers with all changes.
    #[must_use]
    pub fn data(&self) -> &Arc<dyn Data> {
        &self.data
    }

    /// The number of the last change.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes items out. Those in the trash are names of their inodes still.
    pub fn remove(&mut self, items: Vec<ItemId>, manner: Manner) {
        self.number += 1;
        self.note(&items);
        if manner == Manner::Permanent {
            let names = inodes(&items, &*self.changed);
            if !names.is_empty() {
                Arc::make_mut(&mut self.moves).remove(&names, &*self.changed);
            }
        }
        self.changes.push(Change::Gone(items.clone()));
        self.make(&items);
    }

    /// Puts removed items back. Answers for each whether the data has it again.
    pub fn bring_back(&mut self, items: &[ItemId]) -> Vec<bool> {
        self.number += 1;
        for change in &mut self.changes {
            if let Change::Gone(gone) = change {
                gone.retain(|id| !items.contains(id));
            }
        }
        self.make(items);
        self.note(items);
        let is_there = |id: &ItemId| self.data.path(*id).is_some();
        items.iter().map(is_there).collect()
    }

    /// Puts newer numbers of a directory over the others. Answers with the difference of
    /// the allocated bytes and of the entries, as a sign and an amount. Absent where there
    /// are too many such directories, or the directory is not there.
    pub fn renew(&mut self, dir: ItemId, newer: Arc<dyn Data>) -> Option<[(bool, u128); 2]> {
        if self.layers_without(dir) >= NEWER_MAX {
            return None;
        }
        Layered::new(Arc::clone(&self.changed), dir, Arc::clone(&newer))?;
        let before = Sums::of(&*self.data, dir);
        self.number += 1;
        self.changes.retain(|change| match change {
            Change::Newer(at, _) => *at != dir,
            Change::Gone(_) | Change::New(..) => true,
        });
        self.changes.push(Change::Newer(dir, newer));
        self.make(&[dir]);
        Some(Sums::of(&*self.data, dir).difference(before))
    }

    /// Puts a new directory into another one, which has no entry of its name. Answers
    /// whether that was possible.
    pub fn graft(&mut self, dir: ItemId, name: &[u8], newer: Arc<dyn Data>) -> bool {
        let grafted = Grafted::new(Arc::clone(&self.changed), dir, name, Arc::clone(&newer));
        if grafted.is_none() || self.layers_without(dir) >= NEWER_MAX {
            return false;
        }
        self.number += 1;
        let roots = newer.roots();
        self.changes.push(Change::New(dir, name.to_vec(), newer));
        self.make(&roots);
        true
    }

    /// Notes that something in a directory is another than in the data. Numbers of it that
    /// were read before are not to be trusted.
    pub fn doubt(&mut self, dir: ItemId) {
        self.number += 1;
        self.note(&[dir]);
    }

    /// The number of layers, without one that newer numbers of this directory replace.
    fn layers_without(&self, dir: ItemId) -> usize {
        let counts = |change: &&Change| match change {
            Change::Newer(at, _) => *at != dir,
            Change::New(..) => true,
            Change::Gone(_) => false,
        };
        self.changes.iter().filter(counts).count()
    }

    /// Whether an item in a directory went or came back after a change. Numbers that were
    /// read before are not to be trusted then.
    #[must_use]
    pub fn has_moved_since(&self, number: u64, dir: ItemId) -> bool {
        let is_in = |id: ItemId| {
            let mut way = std::iter::successors(Some(id), |id| self.data.parent(*id));
            way.any(|above| above == dir)
        };
        let mut moved = self.moved.iter();
        moved.any(|(at, id)| *at > number && is_in(*id))
    }

    fn note(&mut self, items: &[ItemId]) {
        let number = self.number;
        self.moved.extend(items.iter().map(|id| (number, *id)));
    }

    /// Makes the data anew, after a change of these items and of nothing outside of them.
    fn make(&mut self, items: &[ItemId]) {
        let before = Arc::clone(&self.changed);
        self.apply();
        let mut touched: HashSet<(u64, u64)> = inodes(items, &*before).into_iter().collect();
        touched.extend(inodes(items, &*self.changed));
        if !touched.is_empty() {
            let moves = Arc::make_mut(&mut self.moves);
            moves.release(&touched, &*before);
            moves.settle(&touched, &*self.changed);
        }
        let (changed, moves) = (Arc::clone(&self.changed), Arc::clone(&self.moves));
        self.data = match self.moves.is_empty() {
            true => changed,
            false => Arc::new(Recounted::new(changed, moves)),
        };
    }

    fn apply(&mut self) {
        let mut data = Arc::clone(&self.scan);
        for change in &self.changes {
            match change {
                Change::Gone(items) => data = Arc::new(Without::new(data, items)),
                Change::Newer(dir, newer) => {
                    // A directory that is gone has no newer numbers.
                    let layered = Layered::new(Arc::clone(&data), *dir, Arc::clone(newer));
                    if let Some(layered) = layered {
                        data = Arc::new(layered);
                    }
                }
                Change::New(dir, name, newer) => {
                    let grafted = Grafted::new(Arc::clone(&data), *dir, name, Arc::clone(newer));
                    if let Some(grafted) = grafted {
                        data = Arc::new(grafted);
                    }
                }
            }
        }
        self.changed = data;
    }
}

/// The allocated bytes and the entries of a directory.
struct Sums([u128; 2]);

impl Sums {
    fn of(data: &dyn Data, dir: ItemId) -> Sums {
        let sums = (data.item(dir)).map(|item| [item.allocated_bytes, item.entries.into()]);
        Sums(sums.unwrap_or_default())
    }

    /// The growth of both, each as a sign and an amount.
    fn difference(self, before: Sums) -> [(bool, u128); 2] {
        let of = |at: usize| (self.0[at] < before.0[at], self.0[at].abs_diff(before.0[at]));
        [of(0), of(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Kind;
    use crate::trial::{Small, id};

    fn sums(data: &dyn Data, number: u64) -> (u128, u64) {
        let item = data.item(id(number)).expect("it is there");
        (item.allocated_bytes, item.entries)
    }

    fn newer_src() -> Arc<dyn Data> {
        let mut newer = Small {
            scan: 1,
            ..Small::default()
        };
        newer.put(1, None, b"/data/src", Kind::Directory, 4096);
        newer.put(2, Some(1), b"more.rs", Kind::File, 1 << 20);
        Arc::new(newer)
    }

    /// The user removed an item while `r` read another directory, and it came back into
    /// the numbers.
    #[test]
    fn newer_numbers_never_bring_a_removed_item_back() {
        let mut revision = Revision::new(Arc::new(Small::example()));
        let before = sums(&**revision.data(), 1);
        let photos = sums(&**revision.data(), 2);
        let begun = revision.number();
        revision.remove(vec![id(2)], Manner::Trash);
        assert!(!revision.has_moved_since(begun, id(3)));
        assert!(revision.has_moved_since(begun, id(1)));
        let difference = revision.renew(id(3), newer_src()).expect("it is there");
        // Of the directory alone, whatever else went.
        assert_eq!(difference, [(false, (1 << 20) - (8 << 10)), (false, 0)]);
        let data = revision.data();
        assert_eq!(data.item(id(2)), None);
        assert_eq!(data.item(id(4)), None);
        let expected = before.0 - photos.0 + (1 << 20) - (8 << 10);
        assert_eq!(sums(&**data, 1), (expected, before.1 - photos.1));
    }

    #[test]
    fn what_comes_back_has_the_numbers_of_before() {
        let mut revision = Revision::new(Arc::new(Small::example()));
        let before: Vec<_> = (1..=9).map(|n| sums(&**revision.data(), n)).collect();
        revision.remove(vec![id(2)], Manner::Trash);
        revision.remove(vec![id(7), id(8)], Manner::Trash);
        // Only a part of a move.
        assert_eq!(revision.bring_back(&[id(7)]), [true]);
        assert_eq!(revision.data().item(id(8)), None);
        assert_eq!(revision.bring_back(&[id(8), id(2)]), [true, true]);
        let after: Vec<_> = (1..=9).map(|n| sums(&**revision.data(), n)).collect();
        assert_eq!(after, before);
    }

    /// The directory was read while the item was away: only another reading knows it.
    #[test]
    fn what_newer_numbers_lack_does_not_come_back_by_itself() {
        let mut revision = Revision::new(Arc::new(Small::example()));
        revision.remove(vec![id(6)], Manner::Trash);
        revision.renew(id(3), newer_src()).expect("it is there");
        let before = sums(&**revision.data(), 1);
        assert_eq!(revision.bring_back(&[id(6)]), [false]);
        assert_eq!(sums(&**revision.data(), 1), before);
    }

    /// A move to the trash took its bytes off all sums, although the scan has the directory
    /// where the trash was made.
    #[test]
    fn a_new_directory_counts_above() {
        let mut revision = Revision::new(Arc::new(Small::example()));
        let before = sums(&**revision.data(), 1);
        let mut trash = Small {
            scan: 7,
            ..Small::default()
        };
        trash.put(1, None, b"/data/src/.Trash", Kind::Directory, 4096);
        trash.put(2, Some(1), b"sea.JPG", Kind::File, 50 << 20);
        let trash: Arc<dyn Data> = Arc::new(trash);
        let begun = revision.number();
        revision.doubt(id(3));
        assert!(revision.has_moved_since(begun, id(1)));
        assert!(!revision.has_moved_since(begun, id(2)));
        assert!(revision.graft(id(3), b".Trash", Arc::clone(&trash)));
        // Not twice, and not into a file.
        assert!(!revision.graft(id(3), b".Trash", Arc::clone(&trash)));
        assert!(!revision.graft(id(6), b".Trash", Arc::clone(&trash)));
        let data = Arc::clone(revision.data());
        let more = (50 << 20) + 4096;
        assert_eq!(sums(&*data, 1), (before.0 + more, before.1 + 2));
        let mut names = Vec::new();
        data.children(id(3), &mut |id, item| {
            names.push((data.path(id).unwrap(), item.name.into_owned()));
            std::ops::ControlFlow::Continue(())
        });
        let found = (b"/data/src/.Trash".to_vec(), b".Trash".to_vec());
        assert!(names.contains(&found), "{names:?}");
        let file = ItemId { scan: 7, number: 2 };
        assert_eq!(data.path(file).unwrap(), b"/data/src/.Trash/sea.JPG");
        // It is an item as others: it has newer numbers, and it goes.
        let top = ItemId { scan: 7, number: 1 };
        let mut newer = Small {
            scan: 8,
            ..Small::default()
        };
        newer.put(1, None, b"/data/src/.Trash", Kind::Directory, 4096);
        revision.renew(top, Arc::new(newer)).unwrap();
        assert_eq!(sums(&**revision.data(), 1), (before.0 + 4096, before.1 + 1));
        assert_eq!(revision.data().item(file), None);
        revision.remove(vec![top], Manner::Trash);
        assert_eq!(sums(&**revision.data(), 1), before);
        assert_eq!(revision.bring_back(&[top]), [true]);
        // Numbers of the directory above were read when it was there.
        revision.renew(id(3), newer_src()).unwrap();
        assert_eq!(revision.data().item(top), None);
        let expected = before.0 + (1 << 20) - (8 << 10);
        assert_eq!(sums(&**revision.data(), 1), (expected, before.1));
    }

    #[test]
    fn a_directory_that_is_gone_takes_no_newer_numbers() {
        let mut revision = Revision::new(Arc::new(Small::example()));
        revision.remove(vec![id(3)], Manner::Trash);
        assert!(revision.renew(id(3), newer_src()).is_none());
    }
}
