// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows of a scan while it goes on, for a caller who takes them one after another.
//!
//! Workers push blocks into a queue with a bound and wait where it is full, so a slow
//! caller slows the scan down instead of filling the memory.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::batch::Batch;
use crate::directory::{DirState, Directory, join};
use crate::entry::{Attributes, Fields, FileType};
use crate::error::{Cause, EntryError, Error, Op};
use crate::lock::lock;
use crate::report::Report;
use crate::running::Running;
use crate::scan::Scan;
use crate::sink::{Collect, Context, Sink};

/// How many blocks and errors wait for the caller, up to.
const WAITING_MAX: usize = 256;

/// How long an iterator waits for a block before it looks after the workers.
const PAUSE: Duration = Duration::from_millis(8);

/// Some entries of one directory, with the directory itself where it comes first.
#[derive(Debug)]
pub struct Block {
    directory: Vec<u8>,
    root: usize,
    depth: u32,
    /// The attributes of the directory, in the block that announces it.
    announced: Option<Attributes>,
    state: DirState,
    batch: Batch,
}

/// One entry of a scan, a directory or anything else.
///
/// It shares the memory of its block; [`path`](Self::path) is put together on request.
#[derive(Clone, Debug)]
pub struct Entry {
    block: Arc<Block>,
    /// Absent for the directory itself.
    index: Option<usize>,
}

/// The blocks of a scan, as they come. [`Scan::blocks`] makes it.
#[must_use = "the scan ends when nobody takes its blocks"]
pub struct Blocks {
    queue: Arc<Queue>,
    running: Option<Running<BlockSink>>,
    report: Option<Report>,
}

/// The entries of a scan, as they come. [`Scan::entries`] makes it.
#[must_use = "the scan ends when nobody takes its entries"]
pub struct Entries {
    blocks: Blocks,
    current: Option<(Arc<Block>, usize)>,
}

/// The blocks between the workers and the caller.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<VecDeque<Result<Block, EntryError>>>,
    has_some: Condvar,
    has_room: Condvar,
    /// Nobody takes blocks any more.
    is_closed: AtomicBool,
    /// The thread that takes blocks is the one that makes them.
    is_unbounded: AtomicBool,
}

/// The sink behind the iterators.
struct BlockSink {
    fields: Fields,
    queue: Arc<Queue>,
}

/// The end of the queue that one worker has.
struct BlockState {
    wanted: Fields,
    queue: Arc<Queue>,
}

impl Scan {
    /// Gives the entries of the trees one after another, while workers scan.
    ///
    /// The order is that in which directories are read: a directory comes before its
    /// entries, and nothing else is promised. Dropping the iterator ends the scan. An
    /// entry that cannot be read is an `Err`; it is also an entry where its name is
    /// known. A root that is missing is an `Err` at the end.
    ///
    /// Use [`run`](Self::run) with a sink where only an answer about all entries is
    /// needed: that takes no queue. Use [`blocks`](Self::blocks) for columns.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan};
    ///
    /// let mut largest = (0, Vec::new());
    /// for entry in Scan::new("src").fields(Fields::SIZE).entries()? {
    ///     let Ok(entry) = entry else { continue };
    ///     if let Some(bytes) = entry.attributes().size_bytes().filter(|&it| it > largest.0) {
    ///         largest = (bytes, entry.path());
    ///     }
    /// }
    /// assert!(largest.0 > 0);
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn entries(&self) -> Result<Entries, Error> {
        let blocks = self.blocks_of(Fields::NAME | Fields::TYPE)?;
        Ok(Entries {
            blocks,
            current: None,
        })
    }

    /// Gives the entries in columns, a block for each directory or for each part of a
    /// large one, while workers scan.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan};
    ///
    /// let mut bytes = 0;
    /// for block in Scan::new("src").fields(Fields::SIZE).blocks()? {
    ///     bytes += block.map_or(0, |block| block.batch().size_bytes().iter().sum());
    /// }
    /// assert!(bytes > 0);
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn blocks(&self) -> Result<Blocks, Error> {
        self.blocks_of(Fields::TYPE)
    }

    fn blocks_of(&self, fields: Fields) -> Result<Blocks, Error> {
        let queue = Arc::new(Queue::default());
        let sink = BlockSink {
            fields: fields | self.wanted_fields(),
            queue: Arc::clone(&queue),
        };
        Ok(Blocks {
            running: Some(self.start(sink)?),
            queue,
            report: None,
        })
    }
}

impl Block {
    /// The path of the directory, beginning with its root as the caller gave it; empty
    /// where the root itself is not a directory.
    #[must_use]
    pub fn directory(&self) -> &[u8] {
        &self.directory
    }

    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root
    }

    /// The distance of the directory from its root.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The attributes of the directory, in one of its blocks and no other.
    #[must_use]
    pub fn announced(&self) -> Option<&Attributes> {
        self.announced.as_ref()
    }

    /// How far the directory was read.
    #[must_use]
    pub fn state(&self) -> DirState {
        self.state
    }

    /// Its entries that are not directories, in columns.
    #[must_use]
    pub fn batch(&self) -> &Batch {
        &self.batch
    }
}

impl Entry {
    /// The name; for a root the path that the caller gave.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        match self.index {
            Some(index) => self.block.batch.name(index),
            None if self.block.depth == 0 => &self.block.directory,
            None => {
                let path = &self.block.directory;
                let slash = path.iter().rposition(|&byte| byte == b'/');
                &path[slash.map_or(0, |at| at + 1)..]
            }
        }
    }

    /// The path, beginning with the root as the caller gave it.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        let directory = self.block.directory.clone();
        match self.index {
            Some(index) => join(directory, self.block.batch.name(index)),
            None => directory,
        }
    }

    /// The type.
    #[must_use]
    pub fn file_type(&self) -> FileType {
        match self.index {
            Some(index) => self.block.batch.kinds()[index],
            None => FileType::Directory,
        }
    }

    /// The attributes, as far as they are wanted and known.
    #[must_use]
    pub fn attributes(&self) -> Attributes {
        let announced = self.block.announced;
        match self.index {
            Some(index) => self.block.batch.entry(index).attributes,
            None => announced.unwrap_or(Attributes::of_type(FileType::Directory)),
        }
    }

    /// The distance from the root, which is 0.
    #[must_use]
    pub fn depth(&self) -> u32 {
        let is_root_file = self.block.state == DirState::Argument;
        self.block.depth + u32::from(self.index.is_some() && !is_root_file)
    }

    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.block.root
    }
}

impl Blocks {
    /// Takes the report, and leaves errors for the roots that are missing.
    fn finish(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        // A scan that ended by itself can have workers that wait for room.
        self.queue.close();
        let roots = running.roots().to_vec();
        let report = running.finish().report;
        let missing = roots.into_iter().zip(&report.roots).enumerate();
        let errors = missing.filter_map(|(root, (path, found))| {
            let cause = Cause::System(found.missing?);
            let op = Op::Open;
            Some(Err(EntryError {
                path,
                op,
                cause,
                root,
            }))
        });
        lock(&self.queue.waiting).extend(errors);
        self.report = Some(report);
    }

    /// The report of the scan, once the last block was taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, EntryError>;

    fn next(&mut self) -> Option<Result<Block, EntryError>> {
        loop {
            if let Some(next) = self.queue.take(Duration::ZERO) {
                return Some(next);
            }
            let running = self.running.as_ref()?;
            // What the workers pushed before they ended is taken all the same.
            let ended = running.is_over();
            if !ended {
                // Where the scan has no thread, this one works for it.
                self.queue.is_unbounded.store(true, Ordering::Relaxed);
                running.tend();
                self.queue.is_unbounded.store(false, Ordering::Relaxed);
            }
            if let Some(next) = self.queue.take(if ended { Duration::ZERO } else { PAUSE }) {
                return Some(next);
            }
            if ended {
                self.finish();
            }
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Entries {
    /// The report of the scan, once the last entry was taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.blocks.report()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, EntryError>;

    fn next(&mut self) -> Option<Result<Entry, EntryError>> {
        loop {
            if let Some((block, next)) = &mut self.current
                && *next < block.batch.len()
            {
                *next += 1;
                return Some(Ok(Entry {
                    block: Arc::clone(block),
                    index: Some(*next - 1),
                }));
            }
            let block = match self.blocks.next()? {
                Ok(block) => Arc::new(block),
                Err(error) => return Some(Err(error)),
            };
            let is_directory = block.announced.is_some();
            self.current = Some((Arc::clone(&block), 0));
            if is_directory {
                return Some(Ok(Entry { block, index: None }));
            }
        }
    }
}

impl Queue {
    /// Takes a block, and waits for one up to a time.
    fn take(&self, timeout: Duration) -> Option<Result<Block, EntryError>> {
        let mut waiting = lock(&self.waiting);
        if waiting.is_empty() && !timeout.is_zero() {
            let woken = self.has_some.wait_timeout(waiting, timeout);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let next = waiting.pop_front();
        drop(waiting);
        self.has_room.notify_one();
        next
    }

    /// Ends all waiting for room.
    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        // Under the lock, so that no worker begins to wait after it has looked.
        drop(lock(&self.waiting));
        self.has_room.notify_all();
    }

    /// Puts in a block, and waits for room. Breaks where nobody takes it.
    fn put(&self, item: Result<Block, EntryError>) -> ControlFlow<()> {
        let mut waiting = lock(&self.waiting);
        while waiting.len() >= WAITING_MAX && !self.is_unbounded.load(Ordering::Relaxed) {
            if self.is_closed.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let woken = self.has_room.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
        waiting.push_back(item);
        drop(waiting);
        self.has_some.notify_one();
        match self.is_closed.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl Sink for BlockSink {
    type State = BlockState;
    type Output = ();

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<BlockState> {
        let state = || BlockState {
            wanted: self.fields,
            queue: Arc::clone(&self.queue),
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, _: Vec<BlockState>) {}
}

impl BlockState {
    fn put(
        &self,
        directory: &Directory<'_>,
        announced: Option<Attributes>,
        batch: Batch,
    ) -> ControlFlow<()> {
        self.queue.put(Ok(Block {
            directory: directory.path(),
            root: directory.root(),
            depth: directory.depth(),
            announced,
            state: directory.state(),
            batch,
        }))
    }
}

impl Collect for BlockState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if directory.state() == DirState::Argument {
            return ControlFlow::Continue(());
        }
        let announced = Some(*directory.attributes());
        self.put(directory, announced, Batch::new(self.wanted))
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        self.put(directory, None, batch.clone())
    }

    fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        self.queue.put(Err(error.clone()))
    }
}
