// SPDX-License-Identifier: MIT OR Apache-2.0

//! One reading of one directory: its entries, and the inodes that they name.

use std::ops::ControlFlow;

use super::attributes::attributes;
use super::damage::{Damage, Fault};
use super::mounted::Mounted;
use super::read::errno_of;
use super::volume::{Ahead, DirectoryScratch};
use crate::decode::ext4::directory_block::DirectoryEntry;
use crate::decode::ext4::inode::Inode;
use crate::entry::FileType;
use crate::error::Op;
use crate::listing::WITHHELD_MAX;
use crate::listing::contents::Contents;
use crate::listing::context::Terms;
use crate::listing::in_place::Doubtful;
use crate::listing::names::Names;
use crate::listing::open_dir::OpenDir;
use crate::listing::outlet::Outlet;

/// Buffers that serve one directory after the other.
#[derive(Default)]
pub(crate) struct PassBuffers {
    scratch: DirectoryScratch,
    inode: Option<Box<Inode>>,
    fresh: Doubtful,
    path: Vec<u8>,
}

/// How far a directory was read.
pub(super) enum Piece {
    /// To its end.
    Whole,
    /// Until there is as much as is withheld.
    Full,
    /// Until something that only the kernel can tell.
    ByKernel,
    /// Something does not check out.
    Damaged(Damage),
    Cancelled,
}

/// One reading of one directory.
pub(super) struct Pass<'a> {
    pub(super) mounted: &'a Mounted,
    terms: &'a Terms,
    names: Names<'a>,
    pub(super) contents: Contents,
    /// The inode that was read last.
    inode: Box<Inode>,
    buffers: PassBuffers,
    /// How many blocks were read.
    blocks_done: u64,
    /// Why it ends before the directory does.
    stop: Option<Piece>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        mounted: &'a Mounted,
        terms: &'a Terms,
        dir: &'a OpenDir,
        mut buffers: PassBuffers,
        mut contents: Contents,
    ) -> Pass<'a> {
        contents.clear();
        Pass {
            mounted,
            terms,
            names: Names::new(terms, dir, std::mem::take(&mut buffers.path)),
            contents,
            inode: inode_of(mounted, &mut buffers),
            buffers,
            blocks_done: 0,
            stop: None,
        }
    }

    /// Reads on, up to as much as is withheld.
    pub(super) fn read_piece(&mut self, inode: &Inode, out: &impl Outlet) -> Piece {
        let mut scratch = std::mem::take(&mut self.buffers.scratch);
        let (volume, done) = (&self.mounted.volume, self.blocks_done);
        let mut block = 0;
        let ahead = match self.terms.wanted.need_stat() {
            true => Ahead::Inodes,
            false => Ahead::Nothing,
        };
        let answer = volume.read_directory_blocks(inode, &mut scratch, ahead, |entries| {
            block += 1;
            if block <= done {
                return ControlFlow::Continue(());
            }
            if out.cancelled() {
                self.stop = Some(Piece::Cancelled);
                return ControlFlow::Break(());
            }
            for entry in entries {
                self.take(&entry);
            }
            self.blocks_done = block;
            if self.contents.entry_count() + self.buffers.fresh.len() > WITHHELD_MAX {
                self.stop.get_or_insert(Piece::Full);
            }
            match self.stop {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        self.buffers.scratch = scratch;
        match (self.stop.take(), answer) {
            (None | Some(Piece::Full), Err(damage)) => Piece::Damaged(damage),
            (Some(stop), _) => stop,
            (None, Ok(())) => Piece::Whole,
        }
    }

    /// Sorts in one entry.
    #[inline]
    fn take(&mut self, entry: &DirectoryEntry<'_>) {
        let (terms, name) = (self.terms, entry.name);
        if self.names.decide_by_content(name) {
            self.stop = Some(Piece::ByKernel);
            return;
        }
        let mut kind = entry.kind;
        // Without the feature filetype the inode alone knows.
        if kind == FileType::Unknown {
            match self.load(entry) {
                Ok(inode) => kind = inode.kind(),
                Err(fault) => return self.unusable(entry, fault),
            }
        }
        if self.names.leave_out(name, kind) {
            self.contents.excluded += 1;
            return;
        }
        match kind {
            FileType::Directory => self.contents.push_subdir(name, u64::from(entry.inode)),
            FileType::Symlink if terms.follows => self.contents.push_link(name),
            _ if terms.types_only => self.contents.batch.push_listed(&[], kind, false),
            _ if !terms.wanted.need_stat() => {
                self.contents.batch.push_listed(name, kind, false);
            }
            _ => {
                let (wanted, mounted) = (terms.wanted, self.mounted);
                let inode = match self.load(entry) {
                    Ok(inode) if inode.kind() == kind => inode,
                    Ok(_) => {
                        return self.unusable(entry, Fault::Malformed("the types differ"));
                    }
                    Err(fault) => return self.unusable(entry, fault),
                };
                if mounted.is_fresh(inode) {
                    let ino = u64::from(entry.inode);
                    return self.buffers.fresh.push(name, kind, ino);
                }
                let found = attributes(inode, wanted, mounted.dev);
                self.contents.batch.push_stated(name, &found);
            }
        }
    }

    /// The inode that an entry names, if it is in use.
    #[inline]
    fn load(&mut self, entry: &DirectoryEntry<'_>) -> Result<&Inode, Fault> {
        let volume = &self.mounted.volume;
        let inode = &mut self.inode;
        match volume.read_inode(entry.inode, inode) {
            Ok(()) if inode.is_free() || inode.is_attribute() => Err(Fault::NoSuchInode),
            Ok(()) => Ok(inode),
            Err(damage) => Err(damage.fault),
        }
    }

    /// An entry whose inode does not fit.
    fn unusable(&mut self, entry: &DirectoryEntry<'_>, fault: Fault) {
        if !self.mounted.is_image {
            self.stop = Some(Piece::ByKernel);
            return;
        }
        self.contents
            .batch
            .push_listed(entry.name, entry.kind, true);
        let failure = (entry.name.to_vec(), Op::Stat, errno_of(fault));
        self.contents.failures.push(failure);
    }

    /// What the directory has as its parent.
    pub(super) fn parent(&self) -> Option<u32> {
        self.buffers.scratch.parent()
    }

    /// The files that must be stat'ed.
    pub(super) fn take_fresh(&mut self) -> Doubtful {
        std::mem::take(&mut self.buffers.fresh)
    }

    /// Takes the memory back for the next.
    pub(super) fn give_back(&mut self, mut fresh: Doubtful) {
        fresh.clear();
        self.buffers.fresh = fresh;
    }

    /// Forgets what was delivered, and makes ready for the next piece.
    pub(super) fn go_on(&mut self) {
        self.contents.clear();
    }

    /// Gives the buffers to the next.
    pub(super) fn end(mut self) -> (PassBuffers, Contents) {
        self.buffers.fresh.clear();
        self.buffers.path = self.names.end();
        self.buffers.inode = Some(self.inode);
        (self.buffers, self.contents)
    }
}

/// A place for inodes of a volume: that of the last volume, if they are alike.
fn inode_of(mounted: &Mounted, buffers: &mut PassBuffers) -> Box<Inode> {
    let kept = buffers.inode.take();
    let format = mounted.volume.superblock().inode_format();
    kept.filter(|inode| inode.format() == format)
        .unwrap_or_else(|| Box::new(mounted.volume.empty_inode()))
}
