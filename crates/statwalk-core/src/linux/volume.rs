// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file system that is read in place of the kernel, as the table of volumes sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use statwalk_format::Generation;

use crate::listing::in_place::{Counted, InPlace};
use crate::reason::Reason;
use crate::source::choice::Source;

/// A file system that can be read in place of the kernel.
pub(crate) trait Volume: Send + Sync {
    /// The source that reads it.
    fn source(&self) -> Source;

    /// Makes a reader for one worker.
    fn reader(self: Arc<Self>) -> Box<dyn InPlace>;

    /// The number of directories that were read in place.
    fn dirs(&self) -> u64;

    /// The lines of the plan about it.
    fn reasons(&self) -> Vec<Reason>;

    /// The number of inodes in use, where it knows that.
    fn used_inodes(&self) -> Option<u64> {
        None
    }

    /// The state that is read, where the file system numbers its states.
    fn generation(&self) -> Option<Generation> {
        None
    }
}

/// How many directories were read in place, how many the kernel read, and how many entries it
/// had to stat.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; 3]);

impl Counts {
    /// Counts an event.
    pub(crate) fn note(&self, what: Counted) {
        let (counter, more) = match what {
            Counted::Delivered => (0, 1),
            Counted::AskedKernel => (1, 1),
            Counted::StatLater(entries) => (2, entries),
        };
        self.0[counter].fetch_add(more, Ordering::Relaxed);
    }

    /// The numbers so far.
    pub(crate) fn now(&self) -> [u64; 3] {
        [0, 1, 2].map(|counter| self.0[counter].load(Ordering::Relaxed))
    }
}
