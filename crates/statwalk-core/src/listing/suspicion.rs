// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories with more than one name, which only damage makes.
//!
//! Beside the kernel a rename can look like that for a moment. So what is seen in
//! place is a suspicion: the kernel is asked for the directory, which waits for a
//! rename, and if it still looks so then, the file system is damaged.

use std::os::fd::BorrowedFd;

use super::Lister;
use super::in_place::InPlaceDir;
use crate::source::in_place::volume_table::Volume;
use crate::source::posix::open::IDENTITY;
use crate::source::posix::stat;

/// What was seen in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// The directory of this number says that its parent is another than the one
    /// that listed it.
    Misplaced(u32),
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

impl Lister {
    /// What became of what was suspected of a directory that the kernel has opened.
    pub(crate) fn confirm_suspicion(
        &mut self,
        dir: &InPlaceDir<'_>,
        fd: BorrowedFd<'_>,
    ) -> Confirmed {
        let number = match self.in_place.suspicion.take() {
            None => return Confirmed::Nothing,
            Some(Suspicion::HoldsDoubles) => return Confirmed::HoldsDoubles,
            Some(Suspicion::Misplaced(number)) => number,
        };
        let opened = stat::by_descriptor(fd, IDENTITY);
        let Some(Volume::Ext4(mounted)) = self.volume_of(dir.mount.id, 0) else {
            return Confirmed::Nothing;
        };
        // Something else can have its name by now.
        let is_it = opened.is_ok_and(|found| found.stx_ino == u64::from(number));
        match is_it && mounted.is_double(number, dir) {
            true => Confirmed::Double,
            false => Confirmed::Nothing,
        }
    }
}
