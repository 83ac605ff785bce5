// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is open and about to be read.

use std::sync::{Arc, OnceLock};

use super::change_stamp::ChangeStamp;
use super::contents::Contents;
use super::options::Shown;
use crate::directory::{Dir, Directory, MountMark, Place};
use crate::entry::{Attributes, DirId, FileId};
use crate::exclusion::IgnoreRules;
use crate::handle::{Handle, OpenParent};
use crate::unfinished::Unfinished;

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
    /// See [`Dir::mark`].
    pub(crate) mark: u64,
    /// Whether two of its names lead to one subdirectory.
    pub(crate) holds_doubles: bool,
}

impl OpenDir {
    /// It as the holder of entries that may be mounts.
    pub(super) fn shown(&self) -> Shown {
        Shown {
            mount: self.mount.id,
            dev: self.identity.map(|id| id.dev),
        }
    }

    pub(crate) fn view(&self) -> Directory<'_> {
        Directory {
            own: false,
            followed: self.followed,
            attributes: &self.attributes,
            ..Directory::of(&self.place, self.id, self.root, self.depth)
        }
    }

    /// Makes the node that is the parent of the subdirectories and links in `contents`.
    ///
    /// `pieces` counts the nodes of a directory that is read in pieces. The node waits
    /// for a [`settle`](super::finished::settle) after the delivery of its piece.
    pub(crate) fn node(
        &self,
        contents: &Contents,
        pieces: Option<&Arc<Unfinished>>,
        mount: MountMark,
        handle: Handle,
        identity: Option<FileId>,
    ) -> Arc<OpenParent> {
        let above = self.place.parent();
        let landmark = match above {
            Some(above) if !self.depth.is_power_of_two() => above.landmark,
            _ => identity,
        };
        let waiting = contents.subdir_offsets.len() + contents.link_offsets.len();
        if let Some(pieces) = pieces {
            pieces.add_one();
        }
        let dir = Arc::new(Dir {
            place: self.place.clone(),
            id: self.id,
            root: self.root,
            depth: self.depth,
            mount,
            followed: self.followed,
            identity: identity.map_or_else(OnceLock::new, OnceLock::from),
            landmark,
            mark: self.mark,
            held: OnceLock::new(),
            names: contents.waiting_names.as_slice().into(),
            ignore: self.ignore.clone(),
            // A piece has far fewer than 2^32 names.
            unfinished: Unfinished::new(1 + waiting as u32),
            pieces: pieces.map(Arc::clone),
        });
        OpenParent::new(dir, handle)
    }
}
