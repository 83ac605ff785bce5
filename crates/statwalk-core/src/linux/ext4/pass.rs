// SPDX-License-Identifier: MIT OR Apache-2.0

//! One reading of one directory: its entries, and the inodes that they name.

use std::ops::ControlFlow;

use statwalk_ext4::{Ahead, Damage, DirectoryEntry, DirectoryScratch, Fault, Inode};

use super::attributes::attributes;
use super::mounted::Mounted;
use super::reader::failure_of;
use crate::entry::FileType;
use crate::error::Op;
use crate::listing::WITHHELD_MAX;
use crate::listing::contents::Contents;
use crate::listing::in_place::StatLater;
use crate::listing::names::Names;
use crate::listing::options::ScanOptions;

/// The end of one reading.
#[derive(Debug)]
pub(super) enum End {
    /// The directory has no more entries.
    Whole,
    /// There are more entries than the lister withholds.
    Full,
    /// Only the kernel can read on.
    AskKernel,
    /// The bytes do not check out.
    Damaged(Damage),
    Cancelled,
}

/// One reading of one directory, or of a piece of a large one.
pub(super) struct Pass<'a> {
    pub(super) mounted: &'a Mounted,
    pub(super) options: &'a ScanOptions,
    pub(super) names: Names<'a>,
    pub(super) contents: &'a mut Contents,
    /// The files that must be stat'ed.
    pub(super) fresh: &'a mut StatLater,
    /// The inode that was read last.
    pub(super) inode: &'a mut Inode,
    /// The number of blocks that were read.
    pub(super) blocks_done: u64,
    /// The reason to end before the directory does.
    pub(super) stop: Option<End>,
}

impl<'a> Pass<'a> {
    /// Reads on, up to as many entries as the lister withholds.
    pub(super) fn read(
        &mut self,
        inode: &Inode,
        scratch: &mut DirectoryScratch,
        is_cancelled: &dyn Fn() -> bool,
    ) -> End {
        let (volume, done) = (&self.mounted.volume, self.blocks_done);
        let mut block = 0;
        let ahead = match self.options.wanted.need_stat() {
            true => Ahead::Inodes,
            false => Ahead::Nothing,
        };
        let answer = volume.read_directory_blocks(inode, scratch, ahead, |entries| {
            block += 1;
            if block <= done {
                return ControlFlow::Continue(());
            }
            if is_cancelled() {
                self.stop = Some(End::Cancelled);
                return ControlFlow::Break(());
            }
            for entry in entries {
                self.take(&entry);
            }
            self.blocks_done = block;
            if self.contents.entry_count() + self.fresh.len() > WITHHELD_MAX {
                self.stop.get_or_insert(End::Full);
            }
            match self.stop {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        match (self.stop.take(), answer) {
            (None | Some(End::Full), Err(damage)) => End::Damaged(damage),
            (Some(stop), _) => stop,
            (None, Ok(())) => End::Whole,
        }
    }

    /// Sorts in one entry.
    #[inline]
    fn take(&mut self, entry: &DirectoryEntry<'_>) {
        let (options, name) = (self.options, entry.name);
        if self.names.decide_about_others(name) {
            self.stop = Some(End::AskKernel);
            return;
        }
        let mut kind = entry.kind;
        // Without the feature `filetype` only the inode has the type.
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
            FileType::Symlink if options.follows => self.contents.push_link(name),
            _ if options.shortcuts.types_only => self.contents.batch.push_listed(&[], kind, false),
            _ if !options.wanted.need_stat() => {
                self.contents.batch.push_listed(name, kind, false);
            }
            _ => {
                let (wanted, mounted) = (options.wanted, self.mounted);
                let inode = match self.load(entry) {
                    Ok(inode) if inode.kind() == kind => inode,
                    Ok(_) => {
                        return self.unusable(entry, Fault::Malformed("the types differ"));
                    }
                    Err(fault) => return self.unusable(entry, fault),
                };
                if mounted.is_fresh(inode) {
                    let ino = u64::from(entry.inode);
                    return self.fresh.push(name, kind, ino);
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
        let inode = &mut *self.inode;
        match volume.read_inode(entry.inode, inode) {
            Ok(()) if inode.is_free() || inode.is_attribute() => Err(Fault::NoSuchInode),
            Ok(()) => Ok(inode),
            Err(damage) => Err(damage.fault),
        }
    }

    /// Handles an entry whose inode does not fit: an error in an image.
    fn unusable(&mut self, entry: &DirectoryEntry<'_>, fault: Fault) {
        if !self.mounted.is_image {
            self.stop = Some(End::AskKernel);
            return;
        }
        let failure = failure_of(fault);
        (self.contents.batch).push_refused(entry.name, entry.kind, failure.errno());
        let failure = (entry.name.to_vec(), Op::Stat, failure);
        self.contents.failures.push(failure);
    }
}
