// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns in which a directory comes before all that is below it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use statwalk_core::{Canceller, Columns, Directories, Report, SkippedDirs};

use crate::batch::Paths;
use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Ready, Step};
use crate::request::Request;

/// The tables of a scan, in order. Dropped, it ends the scan.
#[derive(Debug)]
pub struct Ordered {
    feed: Feed,
    directories: Vec<(Arc<OwnRows>, usize)>,
    ready: VecDeque<Arc<OwnRows>>,
}

/// Directories, and then other entries. All directories above them are among these, or
/// came before.
#[derive(Debug, Default)]
pub struct Tables {
    /// The directories, each after its parent.
    pub directories: Directories,
    /// The paths of the directories.
    pub directory_paths: Paths,
    /// The entries that are no directories.
    pub entries: Columns,
    /// The paths of the entries.
    pub entry_paths: Paths,
}

impl Ordered {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL.
    pub fn new(request: &Request) -> Result<Ordered, Failure> {
        Ok(Ordered::of(Feed::new(request, true)?))
    }

    pub(crate) fn of(feed: Feed) -> Ordered {
        Ordered {
            feed,
            directories: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    /// The next tables; waits for them up to a time.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<Tables>, Failure> {
        if self.directories.is_empty() && self.ready.is_empty() {
            match self.feed.next_within(timeout)? {
                Step::Value(Ready { directories, rows }) => {
                    self.directories = directories;
                    self.ready = rows.into();
                }
                Step::Error(error) => return Ok(Step::Error(error)),
                Step::Waiting => return Ok(Step::Waiting),
                Step::End => return Ok(Step::End),
            }
        }
        Ok(Step::Value(self.tables()))
    }

    fn tables(&mut self) -> Tables {
        let mut tables = Tables::default();
        let Some(tree) = self.feed.tree() else {
            return tables;
        };
        for (rows, row) in std::mem::take(&mut self.directories) {
            let rows = rows.get();
            (tables.directories).push_row(rows.directories(), row);
        }
        tables.directory_paths = Paths::of_directories(&tables.directories, tree);
        if let Some(rows) = self.ready.pop_front() {
            tables.entry_paths = Paths::of_entries(rows.get().entries(), tree);
            tables.entries = match Arc::try_unwrap(rows) {
                Ok(rows) => rows.into_rows().into_columns().0,
                // Nobody else keeps rows whose directories were given.
                Err(rows) => rows.get().entries().clone(),
            };
        }
        tables
    }

    /// The directories that the caller does not want, to add some from any thread. Workers
    /// open none below them that they have not opened. Tables still have the rows that
    /// workers have found: the caller leaves them out.
    #[must_use]
    pub fn skipped(&self) -> SkippedDirs {
        self.feed.skipped.clone()
    }

    /// Stops the scan from any thread. Rows that the workers have found still come.
    #[must_use]
    pub fn canceller(&self) -> Option<&Canceller> {
        self.feed.canceller()
    }

    /// The report, once the last tables were taken.
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
