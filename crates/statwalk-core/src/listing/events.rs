// SPDX-License-Identifier: MIT OR Apache-2.0

//! The results of a lister: directories, entries, and what went wrong.

use crate::batch::Batch;
use crate::directory::{Dir, Directory};
use crate::entry::DirId;
use crate::error::Op;
use crate::failure::Failure;

/// Events that are counted and are not errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// A listed entry vanished before its stat.
    Vanished,
    /// A pattern excludes the entry, or it is a kernel file system.
    Excluded,
    /// Another file system, or a second mount, that was not entered.
    Crossing,
    /// An overlay that was left out, because all its layers were read.
    OverlayLeftOut,
    /// A mount that was entered although the files that it shows can lie in directories
    /// that the scan reads, too.
    PerhapsTwice,
    /// The times of a directory moved while it was read, and its entries did not.
    TimesMoved,
    /// So many names of a directory that it had listed before.
    NamesRepeated(u64),
}

/// The workers that have listed a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListedBy {
    /// The one that says so.
    One,
    /// Perhaps others too.
    Several,
}

/// The worker's side that takes results.
pub(crate) trait Events {
    /// The number of the next directory.
    fn next_id(&mut self) -> DirId;
    /// Delivers some entries of a directory, and the directory itself if `announce`.
    /// The last delivery ([`Directory::is_last`]) is a [`finished`](Self::finished) too.
    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]);
    /// Notes that the entries of a directory were delivered and its subdirectories queued, by
    /// this worker alone or by several. A last delivery is that, too.
    fn listed(&mut self, directory: &Directory<'_>, by: ListedBy);
    /// How many rows this worker has delivered, if the caller takes rows by path.
    fn rows_by_path(&self) -> Option<u64>;
    /// Tells a caller who takes rows by path that a subdirectory or a link, which was to come
    /// later, does not come.
    fn gone(&mut self, parent: &Dir, name_offset: u32);
    /// Notes that a directory was delivered, and so was all below it.
    fn finished(&mut self, directory: &Directory<'_>);
    /// Notes that a root was delivered, and so was all below it.
    fn root_finished(&mut self, root: u32);
    /// Notes that the result lacks something in the directory.
    fn incomplete(&mut self, directory: &Directory<'_>);
    /// Notes that something in a directory was left out on request.
    fn lacks(&mut self, directory: &Directory<'_>);
    /// Notes a directory that changed while it was read.
    fn changed(&mut self, directory: &Directory<'_>);
    /// Notes an entry that could not be read.
    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, failure: Failure);
    /// Counts an event that is not an error.
    fn note(&mut self, root: u32, note: Note);
    /// Reports an excluded file system by its path and name.
    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str);
}
