// SPDX-License-Identifier: MIT OR Apache-2.0

//! The questions of a lister to its worker, and the way of its results.

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
    /// Somebody else can do the rest: calls wait for long and a worker has nothing
    /// to do, or the thread is wanted for something else.
    Share,
}

/// A step in gathering the entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathering {
    Begins,
    Ends,
}

/// What a source may ask of the order that drives it, and where its results go.
pub(crate) trait Outlet {
    /// Takes subdirectories to be listed later.
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]);
    /// Takes the rest of a large directory, to be read by whoever is free.
    fn queue_rest(&mut self, listing: Arc<SharedListing>);
    /// Whether entries are gathered from several directories before they are stat'ed.
    fn gathers(&self) -> bool;
    /// Notes that the entries of a directory wait, or that none does any more.
    fn gathering(&self, what: Gathering);
    /// Takes entries of a directory that somebody else may stat.
    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed);
    /// Whether calls wait so long that even a few entries are worth handing to
    /// others.
    fn is_slow(&self) -> bool;
    /// Whether another worker has nothing to do.
    fn somebody_idle(&self) -> bool;
    /// Whether another worker may come and take what is queued.
    fn has_company(&self) -> bool;
    /// Counts a call that may wait, and says how to go on.
    fn tick(&self) -> Tick;
    /// Whether the scan was cancelled.
    fn cancelled(&self) -> bool;
    /// Takes a crossing that must wait until the rest of the scan is done.
    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32);
    /// Takes a subdirectory that was not found: when the rest is done it is judged
    /// whether it has vanished.
    fn defer_vanished(&mut self, parent: &Arc<Dir>, name_offset: u32);
    /// Takes symbolic links that are to be followed when the rest is done.
    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]);
    /// A number for a directory.
    fn next_id(&mut self) -> DirId;
    /// Delivers a directory and some of its entries.
    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]);
    /// Notes that something in the directory is missing.
    fn incomplete(&mut self, directory: &Directory<'_>);
    /// Notes a directory that did not hold still.
    fn changed(&mut self, directory: &Directory<'_>);
    /// Notes an entry that could not be read.
    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, errno: Errno);
    /// Counts something that is not an error.
    fn note(&mut self, root: u32, note: Note);
    /// Names a file system that was left out.
    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str);
}

/// Things that are counted and are not errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// An entry that was listed was gone when it was to be read.
    Vanished,
    /// Left out by a pattern or as a kernel file system.
    Excluded,
    /// Another file system, or a second mount, that was not entered.
    Crossing,
}
