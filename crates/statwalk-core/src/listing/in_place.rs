// SPDX-License-Identifier: MIT OR Apache-2.0

//! The questions to a file system that is read in place of the kernel.
//!
//! Such a source is a shorter way within the lister, which decides for each directory
//! whether it goes there. In doubt the lister asks the kernel: a doubt costs one
//! directory and not a subtree.

use std::ffi::CStr;

use super::contents::Contents;
use super::context::ScanOptions;
use super::open_dir::OpenDir;
use crate::directory::{Dir, MountMark, Place};
use crate::entry::{Attributes, FileId, FileType};
use crate::error::SystemErrno as Errno;
use crate::handle::DirHandle;

/// Reads the directories of one file system for one worker, with buffers that serve
/// one after the other.
///
/// A directory is read by one call of [`begin`](Self::begin) and calls of
/// [`read`](Self::read) until one of them answers that it is over.
pub(crate) trait InPlace: Send {
    /// Whether nobody else can be asked: an image has no kernel beside it.
    fn is_image(&self) -> bool {
        false
    }

    /// Whether the subdirectories that a listing of the kernel named can be found
    /// once they are open, and not by the numbers in the listing.
    fn finds_opened(&self) -> bool {
        false
    }

    /// The topmost directory, where there is no way to it but this.
    fn root(&self) -> Option<Node> {
        None
    }

    /// The subdirectory that a listing of `parent` gave with a number that is not 0.
    fn child(&self, parent: &Dir, name: &CStr, ino: u64) -> Option<Node>;

    /// A directory that the kernel has opened.
    fn opened(&self, dir: &DirHandle, id: FileId) -> Option<Node>;

    /// Looks at a directory before its entries are read.
    fn begin(
        &mut self,
        node: Node,
        dir: &InPlaceDir<'_>,
        options: &ScanOptions,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Begun;

    /// Reads on in the directory that was begun, into `contents`, and into
    /// `doubtful` the entries that the kernel must be asked for.
    fn read(
        &mut self,
        dir: &OpenDir,
        options: &ScanOptions,
        contents: &mut Contents,
        doubtful: &mut Doubtful,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Piece;

    /// Whether the directory that was read is as it was when it was begun.
    fn held_still(&mut self) -> bool;

    /// Whether equal inode numbers in one directory are one subdirectory, so that the
    /// file system is damaged.
    fn numbers_tell_doubles(&self) -> bool {
        false
    }

    /// Whether the directory that was read says that its parent is another than the
    /// one that listed it.
    fn is_misplaced(&self, _dir: &InPlaceDir<'_>) -> bool {
        false
    }

    /// Whether a directory that seemed misplaced has another name, and that is its
    /// right one.
    fn has_right_name_elsewhere(&self, _node: Node, _dir: &InPlaceDir<'_>) -> bool {
        false
    }

    /// Notes how the reading of a directory ended, for the plan.
    fn count(&self, what: Counted);
}

/// A directory of a file system that is read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: FileId,
    /// The tree of a btrfs that inode numbers belong to; 0 where there is one for all.
    pub(crate) subvolume: u64,
}

/// The answer to a first look at a directory.
pub(crate) enum Begun {
    /// Its attributes, as far as they are wanted.
    Directory(Attributes),
    AskKernel,
    /// It cannot be read, and nobody else can be asked.
    Damaged(Errno),
}

/// How far a directory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// To its end.
    Whole,
    /// Until there is as much as is withheld.
    Full,
    /// Until something that only the kernel can tell.
    AskKernel,
    /// Until something that does not check out, and nobody else can be asked.
    Damaged(Errno),
    Cancelled,
}

/// An event that the plan counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A directory was read in place.
    Delivered,
    /// A directory was left to the kernel.
    AskedKernel,
    /// So many entries of a directory were.
    Doubtful(u64),
}

/// A directory that is about to be read in place.
pub(crate) struct InPlaceDir<'a> {
    pub(crate) place: &'a Place,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    pub(crate) followed: bool,
    /// Whether the visit was noted when it was opened.
    pub(crate) is_visited: bool,
}

/// Entries that the kernel must be asked for by their names.
#[derive(Default)]
pub(crate) struct Doubtful {
    /// Each ended by NUL.
    names: Vec<u8>,
    listed: Vec<(FileType, u64)>,
}

impl Doubtful {
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
