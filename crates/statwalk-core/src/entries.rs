// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows of a scan while it goes on, for a caller who takes them one after another.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::batch::Batch;
use crate::columns::Directories;
use crate::directory::join;
use crate::entry::{Attributes, DirId, FileType};
use crate::error::{EntryError, Error};
use crate::fields::Fields;
use crate::gather::{Next, deadline_after, next_of};
use crate::ordered_rows::OrderedRows;
use crate::path::{file_name, file_name_of_root, path_buf};
use crate::rows::Rows;
use crate::running::controls;
use crate::scan::Scan;
use crate::sequence::Sequence;

/// A directory, or some entries of one.
///
/// Of one directory, and with its path: a caller who keeps few entries keeps little else.
/// The columns of [`Rows`] have thousands of entries.
struct Block {
    directory: Vec<u8>,
    root: usize,
    depth: u32,
    entry_depth: u32,
    /// Of the directory itself, in a block without entries.
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
    ordered: OrderedRows,
    fields: Fields,
    /// The rows that come next: first the directories, then the entries.
    rows: Option<Rows>,
    next_directory: usize,
    next_entry: usize,
    current: Option<(Arc<Block>, usize)>,
    /// The directory that came last, until something else does.
    last: Option<DirId>,
}

impl Scan {
    /// Gives the entries of the trees one after another, while workers scan.
    ///
    /// A directory comes before all that is below it; nothing else of the order is promised.
    /// Dropping the iterator ends the scan. An entry that cannot be read is an `Err`, after
    /// the entry where its name is known. A root that is missing is an `Err` at the end.
    ///
    /// Memory as of [`ordered_rows`](Self::ordered_rows). An entry that the caller keeps
    /// holds entries of its own directory, and no more.
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
        self.entries_in(Sequence::new())
    }

    /// As [`entries`](Self::entries), in a sequence of the caller's.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// The directories that have nothing but themselves, each before the one above:
    ///
    /// ```
    /// use statwalk_core::{FileType, Scan, Sequence};
    ///
    /// let mut entries = Scan::new("src").entries_in(Sequence::new().contents_first())?;
    /// let (mut empty, mut last_depth) = (Vec::new(), 0);
    /// for entry in &mut entries {
    ///     let entry = entry?;
    ///     if entry.file_type() == FileType::Directory && entry.depth() >= last_depth {
    ///         empty.push(entry.to_path_buf());
    ///     }
    ///     last_depth = entry.depth();
    /// }
    /// assert!(entries.finish().is_complete() && empty.is_empty());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn entries_in(&self, sequence: Sequence) -> Result<Entries, Error> {
        let fields = Fields::NAME | self.fields_of_rows();
        Ok(Entries {
            ordered: self.clone().fields(fields).ordered_rows_in(sequence)?,
            fields,
            rows: None,
            next_directory: 0,
            next_entry: 0,
            current: None,
            last: None,
        })
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
            .field("rows", &self.rows)
            .field("ordered", &self.ordered)
            .finish_non_exhaustive()
    }
}

impl Entries {
    /// Skips all that is below the entry that came last, if that is a directory.
    ///
    /// No entry below the directory comes after this call, and no error of it. Workers do not
    /// open directories below it any more; those that they are reading, they read to the end.
    /// With [`contents_first`](Sequence::contents_first) the call does nothing.
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
        if let Some(dir) = self.last.take() {
            self.ordered.skip(dir);
        }
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
            match self.ordered.next_within(left) {
                Next::Value(rows) => {
                    (self.rows, self.next_directory, self.next_entry) = (Some(rows), 0, 0);
                }
                Next::Failed(error) => return Next::Failed(error),
                Next::Waiting => return Next::Waiting,
                Next::End => return Next::End,
            }
        }
    }

    /// The next entry of the rows that were taken from the workers.
    #[inline]
    fn next_at_hand(&mut self) -> Option<Entry> {
        self.last = None;
        loop {
            if let Some((block, next)) = &mut self.current
                && *next < block.batch.len()
            {
                *next += 1;
                return Some(Entry {
                    block: Arc::clone(block),
                    index: Some(*next - 1),
                });
            }
            let rows = self.rows.take()?;
            let entry = self.next_directory(&rows);
            let has_more = entry.is_some() || self.has_current() || self.begin_run(&rows);
            self.rows = has_more.then_some(rows);
            if entry.is_some() {
                return entry;
            }
        }
    }

    /// The next of the directories of some rows, without those that the caller has skipped.
    fn next_directory(&mut self, rows: &Rows) -> Option<Entry> {
        let directories = rows.directories();
        while self.next_directory < directories.len() {
            if directories.directory(self.next_directory).is_none() {
                match self.begin_run_beside(directories) {
                    true => return None,
                    false => continue,
                }
            }
            let row = directories.row(self.next_directory);
            self.next_directory += 1;
            if row
                .parent
                .is_some_and(|parent| self.ordered.is_skipped(parent))
            {
                continue;
            }
            self.last = Some(row.id);
            let block = Arc::new(self.block(Some(row.id), row.root, Some(row.attributes)));
            return Some(Entry { block, index: None });
        }
        None
    }

    /// Goes on to the entries of the next directory of some rows. Answers whether there are
    /// some.
    fn begin_run(&mut self, rows: &Rows) -> bool {
        let entries = rows.entries();
        while let Some(run) = entries.runs_from(self.next_entry, usize::MAX).next() {
            self.next_entry = run.end;
            let dir = entries.dir(run.start);
            if dir.is_none_or(|dir| !self.ordered.is_skipped(dir)) {
                let mut block = self.block(dir, entries.dirs[run.start] as usize, None);
                entries.copy_to(run, &mut block.batch);
                self.current = Some((Arc::new(block), 0));
                return true;
            }
        }
        false
    }

    /// Whether entries of a directory are at hand.
    fn has_current(&self) -> bool {
        (self.current.as_ref()).is_some_and(|(block, next)| *next < block.batch.len())
    }

    /// As [`begin_run`](Self::begin_run), for entries between directories.
    fn begin_run_beside(&mut self, directories: &Directories) -> bool {
        let begin = self.next_directory;
        let columns = &directories.columns;
        let is_entry = |&row: &usize| directories.directory(row).is_none();
        let run = columns.runs_from(begin, usize::MAX).next();
        let run = run.unwrap_or(begin..begin);
        let run = begin..run.take_while(is_entry).last().map_or(begin, |row| row + 1);
        self.next_directory = run.end;
        let dir = columns.dir(begin);
        if dir.is_some_and(|dir| self.ordered.is_skipped(dir)) {
            return false;
        }
        let mut block = self.block(dir, columns.dirs[begin] as usize, None);
        columns.copy_to(run, &mut block.batch);
        self.current = Some((Arc::new(block), 0));
        true
    }

    /// A block without entries, of a directory or of a root that is none.
    fn block(&self, dir: Option<DirId>, root: usize, announced: Option<Attributes>) -> Block {
        let known = |dir| Some((self.ordered.depth(dir)?, self.ordered.root(dir)?));
        let (depth, root) = dir.and_then(known).unwrap_or((0, root));
        let mut directory = Vec::new();
        if let Some(dir) = dir {
            self.ordered.push_path(dir, &mut directory);
        }
        Block {
            directory,
            root,
            depth,
            entry_depth: depth + u32::from(dir.is_some()),
            announced,
            batch: Batch::new(self.fields),
        }
    }
}

controls!(Entries, ordered, report);

impl Iterator for Entries {
    type Item = Result<Entry, EntryError>;

    fn next(&mut self) -> Option<Result<Entry, EntryError>> {
        next_of(|timeout| self.next_within(timeout))
    }
}
