// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads directories and the attributes of their entries from the device.
//!
//! The kernel may change the bytes at any moment. So the reader compares a directory's
//! inode before and after. It leaves a directory to the kernel if it changed since the
//! scan began, does not check out, or holds entries that only the kernel can read.
//! Each such decision is about one directory: its subdirectories are read here again.

use std::ffi::CStr;
use std::sync::Arc;

use rustix::io::Errno as KernelErrno;
use statwalk_ext4::{DirectoryScratch, Fault, Inode, ROOT_INODE, ReadError};

use super::attributes::attributes;
use super::mounted::Mounted;
use super::pass::{End, Pass};
use super::read_ahead;
use crate::dir_handle::DirHandle;
use crate::directory::Dir;
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;
use crate::listing::WITHHELD_MAX;
use crate::listing::contents::Contents;
use crate::listing::in_place::{
    Begun, Child, Counted, InPlace, InPlaceDir, Node, Piece, StatLater, Suspicion,
};
use crate::listing::names::Names;
use crate::listing::open_dir::OpenDir;
use crate::listing::options::ScanOptions;

/// [`Node::mark`]: that a directory was read here.
const MARK: u64 = 1;

/// A directory with more subdirectories is left to the kernel. It lists them in pieces,
/// so that few of them wait at once.
const SUBDIRS_MAX: u32 = 32 * 1024;

/// A directory up to this size has at most `WITHHELD_MAX` entries: the shortest entry
/// takes 12 bytes (`ext4_dir_rec_len`, fs/ext4/ext4.h).
const WITHHELD_BYTES_MIN: u64 = 12 * WITHHELD_MAX as u64;

/// Reads the directories of a volume for one worker.
pub(crate) struct Reader {
    mounted: Arc<Mounted>,
    scratch: DirectoryScratch,
    /// The directory that was begun.
    dir: Option<Inode>,
    blocks_done: u64,
    /// The inode of the entry that was read last.
    entry: Box<Inode>,
    path: Vec<u8>,
}

impl Reader {
    pub(crate) fn new(mounted: &Arc<Mounted>) -> Reader {
        Reader {
            entry: Box::new(mounted.volume.empty_inode()),
            mounted: Arc::clone(mounted),
            scratch: DirectoryScratch::default(),
            dir: None,
            blocks_done: 0,
            path: Vec::new(),
        }
    }

    fn node(&self, number: u32) -> Node {
        Node {
            id: FileId {
                dev: self.mounted.dev,
                ino: number.into(),
            },
            mark: MARK,
        }
    }

    /// The answer for a directory that cannot be read: an error in an image, else a
    /// question to the kernel.
    fn damaged(&self, fault: Fault) -> Begun {
        match self.mounted.is_image {
            true => Begun::Damaged(failure_of(fault)),
            false => Begun::AskKernel,
        }
    }

    /// Whether a readable directory is left to the kernel.
    fn is_for_the_kernel(&self, inode: &Inode, options: &ScanOptions) -> bool {
        let is_large = inode.links() == 1
            || inode.links() > SUBDIRS_MAX
            // A file with patterns may come after the delivery of a first piece.
            || (options.exclusions.read_files() && inode.size_bytes() > WITHHELD_BYTES_MIN);
        let id = self.mounted.id_of(inode);
        !self.mounted.is_image && (is_large || options.roots.roots_in(id).is_some())
    }
}

impl InPlace for Reader {
    fn is_image(&self) -> bool {
        self.mounted.is_image
    }

    fn root(&self) -> Option<Node> {
        Some(self.node(ROOT_INODE))
    }

    fn child(&self, _parent: &Dir, name: &CStr, ino: u64) -> Child {
        match u32::try_from(ino) {
            Ok(number) if number != 0 && !self.mounted.mount_points.have_name(name) => {
                Child::Here(self.node(number))
            }
            _ => Child::ByKernel,
        }
    }

    fn opened(&self, _dir: &DirHandle, id: FileId) -> Option<Node> {
        Some(self.node(u32::try_from(id.ino).ok()?))
    }

    fn begin(
        &mut self,
        node: Node,
        dir: &InPlaceDir<'_>,
        options: &ScanOptions,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Begun {
        let mounted = &*self.mounted;
        let Ok(number) = u32::try_from(node.id.ino) else {
            return Begun::AskKernel;
        };
        let is_whole = || read_ahead::is_whole(mounted, number, dir.place);
        mounted.read_ahead.once(mounted, is_whole, is_cancelled);
        let inode = match mounted.volume.inode(number) {
            Ok(inode) if inode.is_attribute() => return self.damaged(Fault::NoSuchInode),
            Ok(inode) if mounted.is_readable(&inode) => inode,
            Ok(inode) if inode.kind() == FileType::Directory && !inode.is_free() => {
                return Begun::AskKernel;
            }
            Ok(_) => return self.damaged(Fault::NotADirectory),
            Err(damage) => return self.damaged(damage.fault),
        };
        if self.is_for_the_kernel(&inode, options) {
            return Begun::AskKernel;
        }
        let found = match options.wanted.need_stat() {
            true => attributes(&inode, options.wanted, mounted.dev),
            false => Attributes::of_type(FileType::Directory),
        };
        self.dir = Some(inode);
        self.blocks_done = 0;
        Begun::Directory(found)
    }

    fn read(
        &mut self,
        dir: &OpenDir,
        options: &ScanOptions,
        contents: &mut Contents,
        stat_later: &mut StatLater,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Piece {
        let Some(inode) = &self.dir else {
            return Piece::AskKernel;
        };
        let mut pass = Pass {
            mounted: &self.mounted,
            options,
            names: Names::new(options, dir, std::mem::take(&mut self.path)),
            contents,
            fresh: stat_later,
            inode: &mut self.entry,
            blocks_done: self.blocks_done,
            stop: None,
        };
        let end = pass.read(inode, &mut self.scratch, is_cancelled);
        self.blocks_done = pass.blocks_done;
        self.path = pass.names.end();
        match end {
            End::Whole => Piece::Whole,
            End::Full => Piece::Full,
            End::Cancelled => Piece::Cancelled,
            End::Damaged(damage) if self.mounted.is_image => {
                Piece::Damaged(failure_of(damage.fault))
            }
            End::Damaged(_) | End::AskKernel => Piece::AskKernel,
        }
    }

    fn held_still(&mut self) -> bool {
        let inode = self.dir.as_ref();
        inode.is_some_and(|inode| self.mounted.held_still(inode))
    }

    /// Equal inode numbers in one directory are one subdirectory with two names. A
    /// directory whose `..` names another parent than the one that listed it has a
    /// second name there.
    fn suspicion(&self, dir: &InPlaceDir<'_>, contents: &mut Contents) -> Suspicion {
        let doubles = contents.take_doubles();
        if !doubles.is_empty() {
            return Suspicion::HoldsDoubles(doubles);
        }
        let listing = self.mounted.listing_parent(dir);
        match listing.zip(self.scratch.parent()) {
            Some((listing, own)) if listing != own => Suspicion::IsDouble,
            _ => Suspicion::Nothing,
        }
    }

    fn is_double(&self, node: Node, dir: &InPlaceDir<'_>) -> bool {
        let number = u32::try_from(node.id.ino);
        number.is_ok_and(|number| self.mounted.is_double(number, dir))
    }

    fn count(&self, what: Counted) {
        self.mounted.counts.note(what);
    }
}

/// The failure that damage in an image is.
pub(super) fn failure_of(fault: Fault) -> Failure {
    match fault {
        Fault::Unreadable(ReadError::Failed { errno }) => {
            KernelErrno::from_raw_os_error(errno).into()
        }
        Fault::Unreadable(ReadError::BeyondEnd) => KernelErrno::IO.into(),
        Fault::Encrypted => KernelErrno::NOKEY.into(),
        // The kernel's error number for a damaged file system.
        _ => Failure::DAMAGED,
    }
}
