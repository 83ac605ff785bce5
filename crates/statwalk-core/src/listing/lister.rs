// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists directories for one worker.

use std::mem::MaybeUninit;
use std::sync::Arc;

use super::contents::Contents;
use super::context::ScanContext;
use super::expand::Sight;
use super::job::Job;
use super::listed::Listed;
use super::outlet::Outlet;
use super::read_in_place::InPlaceState;
use super::source::DirectorySource;
use crate::directory::Dir;
use crate::handle::DirHandle;

/// Up to how many entries of a directory are withheld until it has been
/// verified that it held still.
pub(crate) const WITHHELD_MAX: usize = 64 * 1024;

/// How often a directory that changes while it is read is read again.
pub(crate) const REREADS_MAX: u32 = 3;

/// Lists directories for one worker, with buffers that serve the whole scan.
pub(crate) struct Lister<D> {
    pub(crate) context: Arc<ScanContext<D>>,
    pub(super) buffer: Box<[MaybeUninit<u8>]>,
    pub(super) listed: Listed,
    pub(crate) contents: Contents,
    /// The directory whose child was listed last, where it could not be kept
    /// open for all.
    pub(super) kept: Option<(Arc<Dir>, DirHandle)>,
    /// Directories that the kernel was asked for.
    pub(crate) dirs_begun: u32,
    pub(super) in_place: InPlaceState,
}

impl<D: DirectorySource> Lister<D> {
    pub(crate) fn new(context: Arc<ScanContext<D>>) -> Lister<D> {
        Lister {
            buffer: vec![MaybeUninit::uninit(); context.source.buffer_bytes()].into_boxed_slice(),
            listed: Listed::default(),
            contents: Contents::new(&context.options),
            kept: None,
            dirs_begun: 0,
            in_place: InPlaceState::default(),
            context,
        }
    }

    /// Does one piece of work.
    pub(crate) fn expand(&mut self, job: Job, out: &mut impl Outlet) {
        match job {
            Job::Child {
                parent,
                name_offset,
                ino,
            } => self.child(parent, name_offset, ino, Sight::First, out),
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
