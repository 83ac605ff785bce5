// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries one after another.

use std::time::Duration;

use statwalk_core::{Attributes, Columns, DirId, DirState, Errno, Fields, Rows};

use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Step, ends};
use crate::request::Request;
use crate::tables::write_prefix;

/// The entries of a scan. A directory comes before all that is below it.
///
/// Dropped, it ends the scan.
#[derive(Debug)]
pub struct Walk {
    feed: Feed,
    /// The rows that come next: first the directories, then the entries.
    rows: Option<OwnRows>,
    next_directory: usize,
    next_entry: usize,
    run: Option<Run>,
    path: Vec<u8>,
    name_at: usize,
    current: Current,
    /// The directory that was given last, until something else was.
    prunable: Option<DirId>,
}

/// Entries of one directory.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Absent for a root.
    dir: Option<DirId>,
    /// The length of its path, with the slash.
    prefix: usize,
    depth: u32,
    root: u32,
    is_pruned: bool,
}

impl Run {
    /// Begins with the entries of a directory, or with a root of some number. Leaves what
    /// stands before their names in `path`.
    fn begin(dir: Option<DirId>, root: u32, feed: &Feed, path: &mut Vec<u8>) -> Option<Run> {
        let known = feed.rows()?;
        write_prefix(dir, known, path);
        let (depth, root) = match dir {
            Some(dir) => (known.depth(dir)? + 1, known.root(dir)? as u32),
            None => (0, root),
        };
        Some(Run {
            dir,
            prefix: path.len(),
            depth,
            root,
            is_pruned: dir.is_some_and(|dir| known.is_skipped(dir)),
        })
    }
}

/// The entry that was given last.
#[derive(Debug)]
struct Current {
    attributes: Attributes,
    depth: u32,
    root: u32,
    state: Option<DirState>,
    is_followed: bool,
    refusal: Option<Errno>,
}

/// One entry. Its path lies with the walk until the next one.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The path with a NUL at its end, beginning with the root as the caller gave it.
    pub path_with_nul: &'a [u8],
    /// Where the name begins in the path; of a root the whole path is the name.
    pub name_at: usize,
    /// The attributes, as far as they are wanted and known.
    pub attributes: &'a Attributes,
    /// The distance from the root, which is 0.
    pub depth: u32,
    /// Which root it belongs to.
    pub root: u32,
    /// Of a directory, how far it was read.
    pub state: Option<DirState>,
    /// Whether a symbolic link was followed to it.
    pub is_followed: bool,
    /// The error for which the system has refused its attributes.
    pub refusal: Option<Errno>,
}

impl Entry<'_> {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path_with_nul[..self.path_with_nul.len() - 1]
    }

    /// The name; of a root the path.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.path()[self.name_at..]
    }
}

impl Walk {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL, or if a pattern ends with a slash.
    pub fn new(request: &Request) -> Result<Walk, Failure> {
        // An entry without a name would be of no use to anybody.
        let mut request = request.clone();
        let with_names = request.columns() | Fields::NAME.bits();
        let _ = request.set_columns(with_names);
        Ok(Walk::of(Feed::new(&request)?))
    }

    pub(crate) fn of(feed: Feed) -> Walk {
        Walk {
            feed,
            rows: None,
            next_directory: 0,
            next_entry: 0,
            run: None,
            path: Vec::new(),
            name_at: 0,
            current: Current {
                attributes: Attributes::of_type(statwalk_core::FileType::Unknown),
                depth: 0,
                root: 0,
                state: None,
                is_followed: false,
                refusal: None,
            },
            prunable: None,
        }
    }

    /// Goes on to the next entry, and waits for it up to a time. [`entry`](Self::entry)
    /// is that entry.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<()>, Failure> {
        self.prunable = None;
        loop {
            if self.next_taken() {
                return Ok(Step::Value(()));
            }
            match self.feed.next_within(timeout)? {
                Step::Value(rows) => self.rows = Some(rows),
                Step::Error(error) => return Ok(Step::Error(error)),
                Step::Waiting => return Ok(Step::Waiting),
                Step::End => return Ok(Step::End),
            }
        }
    }

    /// Goes on to the next entry, if that needs no wait.
    pub fn next_at_hand(&mut self) -> bool {
        self.prunable = None;
        self.next_taken()
    }

    fn next_taken(&mut self) -> bool {
        while let Some(rows) = &self.rows {
            let rows = rows.get();
            let (directories, entries) = (rows.directories().len(), rows.len());
            while self.next_directory < directories {
                self.next_directory += 1;
                if self.give_directory(self.next_directory - 1) {
                    return true;
                }
            }
            while self.next_entry < entries {
                self.next_entry += 1;
                if self.give_entry(self.next_entry - 1, Rows::entries) {
                    return true;
                }
            }
            // They go back to the workers.
            (self.rows, self.run) = (None, None);
            (self.next_directory, self.next_entry) = (0, 0);
        }
        false
    }

    /// Makes a directory the current entry, unless the caller does not want it.
    fn give_directory(&mut self, row: usize) -> bool {
        let (Some(rows), Some(known)) = (&self.rows, self.feed.rows()) else {
            return false;
        };
        // In a sequence by path, other entries are among the directories.
        if rows.get().directories().directory(row).is_none() {
            return self.give_entry(row, |rows| &rows.directories().columns);
        }
        self.run = None;
        let directory = rows.get().directories().row(row);
        if directory
            .parent
            .is_some_and(|parent| known.is_skipped(parent))
        {
            return false;
        }
        self.path.clear();
        known.push_path(directory.id, &mut self.path);
        self.name_at = match directory.parent {
            Some(_) => self.path.len() - directory.name.len(),
            None => 0,
        };
        self.path.push(0);
        self.current = Current {
            attributes: directory.attributes,
            depth: known.depth(directory.id).unwrap_or(0),
            root: directory.root as u32,
            state: Some(directory.state),
            is_followed: directory.is_followed,
            refusal: directory.refusal,
        };
        self.prunable = Some(directory.id);
        true
    }

    /// Makes an entry the current one, unless the caller does not want it.
    fn give_entry(&mut self, row: usize, columns: fn(&Rows) -> &Columns) -> bool {
        let Some(rows) = &self.rows else {
            return false;
        };
        let columns = columns(rows.get());
        let dir = columns.dir(row);
        let run = match self.run {
            Some(run) if run.dir == dir && (dir.is_some() || run.root == columns.dirs[row]) => run,
            _ => {
                let Some(run) = Run::begin(dir, columns.dirs[row], &self.feed, &mut self.path)
                else {
                    return false;
                };
                self.run = Some(run);
                run
            }
        };
        if run.is_pruned {
            return false;
        }
        let entry = columns.entry(row);
        self.path.truncate(run.prefix);
        self.path.extend_from_slice(entry.name);
        self.path.push(0);
        self.name_at = run.prefix;
        self.current = Current {
            attributes: entry.attributes,
            depth: run.depth,
            root: run.root,
            state: None,
            is_followed: !columns.is_direct.get(row),
            refusal: columns.refusal(row),
        };
        true
    }

    /// The entry that came last.
    #[must_use]
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            path_with_nul: &self.path,
            name_at: self.name_at,
            attributes: &self.current.attributes,
            depth: self.current.depth,
            root: self.current.root,
            state: self.current.state,
            is_followed: self.current.is_followed,
            refusal: self.current.refusal,
        }
    }

    /// Leaves out all that is below the directory that came last.
    ///
    /// No entry below it comes any more, and workers do not open directories below it
    /// that they have not opened.
    ///
    /// # Errors
    ///
    /// Returns an error if the last entry was no directory, and with contents first.
    pub fn prune(&mut self) -> Result<(), Failure> {
        let last = self.prunable.take();
        self.feed.prune(last, "the last entry is no directory")
    }
}

ends!(Walk);
