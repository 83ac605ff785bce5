// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories with more than one name: only a damaged file system has them.
//!
//! On a device, a rename in progress can look the same for a moment. So the reader
//! only suspects damage and lets the kernel open the directory. The kernel waits
//! for the rename to end. If the device still shows two names, it is damaged.

use super::Lister;
use super::in_place::{InPlaceDir, Suspicion};
use super::source::DirectorySource;
use crate::dir_handle::DirHandle;

/// The result of a second look, after the kernel has opened the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// There was no suspicion, or its cause was a rename.
    Nothing,
    /// Another name leads to the directory, and that one is right.
    Double,
    /// The lister must search its listing for subdirectories with two names.
    HoldsDoubles,
}

impl<D: DirectorySource> Lister<D> {
    /// Judges the suspicion about a directory that the kernel has opened.
    pub(crate) fn confirm_suspicion(&mut self, dir: &InPlaceDir<'_>, fd: &DirHandle) -> Confirmed {
        let node = match self.in_place.suspicion.take() {
            None | Some((_, Suspicion::Nothing)) => return Confirmed::Nothing,
            Some((_, Suspicion::HoldsDoubles(_))) => return Confirmed::HoldsDoubles,
            Some((node, Suspicion::IsDouble)) => node,
        };
        let opened = self.context.source.identity(fd);
        // Another directory can have its name by now.
        let is_it = opened.is_ok_and(|found| found.ino == node.id.ino);
        let volume = self.in_place_of(dir.mount.id, 0);
        let is_double = volume.is_some_and(|volume| volume.is_double(node, dir));
        match is_it && is_double {
            true => Confirmed::Double,
            false => Confirmed::Nothing,
        }
    }
}
