// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows of a scan while it goes on, for a caller who takes them one after another.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::batch::Batch;
use crate::directory::{Directory, Origin, join};
use crate::entry::{Attributes, FileType};
use crate::error::{EntryError, Error};
use crate::fields::Fields;
use crate::gather::{Fill, Found, Gathered, Next, deadline_after};
use crate::path::{file_name, file_name_of_root, path_buf};
use crate::progress::Progress;
use crate::report::Report;
use crate::running::Canceller;
use crate::scan::Scan;
use crate::skipped_dirs::SkippedDirs;

/// From so many blocks on, or so many entries, a worker gives them to the caller.
const BLOCKS_FULL: usize = 16;
const ENTRIES_FULL: usize = 4_096;

/// Some entries of one directory, with the directory itself where it comes first.
///
/// Of one directory, and with its path: a caller who keeps few entries keeps little else.
/// The columns of [`Rows`](crate::Rows) have thousands of entries.
struct Block {
    directory: Vec<u8>,
    root: usize,
    depth: u32,
    entry_depth: u32,
    /// The attributes of the directory, in the block that announces it.
    announced: Option<Attributes>,
    batch: Batch,
}

/// One entry of a scan, a directory or anything else.
///
/// It shares the memory of the entries beside it; [`path`](Self::path) is put together on request.
#[derive(Clone)]
pub struct Entry {
    block: Arc<Block>,
    /// Absent for the directory itself.
    index: Option<usize>,
}

/// The entries of a scan, as they come. [`Scan::entries`] makes it.
#[must_use = "the scan ends when nobody takes its entries"]
pub struct Entries {
    gathered: Gathered<Gathering>,
    taken: std::vec::IntoIter<Block>,
    current: Option<(Arc<Block>, usize)>,
    skipped: SkippedDirs,
}

/// The blocks of one worker that were not given away.
#[derive(Default)]
struct Gathering {
    blocks: Vec<Block>,
    entries: usize,
}

impl Scan {
    /// Gives the entries of the trees one after another, while workers scan.
    ///
    /// The order is that in which directories are read. With one worker a directory
    /// comes before its entries; with several no order is promised. Dropping the iterator ends the scan. An
    /// entry that cannot be read is an `Err`; it is also an entry where its name is
    /// known. A root that is missing is an `Err` at the end.
    ///
    /// Use [`run`](Self::run) with a sink where only an answer about all entries is
    /// needed: that takes no queue. Use [`rows`](Self::rows) for columns.
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
    /// let mut largest = None;
    /// let mut entries = Scan::new("src").fields(Fields::SIZE).entries()?;
    /// for entry in &mut entries {
    ///     let entry = entry?;
    ///     largest = largest.max(Some((entry.size_bytes(), entry.to_path_buf())));
    /// }
    /// assert!(entries.finish().is_complete());
    /// assert!(largest.is_some_and(|(bytes, _)| bytes > Some(0)));
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn entries(&self) -> Result<Entries, Error> {
        let skipped = SkippedDirs::default();
        let scan = self.clone().skip_dirs(&skipped);
        let fields = Fields::NAME | Fields::TYPE | self.wanted_fields();
        let gathered = scan.gather(fields, move |gathering: &mut Gathering, found| {
            match found {
                Found::Directory(directory) => {
                    let announced = Some(*directory.attributes());
                    gathering.push(Origin(directory), announced, Batch::new(fields));
                }
                Found::Entries(origin, batch) => gathering.push(origin, None, batch.clone()),
            }
            match gathering.blocks.len() >= BLOCKS_FULL || gathering.entries >= ENTRIES_FULL {
                true => Fill::Full,
                false => Fill::Some,
            }
        })?;
        Ok(Entries {
            gathered,
            taken: Vec::new().into_iter(),
            current: None,
            skipped,
        })
    }
}

impl Gathering {
    fn push(&mut self, origin: Origin<'_>, announced: Option<Attributes>, batch: Batch) {
        self.entries += batch.len();
        self.blocks.push(Block {
            directory: origin.directory().map_or_else(Vec::new, Directory::path),
            root: origin.root(),
            depth: origin.0.depth(),
            entry_depth: origin.entry_depth(),
            announced,
            batch,
        });
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("path", &self.to_path_buf())
            .field("root", &self.root())
            .field("depth", &self.depth())
            .field("attributes", &self.attributes())
            .finish_non_exhaustive()
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

    /// The path as `std` has it.
    #[must_use]
    pub fn to_path_buf(&self) -> PathBuf {
        path_buf(self.path())
    }

    /// The name as `std` has it; for a root the last name of the path.
    #[must_use]
    pub fn file_name(&self) -> &OsStr {
        match self.depth() {
            0 => file_name_of_root(self.name()),
            _ => file_name(self.name()),
        }
    }

    /// `st_size`, in bytes. Absent without [`Fields::SIZE`], and where it could not be
    /// read.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.attributes().size_bytes()
    }

    /// Last change of the content. Absent without [`Fields::MTIME`], where it could not be
    /// read, and before 1677 or after 2262.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        self.attributes().modified()
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
        match self.index {
            Some(_) => self.block.entry_depth,
            None => self.block.depth,
        }
    }

    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.block.root
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries")
            .field("directories_at_hand", &self.taken.len())
            .field("gathered", &self.gathered)
            .finish_non_exhaustive()
    }
}

impl Entries {
    /// Skips all that is below the entry that came last, if that is a directory.
    ///
    /// No entry below the directory comes after this call, and workers do not open
    /// directories below it any more. Those that they are reading, they read to the
    /// end. With several workers, entries below may have come before the directory.
    ///
    /// ```
    /// use statwalk_core::Scan;
    ///
    /// let mut entries = Scan::new(".").entries()?;
    /// while let Some(entry) = entries.next() {
    ///     if entry?.file_name() == "src" {
    ///         entries.skip_subtree();
    ///     }
    /// }
    /// assert!(entries.finish().is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn skip_subtree(&mut self) {
        let Some((block, 0)) = &self.current else {
            return;
        };
        if block.announced.is_some() {
            self.skipped.add(block.root, &block.directory);
            self.current = None;
        }
    }

    /// The next entry of the block that was begun.
    fn next_of_current(&mut self) -> Option<Entry> {
        let (block, next) = self.current.as_mut()?;
        if *next >= block.batch.len() {
            return None;
        }
        *next += 1;
        Some(Entry {
            block: Arc::clone(block),
            index: Some(*next - 1),
        })
    }

    /// Goes on with a block, if the caller has not skipped it. Gives the directory that
    /// it announces.
    fn begin(&mut self, block: Block) -> Option<Entry> {
        if self.skipped.has(block.root, &block.directory) {
            return None;
        }
        let block = Arc::new(block);
        let is_directory = block.announced.is_some();
        self.current = Some((Arc::clone(&block), 0));
        is_directory.then_some(Entry { block, index: None })
    }

    /// Takes the next entry, and waits for it up to a time.
    ///
    /// For a caller who has something else to do now and then, such as to look at a clock
    /// or for signals.
    ///
    /// ```
    /// use std::time::Duration;
    /// use statwalk_core::{Next, Scan};
    ///
    /// let mut entries = Scan::new("src").entries()?;
    /// let mut count = 0;
    /// loop {
    ///     match entries.next_within(Duration::from_millis(100)) {
    ///         Next::Value(_) => count += 1,
    ///         Next::Failed(error) => return Err(error.into()),
    ///         Next::Waiting => println!("{count} entries so far"),
    ///         _ => break,
    ///     }
    /// }
    /// assert!(entries.finish().is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn next_within(&mut self, timeout: Duration) -> Next<Entry> {
        let deadline = deadline_after(timeout);
        loop {
            if let Some(entry) = self.next_at_hand() {
                return Next::Value(entry);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.gathered.next_within(left) {
                Next::Value(gathering) => self.taken = gathering.blocks.into_iter(),
                Next::Failed(error) => return Next::Failed(error),
                Next::Waiting => return Next::Waiting,
                Next::End => return Next::End,
            }
        }
    }

    /// The next entry of what was taken from the workers.
    #[inline]
    fn next_at_hand(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.next_of_current() {
                return Some(entry);
            }
            let block = self.taken.next()?;
            if let Some(directory) = self.begin(block) {
                return Some(directory);
            }
        }
    }

    /// Stops the scan. Entries that the workers have found can still be taken.
    pub fn cancel(&self) {
        self.gathered.cancel();
    }

    /// A handle by which another thread can stop the scan; absent at its end.
    #[must_use]
    pub fn canceller(&self) -> Option<Canceller> {
        self.gathered.canceller()
    }

    /// How far the scan has come; absent at its end.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        self.gathered.progress()
    }

    /// The report of the scan, once the last entry was taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.gathered.report()
    }

    /// Stops the scan if it still goes on, and gives its report.
    ///
    /// After the last entry there is nothing to stop, and the report is that of the whole
    /// scan.
    #[must_use]
    pub fn finish(self) -> Report {
        self.gathered.finish()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, EntryError>;

    fn next(&mut self) -> Option<Result<Entry, EntryError>> {
        loop {
            if let Some(entry) = self.next_at_hand() {
                return Some(Ok(entry));
            }
            match self.gathered.next()? {
                Ok(gathering) => self.taken = gathering.blocks.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
