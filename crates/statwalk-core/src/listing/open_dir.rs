// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is open and about to be read.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock};

use super::context::Terms;
use crate::directory::{Dir, DirState, Directory, MountMark, Place};
use crate::entry::{Attributes, DirId, FileId};
use crate::exclusion::IgnoreRules;
use crate::handle::{Handle, OpenParent};
use crate::source::posix::stat::Stillness;

/// A directory that is open and about to be read.
pub(crate) struct OpenDir {
    pub(crate) place: Place,
    pub(crate) id: DirId,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    /// Whether it was reached through a symbolic link.
    pub(crate) followed: bool,
    pub(crate) attributes: Attributes,
    /// Device and inode number, where it was stat'ed.
    pub(crate) identity: Option<FileId>,
    /// What must stay the same, where it was stat'ed for that.
    pub(crate) before: Option<Stillness>,
    pub(crate) ignore: Option<Arc<IgnoreRules>>,
    /// Whether its link count must not be relied on.
    pub(crate) link_stop_is_off: bool,
    /// See [`Dir::subvolume`].
    pub(crate) subvolume: u64,
    /// Whether two of its names were seen to lead to one subdirectory.
    pub(crate) holds_doubles: bool,
}

impl OpenDir {
    pub(crate) fn view(&self) -> Directory<'_> {
        Directory {
            place: &self.place,
            id: self.id,
            own: false,
            followed: self.followed,
            root: self.root,
            depth: self.depth,
            attributes: &self.attributes,
            state: DirState::Listed,
        }
    }

    /// Whether the directory is as it was before it was read.
    pub(super) fn held_still(&self, fd: BorrowedFd<'_>, terms: &Terms) -> bool {
        let Some(before) = &self.before else {
            return true;
        };
        match terms.stat_directory(fd) {
            Ok(after) => *before == Stillness::of(&after),
            Err(_) => false,
        }
    }

    /// The node that the subdirectories hang from.
    pub(crate) fn node(
        &self,
        names: &[u8],
        mount: MountMark,
        handle: Handle,
        identity: Option<FileId>,
    ) -> Arc<OpenParent> {
        let above = self.place.parent();
        let landmark = match above {
            Some(above) if !self.depth.is_power_of_two() => above.landmark,
            _ => identity,
        };
        let dir = Arc::new(Dir {
            place: self.place.clone(),
            id: self.id,
            root: self.root,
            depth: self.depth,
            mount,
            followed: self.followed,
            identity,
            landmark,
            subvolume: self.subvolume,
            held: OnceLock::new(),
            names: names.into(),
            ignore: self.ignore.clone(),
        });
        OpenParent::new(dir, handle)
    }
}
