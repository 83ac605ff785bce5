// SPDX-License-Identifier: MIT OR Apache-2.0

//! The interface from a lister to its worker: questions, jobs, and results.

use std::sync::Arc;

use super::listed::Listed;
use super::shared::SharedListing;
use crate::batch::Batch;
use crate::directory::{Dir, Directory};
use crate::entry::DirId;
use crate::error::{Op, SystemErrno as Errno};
use crate::handle::OpenParent;

/// How a worker goes on with the entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    GoOn,
    /// The scan was cancelled.
    Stop,
    /// Another worker can do the rest: calls wait for long and a worker is idle, or
    /// this thread has other work.
    Share,
}

/// A step in gathering the entries of a directory before their stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathering {
    Begins,
    Ends,
}

/// A worker, as its lister sees it.
pub(crate) trait Outlet {
    /// Queues subdirectories. A worker lists them later.
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]);
    /// Queues the rest of a large directory. Any free worker reads on.
    fn queue_rest(&mut self, listing: Arc<SharedListing>);
    /// Whether workers gather the entries of several directories before they stat them.
    fn gathers(&self) -> bool;
    /// Notes that entries of a directory wait for their stats, or that all are done.
    fn gathering(&self, what: Gathering);
    /// Queues entries of a directory. Any worker may stat them.
    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed);
    /// Whether calls wait so long that a hand-over pays even for a few entries.
    fn is_slow(&self) -> bool;
    /// Whether another worker is idle.
    fn somebody_idle(&self) -> bool;
    /// Whether another worker may come and take queued jobs.
    fn has_company(&self) -> bool;
    /// Counts a system call that may wait, and says how to go on.
    fn tick(&self) -> Tick;
    /// Whether the scan was cancelled.
    fn cancelled(&self) -> bool;
    /// Defers a crossing until the rest of the scan is done.
    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32);
    /// Defers a subdirectory that was not found. When the rest is done, a worker
    /// judges whether it has vanished.
    fn defer_vanished(&mut self, parent: &Arc<Dir>, name_offset: u32);
    /// Defers symbolic links. Workers follow them when the rest is done.
    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]);
    /// The number of the next directory.
    fn next_id(&mut self) -> DirId;
    /// Delivers some entries of a directory, and the directory itself if `announce`.
    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]);
    /// Notes that the result lacks something in the directory.
    fn incomplete(&mut self, directory: &Directory<'_>);
    /// Notes a directory that changed while it was read.
    fn changed(&mut self, directory: &Directory<'_>);
    /// Notes an entry that could not be read.
    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, errno: Errno);
    /// Counts an event that is not an error.
    fn note(&mut self, root: u32, note: Note);
    /// Reports an excluded file system by its path and name.
    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str);
}

/// Events that are counted and are not errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A listed entry vanished before its stat.
    Vanished,
    /// A pattern excludes the entry, or it is a kernel file system.
    Excluded,
    /// Another file system, or a second mount, that was not entered.
    Crossing,
}
