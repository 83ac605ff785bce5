// SPDX-License-Identifier: MIT OR Apache-2.0

//! Columns in which a directory comes before all that is below it.

use std::time::Duration;

use statwalk_core::{Columns, DirId, Directories, SkippedDirs};

use crate::batch::Paths;
use crate::failure::Failure;
use crate::feed::{Feed, OwnRows, Step, ends};
use crate::request::Request;

/// The tables of a scan, in order. Dropped, it ends the scan.
#[derive(Debug)]
pub struct Ordered {
    feed: Feed,
    skipped: SkippedDirs,
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
        let skipped = feed.ordered().map(|rows| rows.skipped().clone());
        Ordered {
            feed,
            skipped: skipped.unwrap_or_default(),
        }
    }

    /// The next tables; waits for them up to a time.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed, and in the child of a fork.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Step<Tables>, Failure> {
        Ok(match self.feed.next_within(timeout)? {
            Step::Value(rows) => Step::Value(self.tables(rows)),
            Step::Error(error) => Step::Error(error),
            Step::Waiting => Step::Waiting,
            Step::End => Step::End,
        })
    }

    fn tables(&self, rows: OwnRows) -> Tables {
        let Some(known) = self.feed.ordered() else {
            return Tables::default();
        };
        let (entries, directories) = rows.into_rows().into_columns();
        Tables {
            directory_paths: Paths::of_directories(&directories, known),
            directories,
            entry_paths: Paths::of_entries(&entries, known),
            entries,
        }
    }

    /// Leaves out what is below a directory: no later tables have anything below it, and no
    /// error of it or below it comes or counts any more.
    pub fn prune(&mut self, directory: u32) {
        if let Some(id) = DirId::from_index(directory as usize) {
            self.feed.prune(id);
        }
    }

    /// The paths of directories that the caller does not want, to add some from any thread.
    /// Workers open none below them that they have not opened.
    #[must_use]
    pub fn skipped(&self) -> SkippedDirs {
        self.skipped.clone()
    }
}

ends!(Ordered);
