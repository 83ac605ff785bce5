// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists directories for one worker.

use std::sync::Arc;

use super::contents::Contents;
use super::context::ScanContext;
use super::expand::Sight;
use super::job::{Fate, Job};
use super::listed::Listed;
use super::outlet::Outlet;
use super::read_in_place::InPlaceState;
use super::repeats::Print;
use super::seen_names::SeenNames;
use super::source::DirectorySource;
use crate::dir_handle::DirHandle;
use crate::directory::Dir;

/// The most repeated readings of a directory that changes.
pub(crate) const REREADS_MAX: u32 = 3;

/// Lists directories for one worker, in buffers that the whole scan reuses.
pub(crate) struct Lister<D> {
    pub(crate) context: Arc<ScanContext<D>>,
    pub(super) buffer: Box<[u8]>,
    pub(super) listed: Listed,
    pub(crate) contents: Contents,
    /// The last parent that had to be closed at the descriptor bound, with a handle of
    /// this worker's own.
    pub(super) kept: Option<(Arc<Dir>, DirHandle)>,
    /// The number of directories that the kernel has opened.
    pub(crate) dirs_begun: u32,
    pub(super) in_place: InPlaceState,
    /// The names of the reading in progress, where a directory has changed.
    pub(super) print: Option<Print>,
    /// The names of the reading in progress, where a server gives them.
    pub(super) seen: Option<SeenNames>,
    /// Whether the subdirectory that was looked for again was not found again.
    pub(super) is_lost_again: bool,
}

impl<D: DirectorySource> Lister<D> {
    pub(crate) fn new(context: Arc<ScanContext<D>>) -> Lister<D> {
        Lister {
            buffer: vec![0; context.source.buffer_bytes()].into_boxed_slice(),
            listed: Listed::default(),
            contents: Contents::new(&context.options),
            kept: None,
            dirs_begun: 0,
            in_place: InPlaceState::default(),
            is_lost_again: false,
            print: None,
            seen: None,
            context,
        }
    }

    /// Takes a larger buffer for the rest of a large directory.
    pub(super) fn enlarge_buffer(&mut self) {
        let bytes = self.context.source.large_buffer_bytes();
        if self.buffer.len() < bytes && !self.context.stats_entries {
            self.buffer = vec![0; bytes].into_boxed_slice();
        }
    }

    /// Does one job. A settled one is a subdirectory of its parent; a directory that is
    /// read in pieces settles itself.
    pub(crate) fn expand(&mut self, job: Job, out: &mut dyn Outlet) -> Fate {
        match job {
            Job::Child {
                parent,
                name_offset,
                ino,
            } => return self.child(parent, name_offset, ino, Sight::First, out),
            Job::Rest(listing) => self.rest(&listing, out),
            Job::Part(listing, part) => self.part(&listing, *part, out),
            Job::Entry(entry) => self.entry(&entry, out),
        }
        Fate::Open
    }

    /// Closes the kept directory, before the worker sleeps.
    pub(crate) fn rest_from_work(&mut self) {
        self.kept = None;
    }
}
