// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers, and all that still changes them: removals, readings, a filter, the end of
//! the scan.
//!
//! It reads and shows nothing itself: the shell has the desks and the screen.

use std::collections::HashSet;
use std::sync::Arc;

use statwalk_browse::{Data, Edited, Filter, ItemId, Manner, child};

/// The state of the numbers.
pub(super) struct Numbers {
    edited: Arc<Edited>,
    /// The numbers on the screen: those of the items that pass the filter.
    pub(super) shown: Arc<dyn Data>,
    filter: Filter,
    /// The scan was stopped before its end.
    pub(super) is_partial: bool,
    /// The directory whose files were asked for last, while a scan goes on.
    listed: Option<ItemId>,
    /// The directories that are being read again.
    readings: Vec<Reading>,
    /// Newer numbers that came while a removal was at work. Its items have numbers of before.
    pub(super) put_off: Vec<(Reading, Newer)>,
    /// The paths that are to be read again once the scan is over, and why: it can have been
    /// there before the change.
    owed: Vec<(Vec<u8>, Reason)>,
}

/// A directory that is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(super) dir: ItemId,
    /// Its entry that came after the scan, which is read instead.
    pub(super) new: Option<Vec<u8>>,
    /// The number of the last change of the numbers before it.
    after: u64,
    pub(super) reason: Reason,
}

/// The reason why a directory is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The user asked for it.
    Wish,
    /// A part of it was removed.
    Removal,
    /// An item came back there.
    Return,
    /// It has a trash that items went to, or came from.
    Trash,
}

/// The newer numbers of a directory, or why there are none.
pub(crate) type Newer = Result<Arc<dyn Data>, String>;

/// The use that newer numbers are of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The directory is gone, or another reading has it.
    Gone,
    /// Something went or came back there since: it is to be read once more.
    Old,
    /// There are none, for this reason.
    Failed(String),
    /// They are those of this directory, or of its new entry. The items of `replaced` have
    /// other numbers. The change is that of its bytes and entries, as a sign and an amount,
    /// and absent where the numbers do not take it.
    Changed {
        dir: ItemId,
        replaced: Option<ItemId>,
        change: Option<[(bool, u128); 2]>,
    },
}

impl Numbers {
    /// The numbers of a scan that begins.
    pub(super) fn new(scan: Arc<dyn Data>) -> Numbers {
        Numbers {
            edited: Arc::new(Edited::new(Arc::clone(&scan))),
            shown: scan,
            filter: Filter::default(),
            is_partial: false,
            listed: None,
            readings: Vec::new(),
            put_off: Vec::new(),
            owed: Vec::new(),
        }
    }

    /// All numbers.
    pub(super) fn all(&self) -> Arc<dyn Data> {
        self.edited.data()
    }

    /// Takes another scan, which begins. Numbers of items mean nothing from now on.
    pub(super) fn begin_scan(&mut self, scan: Arc<dyn Data>) {
        self.readings.clear();
        self.listed = None;
        self.edited = Arc::new(Edited::new(scan));
        self.show_all();
    }

    /// Takes the end of the scan. Answers with the paths that are to be read again.
    pub(super) fn end_scan(
        &mut self,
        scan: Arc<dyn Data>,
        is_partial: bool,
    ) -> Vec<(Vec<u8>, Reason)> {
        self.edited = Arc::new(Edited::new(scan));
        self.is_partial = is_partial;
        self.owed
            .sort_by_key(|(_, reason)| *reason == Reason::Trash);
        std::mem::take(&mut self.owed)
    }

    /// Shows all numbers. Answers with the filter that is to make others of them.
    pub(super) fn show_all(&mut self) -> Option<Filter> {
        self.shown = self.all();
        (!self.filter.is_empty()).then(|| self.filter.clone())
    }

    /// Sets a filter. Answers with the numbers that are to be filtered. Absent where all are
    /// shown, and where the scan goes on: files are known at its end alone.
    pub(super) fn set_filter(&mut self, filter: Filter) -> Option<Arc<dyn Data>> {
        self.filter = filter;
        match self.filter.is_empty() {
            true => self.show_all().and(None),
            false => Some(self.all()).filter(|all| all.is_final()),
        }
    }

    /// Whether the files of a directory in view are to be listed, because a scan goes on that
    /// has none yet. They are listed once.
    pub(super) fn lists(&mut self, dir: Option<ItemId>) -> bool {
        let is_other = !self.all().is_final() && dir != self.listed;
        if is_other {
            self.listed = dir;
        }
        is_other
    }

    /// Takes removed items out.
    pub(super) fn remove(&mut self, items: &[ItemId], manner: Manner) {
        Arc::make_mut(&mut self.edited).remove(items, manner);
    }

    /// Puts removed items back. Answers with those that the numbers have again.
    pub(super) fn bring_back(&mut self, items: &[ItemId]) -> HashSet<ItemId> {
        let is_there = Arc::make_mut(&mut self.edited).bring_back(items);
        let there = items.iter().zip(is_there);
        there.filter_map(|(id, is)| is.then_some(*id)).collect()
    }

    /// Notes that something in a directory is another than in the numbers.
    pub(super) fn doubt(&mut self, dir: ItemId) {
        Arc::make_mut(&mut self.edited).doubt(dir);
    }

    /// Notes a path for the end of the scan, where one goes on. Answers whether it does.
    pub(super) fn owe(&mut self, path: &[u8], reason: Reason) -> bool {
        let is_live = !self.all().is_final();
        self.owed.extend(is_live.then(|| (path.to_vec(), reason)));
        is_live
    }

    /// Has a directory read again, or a new entry of it.
    pub(super) fn read(&mut self, dir: ItemId, new: Option<Vec<u8>>, mut reason: Reason) {
        let is_same = |known: &Reading| known.dir == dir && known.new == new;
        let mut same = self.readings.iter().filter(|known| is_same(known));
        // The user waits for the answer still.
        if same.any(|known| known.reason == Reason::Wish) {
            reason = Reason::Wish;
        }
        self.readings.retain(|known| !is_same(known));
        let after = self.edited.number();
        self.readings.push(Reading {
            dir,
            new,
            after,
            reason,
        });
    }

    /// All readings that go on, in the order in which a thread is to do them: one for all does
    /// the last job alone.
    pub(super) fn wanted_readings(&self) -> Vec<Reading> {
        let mut all = self.readings.clone();
        all.reverse();
        // The wish of the user comes first.
        all.sort_by_key(|reading| reading.reason != Reason::Wish);
        all
    }

    /// Takes newer numbers of a directory, unless they are older than a removal in it. Absent
    /// where nobody waits for them any more.
    pub(super) fn take(&mut self, reading: &Reading, newer: Newer) -> Option<Taken> {
        let place = self.readings.iter().position(|known| known == reading)?;
        self.readings.remove(place);
        let Reading { dir, new, .. } = reading;
        let dir = *dir;
        if self.edited.item(dir).is_none() {
            return Some(Taken::Gone);
        }
        if self.edited.has_moved_since(reading.after, dir) {
            return Some(Taken::Old);
        }
        let newer = match newer {
            Ok(newer) => newer,
            Err(error) => return Some(Taken::Failed(error)),
        };
        let edited = Arc::make_mut(&mut self.edited);
        // Another reading can have met the new entry meanwhile.
        let known = match new {
            None => Some(dir),
            Some(name) => child(edited, dir, name),
        };
        let change = match (known, new) {
            (None, Some(name)) => {
                let is_there = edited.graft(dir, name, newer);
                is_there.then_some([(false, 0); 2])
            }
            _ => edited.renew(known.unwrap_or(dir), newer),
        };
        Some(Taken::Changed {
            dir: known.unwrap_or(dir),
            replaced: known,
            change,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use statwalk_browse::item_at;
    use statwalk_core::{LiveTree, Scan};

    use super::super::live_data::LiveData;
    use super::super::tree_data::tests::scanned;
    use super::*;

    /// The directories `a` and `b`, each with a file.
    struct Ground {
        root: tempfile::TempDir,
    }

    impl Ground {
        fn new() -> Ground {
            let root = tempfile::tempdir().unwrap();
            for dir in ["a", "b"] {
                std::fs::create_dir(root.path().join(dir)).unwrap();
                std::fs::write(root.path().join(dir).join("file"), [1; 5000]).unwrap();
            }
            Ground { root }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn scan(&self, path: &Path) -> Arc<dyn Data> {
            scanned(&Scan::new(path), path)
        }

        fn numbers(&self) -> Numbers {
            Numbers::new(self.scan(self.root.path()))
        }

        fn id(&self, numbers: &Numbers, name: &str) -> ItemId {
            let path = self.path(name);
            item_at(path.as_os_str().as_encoded_bytes(), &*numbers.all()).unwrap()
        }
    }

    fn live() -> Arc<dyn Data> {
        Arc::new(LiveData::new(1, LiveTree::new(), Vec::new()))
    }

    fn order(readings: &[Reading]) -> Vec<(ItemId, Reason)> {
        let order = readings.iter();
        order.map(|reading| (reading.dir, reading.reason)).collect()
    }

    /// The only reading, which begins.
    fn reading(
        numbers: &mut Numbers,
        dir: ItemId,
        new: Option<Vec<u8>>,
        reason: Reason,
    ) -> Reading {
        numbers.read(dir, new, reason);
        numbers.wanted_readings().remove(0)
    }

    #[test]
    fn the_wish_of_the_user_is_read_first_and_stays_one() {
        let ground = Ground::new();
        let mut numbers = ground.numbers();
        let [a, b] = ["a", "b"].map(|name| ground.id(&numbers, name));
        numbers.read(a, None, Reason::Wish);
        numbers.read(b, None, Reason::Return);
        let all = numbers.wanted_readings();
        assert_eq!(order(&all), [(a, Reason::Wish), (b, Reason::Return)]);
        numbers.read(a, None, Reason::Trash);
        let all = numbers.wanted_readings();
        assert_eq!(order(&all), [(a, Reason::Wish), (b, Reason::Return)]);
    }

    #[test]
    fn newer_numbers_are_taken_once_and_never_older_ones() {
        let ground = Ground::new();
        let mut numbers = ground.numbers();
        let [a, b, file] = ["a", "b", "a/file"].map(|name| ground.id(&numbers, name));
        let newer = || Ok(ground.scan(&ground.path("a")));
        let first = reading(&mut numbers, a, None, Reason::Wish);
        numbers.remove(&[file], Manner::Permanent);
        assert_eq!(numbers.take(&first, newer()), Some(Taken::Old));
        let again = reading(&mut numbers, a, None, Reason::Wish);
        // Nobody waits for the first one any more.
        assert_eq!(numbers.take(&first, newer()), None);
        let Some(Taken::Changed {
            dir,
            replaced,
            change: Some([_, entries]),
        }) = numbers.take(&again, newer())
        else {
            panic!("it is newer");
        };
        assert_eq!((dir, replaced, entries), (a, Some(a), (false, 1)));
        assert_eq!(numbers.take(&again, newer()), None);
        let of_b = reading(&mut numbers, b, None, Reason::Removal);
        let failed = numbers.take(&of_b, Err("no".to_owned()));
        assert_eq!(failed, Some(Taken::Failed("no".to_owned())));
        let of_b = reading(&mut numbers, b, None, Reason::Removal);
        numbers.remove(&[b], Manner::Trash);
        assert_eq!(numbers.take(&of_b, newer()), Some(Taken::Gone));
        assert_eq!(numbers.bring_back(&[b]), HashSet::from([b]));
        // Another scan has other numbers.
        let of_b = reading(&mut numbers, b, None, Reason::Removal);
        numbers.begin_scan(live());
        assert_eq!(numbers.take(&of_b, newer()), None);
    }

    #[test]
    fn a_new_entry_is_taken_beside_the_others() {
        let ground = Ground::new();
        let mut numbers = ground.numbers();
        let top = numbers.all().roots()[0];
        std::fs::create_dir(ground.path("c")).unwrap();
        let read = |numbers: &mut Numbers| {
            let name = Some(b"c".to_vec());
            let reading = reading(numbers, top, name, Reason::Trash);
            numbers.take(&reading, Ok(ground.scan(&ground.path("c"))))
        };
        let Some(Taken::Changed { dir, replaced, .. }) = read(&mut numbers) else {
            panic!("it is there");
        };
        assert_eq!((dir, replaced), (top, None));
        // The next reading meets it.
        let c = ground.id(&numbers, "c");
        let Some(Taken::Changed { dir, replaced, .. }) = read(&mut numbers) else {
            panic!("it is there");
        };
        assert_eq!((dir, replaced), (c, Some(c)));
    }

    #[test]
    fn the_end_of_the_scan_brings_the_owed_paths_and_the_filter() {
        let ground = Ground::new();
        let mut numbers = Numbers::new(live());
        assert!(numbers.owe(b"trash", Reason::Trash) && numbers.owe(b"dir", Reason::Return));
        let filter = Filter {
            uid: Some(0),
            ..Filter::default()
        };
        // Files are known at the end.
        assert!(numbers.set_filter(filter.clone()).is_none());
        let owed = numbers.end_scan(ground.scan(ground.root.path()), true);
        assert!(numbers.is_partial);
        let dir = (b"dir".to_vec(), Reason::Return);
        assert_eq!(owed, [dir, (b"trash".to_vec(), Reason::Trash)]);
        assert_eq!(numbers.show_all(), Some(filter.clone()));
        assert!(numbers.set_filter(filter).is_some());
        assert!(!numbers.owe(b"dir", Reason::Return));
        assert!(numbers.set_filter(Filter::default()).is_none());
        assert_eq!(numbers.show_all(), None);
    }

    #[test]
    fn files_are_listed_once_while_the_scan_goes_on() {
        let ground = Ground::new();
        let mut numbers = ground.numbers();
        let a = Some(ground.id(&numbers, "a"));
        assert!(!numbers.lists(a));
        numbers.begin_scan(live());
        assert_eq!(
            [a, a, None, a].map(|dir| numbers.lists(dir)),
            [true, false, true, true]
        );
    }
}
