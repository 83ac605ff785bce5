// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories with more than one name, which only damage makes.
//!
//! Beside the kernel a rename can look like that for a moment. So what is seen in
//! place is a suspicion: the kernel is asked for the directory, which waits for a
//! rename, and if it still looks so then, the file system is damaged.

use super::Lister;
use super::in_place::{InPlaceDir, Node};
use super::source::DirectorySource;
use crate::handle::DirHandle;

/// What was seen in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// This directory says that its parent is another than the one that listed it.
    Misplaced(Node),
    /// Two names in it lead to one subdirectory.
    HoldsDoubles,
}

/// What became of a suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// There was none, or it was a rename.
    Nothing,
    /// Another name leads to the directory, and that is its right one.
    Double,
    /// Its listing is to be searched for subdirectories with two names.
    HoldsDoubles,
}

impl<D: DirectorySource> Lister<D> {
    /// What became of what was suspected of a directory that the kernel has opened.
    pub(crate) fn confirm_suspicion(&mut self, dir: &InPlaceDir<'_>, fd: &DirHandle) -> Confirmed {
        let node = match self.in_place.suspicion.take() {
            None => return Confirmed::Nothing,
            Some(Suspicion::HoldsDoubles) => return Confirmed::HoldsDoubles,
            Some(Suspicion::Misplaced(node)) => node,
        };
        let opened = self.context.source.identity(fd);
        // Something else can have its name by now.
        let is_it = opened.is_ok_and(|found| found.ino == node.id.ino);
        let volume = self.in_place_of(dir.mount.id, 0);
        let is_double = volume.is_some_and(|volume| volume.has_right_name_elsewhere(node, dir));
        match is_it && is_double {
            true => Confirmed::Double,
            false => Confirmed::Nothing,
        }
    }
}
