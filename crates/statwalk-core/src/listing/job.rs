// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that a worker takes from the frontier.

use std::sync::Arc;

use super::listed::Listed;
use super::shared::SharedListing;
use crate::handle::OpenParent;

/// A piece of work for a worker.
pub(crate) enum Job {
    /// List a subdirectory.
    Child {
        parent: Arc<OpenParent>,
        /// The offset of its name in [`Dir::names`](crate::directory::Dir::names).
        name_offset: u32,
        /// As the listing gave it; 0 where it gave none.
        ino: u64,
    },
    /// Go on with a very large directory.
    Rest(Arc<SharedListing>),
    /// Stat some entries of a directory.
    Part(Arc<SharedListing>, Box<Listed>),
    /// Stat an entry whose turn has come.
    Entry(Box<Deferred>),
}

/// Whether a job leaves something when its worker has done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what is settled must be noted in the directory above"]
pub(crate) enum Fate {
    /// Nothing: it was delivered or noted, and nothing waits below it.
    Settled,
    /// Something: another job has taken it over, or the scan ends without it.
    Open,
}

/// An entry that was listed and is to be stat'ed when its turn comes.
pub(crate) struct Deferred {
    pub(crate) ino: u64,
    pub(crate) listing: Arc<SharedListing>,
    pub(crate) part: Arc<Listed>,
    pub(crate) index: usize,
}
