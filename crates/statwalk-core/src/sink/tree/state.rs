// SPDX-License-Identifier: MIT OR Apache-2.0

//! The part of the tree that one worker found.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::identities::Identities;
use super::names::Names;
use super::owners::{OwnerNumber, Owners};
use super::record::{DirRecord, FileRecord, FileRun, NEVER, NOWHERE, RecordKind, Sums, Traits};
use crate::batch::Batch;
use crate::directory::{DirState, Directory, Origin};
use crate::entry::{DirId, FileType};
use crate::sink::entry_filter::EntryFilter;
use crate::sink::first_names::{FirstNames, Kept, LinkName};
use crate::sink::seen_inodes::may_repeat;
use crate::sink::{Collect, Context};
use crate::time::TOO_LATE;
use crate::time::Time;

/// How many directories the numbers are given out for at once.
pub(super) const BLOCK: usize = DirId::BLOCK as usize;

/// The part of the tree that one worker saw.
pub struct TreeState {
    /// Which of the workers.
    pub(super) worker: u16,
    pub(super) context: Context,
    pub(super) blocks: Vec<Block>,
    /// Directories whose numbers another worker gave out.
    pub(super) foreign: HashMap<u32, DirRecord>,
    pub(super) files: Vec<Vec<FileRecord>>,
    pub(super) file_runs: Vec<FileRun>,
    pub(super) names: Names,
    pub(super) links: Links,
    /// Whether sums of bytes are wanted.
    pub(super) sizes: bool,
    /// Whether entries are counted by inode.
    pub(super) inodes: bool,
    /// The time that counts of every entry; absent where it is the modification of
    /// everything but directories.
    pub(super) time: Option<Time>,
    /// The blocks of directories that take many themselves, in bytes.
    pub(super) large_dirs: Vec<(u32, u64)>,
    pub(super) filter: EntryFilter,
    /// Absent where none are kept.
    pub(super) owners: Option<Owners>,
    /// The identities of directories; absent where none are kept.
    pub(super) identities: Option<Identities>,
    /// Directories that were finished here, and whose records are not at hand.
    pub(super) finished: Vec<u32>,
}

impl fmt::Debug for TreeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeState")
            .field("worker", &self.worker)
            .field("block_count", &self.blocks.len())
            .field("file_count", &self.file_count())
            .finish_non_exhaustive()
    }
}

/// From how many bytes on the blocks of a directory itself are kept apart. Most have
/// one block, which would cost as much memory for each.
const LARGE_DIR_BYTES: u64 = 16 << 10;

/// How far a modification can lie after the beginning of the scan: files change while a
/// scan goes on, and the clocks of machines differ. A later one is an error of a clock or
/// of a program, and would hide all others.
const AHEAD_NS: i64 = 3600 * 1_000_000_000;

/// First names of inodes that have several; for all workers.
#[derive(Clone)]
pub(super) enum Links {
    /// Where only directories are kept, with what each inode brings.
    Bytes(Arc<FirstNames<LinkBytes>>),
    /// Where files are kept, with their records, which have that.
    Files(Arc<FirstNames<FileAt>>),
}

/// The share of an inode in the directory of its first name.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct LinkBytes {
    pub(super) apparent_bytes: u64,
    pub(super) allocated_bytes: u64,
    pub(super) unseen: Unseen,
}

impl Kept for LinkBytes {
    const NOTHING: LinkBytes = LinkBytes {
        apparent_bytes: 0,
        allocated_bytes: 0,
        unseen: Unseen::NOBODY_KNOWS,
    };

    fn and(self, other: LinkBytes) -> LinkBytes {
        LinkBytes {
            unseen: self.unseen.and(other.unseen),
            ..self
        }
    }
}

/// How many names of an inode were not seen yet, one of which can come before the first
/// so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unseen(u32);

impl Unseen {
    /// A link led to each of the seen names, and links are not among the counted ones.
    const NOBODY_KNOWS: Unseen = Unseen(u32::MAX);

    /// After one name of an inode that has so many.
    fn after_one(links: u32, behind_link: bool) -> Unseen {
        match behind_link {
            true => Self::NOBODY_KNOWS,
            false => Unseen(links.saturating_sub(1)),
        }
    }

    /// After the names of both.
    fn and(self, other: Unseen) -> Unseen {
        match (self, other) {
            (Self::NOBODY_KNOWS, known) | (known, Self::NOBODY_KNOWS) => known,
            // Each has left out all names but its own.
            (Unseen(one), Unseen(other)) => Unseen(one.min(other).saturating_sub(1)),
        }
    }

    /// Whether all names were seen.
    pub(super) fn is_nothing(self) -> bool {
        self == Unseen(0)
    }
}

/// Where the record of a file is.
#[derive(Clone, Copy)]
pub(super) struct FileAt {
    pub(super) chunk: u32,
    pub(super) place: u16,
    pub(super) worker: u16,
    pub(super) unseen: Unseen,
}

impl Kept for FileAt {
    const NOTHING: FileAt = FileAt {
        chunk: 0,
        place: 0,
        worker: 0,
        unseen: Unseen::NOBODY_KNOWS,
    };

    fn and(self, other: FileAt) -> FileAt {
        FileAt {
            unseen: self.unseen.and(other.unseen),
            ..self
        }
    }
}

/// The directories of one block of numbers.
pub(super) struct Block {
    pub(super) number: u32,
    pub(super) records: Vec<DirRecord>,
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
            None => DirRecord::name_of_root(directory.root),
        };
        let own = directory.id_is_own();
        let (parent, depth) = (directory.parent(), directory.depth());
        let passes = self.filter.passes_directory(directory);
        let allocated_bytes = match passes && self.sizes {
            true => directory.attributes().allocated_bytes().unwrap_or(0),
            false => 0,
        };
        let state = directory.state();
        if allocated_bytes >= LARGE_DIR_BYTES {
            self.large_dirs.push((directory.id().0, allocated_bytes));
        }
        // du, too, leaves out a mount that it does not enter.
        let is_entered = !matches!(state, DirState::Crossing | DirState::Excluded);
        let counts = passes && (is_entered || !self.inodes);
        let time_ns = self
            .time
            .filter(|_| passes && is_entered)
            .and_then(|time| directory.attributes().time_ns(time));
        let latest_ns = self.latest_ns();
        if let (Some(owners), Some(uid)) = (&mut self.owners, directory.attributes().uid()) {
            owners.keep_dir(directory.id().0, uid);
        }
        if let (Some(identities), Some(id)) = (&mut self.identities, directory.attributes().id()) {
            identities.push(directory.id().0, id);
        }
        let record = self.record(directory.id(), own);
        record.parent = parent.map_or(NOWHERE, |parent| parent.0);
        record.depth = depth;
        record.name = name;
        record.kind = RecordKind::directory(state);
        record.sums.entries += u64::from(counts);
        record.sums.dirs += u32::from(passes);
        (record.sums).note_time(time_ns.unwrap_or(NEVER), latest_ns);
        let kind = FileType::Directory;
        record.sums.add_bytes(kind, 0, allocated_bytes);
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        if batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let directory = origin.0;
        let dir = directory.id().0;
        let mut sums = Sums::NOTHING;
        // The sums of a directory are packed; a batch adds to them once.
        let (mut allocated_bytes, mut apparent_bytes, mut files) = (0_u128, 0_u128, 0);
        let times_ns = self.times_ns(batch);
        let mut uncounted = 0;
        let files_kept = matches!(self.links, Links::Files(_));
        let names_kept = self
            .identities
            .as_ref()
            .is_some_and(Identities::keeps_names);
        let wants_links = self.wants_links();
        let files_before = self.file_count();
        let latest_ns = self.latest_ns();
        let mut entries = 0;
        for index in 0..batch.len() {
            if !self
                .filter
                .passes(origin.directory(), || batch.entry(index))
            {
                continue;
            }
            entries += 1;
            let kind = batch.kinds()[index];
            files += u64::from(kind == FileType::File);
            let known = batch.known()[index];
            let mut linked = false;
            if known {
                sums.note_time(times_ns.get(index).copied().unwrap_or(NEVER), latest_ns);
                linked = wants_links && may_repeat(&self.context, batch, index);
                if self.sizes && !linked {
                    allocated_bytes += u128::from(batch.allocated_bytes()[index]);
                    if matches!(kind, FileType::File | FileType::Symlink) {
                        apparent_bytes += u128::from(batch.size_bytes()[index]);
                    }
                }
            }
            if files_kept {
                self.keep_file(batch, index, known, linked);
                if known && names_kept && may_repeat(&self.context, batch, index) {
                    self.keep_name(dir, batch, index);
                }
            }
            if linked {
                self.offer(directory, batch, index);
                // Counted where its first name is, once that is known.
                uncounted += u64::from(self.inodes);
            }
        }
        if files_kept && entries > 0 {
            self.file_runs.push(FileRun {
                start: files_before,
                // A batch is far smaller than 2^32.
                count: entries as u32,
                dir,
            });
        }
        sums.entries = entries - uncounted;
        sums.files = files;
        sums.add_entries(allocated_bytes, apparent_bytes);
        let own = directory.id_is_own();
        let record = self.record(directory.id(), own);
        record.sums.add(&sums);
        if origin.is_root() {
            record.name = DirRecord::name_of_root(directory.root);
            record.kind = RecordKind::root_file(batch.kinds()[0]);
        }
        ControlFlow::Continue(())
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        let id = directory.id();
        // Most have no subdirectories, and were delivered just now.
        match self.blocks.last_mut() {
            Some(block) if directory.id_is_own() && block.number == id.0 / DirId::BLOCK => {
                block.records[id.0 as usize % BLOCK].finish();
            }
            _ => self.finished.push(id.0),
        }
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        let own = directory.id_is_own();
        self.record(directory.id(), own).sums.incomplete = true;
    }
}

impl TreeState {
    /// The latest time that counts, below the mark of one that does not fit. A time that
    /// was asked for counts in any case.
    fn latest_ns(&self) -> i64 {
        match self.time {
            Some(_) => TOO_LATE - 1,
            None => (self.context.now_ns.saturating_add(AHEAD_NS)).min(TOO_LATE - 1),
        }
    }

    pub(super) const FILE_CHUNK: usize = 4096;

    /// Whether an inode with several names counts once.
    pub(super) fn wants_links(&self) -> bool {
        self.sizes || self.inodes
    }

    /// The size of an entry and the space that it takes, in bytes; 0 where they are not
    /// wanted. It must be known.
    fn bytes_of(&self, batch: &Batch, index: usize) -> (u64, u64) {
        match self.sizes {
            true => (batch.size_bytes()[index], batch.allocated_bytes()[index]),
            false => (0, 0),
        }
    }

    /// The times that count, by entry; empty where none are wanted.
    fn times_ns<'b>(&self, batch: &'b Batch) -> &'b [i64] {
        match self.time {
            None if !self.sizes => &[],
            None => batch.mtime_ns(),
            Some(time) => batch.time_ns(time),
        }
    }

    fn file_count(&self) -> u64 {
        count_of(&self.files)
    }

    /// Offers the name of an inode that can have others; its file was kept last.
    fn offer(&self, directory: &Directory<'_>, batch: &Batch, index: usize) {
        let number = self.context.inodes.number(batch.id(index));
        let behind_link = self.context.follows && directory.is_behind_link();
        let unseen = Unseen::after_one(batch.links()[index], behind_link);
        let name = LinkName {
            directory,
            behind_link,
            name: batch.name(index),
        };
        match &self.links {
            Links::Bytes(firsts) => {
                let kind = batch.kinds()[index];
                let has_content = matches!(kind, FileType::File | FileType::Symlink);
                let (size_bytes, allocated_bytes) = self.bytes_of(batch, index);
                let value = LinkBytes {
                    apparent_bytes: if has_content { size_bytes } else { 0 },
                    allocated_bytes,
                    unseen,
                };
                firsts.offer(number, name, value);
            }
            Links::Files(firsts) => {
                let last = self.files.len() - 1;
                let value = FileAt {
                    // 2^32 chunks of records would not fit into memory.
                    chunk: last as u32,
                    place: (self.files[last].len() - 1) as u16,
                    worker: self.worker,
                    unseen,
                };
                firsts.offer(number, name, value);
            }
        }
    }

    /// Keeps the inode of the file that was kept last, where it has several names. A link
    /// that is followed can lead to one that has not.
    fn keep_name(&mut self, dir: u32, batch: &Batch, index: usize) {
        let links = batch.links()[index];
        let file = self.file_count().wrapping_sub(1);
        if let Some(identities) = &mut self.identities
            && links > 1
        {
            identities.push_name(batch.id(index), dir, file, links);
        }
    }

    /// Keeps a file. Of an inode with several names each is an extra one, until the
    /// first is known.
    fn keep_file(&mut self, batch: &Batch, index: usize, known: bool, linked: bool) {
        let kind = batch.kinds()[index];
        let mut traits = Traits::new(kind, known);
        if linked {
            traits.0 |= Traits::EXTRA_LINK;
        }
        if known && self.wants_links() && batch.links()[index] > 1 {
            traits.0 |= Traits::LINKED;
        }
        let owner = match &mut self.owners {
            Some(owners) if known => {
                owners.keep_file(batch.uids()[index], || count_of(&self.files))
            }
            _ => OwnerNumber::UNKNOWN,
        };
        let name = self.names.push(batch.name(index));
        let (size_bytes, allocated_bytes) = match known {
            true => self.bytes_of(batch, index),
            false => (0, 0),
        };
        let has_content = matches!(kind, FileType::File | FileType::Symlink);
        let time_ns = self.times_ns(batch).get(index).filter(|_| known);
        let record = FileRecord {
            // As the sums have it.
            size_bytes: if has_content { size_bytes } else { 0 },
            allocated_bytes,
            time_ns: time_ns.copied().unwrap_or(NEVER),
            name_offset: name.offset,
            name_chunk: name.chunk,
            traits,
            owner,
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
    }
}

/// How many files there are in chunks, of which all but the last are full.
fn count_of(files: &[Vec<FileRecord>]) -> u64 {
    match files.split_last() {
        Some((last, full)) => (full.len() * TreeState::FILE_CHUNK + last.len()) as u64,
        None => 0,
    }
}
