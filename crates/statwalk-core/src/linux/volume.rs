// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file system that is read in place of the kernel, as the table of volumes sees it.

use std::sync::Arc;

use statwalk_format::Generation;

use crate::listing::in_place::InPlace;
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
