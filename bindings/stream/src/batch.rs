// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns of many directories.

use std::time::Duration;

use statwalk_core::{Columns, DirId, Directories, OrderedRows, Rows, SkippedDirs};

use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Step, ends};
use crate::request::Request;

/// The batches of a scan. Dropped, it ends the scan.
#[derive(Debug)]
pub struct Batches {
    feed: Feed,
}

/// Up to 65,536 entries of many directories, and the directories that begin among them.
/// It has at least one of these. Where paths are wanted, a directory comes before all that is
/// below it.
#[derive(Debug)]
pub struct Batch {
    rows: OwnRows,
    paths: Option<[Paths; 2]>,
}

/// Whole paths of rows, as a column of Arrow.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The bytes of all paths, one after another.
    pub bytes: Vec<u8>,
    /// Where each path begins, from 0 on, and where the last one ends.
    pub offsets: Vec<i64>,
}

impl Batches {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL.
    pub fn new(request: &Request) -> Result<Batches, Failure> {
        Ok(Batches::of(Feed::new(request, request.has_paths())?))
    }

    pub(crate) fn of(feed: Feed) -> Batches {
        Batches { feed }
    }

    /// The next batch; waits for it up to a time.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<Batch>, Failure> {
        loop {
            match self.feed.next_within(timeout)? {
                // What a slow worker had can be nothing but ends of directories.
                Step::Value(rows)
                    if rows.get().is_empty() && rows.get().directories().is_empty() => {}
                Step::Value(rows) => return Ok(Step::Value(self.batch(rows))),
                Step::Error(error) => return Ok(Step::Error(error)),
                Step::Waiting => return Ok(Step::Waiting),
                Step::End => return Ok(Step::End),
            }
        }
    }

    fn batch(&self, rows: OwnRows) -> Batch {
        let paths = self.feed.ordered().map(|known| {
            let (entries, directories) = (rows.get().entries(), rows.get().directories());
            [
                Paths::of_entries(entries, known),
                Paths::of_directories(directories, known),
            ]
        });
        Batch { rows, paths }
    }

    /// The paths of directories that the caller does not want, to add some from any thread.
    /// Workers open none below them that they have not opened. Absent without paths, and after
    /// the end.
    #[must_use]
    pub fn skipped(&self) -> Option<&SkippedDirs> {
        self.feed.ordered().map(OrderedRows::skipped)
    }

    /// Leaves out what is below a directory of a batch that came. Answers whether the
    /// number is that of such a directory; without the column of paths none is known.
    ///
    /// Workers do not open directories below it that they have not opened. No later batch
    /// has anything below it, and no error of it or below it comes or counts any more.
    pub fn prune(&mut self, directory: u32) -> bool {
        DirId::from_index(directory as usize).is_some_and(|id| self.feed.prune(id))
    }
}

ends!(Batches);

impl Batch {
    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &Rows {
        self.rows.get()
    }

    /// The paths of the entries and of the directories, where they were wanted.
    #[must_use]
    pub fn paths(&self) -> Option<&[Paths; 2]> {
        self.paths.as_ref()
    }

    /// Gives the buffers away, without a copy.
    #[must_use]
    pub fn into_parts(self) -> (Columns, Directories, Option<[Paths; 2]>) {
        let (columns, directories) = self.rows.into_rows().into_columns();
        (columns, directories, self.paths)
    }
}

impl Paths {
    pub(crate) fn of_entries(columns: &Columns, known: &OrderedRows) -> Paths {
        let mut paths = Paths {
            bytes: Vec::with_capacity(columns.names.len() * 4),
            offsets: vec![0],
        };
        let (mut dir, mut prefix) = (None, Vec::new());
        for row in 0..columns.len() {
            let its = columns.dir(row);
            if dir != its {
                dir = its;
                write_prefix(its, known, &mut prefix);
            }
            paths.push(&prefix, columns.name(row));
        }
        paths
    }

    pub(crate) fn of_directories(directories: &Directories, known: &OrderedRows) -> Paths {
        let mut paths = Paths {
            bytes: Vec::new(),
            offsets: vec![0],
        };
        let mut path = Vec::new();
        for row in 0..directories.len() {
            path.clear();
            known.push_path(directories.row(row).id, &mut path);
            paths.push(&path, b"");
        }
        paths
    }

    fn push(&mut self, prefix: &[u8], name: &[u8]) {
        self.bytes.extend_from_slice(prefix);
        self.bytes.extend_from_slice(name);
        self.offsets.push(self.bytes.len() as i64);
    }
}

/// Writes what stands before the names of a directory's entries: nothing for a root.
pub(crate) fn write_prefix(dir: Option<DirId>, known: &OrderedRows, path: &mut Vec<u8>) {
    path.clear();
    let is_known = dir.is_some_and(|dir| known.push_path(dir, path));
    if is_known && !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
}
