// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns of many directories.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use statwalk_core::{Canceller, Columns, Directories, Report, Rows};

use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Step};
use crate::request::Request;
use crate::tree::Tree;

/// The batches of a scan. Dropped, it ends the scan.
#[derive(Debug)]
pub struct Batches {
    feed: Feed,
    ready: VecDeque<Arc<OwnRows>>,
}

/// Up to 65,536 entries of many directories, and the directories that begin among them.
/// It has at least one of these.
#[derive(Debug)]
pub struct Batch {
    rows: Arc<OwnRows>,
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
        Batches {
            feed,
            ready: VecDeque::new(),
        }
    }

    /// The next batch; waits for it up to a time.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<Batch>, Failure> {
        loop {
            if let Some(rows) = self.ready.pop_front() {
                return Ok(Step::Value(self.batch(rows)));
            }
            match self.feed.next_within(timeout)? {
                Step::Value(ready) => {
                    // What a slow worker had can be nothing but ends of directories.
                    let has_some = |rows: &Arc<OwnRows>| {
                        !rows.get().is_empty() || !rows.get().directories().is_empty()
                    };
                    self.ready = ready.rows.into_iter().filter(has_some).collect();
                }
                Step::Error(error) if self.feed.is_below_pruned(&error) => {}
                Step::Error(error) => return Ok(Step::Error(error)),
                Step::Waiting => return Ok(Step::Waiting),
                Step::End => return Ok(Step::End),
            }
        }
    }

    fn batch(&self, rows: Arc<OwnRows>) -> Batch {
        let paths = self.feed.tree().map(|tree| {
            let (entries, directories) = (rows.get().entries(), rows.get().directories());
            [
                Paths::of_entries(entries, tree),
                Paths::of_directories(directories, tree),
            ]
        });
        Batch { rows, paths }
    }

    /// Leaves out what is below a directory of a batch that came. Answers whether the
    /// number is that of such a directory; without the column of paths none is known.
    ///
    /// Workers do not open directories below it that they have not opened, and errors
    /// below it do not come any more. Rows that they have read still come.
    pub fn prune(&mut self, directory: u32) -> bool {
        self.feed.prune(directory)
    }

    /// Stops the scan from any thread. Rows that the workers have found still come.
    #[must_use]
    pub fn canceller(&self) -> Option<&Canceller> {
        self.feed.canceller()
    }

    /// The report, once the last batch was taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.feed.report()
    }

    /// Ends the scan and gives its report.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn finish(self) -> Result<Report, Failure> {
        self.feed.finish()
    }
}

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
        match Arc::try_unwrap(self.rows) {
            Ok(rows) => {
                let (columns, directories) = rows.into_rows().into_columns();
                (columns, directories, self.paths)
            }
            // Nobody else keeps rows that were given away; a copy would be right all the same.
            Err(rows) => {
                let rows = rows.get();
                (
                    rows.entries().clone(),
                    rows.directories().clone(),
                    self.paths,
                )
            }
        }
    }
}

impl Paths {
    pub(crate) fn of_entries(columns: &Columns, tree: &Tree) -> Paths {
        let mut paths = Paths {
            bytes: Vec::with_capacity(columns.names.len() * 4),
            offsets: vec![0],
        };
        let (mut dir, mut prefix) = (None, Vec::new());
        for row in 0..columns.len() {
            let its = columns.dir(row);
            if dir != its {
                dir = its;
                tree.prefix_of(its, &mut prefix);
            }
            paths.push(&prefix, columns.name(row));
        }
        paths
    }

    pub(crate) fn of_directories(directories: &Directories, tree: &Tree) -> Paths {
        let mut paths = Paths {
            bytes: Vec::new(),
            offsets: vec![0],
        };
        let mut path = Vec::new();
        for &id in &directories.ids {
            tree.path_to(id, &mut path);
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
