// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sums of every subtree, to be read while the scan goes on.
//!
//! Workers add what they deliver to the directory and to all that are above it, in
//! counters that all of them share. So a reader stops nobody, and its time depends on
//! the number of children that it asks for, not on the size of the tree.
//!
//! A chain of a hundred thousand directories would make that hundred thousand additions
//! for each delivery. So at each 64th depth sums wait until 64 deliveries go on together.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::seen_inodes::SeenInodes;
use super::{Collect, Context, Sink};
use crate::batch::Batch;
use crate::directory::{Dir, Directory, Origin};
use crate::entry::{DirId, FileType};
use crate::fields::Fields;
use crate::lock::lock;

/// The end of a list of siblings.
const NOBODY: u32 = u32::MAX;

/// How many blocks of directories a part of the table has, and how many parts there
/// are: enough for all numbers, and 64 KiB before the first directory.
const PART_BLOCKS: usize = 2048;

/// The depths at which sums wait, and how many deliveries go on together.
const STAGE: u32 = 64;

/// The sums of every subtree of a scan, as far as it has come.
///
/// It is a sink, and a handle by which another thread reads the sums meanwhile. Clones
/// share the sums. Each sum is a lower bound that only grows, and is final once the
/// directory is finished, or at the end of the scan. Bytes of an inode with several names belong to the name that came
/// first; at the end [`Tree`](super::Tree) attributes them to the first in the order of
/// paths. Files are counted and not kept: a directory takes 64 bytes and its name.
///
/// Use it for a browser that shows directories while they are read, together with a
/// [`TreeSink`](super::TreeSink) for the end. Take a new one for each scan.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use statwalk_core::{LiveTree, Scan};
///
/// let live = LiveTree::new();
/// let running = Scan::new("src").start(live.clone())?;
/// loop {
///     let is_over = running.wait_for(Duration::from_millis(100));
///     for child in live.root(0).map_or(Vec::new(), |root| live.children(root.id)) {
///         println!("{:>12} {}", child.allocated_bytes, String::from_utf8_lossy(&child.name));
///     }
///     if is_over {
///         break;
///     }
/// }
/// assert!(live.root(0).is_some_and(|root| root.entries > 1));
/// assert!(running.finish().report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone)]
pub struct LiveTree {
    table: Arc<Table>,
}

/// A directory with the sums of its subtree, so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveDir {
    /// Its number within this scan.
    pub id: DirId,
    /// The directory that holds it; absent for a root.
    pub parent: Option<DirId>,
    /// Its name; of a root the path that the caller gave.
    pub name: Vec<u8>,
    /// The names in the subtree, its own among them.
    pub entries: u64,
    /// The directories in the subtree, itself among them.
    pub dirs: u64,
    /// The space taken by the subtree, in bytes. A sum above 2^64 begins again at 0.
    pub allocated_bytes: u64,
    /// The `st_size` of regular files and links in the subtree, in bytes, as above.
    pub apparent_bytes: u64,
    /// Whether something in the subtree was not read: not yet, or because the scan was
    /// stopped, or because of an error.
    pub is_incomplete: bool,
}

/// Directories by their number.
struct Table {
    parts: Box<[OnceLock<Part>]>,
    roots: Mutex<Vec<Option<DirId>>>,
    /// By depth and number.
    stages: Mutex<BTreeMap<(u32, u32), Stage>>,
}

/// Sums that are in a directory, and not yet in those above it.
struct Stage {
    dir: Arc<Dir>,
    sums: Sums,
    deliveries: u32,
}

type Part = Box<[OnceLock<Box<[Slot]>>]>;

struct Slot {
    /// The number of the parent in four bytes, then the name: a field of its own would
    /// make the slot longer than a line of the cache.
    name: OnceLock<Box<[u8]>>,
    first_child: AtomicU32,
    next_sibling: AtomicU32,
    entries: AtomicU64,
    allocated_bytes: AtomicU64,
    apparent_bytes: AtomicU64,
    /// There are fewer numbers than 2^32.
    dirs: AtomicU32,
    /// [`FINISHED`] and [`LACKS`].
    marks: AtomicU8,
}

/// All below a directory was delivered.
const FINISHED: u8 = 1;
/// An error kept something below a directory from being read.
const LACKS: u8 = 2;

/// Something to be added to a directory and to all above it.
#[derive(Clone, Copy, Default)]
struct Sums {
    entries: u64,
    dirs: u32,
    allocated_bytes: u64,
    apparent_bytes: u64,
}

/// The worker's side of a [`LiveTree`].
pub struct LiveState {
    table: Arc<Table>,
    seen: SeenInodes,
}

/// With the roots alone, and their sums so far.
impl fmt::Debug for LiveTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = lock(&self.table.roots).len();
        let roots: Vec<_> = (0..count).map(|index| self.root(index)).collect();
        f.debug_struct("LiveTree").field("roots", &roots).finish()
    }
}

impl fmt::Debug for LiveState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveState").finish_non_exhaustive()
    }
}

impl Default for LiveTree {
    fn default() -> LiveTree {
        LiveTree::new()
    }
}

impl LiveTree {
    /// One without directories.
    #[must_use]
    pub fn new() -> LiveTree {
        LiveTree {
            table: Arc::new(Table {
                parts: (0..PART_BLOCKS).map(|_| OnceLock::new()).collect(),
                roots: Mutex::default(),
                stages: Mutex::default(),
            }),
        }
    }

    /// A root; absent where it was not read yet, is missing or belongs to an earlier
    /// one. One that is no directory has no directories in it, not even itself.
    #[must_use]
    pub fn root(&self, index: usize) -> Option<LiveDir> {
        let id = *lock(&self.table.roots).get(index)?;
        self.directory(id?)
    }

    /// A directory; absent where it was not delivered yet.
    #[must_use]
    pub fn directory(&self, id: DirId) -> Option<LiveDir> {
        let slot = self.table.known(id.0)?;
        // Before the sums: those of a finished directory are behind its mark.
        let marks = slot.marks.load(Ordering::Acquire);
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (parent, name) = slot.name.get()?.split_first_chunk()?;
        let parent = u32::from_le_bytes(*parent);
        Some(LiveDir {
            id,
            parent: (parent != NOBODY).then_some(DirId(parent)),
            name: name.to_vec(),
            entries: get(&slot.entries),
            dirs: slot.dirs.load(Ordering::Relaxed).into(),
            allocated_bytes: get(&slot.allocated_bytes),
            apparent_bytes: get(&slot.apparent_bytes),
            is_incomplete: marks != FINISHED,
        })
    }

    /// The subdirectories of a directory that were delivered, in no particular order.
    #[must_use]
    pub fn children(&self, id: DirId) -> Vec<LiveDir> {
        let first = self.table.known(id.0).map_or(NOBODY, |slot| {
            // Together with the release in `Table::announce`.
            slot.first_child.load(Ordering::Acquire)
        });
        let ids = std::iter::successors(Some(first), |&id| {
            let slot = self.table.known(id)?;
            Some(slot.next_sibling.load(Ordering::Relaxed))
        });
        let ids = ids.take_while(|&id| id != NOBODY);
        ids.filter_map(|id| self.directory(DirId(id))).collect()
    }
}

impl Table {
    /// The place of a directory, if anything is known of its neighbourhood.
    fn known(&self, id: u32) -> Option<&Slot> {
        let block = (id / DirId::BLOCK) as usize;
        let part = self.parts.get(block / PART_BLOCKS)?.get()?;
        let slots = part[block % PART_BLOCKS].get()?;
        Some(&slots[(id % DirId::BLOCK) as usize])
    }

    fn slot(&self, id: u32) -> &Slot {
        let block = (id / DirId::BLOCK) as usize;
        let part = self.parts[block / PART_BLOCKS]
            .get_or_init(|| (0..PART_BLOCKS).map(|_| OnceLock::new()).collect());
        let slots = part[block % PART_BLOCKS]
            .get_or_init(|| (0..DirId::BLOCK).map(|_| Slot::new()).collect());
        &slots[(id % DirId::BLOCK) as usize]
    }

    /// Puts a directory among the children of its parent. Each comes once.
    fn announce(&self, directory: &Directory<'_>) {
        let id = directory.id().0;
        let slot = self.slot(id);
        let parent = directory.parent().map_or(NOBODY, |parent| parent.0);
        let name = [&parent.to_le_bytes(), directory.name()].concat();
        let _ = slot.name.set(name.into());
        let Some(parent) = directory.parent() else {
            let mut roots = lock(&self.roots);
            let index = directory.root();
            if roots.len() <= index {
                roots.resize(index + 1, None);
            }
            roots[index] = Some(directory.id());
            return;
        };
        let parent = self.slot(parent.0);
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        // The rest of the list is behind it before a reader can come to it.
        let link = |first: u32| {
            slot.next_sibling.store(first, Ordering::Relaxed);
            Some(id)
        };
        let _ = parent.first_child.fetch_update(success, failure, link);
    }

    fn add(&self, directory: &Directory<'_>, sums: Sums) {
        self.slot(directory.id().0).add(sums);
        self.add_above(directory.place.parent(), sums);
    }

    /// Adds to a directory and to all above it, or up to a depth where sums wait.
    fn add_above(&self, mut above: Option<&Arc<Dir>>, mut sums: Sums) {
        while let Some(dir) = above {
            self.slot(dir.id.0).add(sums);
            if dir.depth > 0 && dir.depth.is_multiple_of(STAGE) {
                match self.wait_at(dir, sums) {
                    Some(all) => sums = all,
                    None => return,
                }
            }
            above = dir.place.parent();
        }
    }

    /// Adds to the sums that wait, and takes them if there are enough deliveries.
    fn wait_at(&self, dir: &Arc<Dir>, sums: Sums) -> Option<Sums> {
        let mut stages = lock(&self.stages);
        let stage = stages
            .entry((dir.depth, dir.id.0))
            .or_insert_with(|| Stage {
                dir: Arc::clone(dir),
                sums: Sums::default(),
                deliveries: 0,
            });
        stage.sums = stage.sums.plus(sums);
        stage.deliveries += 1;
        if stage.deliveries < STAGE {
            return None;
        }
        stage.deliveries = 0;
        Some(std::mem::take(&mut stage.sums))
    }

    /// Notes that all below a directory was delivered. No sum waits in it any more.
    fn finish(&self, directory: &Directory<'_>) {
        let (id, depth) = (directory.id().0, directory.depth());
        if depth > 0 && depth.is_multiple_of(STAGE) {
            let stage = lock(&self.stages).remove(&(depth, id));
            if let Some(stage) = stage {
                self.add_above(stage.dir.place.parent(), stage.sums);
            }
        }
        self.slot(id).marks.fetch_or(FINISHED, Ordering::Release);
    }

    /// Notes that something in a directory was not read.
    fn lack(&self, directory: &Directory<'_>) {
        let mark = |id: DirId| self.slot(id.0).marks.fetch_or(LACKS, Ordering::Relaxed);
        mark(directory.id());
        let mut above = directory.place.parent();
        while let Some(dir) = above.filter(|dir| mark(dir.id) & LACKS == 0) {
            above = dir.place.parent();
        }
    }

    /// Brings all sums to the top.
    fn settle(&self) {
        // The deepest first: what it passes on waits above, and its turn comes.
        while let Some((_, stage)) = { lock(&self.stages).pop_last() } {
            self.add_above(stage.dir.place.parent(), stage.sums);
        }
    }
}

impl Sums {
    fn plus(self, more: Sums) -> Sums {
        Sums {
            entries: self.entries + more.entries,
            dirs: self.dirs + more.dirs,
            allocated_bytes: self.allocated_bytes.wrapping_add(more.allocated_bytes),
            apparent_bytes: self.apparent_bytes.wrapping_add(more.apparent_bytes),
        }
    }
}

impl Slot {
    fn new() -> Slot {
        Slot {
            name: OnceLock::new(),
            first_child: AtomicU32::new(NOBODY),
            next_sibling: AtomicU32::new(NOBODY),
            entries: AtomicU64::new(0),
            allocated_bytes: AtomicU64::new(0),
            apparent_bytes: AtomicU64::new(0),
            dirs: AtomicU32::new(0),
            marks: AtomicU8::new(0),
        }
    }

    fn add(&self, sums: Sums) {
        let add = |counter: &AtomicU64, more: u64| {
            if more > 0 {
                counter.fetch_add(more, Ordering::Relaxed);
            }
        };
        add(&self.entries, sums.entries);
        add(&self.allocated_bytes, sums.allocated_bytes);
        add(&self.apparent_bytes, sums.apparent_bytes);
        if sums.dirs > 0 {
            self.dirs.fetch_add(sums.dirs, Ordering::Relaxed);
        }
    }
}

impl Sink for LiveTree {
    type State = LiveState;
    type Output = ();

    fn fields(&self) -> Fields {
        Fields::TYPE | Fields::SIZE | Fields::ALLOCATED | Fields::LINKS | Fields::ID
    }

    fn states(&self, context: &Context, count: usize) -> Vec<LiveState> {
        let seen = SeenInodes::new(context);
        let state = || LiveState {
            table: Arc::clone(&self.table),
            seen: seen.clone(),
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, _: Vec<LiveState>) {
        self.table.settle();
    }
}

impl Collect for LiveState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.table.announce(directory);
        let sums = Sums {
            entries: 1,
            dirs: 1,
            allocated_bytes: directory.attributes().allocated_bytes().unwrap_or(0),
            apparent_bytes: 0,
        };
        self.table.add(directory, sums);
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let directory = origin.0;
        if origin.is_root() {
            self.table.announce(directory);
            self.table.finish(directory);
        }
        let mut sums = Sums {
            entries: batch.len() as u64,
            ..Sums::default()
        };
        for index in 0..batch.len() {
            if !batch.known()[index] || !self.seen.is_new(batch, index) {
                continue;
            }
            let more = batch.allocated_bytes()[index];
            sums.allocated_bytes = sums.allocated_bytes.wrapping_add(more);
            if matches!(batch.kinds()[index], FileType::File | FileType::Symlink) {
                let more = batch.size_bytes()[index];
                sums.apparent_bytes = sums.apparent_bytes.wrapping_add(more);
            }
        }
        self.table.add(directory, sums);
        ControlFlow::Continue(())
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        self.table.lack(directory);
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        self.table.finish(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place() {
        let blocks = DirId::BLOCKS as usize;
        assert!(blocks <= PART_BLOCKS * PART_BLOCKS);
        let table = LiveTree::new().table;
        for id in [
            0,
            DirId::BLOCK - 1,
            DirId::BLOCK,
            DirId::BLOCKS * DirId::BLOCK - 1,
        ] {
            assert!(table.known(id).is_none() || id == DirId::BLOCK - 1);
            table.slot(id).add(Sums {
                entries: 1,
                ..Sums::default()
            });
            let entries = table
                .known(id)
                .map(|slot| slot.entries.load(Ordering::Relaxed));
            assert_eq!(entries, Some(1));
        }
        assert!(table.known(NOBODY).is_none());
        assert!(size_of::<Slot>() <= 64);
    }
}
