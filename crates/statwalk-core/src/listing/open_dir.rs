// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is open and about to be read.

use std::sync::{Arc, OnceLock};

use super::source::{ChangeStamp, DirectorySource, EntryStat};
use crate::directory::{Dir, DirState, Directory, MountMark, Place};
use crate::entry::{Attributes, DirId, FileId};
use crate::exclusion::IgnoreRules;
use crate::handle::{DirHandle, Handle, OpenParent};

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
    /// Device and inode number. Absent if no stat was needed.
    pub(crate) identity: Option<FileId>,
    /// The change stamp of before the listing. Absent if no stat was needed.
    pub(crate) before: Option<ChangeStamp>,
    pub(crate) ignore: Option<Arc<IgnoreRules>>,
    /// Whether its link count is not to be trusted as a count of subdirectories.
    pub(crate) link_stop_is_off: bool,
    /// See [`Dir::subvolume`].
    pub(crate) subvolume: u64,
    /// Whether two of its names lead to one subdirectory.
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
            holds_root: false,
        }
    }

    /// Whether the directory is unchanged since it was opened.
    ///
    /// True without a call if it has no stamp of before.
    pub(super) fn held_still(&self, dir: &DirHandle, source: &impl DirectorySource) -> bool {
        let Some(before) = self.before else {
            return true;
        };
        let after = source.stat_directory(dir);
        after.is_ok_and(|after| before == after.change_stamp())
    }

    /// Makes the node that is the parent of the subdirectories.
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
