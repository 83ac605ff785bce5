// SPDX-License-Identifier: MIT OR Apache-2.0

//! Expands directories with `getdents64` and fills attributes with `statx`.
//!
//! The portable source: any mounted file system, no privileges, blocking
//! system calls on the calling thread. For each directory it makes these
//! calls: open, statx, getdents64 until empty, one statx for each entry that is
//! not a directory, statx, close. With only types wanted it stats nothing.
//!
//! It does not choose the next directory; orders do that.

pub(crate) mod calls;
pub(crate) mod survey;
pub(in crate::source) mod terms;

mod expand;
pub(in crate::source) mod open;
pub(in crate::source) mod open_dir;
mod read;
pub(crate) mod shared_listing;

pub(in crate::source) mod contents;
pub(crate) mod listed;
pub(in crate::source) mod stat;
mod unknown;
mod unlisted;
mod vanished;

mod reopen;
pub(crate) mod tally;

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;

use crate::batch::Batch;
use crate::directory::{Dir, Directory};
use crate::entry::DirId;
use crate::error::Op;
use crate::handle::OpenParent;
use crate::source::in_place::reader::InPlaceReader;
use contents::Contents;
use expand::Sight;
use listed::Listed;
use shared_listing::SharedListing;
pub(crate) use stat::uninterrupted;
pub(crate) use terms::{Terms, TermsOptions};

/// Up to how many entries of a directory are withheld until it has been
/// verified that it held still.
pub(crate) const WITHHELD_MAX: usize = 64 * 1024;

/// How often a directory that changes while it is read is read again.
const REREADS_MAX: u32 = 3;

/// A piece of work for a worker.
pub(crate) enum Job {
    /// List a subdirectory: the offset of its name, and its inode number, 0 where
    /// that is not known or does not fit.
    Child(Arc<OpenParent>, u32, u32),
    /// Go on with a very large directory.
    Rest(Arc<SharedListing>),
    /// Stat some entries of a directory.
    Part(Arc<SharedListing>, Box<Listed>),
    /// Stat an entry whose turn has come.
    Entry(Box<Deferred>),
}

/// An entry that was listed and is to be stat'ed when its turn comes.
pub(crate) struct Deferred {
    pub(crate) ino: u64,
    pub(crate) listing: Arc<SharedListing>,
    pub(crate) part: Arc<Listed>,
    pub(crate) index: usize,
}

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

/// Lists directories for one worker, with buffers that serve the whole scan.
pub(crate) struct Lister {
    pub(in crate::source) terms: Arc<Terms>,
    buffer: Box<[MaybeUninit<u8>]>,
    listed: Listed,
    pub(in crate::source) contents: Contents,
    /// The directory whose child was listed last, where it could not be kept
    /// open for all.
    kept: Option<(Arc<Dir>, OwnedFd)>,
    /// Directories that the kernel was asked for.
    pub(in crate::source) dirs_begun: u32,
    pub(in crate::source) in_place: InPlaceReader,
}

impl Lister {
    pub(crate) fn new(terms: Arc<Terms>) -> Lister {
        Lister {
            buffer: vec![MaybeUninit::uninit(); terms.calls.buffer_bytes].into_boxed_slice(),
            listed: Listed::default(),
            contents: Contents::new(&terms),
            kept: None,
            dirs_begun: 0,
            in_place: InPlaceReader::default(),
            terms,
        }
    }

    /// Does one piece of work.
    pub(crate) fn expand(&mut self, job: Job, out: &mut impl Outlet) {
        match job {
            Job::Child(parent, offset, ino) => {
                self.child(parent, offset, ino, Sight::First, out);
            }
            Job::Rest(listing) => self.rest(&listing, out),
            Job::Part(listing, part) => self.part(&listing, *part, out),
            Job::Entry(entry) => self.entry(&entry, out),
        }
    }

    /// Drops what is only worth keeping while there is work.
    pub(crate) fn rest_from_work(&mut self) {
        self.kept = None;
    }
}
