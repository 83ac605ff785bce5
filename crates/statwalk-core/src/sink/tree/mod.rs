// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in memory, with the sums of every subtree.
//!
//! Records lie in chunks that never move or double, so that a tree of hundreds of
//! millions of entries grows without copies. A directory takes [`DirRecord`], a file,
//! where files are kept, [`FileRecord`], plus names.

mod file;
mod file_runs;
mod identities;
mod link_names;
mod names;
mod node;
mod owners;
mod record;
mod sink;
mod state;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub use self::file::TreeFile;
use self::file_runs::FileRuns;
use self::identities::{DirIdentity, Identities};
use self::link_names::{LinkName, LinkNames};
use self::names::Names;
use self::node::At;
pub use self::node::{Node, NodeId, NodeKind};
use self::owners::AllOwners;
use self::record::{DirRecord, FileRecord, FileRun, NOWHERE, Traits};
pub use self::sink::TreeSink;
pub use self::state::TreeState;
use self::state::{BLOCK, Links};
use super::Context;
use crate::entry::{DirId, FileType};
use crate::time::Time;

/// A scanned tree.
pub struct Tree {
    roots: Arc<[Vec<u8>]>,
    root_ids: Vec<Option<u32>>,
    /// Directories by their number.
    blocks: Vec<Option<Box<[DirRecord]>>>,
    /// Which worker's names a block's names lie among.
    block_names: Vec<u16>,
    /// Directories whose record came from a worker other than the block's.
    foreign_names: HashMap<u32, u16>,
    names: Vec<Names>,
    children: Vec<u32>,
    files: Vec<Vec<FileRecord>>,
    /// Which worker a chunk of files belongs to.
    file_names: Vec<u16>,
    file_runs: FileRuns,
    /// The blocks of directories that take many themselves, in bytes.
    large_dirs: HashMap<u32, u64>,
    /// The time that the sink was asked for.
    time: Option<Time>,
    owners: AllOwners,
    /// Devices by their number.
    devices: Vec<u64>,
    /// The identity of each directory; empty where none are kept.
    identities: Vec<DirIdentity>,
    /// The names of inodes that have several; empty where they are not kept.
    link_names: LinkNames,
    /// Whether there are sums of bytes.
    knows_sizes: bool,
    /// Whether files of several names are marked.
    knows_links: bool,
}

/// With its roots, their sums and its memory; never with what lies below.
impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots: Vec<_> = (0..self.root_count())
            .map(|index| self.root(index))
            .collect();
        f.debug_struct("Tree")
            .field("roots", &roots)
            .field("memory_bytes", &self.memory_bytes())
            .finish_non_exhaustive()
    }
}

impl Tree {
    fn merge(context: &Context, states: Vec<TreeState>) -> Tree {
        let mut tree = Tree {
            roots: Arc::clone(&context.roots),
            root_ids: vec![None; context.roots.len()],
            blocks: Vec::new(),
            block_names: Vec::new(),
            foreign_names: HashMap::new(),
            names: Vec::new(),
            children: Vec::new(),
            files: Vec::new(),
            file_names: Vec::new(),
            file_runs: FileRuns::default(),
            large_dirs: HashMap::new(),
            time: states.first().and_then(|state| state.time),
            owners: AllOwners::default(),
            devices: Vec::new(),
            identities: Vec::new(),
            link_names: LinkNames::default(),
            knows_sizes: states.first().is_some_and(|state| state.sizes),
            knows_links: states.first().is_some_and(TreeState::wants_links),
        };
        let identities = states.first().and_then(|state| state.identities.clone());
        tree.devices = identities.map_or(Vec::new(), Identities::into_devices);
        let links = states.first().map(|state| state.links.clone());
        let inodes = states.first().is_some_and(|state| state.inodes);
        let workers = states.iter().map(|state| usize::from(state.worker) + 1);
        let mut first_chunks = vec![0; workers.max().unwrap_or(0)];
        let follows = context.follows;
        let (mut foreign, mut finished) = (Vec::new(), Vec::new());
        let mut file_runs: Vec<FileRun> = Vec::new();
        let mut link_names = Vec::new();
        for (worker, state) in states.into_iter().enumerate() {
            for block in state.blocks {
                let index = block.number as usize;
                tree.make_room_for(index);
                tree.blocks[index] = Some(block.records.into_boxed_slice());
                tree.block_names[index] = worker as u16;
            }
            foreign.extend(
                state
                    .foreign
                    .into_iter()
                    .map(|(id, record)| (worker, id, record)),
            );
            first_chunks[usize::from(state.worker)] = tree.files.len();
            let first = (tree.files.len() * TreeState::FILE_CHUNK) as u64;
            file_runs.extend(state.file_runs.iter().map(|run| FileRun {
                start: run.start + first,
                ..*run
            }));
            tree.files.extend(state.files);
            tree.file_names.resize(tree.files.len(), worker as u16);
            tree.names.push(state.names);
            finished.extend(state.finished);
            tree.large_dirs.extend(state.large_dirs);
            if let Some(owners) = state.owners {
                tree.owners.add(owners, first);
            }
            let (dirs, names) = state.identities.unwrap_or_default().into_all();
            link_names.extend(names.into_iter().map(|name| LinkName {
                file: name.file + first,
                ..name
            }));
            for (dir, identity) in dirs {
                let index = dir as usize;
                if tree.identities.len() <= index {
                    let len = whole_blocks(index);
                    tree.identities.resize(len, DirIdentity::UNKNOWN);
                }
                tree.identities[index] = identity;
            }
        }
        for (worker, id, record) in foreign {
            tree.absorb_foreign(worker, id, record);
        }
        for id in finished {
            if let Some(record) = tree.record_mut(id) {
                record.finish();
            }
        }
        let unsettled = links.map_or(Vec::new(), |links| {
            tree.settle_links(&links, &first_chunks, inodes)
        });
        tree.file_runs = FileRuns::new(file_runs);
        tree.link_names = LinkNames::new(link_names);
        tree.sum_up(&unsettled, follows);
        tree
    }

    fn make_room_for(&mut self, block: usize) {
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, || None);
            self.block_names.resize(block + 1, 0);
        }
    }

    fn absorb_foreign(&mut self, worker: usize, id: u32, found: DirRecord) {
        let index = id as usize / BLOCK;
        self.make_room_for(index);
        let block = self.blocks[index]
            .get_or_insert_with(|| vec![DirRecord::EMPTY; BLOCK].into_boxed_slice());
        let record = &mut block[id as usize % BLOCK];
        record.sums.add(&found.sums);
        if !found.kind.is_nothing() {
            record.parent = found.parent;
            record.depth = found.depth;
            record.name = found.name;
            record.kind = found.kind;
            self.foreign_names.insert(id, worker as u16);
        }
    }

    /// Brings the bytes of each inode with several names to the directory of the
    /// first, with one entry where `inodes` are counted. `first_chunks` is where the
    /// files of each worker begin.
    ///
    /// Returns the directories whose bytes another name would take, if one that was not
    /// seen came before theirs, each with its root.
    fn settle_links(
        &mut self,
        links: &Links,
        first_chunks: &[usize],
        inodes: bool,
    ) -> Vec<(u32, u32)> {
        let entries = u64::from(inodes);
        let mut unsettled = Vec::new();
        match links {
            Links::Bytes(firsts) => firsts.each(|dir, brought| {
                if !{ brought.unseen }.is_nothing() {
                    unsettled.push(dir);
                }
                if let Some(record) = self.record_mut(dir) {
                    let (apparent, allocated) = (brought.apparent_bytes, brought.allocated_bytes);
                    record.sums.add_bytes(FileType::File, apparent, allocated);
                    record.sums.entries += entries;
                }
            }),
            Links::Files(firsts) => firsts.each(|dir, at| {
                let chunk = first_chunks[usize::from(at.worker)] + at.chunk as usize;
                let file = &mut self.files[chunk][usize::from(at.place)];
                file.traits.0 &= !Traits::EXTRA_LINK;
                if !at.unseen.is_nothing() {
                    unsettled.push(dir);
                }
                let file = *file;
                if let Some(record) = self.record_mut(dir) {
                    let kind = file.traits.kind();
                    (record.sums).add_bytes(kind, file.size_bytes, file.allocated_bytes);
                    record.sums.entries += entries;
                }
            }),
        }
        unsettled.sort_unstable();
        unsettled.dedup();
        let root_of = |dir| match links {
            Links::Bytes(firsts) => firsts.root_of(dir),
            Links::Files(firsts) => firsts.root_of(dir),
        };
        let rooted = unsettled.into_iter();
        rooted
            .filter_map(|dir| Some((dir, root_of(dir)?)))
            .collect()
    }

    #[inline]
    fn file(&self, number: u64) -> &FileRecord {
        let chunk = &self.files[number as usize / TreeState::FILE_CHUNK];
        &chunk[number as usize % TreeState::FILE_CHUNK]
    }

    /// Adds each directory to its parent, the deepest first, and links children.
    ///
    /// A directory that is not finished is incomplete. So is an `unsettled` one in a root
    /// that is not finished: there the first name of an inode may wait. Names without a
    /// link on the way come before others, whatever their root.
    fn sum_up(&mut self, unsettled: &[(u32, u32)], follows: bool) {
        let mut by_depth: Vec<u32> = Vec::new();
        let mut unfinished = Vec::new();
        let mut unfinished_roots = vec![false; self.roots.len()];
        for (block, records) in self.blocks.iter().enumerate() {
            for (index, record) in records
                .iter()
                .flat_map(|records| records.iter().enumerate())
            {
                let kind = record.kind;
                if kind.is_nothing() {
                    continue;
                }
                let id = (block * BLOCK + index) as u32;
                by_depth.push(id);
                if !kind.is_finished() {
                    unfinished.push(id);
                    if { record.parent } == NOWHERE {
                        unfinished_roots[record.root()] = true;
                    }
                }
            }
        }
        let is_any = unfinished_roots.contains(&true);
        let waits =
            |&&(_, root): &&(u32, u32)| unfinished_roots[root as usize] || follows && is_any;
        let doubtful = unsettled.iter().filter(waits).map(|&(dir, _)| dir);
        for id in unfinished.into_iter().chain(doubtful) {
            if let Some(record) = self.record_mut(id) {
                record.sums.incomplete = true;
            }
        }
        // Before those below a directory count in it.
        for &id in &by_depth {
            if let Some(record) = self.record_mut(id).filter(|record| record.sums.incomplete) {
                record.lack();
            }
        }
        by_depth.sort_by_key(|&id| std::cmp::Reverse(self.record(id).map_or(0, |r| r.depth)));
        for &id in &by_depth {
            let Some(record) = self.record(id).copied() else {
                continue;
            };
            match self.record_mut(record.parent) {
                Some(parent) => {
                    parent.sums.add(&record.sums);
                    parent.children_count += 1;
                }
                None if record.parent == NOWHERE => {
                    self.root_ids[record.root()] = Some(id);
                }
                None => {}
            }
        }
        let mut start = 0;
        for &id in &by_depth {
            let record = self.record_mut(id).expect("it was listed above");
            record.children_start = start;
            start += record.children_count;
            record.children_count = 0;
        }
        self.children = vec![NOWHERE; start as usize];
        for &id in &by_depth {
            let parent = self.record(id).map_or(NOWHERE, |record| record.parent);
            if let Some(record) = self.record_mut(parent) {
                let place = record.children_start + record.children_count;
                record.children_count += 1;
                self.children[place as usize] = id;
            }
        }
    }

    #[inline]
    fn record(&self, id: u32) -> Option<&DirRecord> {
        let records = self.blocks.get(id as usize / BLOCK)?.as_ref()?;
        Some(&records[id as usize % BLOCK])
    }

    fn record_mut(&mut self, id: u32) -> Option<&mut DirRecord> {
        let records = self.blocks.get_mut(id as usize / BLOCK)?.as_mut()?;
        Some(&mut records[id as usize % BLOCK])
    }

    /// The end of the numbers of files ([`Node::file_number`]); 0 where files are not
    /// kept. Some numbers below it have no file.
    #[must_use]
    pub fn file_number_end(&self) -> usize {
        self.files.len() * TreeState::FILE_CHUNK
    }

    /// The root with the given index; absent where it was not there or belongs
    /// to an earlier one.
    #[must_use]
    pub fn root(&self, index: usize) -> Option<Node<'_>> {
        let id = (*self.root_ids.get(index)?)?;
        Some(Node {
            tree: self,
            at: At::Dir(id),
        })
    }

    /// A directory by its number; absent where the scan gave the number to none.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new())?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// let id = root.dir_id().expect("the root is a directory");
    /// assert_eq!(tree.directory(id).map(|dir| dir.entries()), Some(root.entries()));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn directory(&self, id: DirId) -> Option<Node<'_>> {
        let record = self.record(id.0)?;
        (!{ record.kind }.is_nothing()).then_some(Node {
            tree: self,
            at: At::Dir(id.0),
        })
    }

    /// How much memory it holds, in bytes. Of names it counts those that are there:
    /// room for more is address space, and takes no memory until it is written.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new())?;
    /// let tree = outcome.output;
    /// let dirs = tree.root(0).map_or(0, |root| root.dir_count());
    /// assert!(tree.memory_bytes() as u64 > 64 * dirs);
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        fn of<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        let records = self.blocks.iter().flatten();
        let records: usize = records.map(|block| size_of_val(&block[..])).sum();
        let files: usize = self.files.iter().map(of).sum();
        let names: usize = self.names.iter().map(Names::memory_bytes).sum();
        let roots: usize = self.roots.iter().map(Vec::capacity).sum();
        // A bucket has a byte of control beside its pair.
        let foreign = self.foreign_names.capacity() * (size_of::<(u32, u16)>() + 1);
        let lists = size_of_val(&*self.roots)
            + of(&self.root_ids)
            + of(&self.blocks)
            + of(&self.block_names)
            + of(&self.names)
            + of(&self.children)
            + of(&self.files)
            + of(&self.file_names)
            + self.file_runs.memory_bytes()
            + self.owners.memory_bytes()
            + of(&self.devices)
            + of(&self.identities)
            + self.link_names.memory_bytes();
        size_of::<Tree>() + records + files + names + roots + foreign + lists
    }

    /// How many roots the scan had.
    #[must_use]
    pub fn root_count(&self) -> usize {
        self.roots.len()
    }
}

/// The length of a list by directory that reaches to the end of a block: grown by one, it
/// would ask for room for each directory.
fn whole_blocks(index: usize) -> usize {
    (index / BLOCK + 1) * BLOCK
}
