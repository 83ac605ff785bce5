// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree in memory, with the sums of every subtree.
//!
//! Records lie in chunks that never move or double, so that a tree of hundreds
//! of millions of entries grows without copies: a directory takes
//! [`DirRecord`], a file, where files are kept, [`FileRecord`], plus names.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::first_names::FirstNames;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::Batch;
use crate::directory::{DirState, Directory, join};
use crate::entry::{DirId, Fields, FileId, FileType};

/// Keeps the tree: directories with the sums of their subtrees, and, on
/// request, files.
///
/// ```
/// use statwalk::{Scan, TreeSink};
/// let tree = Scan::new(".").run(&TreeSink::of_directories())?.output;
/// let root = tree.root(0).expect("the root was read");
/// let below: u64 = root.children().map(|child| child.entries()).sum();
/// assert!(below < root.entries());
/// # Ok::<(), statwalk::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TreeSink {
    files: bool,
}

impl TreeSink {
    /// Keeps directories; nothing is kept for a file.
    #[must_use]
    pub fn of_directories() -> TreeSink {
        TreeSink { files: false }
    }

    /// Keeps files too.
    #[must_use]
    pub fn with_files() -> TreeSink {
        TreeSink { files: true }
    }
}

const NOWHERE: u32 = u32::MAX;
const BLOCK: usize = DirId::BLOCK as usize;
/// No file: the newest modification of nothing.
const NEVER: i64 = i64::MIN;

/// A directory.
#[derive(Clone, Copy)]
struct DirRecord {
    sums: Sums,
    parent: u32,
    depth: u32,
    /// For a root, the offset is its index.
    name: NameAt,
    state: Option<DirState>,
    /// Where its children begin in `Tree::children`, and how many there are.
    children_start: u32,
    children_count: u32,
}

/// A file, or anything else that is not a directory. Its directory is known
/// by the [`FileRun`] that it belongs to.
#[derive(Clone, Copy)]
struct FileRecord {
    size_bytes: u64,
    allocated_bytes: u64,
    mtime_ns: i64,
    name_offset: u32,
    name_chunk: u16,
    traits: Traits,
}

/// Files of one directory whose records stand together.
#[derive(Clone, Copy)]
struct FileRun {
    start: u64,
    count: u32,
    dir: u32,
}

// The promise of DESIGN.md, "Hot path": bytes for a file, and for a directory
// with its place among the children of its parent and its files.
const _: () = assert!(size_of::<FileRecord>() <= 32);
const _: () = assert!(size_of::<DirRecord>() + size_of::<u32>() + size_of::<FileRun>() <= 96);

/// The type of a file and what is special about it, in one byte.
#[derive(Clone, Copy)]
struct Traits(u8);

impl Traits {
    const KINDS: [FileType; 8] = [
        FileType::File,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::CharDevice,
        FileType::BlockDevice,
        FileType::Unknown,
    ];
    /// The name is another name of an inode that is counted elsewhere.
    const EXTRA_LINK: u8 = 8;
    /// The attributes could not be read.
    const UNKNOWN: u8 = 16;

    fn new(kind: FileType, known: bool) -> Traits {
        Traits(kind as u8 | if known { 0 } else { Self::UNKNOWN })
    }

    fn kind(self) -> FileType {
        Self::KINDS[usize::from(self.0 & 7)]
    }

    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

#[derive(Clone, Copy)]
struct Sums {
    allocated_bytes: u64,
    apparent_bytes: u64,
    entries: u64,
    files: u64,
    dirs: u32,
    incomplete: bool,
    newest_mtime_ns: i64,
}

impl Sums {
    const NOTHING: Sums = Sums {
        allocated_bytes: 0,
        apparent_bytes: 0,
        entries: 0,
        files: 0,
        dirs: 0,
        incomplete: false,
        newest_mtime_ns: NEVER,
    };

    fn add(&mut self, other: &Sums) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(other.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_add(other.apparent_bytes);
        self.entries += other.entries;
        self.files += other.files;
        self.dirs += other.dirs;
        self.incomplete |= other.incomplete;
        self.newest_mtime_ns = self.newest_mtime_ns.max(other.newest_mtime_ns);
    }

    fn add_bytes(&mut self, kind: FileType, size_bytes: u64, allocated_bytes: u64) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(allocated_bytes);
        if matches!(kind, FileType::File | FileType::Symlink) {
            self.apparent_bytes = self.apparent_bytes.saturating_add(size_bytes);
        }
    }
}

impl DirRecord {
    const EMPTY: DirRecord = DirRecord {
        sums: Sums::NOTHING,
        parent: NOWHERE,
        depth: 0,
        name: NameAt {
            chunk: 0,
            offset: 0,
        },
        state: None,
        children_start: 0,
        children_count: 0,
    };

    /// Which root a record without parent stands for.
    fn root(&self) -> usize {
        self.name.offset as usize
    }
}

/// Where a name lies among the names of its worker.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct NameAt {
    offset: u32,
    chunk: u16,
}

/// Names in chunks that never move, each behind its length.
#[derive(Default)]
struct Names {
    chunks: Vec<Vec<u8>>,
}

impl Names {
    /// 65,536 chunks hold a terabyte of names; only the first pages that are
    /// written take memory.
    const CHUNK_BYTES: usize = 16 << 20;
    const FIRST_CHUNK_BYTES: usize = 16 << 10;
    /// Stands before names whose length takes four bytes more. Most file
    /// systems end at 255 bytes; those that keep UTF-16 give up to 1,560.
    const LONG: u8 = u8::MAX;

    fn push(&mut self, name: &[u8]) -> NameAt {
        let bytes = name.len() + 5;
        let full = self
            .chunks
            .last()
            .is_none_or(|chunk| chunk.capacity() - chunk.len() < bytes);
        if full {
            let size = match self.chunks.len() {
                0 => Self::FIRST_CHUNK_BYTES,
                1..=10 => Self::FIRST_CHUNK_BYTES << self.chunks.len(),
                _ => Self::CHUNK_BYTES,
            };
            self.chunks.push(Vec::with_capacity(size.max(bytes)));
        }
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        let offset = chunk.len();
        match u8::try_from(name.len()) {
            Ok(length) if length != Self::LONG => chunk.push(length),
            _ => {
                chunk.push(Self::LONG);
                chunk.extend_from_slice(&(name.len() as u32).to_le_bytes());
            }
        }
        chunk.extend_from_slice(name);
        NameAt {
            chunk: index as u16,
            offset: offset as u32,
        }
    }

    fn get(&self, at: NameAt) -> &[u8] {
        let start = at.offset as usize;
        let behind = &self.chunks[usize::from(at.chunk)][start..];
        match behind {
            [Self::LONG, a, b, c, d, rest @ ..] => {
                &rest[..u32::from_le_bytes([*a, *b, *c, *d]) as usize]
            }
            [length, rest @ ..] => &rest[..usize::from(*length)],
            [] => &[],
        }
    }
}

/// The part of the tree that one worker saw.
pub struct TreeState {
    files_kept: bool,
    context: Context,
    blocks: Vec<Block>,
    /// Directories whose numbers another worker gave out.
    foreign: HashMap<u32, DirRecord>,
    files: Vec<Vec<FileRecord>>,
    file_runs: Vec<FileRun>,
    names: Names,
    links: FirstNames<LinkedFile>,
    /// File records of inodes with several names.
    linked_records: Vec<u64>,
}

/// The directories of one block of numbers.
struct Block {
    number: u32,
    records: Vec<DirRecord>,
}

/// What the first name of an inode brings to its directory.
struct LinkedFile {
    dir: u32,
    kind: FileType,
    size_bytes: u64,
    allocated_bytes: u64,
    /// Its file record, where files are kept.
    record: Option<u64>,
}

impl Sink for TreeSink {
    type State = TreeState;
    type Output = Tree;

    fn fields(&self) -> Fields {
        let fields = Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::LINKS
            | Fields::ID
            | Fields::MTIME;
        // Names of directories come by themselves; those of files decide which
        // of several names is the first.
        fields | Fields::NAME
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TreeState> {
        (0..count)
            .map(|_| TreeState {
                files_kept: self.files,
                context: context.clone(),
                blocks: Vec::new(),
                foreign: HashMap::new(),
                files: Vec::new(),
                file_runs: Vec::new(),
                names: Names::default(),
                links: FirstNames::new(),
                linked_records: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TreeState>) -> Tree {
        Tree::merge(context, states)
    }
}

impl TreeState {
    fn record(&mut self, id: DirId, own: bool) -> &mut DirRecord {
        let number = id.0 / DirId::BLOCK;
        let place = id.0 as usize % BLOCK;
        if let Some(index) = self.blocks.iter().rposition(|b| b.number == number) {
            return &mut self.blocks[index].records[place];
        }
        if !own {
            return self.foreign.entry(id.0).or_insert(DirRecord::EMPTY);
        }
        self.blocks.push(Block {
            number,
            records: vec![DirRecord::EMPTY; BLOCK],
        });
        let last = self.blocks.len() - 1;
        &mut self.blocks[last].records[place]
    }
}

impl Collect for TreeState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let name = match directory.parent() {
            Some(_) => self.names.push(directory.name()),
            // The context keeps the roots.
            None => NameAt {
                offset: directory.root,
                ..DirRecord::EMPTY.name
            },
        };
        let own = directory.id_is_own();
        let (parent, depth) = (directory.parent(), directory.depth());
        let allocated_bytes = directory.attributes().allocated_bytes().unwrap_or(0);
        let state = directory.state();
        let record = self.record(directory.id(), own);
        record.parent = parent.map_or(NOWHERE, |parent| parent.0);
        record.depth = depth;
        record.name = name;
        record.state = Some(state);
        if state != DirState::Argument {
            record.sums.entries += 1;
            record.sums.dirs += 1;
            record.sums.allocated_bytes += allocated_bytes;
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        if batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let dir = directory.id().0;
        let mut sums = Sums::NOTHING;
        let mut dir_path = None;
        if self.files_kept {
            let start = self.file_count();
            self.file_runs.push(FileRun {
                start,
                // A batch is far smaller than 2^32.
                count: batch.len() as u32,
                dir,
            });
        }
        for index in 0..batch.len() {
            let kind = batch.kinds()[index];
            sums.entries += 1;
            sums.files += u64::from(kind == FileType::File);
            let known = batch.known()[index];
            let mut linked = false;
            if known {
                sums.newest_mtime_ns = sums.newest_mtime_ns.max(batch.mtime_ns()[index]);
                linked = may_repeat(&self.context, batch.links()[index]);
                if !linked {
                    let allocated_bytes = batch.allocated_bytes()[index];
                    sums.add_bytes(kind, batch.size_bytes()[index], allocated_bytes);
                }
            }
            let record = self
                .files_kept
                .then(|| self.keep_file(batch, index, known, linked));
            if linked {
                let path = dir_path.get_or_insert_with(|| directory.path());
                let id = FileId {
                    dev: batch.devs()[index],
                    ino: batch.inos()[index],
                };
                let file = LinkedFile {
                    dir,
                    kind,
                    size_bytes: batch.size_bytes()[index],
                    allocated_bytes: batch.allocated_bytes()[index],
                    record,
                };
                let path = join(path.clone(), batch.name(index));
                let behind_link = self.context.follows && directory.is_behind_link();
                self.links
                    .offer(id, behind_link, directory.root(), path, file);
            }
        }
        let own = directory.id_is_own();
        self.record(directory.id(), own).sums.add(&sums);
        ControlFlow::Continue(())
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        let own = directory.id_is_own();
        self.record(directory.id(), own).sums.incomplete = true;
    }
}

impl TreeState {
    const FILE_CHUNK: usize = 4096;

    fn file_count(&self) -> u64 {
        match self.files.split_last() {
            Some((last, full)) => (full.len() * Self::FILE_CHUNK + last.len()) as u64,
            None => 0,
        }
    }

    fn keep_file(&mut self, batch: &Batch, index: usize, known: bool, linked: bool) -> u64 {
        let number = self.file_count();
        let name = self.names.push(batch.name(index));
        let record = FileRecord {
            size_bytes: if known { batch.size_bytes()[index] } else { 0 },
            allocated_bytes: if known {
                batch.allocated_bytes()[index]
            } else {
                0
            },
            mtime_ns: if known {
                batch.mtime_ns()[index]
            } else {
                NEVER
            },
            name_offset: name.offset,
            name_chunk: name.chunk,
            traits: Traits::new(batch.kinds()[index], known),
        };
        if self
            .files
            .last()
            .is_none_or(|chunk| chunk.len() == Self::FILE_CHUNK)
        {
            self.files.push(Vec::with_capacity(Self::FILE_CHUNK));
        }
        let last = self.files.len() - 1;
        self.files[last].push(record);
        if linked {
            self.linked_records.push(number);
        }
        number
    }
}

/// A scanned tree.
pub struct Tree {
    roots: Vec<Vec<u8>>,
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
    /// By directory.
    file_runs: Vec<FileRun>,
}

impl Tree {
    fn merge(context: &Context, states: Vec<TreeState>) -> Tree {
        let mut tree = Tree {
            roots: context.roots.clone(),
            root_ids: vec![None; context.roots.len()],
            blocks: Vec::new(),
            block_names: Vec::new(),
            foreign_names: HashMap::new(),
            names: Vec::new(),
            children: Vec::new(),
            files: Vec::new(),
            file_names: Vec::new(),
            file_runs: Vec::new(),
        };
        let mut links = FirstNames::new();
        let mut foreign = Vec::new();
        let mut linked_records = Vec::new();
        for (worker, state) in states.into_iter().enumerate() {
            for block in state.blocks {
                let index = block.number as usize;
                if tree.blocks.len() <= index {
                    tree.blocks.resize_with(index + 1, || None);
                    tree.block_names.resize(index + 1, 0);
                }
                tree.blocks[index] = Some(block.records.into_boxed_slice());
                tree.block_names[index] = worker as u16;
            }
            foreign.extend(
                state
                    .foreign
                    .into_iter()
                    .map(|(id, record)| (worker, id, record)),
            );
            let first = (tree.files.len() * TreeState::FILE_CHUNK) as u64;
            linked_records.extend(state.linked_records.iter().map(|record| record + first));
            tree.file_runs
                .extend(state.file_runs.iter().map(|run| FileRun {
                    start: run.start + first,
                    ..*run
                }));
            tree.files.extend(state.files);
            tree.file_names.resize(tree.files.len(), worker as u16);
            links.absorb(state.links.map(|file| LinkedFile {
                record: file.record.map(|record| record + first),
                ..file
            }));
            tree.names.push(state.names);
        }
        for (worker, id, record) in foreign {
            tree.absorb_foreign(worker, id, record);
        }
        tree.settle_links(links, &linked_records);
        tree.file_runs
            .sort_unstable_by_key(|run| (run.dir, run.start));
        tree.sum_up();
        tree
    }

    fn absorb_foreign(&mut self, worker: usize, id: u32, found: DirRecord) {
        let index = id as usize / BLOCK;
        if self.blocks.len() <= index {
            self.blocks.resize_with(index + 1, || None);
            self.block_names.resize(index + 1, 0);
        }
        let block = self.blocks[index]
            .get_or_insert_with(|| vec![DirRecord::EMPTY; BLOCK].into_boxed_slice());
        let record = &mut block[id as usize % BLOCK];
        record.sums.add(&found.sums);
        if found.state.is_some() {
            record.parent = found.parent;
            record.depth = found.depth;
            record.name = found.name;
            record.state = found.state;
            self.foreign_names.insert(id, worker as u16);
        }
    }

    fn settle_links(&mut self, links: FirstNames<LinkedFile>, linked_records: &[u64]) {
        for &record in linked_records {
            self.file_mut(record).traits.0 |= Traits::EXTRA_LINK;
        }
        for file in links.into_values() {
            if let Some(record) = file.record {
                self.file_mut(record).traits.0 &= !Traits::EXTRA_LINK;
            }
            if let Some(record) = self.record_mut(file.dir) {
                record
                    .sums
                    .add_bytes(file.kind, file.size_bytes, file.allocated_bytes);
            }
        }
    }

    fn file(&self, number: u64) -> &FileRecord {
        let chunk = &self.files[number as usize / TreeState::FILE_CHUNK];
        &chunk[number as usize % TreeState::FILE_CHUNK]
    }

    fn file_mut(&mut self, number: u64) -> &mut FileRecord {
        let chunk = &mut self.files[number as usize / TreeState::FILE_CHUNK];
        &mut chunk[number as usize % TreeState::FILE_CHUNK]
    }

    /// Adds each directory to its parent, the deepest first, and links children.
    fn sum_up(&mut self) {
        let mut by_depth: Vec<u32> = Vec::new();
        for (block, records) in self.blocks.iter().enumerate() {
            for (index, record) in records
                .iter()
                .flat_map(|records| records.iter().enumerate())
            {
                if record.state.is_some() {
                    by_depth.push((block * BLOCK + index) as u32);
                }
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

    fn record(&self, id: u32) -> Option<&DirRecord> {
        let records = self.blocks.get(id as usize / BLOCK)?.as_ref()?;
        Some(&records[id as usize % BLOCK])
    }

    fn record_mut(&mut self, id: u32) -> Option<&mut DirRecord> {
        let records = self.blocks.get_mut(id as usize / BLOCK)?.as_mut()?;
        Some(&mut records[id as usize % BLOCK])
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

    /// How many roots the scan had.
    #[must_use]
    pub fn root_count(&self) -> usize {
        self.roots.len()
    }
}

/// A directory of a [`Tree`], or a file where files are kept.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    tree: &'a Tree,
    at: At,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Dir(u32),
    File { dir: u32, number: u64 },
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeKind {
    /// A directory, and how far it was read.
    Directory(DirState),
    /// Anything else.
    Other(FileType),
}

impl<'a> Node<'a> {
    fn dir(&self) -> Option<&'a DirRecord> {
        match self.at {
            At::Dir(id) => self.tree.record(id),
            At::File { .. } => None,
        }
    }

    fn file(&self) -> Option<&'a FileRecord> {
        match self.at {
            At::Dir(_) => None,
            At::File { number, .. } => Some(self.tree.file(number)),
        }
    }

    /// What it stands for.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        match (self.dir(), self.file()) {
            (Some(dir), _) => NodeKind::Directory(dir.state.unwrap_or(DirState::Listed)),
            (None, Some(file)) => NodeKind::Other(file.traits.kind()),
            (None, None) => NodeKind::Other(FileType::Unknown),
        }
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        matches!(self.kind(), NodeKind::Directory(state) if state != DirState::Argument)
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        match self.at {
            At::Dir(id) => {
                let Some(record) = self.tree.record(id) else {
                    return &[];
                };
                if record.parent == NOWHERE {
                    return &self.tree.roots[record.root()];
                }
                let worker = self.tree.foreign_names.get(&id).copied();
                let worker = worker.unwrap_or(self.tree.block_names[id as usize / BLOCK]);
                self.tree.names[usize::from(worker)].get(record.name)
            }
            At::File { number, .. } => {
                let record = self.tree.file(number);
                let worker = self.tree.file_names[number as usize / TreeState::FILE_CHUNK];
                self.tree.names[usize::from(worker)].get(NameAt {
                    chunk: record.name_chunk,
                    offset: record.name_offset,
                })
            }
        }
    }

    /// The directory that holds it; absent for a root.
    #[must_use]
    pub fn parent(&self) -> Option<Node<'a>> {
        let parent = match self.at {
            At::Dir(id) => self.tree.record(id).map_or(NOWHERE, |dir| dir.parent),
            At::File { dir, .. } => dir,
        };
        (parent != NOWHERE).then_some(Node {
            tree: self.tree,
            at: At::Dir(parent),
        })
    }

    /// The path, beginning with the root as the caller gave it.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        let mut names = vec![self.name()];
        let mut node = *self;
        while let Some(parent) = node.parent() {
            node = parent;
            names.push(node.name());
        }
        names.into_iter().rev().fold(Vec::new(), join)
    }

    /// Subdirectories, in no particular order.
    pub fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let tree = self.tree;
        let range = self.dir().map_or(0..0, |dir| {
            dir.children_start as usize..(dir.children_start + dir.children_count) as usize
        });
        tree.children[range].iter().map(move |&id| Node {
            tree,
            at: At::Dir(id),
        })
    }

    /// What is not a directory, in no particular order; nothing where files
    /// were not kept.
    pub fn files(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let tree = self.tree;
        let dir = match self.at {
            At::Dir(id) => id,
            At::File { .. } => NOWHERE,
        };
        let first = tree.file_runs.partition_point(|run| run.dir < dir);
        tree.file_runs[first..]
            .iter()
            .take_while(move |run| run.dir == dir)
            .flat_map(|run| run.start..run.start + u64::from(run.count))
            .map(move |number| Node {
                tree,
                at: At::File { dir, number },
            })
    }

    fn sum<T>(&self, of_dir: impl Fn(&Sums) -> T, of_file: impl Fn(&FileRecord) -> T) -> T {
        match (self.dir(), self.file()) {
            (Some(dir), _) => of_dir(&dir.sums),
            (None, Some(file)) => of_file(file),
            (None, None) => of_dir(&Sums::NOTHING),
        }
    }

    /// The space taken by the whole subtree, in bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        self.sum(|dir| dir.allocated_bytes, |file| file.allocated_bytes)
    }

    /// The `st_size` of all regular files and links of the subtree, in bytes.
    #[must_use]
    pub fn apparent_bytes(&self) -> u64 {
        self.sum(|dir| dir.apparent_bytes, |file| file.size_bytes)
    }

    /// The names in the subtree, its own among them.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.sum(|dir| dir.entries, |_| 1)
    }

    /// The regular files in the subtree.
    #[must_use]
    pub fn file_count(&self) -> u64 {
        self.sum(
            |dir| dir.files,
            |file| u64::from(file.traits.kind() == FileType::File),
        )
    }

    /// The directories in the subtree, itself among them.
    #[must_use]
    pub fn dir_count(&self) -> u64 {
        self.sum(|dir| u64::from(dir.dirs), |_| 0)
    }

    /// The newest modification of anything in the subtree that is not a
    /// directory, in nanoseconds since 1970; absent where there is nothing.
    #[must_use]
    pub fn newest_mtime_ns(&self) -> Option<i64> {
        let newest = self.sum(|dir| dir.newest_mtime_ns, |file| file.mtime_ns);
        (newest != NEVER).then_some(newest)
    }

    /// Whether something in the subtree could not be read.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        match (self.dir(), self.file()) {
            (Some(dir), _) => dir.sums.incomplete,
            (None, Some(file)) => file.traits.has(Traits::UNKNOWN),
            (None, None) => false,
        }
    }

    /// Whether it is a further name of an inode whose bytes count elsewhere.
    #[must_use]
    pub fn is_extra_link(&self) -> bool {
        self.file()
            .is_some_and(|file| file.traits.has(Traits::EXTRA_LINK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_come_back() {
        let mut names = Names::default();
        let lengths = [0, 1, 254, 255, 256, 1_560, 100_000];
        let places: Vec<_> = (0..3)
            .flat_map(|_| lengths)
            .map(|length| (length, names.push(&vec![length as u8; length])))
            .collect();
        for (length, at) in places {
            assert_eq!(names.get(at), vec![length as u8; length]);
        }
    }
}
