// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of a scan, as edited since: without what is gone, with what is newer.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use statwalk_view::Kind;

use crate::data::{Data, Fault, Inode, Item, ItemId, order_by_path};
use crate::recount::Recount;
use crate::removal::Manner;
use crate::way::child;

/// The numbers of a scan, with all that changed in them since.
///
/// A directory that is read again is a scan of its own, so the number of an item says which
/// reading has it. An edit changes the sums of the directories above by a difference. So it
/// takes no longer in a large tree, and a question no longer after many edits.
///
/// The newest change above can be that of a file that is gone.
#[derive(Clone)]
pub struct Edited {
    scan: Arc<dyn Data>,
    /// The items that are gone, each with all that is in it.
    gone: HashSet<ItemId>,
    /// The directories that were read since, by the number of the reading.
    readings: BTreeMap<u64, Reading>,
    /// The newest reading of a directory.
    newer: HashMap<ItemId, u64>,
    /// The directories that came after the scan, by the one that holds them.
    new: HashMap<ItemId, Vec<ItemId>>,
    /// The sums to add to directories.
    sums: HashMap<ItemId, SumChange>,
    /// By directory, the newest change in the readings below it.
    below: HashMap<ItemId, Option<i64>>,
    /// How many lack something: the directory itself, and directories in it. Only for those
    /// where an edit has changed that.
    lacks: HashMap<ItemId, u64>,
    pub(crate) recount: Recount,
    /// Each removal, each return and each change of unknown extent, with the number of the
    /// edit.
    moved: Vec<(u64, ItemId)>,
    number: u64,
}

/// The newer numbers of a directory.
#[derive(Clone)]
struct Reading {
    data: Arc<dyn Data>,
    root: ItemId,
    /// The directory. One that came after the scan is known as the root of this reading.
    at: ItemId,
    /// The directory that holds such a one, and its name.
    place: Option<(ItemId, Vec<u8>)>,
}

/// Sums, or their difference.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SumChange {
    entries: i64,
    allocated_bytes: i128,
    apparent_bytes: i128,
}

impl SumChange {
    /// Of an item as it counts in the directories above.
    fn of(item: &Item<'_>) -> SumChange {
        let bytes = match item.notes.counts_elsewhere {
            true => SumChange::default(),
            false => SumChange::bytes_of(item),
        };
        let entries = i64::try_from(item.entries).unwrap_or(i64::MAX);
        SumChange { entries, ..bytes }
    }

    pub(crate) fn bytes_of(item: &Item<'_>) -> SumChange {
        let signed = |bytes: u128| i128::try_from(bytes).unwrap_or(i128::MAX);
        SumChange {
            entries: 0,
            allocated_bytes: signed(item.allocated_bytes),
            apparent_bytes: signed(item.apparent_bytes),
        }
    }

    pub(crate) fn plus(self, other: SumChange, sign: i8) -> SumChange {
        SumChange {
            entries: self.entries + i64::from(sign) * other.entries,
            allocated_bytes: self.allocated_bytes + i128::from(sign) * other.allocated_bytes,
            apparent_bytes: self.apparent_bytes + i128::from(sign) * other.apparent_bytes,
        }
    }
}

impl fmt::Debug for Edited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edited")
            .field("number", &self.number)
            .field("gone_count", &self.gone.len())
            .field("reading_count", &self.readings.len())
            .finish_non_exhaustive()
    }
}

impl Edited {
    /// The numbers of one scan, where nothing has changed.
    #[must_use]
    pub fn new(scan: Arc<dyn Data>) -> Edited {
        Edited {
            scan,
            gone: HashSet::new(),
            readings: BTreeMap::new(),
            newer: HashMap::new(),
            new: HashMap::new(),
            sums: HashMap::new(),
            below: HashMap::new(),
            lacks: HashMap::new(),
            recount: Recount::default(),
            moved: Vec::new(),
            number: 0,
        }
    }

    /// The numbers with all edits: those of the scan itself where there are none.
    #[must_use]
    pub fn data(self: &Arc<Edited>) -> Arc<dyn Data> {
        match self.gone.is_empty() && self.readings.is_empty() {
            true => Arc::clone(&self.scan),
            false => Arc::clone(self) as Arc<dyn Data>,
        }
    }

    /// The number of the last edit.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes items out. None of them is in another, and an unknown one changes nothing.
    /// Those in the trash are names of their inodes still.
    pub fn remove(&mut self, items: &[ItemId], manner: Manner) {
        self.number += 1;
        self.note(items);
        if manner == Manner::Permanent {
            self.remove_links(items);
        }
        self.edit(items, |edited| {
            for &id in items {
                if let Some(item) = edited.item(id) {
                    let lost = SumChange::default().plus(SumChange::of(&item), -1);
                    let lacked = lacks(&item);
                    edited.add_above(id, lost);
                    edited.note_lack(id, lacked, false);
                    edited.gone.insert(id);
                }
            }
        });
    }

    /// Puts removed items back. Answers for each whether the data has it again.
    pub fn bring_back(&mut self, items: &[ItemId]) -> Vec<bool> {
        self.number += 1;
        self.edit(items, |edited| {
            for &id in items {
                if edited.gone.remove(&id)
                    && let Some(item) = edited.own_item(id)
                {
                    let (sums, lacks) = (SumChange::of(&item), lacks(&item));
                    edited.add_above(id, sums);
                    edited.note_lack(id, false, lacks);
                }
            }
        });
        self.note(items);
        items.iter().map(|id| self.path(*id).is_some()).collect()
    }

    /// Puts newer numbers of a directory, which is their only root, over the others. Answers
    /// with the difference of the allocated bytes and of the entries, as a sign and an
    /// amount. Absent where the directory is not there, or is none any more.
    pub fn renew(&mut self, dir: ItemId, newer: Arc<dyn Data>) -> Option<[(bool, u128); 2]> {
        let (root, new, lacks_now) = root_of(&*newer)?;
        let sums_of = |edited: &Edited| {
            let item = edited.item(dir);
            item.map(|item| [item.allocated_bytes, item.entries.into()])
        };
        let before = sums_of(self)?;
        self.number += 1;
        self.edit(&[dir], |edited| {
            let old = edited.item(dir);
            let lacked = old.as_ref().is_some_and(lacks);
            let old = old.map(|item| SumChange::of(&item));
            let has_forgotten = edited.forget_readings(dir);
            edited.sums.remove(&dir);
            edited.lacks.remove(&dir);
            edited.newer.insert(dir, root.scan);
            let reading = Reading {
                data: newer,
                root,
                at: dir,
                place: None,
            };
            edited.readings.insert(root.scan, reading);
            edited.add_above(dir, new.plus(old.unwrap_or_default(), -1));
            edited.note_lack(dir, lacked, lacks_now);
            match has_forgotten {
                true => edited.look_below(),
                false => edited.note_below(root.scan),
            }
        });
        let after = sums_of(self)?;
        let difference = |at: usize| (after[at] < before[at], after[at].abs_diff(before[at]));
        Some([difference(0), difference(1)])
    }

    /// Puts a new directory, the only root of its numbers, into another one, which has no
    /// entry of its name. Answers whether that was possible.
    ///
    /// A first move to the trash makes `.Trash-1000` at the top of a file system. To read the
    /// directory above again would do the same, and read all of that file system.
    pub fn graft(&mut self, dir: ItemId, name: &[u8], newer: Arc<dyn Data>) -> bool {
        let Some((root, sums, lacks)) = root_of(&*newer) else {
            return false;
        };
        let holder = self.item(dir).map(|item| item.kind);
        if holder != Some(Kind::Directory) || child(self, dir, name).is_some() {
            return false;
        }
        self.number += 1;
        self.edit(&[root], |edited| {
            let reading = Reading {
                data: newer,
                root,
                at: root,
                place: Some((dir, name.to_vec())),
            };
            edited.readings.insert(root.scan, reading);
            edited.new.entry(dir).or_default().push(root);
            edited.add_above(root, sums);
            edited.note_lack(root, false, lacks);
            edited.note_below(root.scan);
        });
        true
    }

    /// Notes that something in a directory is another than in the data. Numbers of it that
    /// were read before are not to be trusted.
    pub fn doubt(&mut self, dir: ItemId) {
        self.number += 1;
        self.note(&[dir]);
    }

    /// Whether an item in a directory went or came back after an edit. Numbers that were
    /// read before are not to be trusted then.
    #[must_use]
    pub fn has_moved_since(&self, number: u64, dir: ItemId) -> bool {
        // They stand in the order of their numbers.
        let later = self.moved.partition_point(|(at, _)| *at <= number);
        let mut moved = self.moved[later..].iter();
        moved.any(|(_, id)| self.way(*id).any(|above| above == dir))
    }

    fn note(&mut self, items: &[ItemId]) {
        let number = self.number;
        self.moved.extend(items.iter().map(|id| (number, *id)));
    }

    /// Adds to the sums of the directories above an item, as far as they have it.
    pub(crate) fn add_above(&mut self, id: ItemId, more: SumChange) {
        let mut at = id;
        while let Some(dir) = self.parent(at).filter(|dir| self.holds(*dir, at)) {
            let sums = self.sums.entry(dir).or_default();
            *sums = sums.plus(more, 1);
            if self.gone.contains(&dir) {
                return;
            }
            at = dir;
        }
    }

    /// Notes that an item lacks something, or does not any more, for the directories above it
    /// as far as they have it. A directory is counted through when the first of its items
    /// changes so, and never again.
    fn note_lack(&mut self, id: ItemId, before: bool, after: bool) {
        let (mut at, mut before, mut after) = (id, before, after);
        while before != after
            && let Some(dir) = self.parent(at).filter(|dir| self.holds(*dir, at))
        {
            let known = self.lacks.get(&dir).copied();
            let count = known.unwrap_or_else(|| self.lacking_but(dir, at) + u64::from(before));
            let changed = match after {
                true => count + 1,
                false => count.saturating_sub(1),
            };
            self.lacks.insert(dir, changed);
            if self.gone.contains(&dir) {
                return;
            }
            (at, before, after) = (dir, count > 0, changed > 0);
        }
    }

    /// How many of a directory and the directories in it lack something, without one of them.
    fn lacking_but(&self, dir: ItemId, but: ItemId) -> u64 {
        let (data, at) = self.content(dir);
        let mut count = u64::from(data.lacks_itself(at));
        let mut take = |id: ItemId, item: &Item<'_>| {
            let counts = id != but && item.kind == Kind::Directory && !self.gone.contains(&id);
            count += u64::from(counts && lacks(item));
        };
        data.children(at, &mut |id, item| {
            if item.kind == Kind::Directory {
                take(id, &self.adapted(id, item));
            }
            ControlFlow::Continue(())
        });
        for &id in self.new.get(&dir).into_iter().flatten() {
            if let Some(item) = self.own_item(id) {
                take(id, &item);
            }
        }
        count
    }

    /// Forgets the readings of a directory, and of those in it: another one has all of that.
    /// Answers whether there were any.
    fn forget_readings(&mut self, dir: ItemId) -> bool {
        let is_in = |id: ItemId| self.way(id).skip(1).any(|above| above == dir);
        let is_old = |(scan, reading): &(&u64, &Reading)| {
            is_in(reading.at) || self.newer.get(&dir) == Some(*scan)
        };
        let old = self.readings.iter().filter(is_old);
        let old: Vec<u64> = old.map(|(scan, _)| *scan).collect();
        // No way leads from their items any more.
        let moved = self.moved.iter();
        let moved = moved.map(|&(number, id)| (number, if is_in(id) { dir } else { id }));
        self.moved = moved.collect();
        self.readings.retain(|scan, _| !old.contains(scan));
        self.newer.retain(|_, scan| !old.contains(scan));
        for roots in self.new.values_mut() {
            roots.retain(|root| !old.contains(&root.scan));
        }
        !old.is_empty()
    }

    /// Finds the newest changes in the readings, for the directories above them.
    fn look_below(&mut self) {
        self.below.clear();
        let scans: Vec<u64> = self.readings.keys().copied().collect();
        scans.into_iter().for_each(|scan| self.note_below(scan));
    }

    /// The same for one more reading.
    fn note_below(&mut self, scan: u64) {
        let Some(reading) = self.readings.get(&scan) else {
            return;
        };
        let root = reading.data.item(reading.root);
        let newest_ns = root.and_then(|root| root.newest_ns);
        let above: Vec<ItemId> = self.way(reading.at).skip(1).collect();
        for dir in above {
            let newest = self.below.entry(dir).or_default();
            *newest = (*newest).max(newest_ns);
        }
    }

    /// The item, and the directories above it.
    fn way(&self, id: ItemId) -> impl Iterator<Item = ItemId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Whether an item is one of a directory as it is now, and not as it was before.
    fn holds(&self, dir: ItemId, id: ItemId) -> bool {
        let is_new = self.new.get(&dir).is_some_and(|new| new.contains(&id));
        is_new || self.content(dir).1.scan == id.scan
    }

    /// Whether nothing took away an item or a directory above it.
    fn is_there(&self, id: ItemId) -> bool {
        let mut at = id;
        while !self.gone.contains(&at) {
            match self.parent(at) {
                Some(dir) if self.holds(dir, at) => at = dir,
                Some(_) => return false,
                // The root of a reading is known as its directory alone.
                None => return (self.readings.get(&at.scan)).is_none_or(|of| of.root != at),
            }
        }
        false
    }

    /// The data that an item has its number from.
    fn own(&self, id: ItemId) -> &dyn Data {
        let reading = self.readings.get(&id.scan);
        reading.map_or(&*self.scan, |reading| &*reading.data)
    }

    /// The newest data that has an item, and its number there.
    fn content(&self, id: ItemId) -> (&dyn Data, ItemId) {
        let newer = self.newer.get(&id);
        match newer.and_then(|scan| self.readings.get(scan)) {
            Some(reading) => (&*reading.data, reading.root),
            None => (self.own(id), id),
        }
    }

    /// An item, also where it is gone.
    fn own_item(&self, id: ItemId) -> Option<Item<'_>> {
        let mut item = self.own(id).item(id)?;
        if let Some(reading) = self.readings.get(&id.scan).filter(|it| it.at == id)
            && let Some((_, name)) = &reading.place
        {
            // As a root it has its whole path.
            item.name = Cow::Borrowed(name);
        }
        Some(self.adapted(id, item))
    }

    fn adapted<'a>(&'a self, id: ItemId, mut item: Item<'a>) -> Item<'a> {
        if self.newer.contains_key(&id) {
            let (data, root) = self.content(id);
            if let Some(newer) = data.item(root) {
                let name = item.name;
                item = Item { name, ..newer };
            }
        }
        if item.kind == Kind::Directory {
            let sums = self.sums.get(&id).copied().unwrap_or_default();
            item.entries = item.entries.saturating_add_signed(sums.entries);
            let changed = |bytes: u128, change| bytes.saturating_add_signed(change);
            item.allocated_bytes = changed(item.allocated_bytes, sums.allocated_bytes);
            item.apparent_bytes = changed(item.apparent_bytes, sums.apparent_bytes);
            if let Some(newest_ns) = self.below.get(&id) {
                item.newest_ns = item.newest_ns.max(*newest_ns);
            }
            if let Some(count) = self.lacks.get(&id) {
                item.notes.is_incomplete = *count > 0;
            }
        }
        self.recount.adapt(id, &mut item.notes);
        item
    }
}

/// Whether something of an item could not be read, so that those above it are lower bounds.
fn lacks(item: &Item<'_>) -> bool {
    item.notes.is_incomplete || item.notes.is_unreadable
}

/// The only root of the numbers of a directory, with its sums, and whether it lacks something.
fn root_of(data: &dyn Data) -> Option<(ItemId, SumChange, bool)> {
    let [root] = data.roots()[..] else {
        return None;
    };
    let item = data.item(root)?;
    (item.kind == Kind::Directory).then(|| (root, SumChange::of(&item), lacks(&item)))
}

impl Data for Edited {
    fn roots(&self) -> Vec<ItemId> {
        let mut roots = self.scan.roots();
        roots.retain(|id| !self.gone.contains(id));
        roots
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        self.is_there(id).then(|| self.own_item(id))?
    }

    fn lacks_itself(&self, dir: ItemId) -> bool {
        let (data, at) = self.content(dir);
        self.is_there(dir) && data.lacks_itself(at)
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        self.own(id).settled(id).filter(|id| self.is_there(*id))
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        let Some(reading) = self.readings.get(&id.scan) else {
            return self.scan.parent(id);
        };
        match &reading.place {
            Some((dir, _)) if id == reading.root => Some(*dir),
            _ => match reading.data.parent(id)? {
                root if root == reading.root => Some(reading.at),
                dir => Some(dir),
            },
        }
    }

    fn identity(&self, id: ItemId) -> Option<(u64, u64)> {
        let (data, at) = self.content(id);
        self.is_there(id).then(|| data.identity(at))?
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.is_there(id).then(|| self.own(id).inode(id))?
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        let mut visit = |id, inode| {
            if self.is_there(id) {
                visit(id, inode);
            }
        };
        let (data, at) = self.content(top);
        data.linked(at, &mut visit);
        // Nearly always there is no reading in it, and thousands can be elsewhere.
        if !self.below.contains_key(&top) {
            return;
        }
        for reading in self.readings.values().filter(|reading| reading.root != at) {
            if self.way(reading.at).any(|above| above == top) {
                reading.data.linked(reading.root, &mut visit);
            }
        }
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let mut names = self.scan.names(inode);
        names.extend((self.readings.values()).flat_map(|reading| reading.data.names(inode)));
        names.retain(|id| self.is_there(*id));
        names
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        let is_newer = |id: ItemId| self.readings.contains_key(&id.scan);
        match is_newer(a) || is_newer(b) {
            true => order_by_path(self, a, b),
            false => self.scan.order(a, b),
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        if !self.is_there(dir) {
            return;
        }
        let mut flow = ControlFlow::Continue(());
        let (data, at) = self.content(dir);
        data.children(at, &mut |id, item| {
            if !self.gone.contains(&id) {
                flow = visit(id, self.adapted(id, item));
            }
            flow
        });
        for &id in self.new.get(&dir).into_iter().flatten() {
            if flow.is_continue()
                && let Some(item) = self.item(id)
            {
                flow = visit(id, item);
            }
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        if !self.is_there(dir) {
            return (Vec::new(), 0);
        }
        let (data, at) = self.content(dir);
        let (mut faults, mut count) = data.faults(at);
        // Whether this data has an item, and no other edit above it takes it from there.
        let is_below = |id: ItemId| {
            let above = self.parent(id).filter(|above| self.is_there(*above));
            above.is_some_and(|above| {
                self.content(above).1.scan == at.scan && self.way(above).any(|id| id == dir)
            })
        };
        let newer = self.newer.keys().filter(|id| !self.gone.contains(id));
        for &id in self.gone.iter().chain(newer) {
            if id.scan == at.scan && is_below(id) {
                let (old, old_count) = data.faults(id);
                faults.retain(|fault| !old.contains(fault));
                count = count.saturating_sub(old_count);
            }
        }
        for reading in self.readings.values() {
            let id = reading.at;
            if self.content(id).1 == reading.root && self.is_there(id) && is_below(id) {
                let (more, more_count) = self.faults(id);
                faults.extend(more);
                count += more_count;
            }
        }
        (faults, count)
    }

    fn is_final(&self) -> bool {
        self.scan.is_final()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::trial::{Small, id};
    use statwalk_view::Kind;

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
        let mut edited = Edited::new(Arc::new(Small::example()));
        let before = sums(&edited, 1);
        let photos = sums(&edited, 2);
        let begun = edited.number();
        edited.remove(&[id(2)], Manner::Trash);
        assert!(!edited.has_moved_since(begun, id(3)));
        assert!(edited.has_moved_since(begun, id(1)));
        let difference = edited.renew(id(3), newer_src()).expect("it is there");
        // Of the directory alone, whatever else went.
        assert_eq!(difference, [(false, (1 << 20) - (8 << 10)), (false, 0)]);
        assert_eq!(edited.item(id(2)), None);
        assert_eq!(edited.item(id(4)), None);
        let expected = before.0 - photos.0 + (1 << 20) - (8 << 10);
        assert_eq!(sums(&edited, 1), (expected, before.1 - photos.1));
    }

    #[test]
    fn what_comes_back_has_the_numbers_of_before() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        let before: Vec<_> = (1..=9).map(|n| sums(&edited, n)).collect();
        edited.remove(&[id(2)], Manner::Trash);
        edited.remove(&[id(7), id(8)], Manner::Trash);
        // Only a part of a move.
        assert_eq!(edited.bring_back(&[id(7)]), [true]);
        assert_eq!(edited.item(id(8)), None);
        assert_eq!(edited.bring_back(&[id(8), id(2)]), [true, true]);
        let after: Vec<_> = (1..=9).map(|n| sums(&edited, n)).collect();
        assert_eq!(after, before);
    }

    /// The directory was read while the item was away: only another reading knows it.
    #[test]
    fn what_newer_numbers_lack_does_not_come_back_by_itself() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        edited.remove(&[id(6)], Manner::Trash);
        edited.renew(id(3), newer_src()).expect("it is there");
        let before = sums(&edited, 1);
        assert_eq!(edited.bring_back(&[id(6)]), [false]);
        assert_eq!(sums(&edited, 1), before);
    }

    /// A move to the trash took its bytes off all sums, although the scan has the directory
    /// where the trash was made.
    #[test]
    fn a_new_directory_counts_above() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        let before = sums(&edited, 1);
        let mut trash = Small {
            scan: 7,
            ..Small::default()
        };
        trash.put(1, None, b"/data/src/.Trash", Kind::Directory, 4096);
        trash.put(2, Some(1), b"sea.JPG", Kind::File, 50 << 20);
        let trash: Arc<dyn Data> = Arc::new(trash);
        let begun = edited.number();
        edited.doubt(id(3));
        assert!(edited.has_moved_since(begun, id(1)));
        assert!(!edited.has_moved_since(begun, id(2)));
        assert!(edited.graft(id(3), b".Trash", Arc::clone(&trash)));
        // Not twice, and not into a file.
        assert!(!edited.graft(id(3), b".Trash", Arc::clone(&trash)));
        assert!(!edited.graft(id(6), b".Trash", Arc::clone(&trash)));
        let data = edited.clone();
        let more = (50 << 20) + 4096;
        assert_eq!(sums(&data, 1), (before.0 + more, before.1 + 2));
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
        edited.renew(top, Arc::new(newer)).unwrap();
        assert_eq!(sums(&edited, 1), (before.0 + 4096, before.1 + 1));
        assert_eq!(edited.item(file), None);
        edited.remove(&[top], Manner::Trash);
        assert_eq!(sums(&edited, 1), before);
        assert_eq!(edited.bring_back(&[top]), [true]);
        // Numbers of the directory above were read when it was there.
        edited.renew(id(3), newer_src()).unwrap();
        assert_eq!(edited.item(top), None);
        let expected = before.0 + (1 << 20) - (8 << 10);
        assert_eq!(sums(&edited, 1), (expected, before.1));
    }

    fn faults(data: &dyn Data, dir: ItemId) -> Vec<String> {
        let (faults, count) = data.faults(dir);
        assert_eq!(faults.len() as u64, count);
        let paths = faults.into_iter().map(|fault| fault.path);
        paths.map(|path| String::from_utf8(path).unwrap()).collect()
    }

    fn fault(path: &str) -> Fault {
        Fault {
            path: path.as_bytes().to_vec(),
            cause: "no".to_owned(),
        }
    }

    /// An item that is gone has no errors, and each newer directory has its own.
    #[test]
    fn errors_are_those_of_the_newest_reading() {
        let mut all = Small::example();
        for path in [
            "/data/photos/a",
            "/data/src/b",
            "/data/src/main.rs",
            "/data",
        ] {
            all.faults.push(fault(path));
        }
        let mut edited = Edited::new(Arc::new(all));
        edited.remove(&[id(6)], Manner::Trash);
        assert_eq!(faults(&edited, id(3)), ["/data/src/b"]);
        let mut newer = Small {
            scan: 1,
            faults: ["/data/src/sub/x", "/data/src/y"].map(fault).to_vec(),
            ..Small::default()
        };
        newer.put(1, None, b"/data/src", Kind::Directory, 4096);
        newer.put(2, Some(1), b"sub", Kind::Directory, 4096);
        edited.renew(id(3), Arc::new(newer)).unwrap();
        let src = ["/data/src/sub/x", "/data/src/y"];
        assert_eq!(faults(&edited, id(3)), src);
        assert_eq!(
            faults(&edited, id(1)),
            ["/data/photos/a", "/data", src[0], src[1]]
        );
        // A reading in the newer one.
        let sub = ItemId { scan: 1, number: 2 };
        let mut newest = Small {
            scan: 2,
            faults: vec![fault("/data/src/sub/z")],
            ..Small::default()
        };
        newest.put(1, None, b"/data/src/sub", Kind::Directory, 4096);
        edited.renew(sub, Arc::new(newest)).unwrap();
        let src = ["/data/src/y", "/data/src/sub/z"];
        assert_eq!(faults(&edited, id(3)), src);
        let data = ["/data/photos/a", "/data", src[0], src[1]];
        assert_eq!(faults(&edited, id(1)), data);
        edited.remove(&[id(3)], Manner::Trash);
        assert_eq!(faults(&edited, id(1)), ["/data/photos/a", "/data"]);
        assert_eq!(faults(&edited, sub), [""; 0]);
        assert_eq!(edited.bring_back(&[id(3)]), [true]);
        assert_eq!(faults(&edited, id(1)), data);
    }

    /// The sums of the directories above are right whatever order parts go and come back in.
    #[test]
    fn an_item_in_one_that_is_gone_comes_back_with_it() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        let before: Vec<_> = (1..=9).map(|n| sums(&edited, n)).collect();
        edited.remove(&[id(4)], Manner::Trash);
        edited.remove(&[id(2)], Manner::Trash);
        assert_eq!(edited.bring_back(&[id(4)]), [false]);
        assert_eq!(
            sums(&edited, 1),
            (before[0].0 - before[1].0, before[0].1 - 3)
        );
        assert_eq!(edited.bring_back(&[id(2)]), [true]);
        let after: Vec<_> = (1..=9).map(|n| sums(&edited, n)).collect();
        assert_eq!(after, before);
    }

    /// A reading of a directory began, an item went from a newer reading in it, and another
    /// reading took the place of that one.
    #[test]
    fn a_removal_is_known_where_its_reading_is_gone() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        edited.renew(id(3), newer_src()).unwrap();
        let begun = edited.number();
        edited.remove(&[ItemId { scan: 1, number: 2 }], Manner::Trash);
        let mut newer = Small {
            scan: 2,
            ..Small::default()
        };
        newer.put(1, None, b"/data/src", Kind::Directory, 4096);
        edited.renew(id(3), Arc::new(newer)).unwrap();
        assert!(edited.has_moved_since(begun, id(1)));
    }

    /// A directory above a reading that lacks something is a lower bound, until the next
    /// reading lacks nothing.
    #[test]
    fn a_lower_bound_ends_with_a_whole_reading() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        for (scan, lacks) in [(1, true), (2, false)] {
            let mut newer = Small {
                scan,
                ..Small::default()
            };
            newer.put(1, None, b"/data/src", Kind::Directory, 4096);
            newer.items.get_mut(&1).unwrap().1.notes.is_unreadable = lacks;
            edited.renew(id(3), Arc::new(newer)).unwrap();
            let item = edited.item(id(1)).unwrap();
            assert_eq!(item.notes.is_incomplete, lacks);
        }
    }

    fn lower_bounds(data: &dyn Data) -> Vec<u64> {
        let is_lower = |number: &u64| {
            let item = data.item(id(*number));
            item.is_some_and(|item| item.notes.is_incomplete)
        };
        (1..=20).filter(is_lower).collect()
    }

    /// The only directory that could not be read was removed, and `≥` stood at all directories
    /// above it until the whole tree was read again (qdirstat#158).
    #[test]
    fn a_lower_bound_ends_with_the_last_directory_that_lacks_something() {
        let mut all = Small::example();
        for (number, above) in [(10, 3), (11, 10), (12, 10), (13, 2)] {
            all.put(number, Some(above), b"dir", Kind::Directory, 4096);
        }
        all.lack(11);
        all.lack(12);
        let mut edited = Edited::new(Arc::new(all));
        edited.remove(&[id(6)], Manner::Trash);
        assert_eq!(lower_bounds(&edited), [1, 3, 10, 11, 12]);
        edited.remove(&[id(11)], Manner::Trash);
        assert_eq!(lower_bounds(&edited), [1, 3, 10, 12]);
        edited.remove(&[id(12)], Manner::Permanent);
        assert_eq!(lower_bounds(&edited), []);
        // What comes back brings it back.
        edited.bring_back(&[id(11)]);
        assert_eq!(lower_bounds(&edited), [1, 3, 10, 11]);
        edited.remove(&[id(10)], Manner::Trash);
        assert_eq!(lower_bounds(&edited), []);
        edited.bring_back(&[id(10)]);
        assert_eq!(lower_bounds(&edited), [1, 3, 10, 11]);
        // Another reading of it, and of one elsewhere.
        let newer = |scan: u64, lacks: bool| {
            let mut newer = Small {
                scan,
                ..Small::default()
            };
            newer.put(1, None, b"newer", Kind::Directory, 4096);
            newer.put(2, Some(1), b"sub", Kind::Directory, 4096);
            if lacks {
                newer.lack(2);
            }
            Arc::new(newer)
        };
        edited.renew(id(11), newer(1, false)).unwrap();
        assert_eq!(lower_bounds(&edited), []);
        edited.renew(id(13), newer(2, true)).unwrap();
        assert_eq!(lower_bounds(&edited), [1, 2, 13]);
        edited.remove(&[ItemId { scan: 2, number: 2 }], Manner::Trash);
        assert_eq!(lower_bounds(&edited), []);
    }

    /// Counts the questions to a tree.
    struct Asked(Small, AtomicUsize);

    impl Asked {
        fn count(&self) -> &Small {
            self.1.fetch_add(1, Ordering::Relaxed);
            &self.0
        }
    }

    impl Data for Asked {
        fn roots(&self) -> Vec<ItemId> {
            self.count().roots()
        }

        fn item(&self, id: ItemId) -> Option<Item<'_>> {
            self.count().item(id)
        }

        fn parent(&self, id: ItemId) -> Option<ItemId> {
            self.count().parent(id)
        }

        fn children(
            &self,
            dir: ItemId,
            visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>,
        ) {
            self.count().children(dir, visit);
        }

        fn unfiltered(&self) -> Option<&dyn Data> {
            Some(self.count())
        }
    }

    /// Each removal was a layer, through which all questions went.
    #[test]
    fn neither_an_edit_nor_a_question_asks_more_after_many_edits() {
        let mut all = Small::example();
        for number in 10..310 {
            all.put(number, Some(3), b"file", Kind::File, 4096);
        }
        let asked = Arc::new(Asked(all, AtomicUsize::new(0)));
        let mut edited = Edited::new(Arc::clone(&asked) as Arc<dyn Data>);
        let costs = (10..300).map(|number| {
            asked.1.store(0, Ordering::Relaxed);
            edited.remove(&[id(number)], Manner::Permanent);
            let of_edit = asked.1.swap(0, Ordering::Relaxed);
            assert!(edited.item(id(309)).is_some() && edited.item(id(number)).is_none());
            edited.children(id(2), &mut |_, _| ControlFlow::Continue(()));
            (of_edit, asked.1.load(Ordering::Relaxed))
        });
        let costs: HashSet<(usize, usize)> = costs.collect();
        assert_eq!(costs.len(), 1, "{costs:?}");
    }

    /// Thousands of mounts can each have a trash, and each new one looked at all others.
    #[test]
    fn a_new_directory_asks_no_more_after_many() {
        let mut all = Small::example();
        for number in 10..110 {
            all.put(number, Some(3), b"mount", Kind::Directory, 4096);
        }
        let asked = Arc::new(Asked(all, AtomicUsize::new(0)));
        let mut edited = Edited::new(Arc::clone(&asked) as Arc<dyn Data>);
        let costs = (10..110).map(|number| {
            let mut trash = Small {
                scan: number,
                ..Small::default()
            };
            trash.put(1, None, b"/data/src/mount/.Trash", Kind::Directory, 4096);
            asked.1.store(0, Ordering::Relaxed);
            edited.doubt(id(number));
            let begun = edited.number();
            assert!(edited.graft(id(number), b".Trash", Arc::new(trash)));
            assert!(!edited.has_moved_since(begun, id(number)));
            asked.1.load(Ordering::Relaxed)
        });
        let costs: HashSet<usize> = costs.collect();
        assert_eq!(costs.len(), 1, "{costs:?}");
        assert_eq!(sums(&edited, 3).1, 202);
    }

    /// A directory is counted through once, however many of those in it lack something.
    #[test]
    fn a_removal_of_what_lacks_something_asks_no_more_after_many() {
        let mut all = Small::example();
        for number in 10..310 {
            all.put(number, Some(3), b"dir", Kind::Directory, 4096);
            all.lack(number);
        }
        let asked = Arc::new(Asked(all, AtomicUsize::new(0)));
        let mut edited = Edited::new(Arc::clone(&asked) as Arc<dyn Data>);
        let costs = (10..309).map(|number| {
            asked.1.store(0, Ordering::Relaxed);
            edited.remove(&[id(number)], Manner::Permanent);
            asked.1.load(Ordering::Relaxed)
        });
        let costs: Vec<usize> = costs.collect();
        assert!(costs[1..].iter().all(|cost| *cost == costs[1]), "{costs:?}");
        assert_eq!(lower_bounds(&edited), [1, 3]);
        edited.remove(&[id(309)], Manner::Permanent);
        assert_eq!(lower_bounds(&edited), []);
    }

    #[test]
    fn any_number_of_directories_is_read_again() {
        let mut all = Small::default();
        all.put(1, None, b"/data", Kind::Directory, 4096);
        for number in 2..42 {
            let name = format!("dir {number}");
            all.put(number, Some(1), name.as_bytes(), Kind::Directory, 4096);
        }
        let mut edited = Edited::new(Arc::new(all));
        for number in 2..42 {
            let mut newer = Small {
                scan: number,
                ..Small::default()
            };
            newer.put(1, None, b"newer", Kind::Directory, 8192);
            edited.renew(id(number), Arc::new(newer)).unwrap();
        }
        assert_eq!(sums(&edited, 1), (4096 + 40 * 8192, 41));
    }

    #[test]
    fn a_directory_that_is_gone_takes_no_newer_numbers() {
        let mut edited = Edited::new(Arc::new(Small::example()));
        edited.remove(&[id(3)], Manner::Trash);
        assert!(edited.renew(id(3), newer_src()).is_none());
    }
}
