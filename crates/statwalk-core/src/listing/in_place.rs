// SPDX-License-Identifier: MIT OR Apache-2.0

//! The questions to a file system that is read in place of the kernel.
//!
//! The lister decides for each directory whether it takes this shorter way. In doubt
//! it lets the kernel read the directory. So a doubt costs one directory and not a
//! subtree.

use std::ffi::CStr;

use super::contents::Contents;
use super::open_dir::OpenDir;
use super::options::ScanOptions;
use crate::dir_handle::DirHandle;
use crate::directory::{Dir, MountMark, Place};
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;

/// Reads the directories of one file system for one worker, in buffers that successive
/// directories reuse.
///
/// The lister calls [`begin`](Self::begin) once for a directory, and then
/// [`read`](Self::read) while that returns [`Piece::Full`].
pub(crate) trait InPlace: Send {
    /// Whether this is an image, which the kernel cannot read.
    fn is_image(&self) -> bool {
        false
    }

    /// The topmost directory of an image. Absent for a mounted file system.
    fn root(&self) -> Option<Node> {
        None
    }

    /// Finds a listed subdirectory; `ino` is 0 if the listing had no number.
    fn child(&self, parent: &Dir, name: &CStr, ino: u64) -> Child;

    /// The node of a directory that the kernel has opened. Absent if only the kernel
    /// can list it.
    fn opened(&self, dir: &DirHandle, id: FileId) -> Option<Node>;

    /// Begins a directory, and reads its attributes.
    fn begin(
        &mut self,
        node: Node,
        dir: &InPlaceDir<'_>,
        options: &ScanOptions,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Begun;

    /// Reads entries of the directory that was begun.
    ///
    /// `contents` receives them; `stat_later` receives those that the kernel must stat.
    fn read(
        &mut self,
        dir: &OpenDir,
        options: &ScanOptions,
        contents: &mut Contents,
        stat_later: &mut StatLater,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Piece;

    /// Whether the directory is unchanged since [`begin`](Self::begin).
    fn held_still(&mut self) -> bool;

    /// Looks for damage in a directory of which a piece was read: a directory has one
    /// name in a sound file system. Second names are taken out of the piece.
    fn suspicion(&self, _dir: &InPlaceDir<'_>, _contents: &mut Contents) -> Suspicion {
        Suspicion::Nothing
    }

    /// Whether a directory has another name, and that one is right. Asked after
    /// [`Suspicion::IsDouble`].
    fn is_double(&self, _node: Node, _dir: &InPlaceDir<'_>) -> bool {
        false
    }

    /// Counts an event for the plan.
    fn count(&self, what: Counted);
}

/// A directory of a file system that is read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: FileId,
    /// A number of the reader's own. The directory keeps it for its subdirectories, see
    /// [`Dir::mark`].
    pub(crate) mark: u64,
}

/// The way to a subdirectory that was listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// It can be read here.
    Here(Node),
    /// It can be found once the kernel has opened it.
    OnceOpened,
    /// Only the kernel can read it.
    ByKernel,
}

/// Signs of damage that a rename could have shown for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    Nothing,
    /// Names in it lead to one subdirectory. These are the offsets of the second ones.
    HoldsDoubles(Vec<u32>),
    /// Another directory seems to hold it, too.
    IsDouble,
}

/// The answer to a first look at a directory.
pub(crate) enum Begun {
    /// A directory, with the wanted attributes.
    Directory(Attributes),
    AskKernel,
    /// It cannot be read, and this is an image.
    Damaged(Failure),
}

/// The end of one call of [`InPlace::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The directory has no more entries.
    Whole,
    /// There are more entries than the lister withholds.
    Full,
    /// Only the kernel can read on.
    AskKernel,
    /// The bytes are damaged, and this is an image.
    Damaged(Failure),
    Cancelled,
}

/// An event that the plan counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A directory was read in place.
    Delivered,
    /// The kernel must read a directory.
    AskedKernel,
    /// The kernel had to stat so many entries of a directory.
    StatLater(u64),
}

/// A directory that is about to be read in place.
pub(crate) struct InPlaceDir<'a> {
    pub(crate) place: &'a Place,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    pub(crate) followed: bool,
    /// Whether its visit is noted already.
    pub(crate) is_visited: bool,
}

/// Entries that the kernel must stat by their names.
#[derive(Default)]
pub(crate) struct StatLater {
    /// The names, each ended by NUL.
    names: Vec<u8>,
    /// The type and inode number of each in the listing.
    listed: Vec<(FileType, u64)>,
}

impl StatLater {
    #[inline]
    pub(crate) fn push(&mut self, name: &[u8], kind: FileType, ino: u64) {
        self.names.extend_from_slice(name);
        self.names.push(0);
        self.listed.push((kind, ino));
    }

    pub(crate) fn len(&self) -> usize {
        self.listed.len()
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.listed.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CStr, (FileType, u64))> {
        let names = self.names.split_inclusive(|&byte| byte == 0);
        let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        names.zip(self.listed.iter().copied())
    }
}
