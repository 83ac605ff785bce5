// SPDX-License-Identifier: MIT OR Apache-2.0

//! The entries of a directory until their delivery.

use std::ffi::CString;

use super::link_stop::LinkStop;
use super::options::ScanOptions;
use crate::batch::Batch;
use crate::entry::{Attributes, FileType};
use crate::error::Op;
use crate::failure::Failure;

/// Up to so many subdirectories, each is compared with each.
const FEW: usize = 12;

/// The entries of one directory, or of a part of it, before their delivery.
#[derive(Default)]
pub(crate) struct Contents {
    pub(crate) batch: Batch,
    /// The targets of symbolic links to files, by the names of the links.
    pub(crate) followed: Batch,
    /// The names of subdirectories and links, each ended by NUL.
    ///
    /// `subdir_offsets` and `link_offsets` say where each begins.
    pub(crate) waiting_names: Vec<u8>,
    pub(crate) subdir_offsets: Vec<u32>,
    /// The inode numbers of the subdirectories, as the listing has them.
    pub(crate) subdir_inos: Vec<u64>,
    /// Symbolic links that wait: see [`push_link`](Self::push_link).
    pub(crate) link_offsets: Vec<u32>,
    pub(crate) failures: Vec<(Vec<u8>, Op, Failure)>,
    /// Listed names for which a stat returned ENOENT, with their types in the listing.
    /// `vanished.rs` judges later whether they have vanished.
    pub(crate) missing: Vec<(CString, FileType)>,
    pub(crate) vanished: u64,
    pub(crate) excluded: u32,
    pub(crate) crossings: u32,
    pub(super) link_stop: LinkStop,
}

impl Contents {
    pub(crate) fn new(options: &ScanOptions) -> Contents {
        Contents {
            batch: Batch::new(options.wanted),
            followed: Batch::new(options.wanted),
            ..Contents::default()
        }
    }

    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        self.followed.clear();
        self.waiting_names.clear();
        self.subdir_offsets.clear();
        self.subdir_inos.clear();
        self.link_offsets.clear();
        self.failures.clear();
        self.missing.clear();
        self.vanished = 0;
        self.excluded = 0;
        self.crossings = 0;
        self.link_stop = LinkStop::default();
    }

    /// Adds a subdirectory. Its name must hold no NUL.
    pub(crate) fn push_subdir(&mut self, name: &[u8], ino: u64) {
        // There are at most WITHHELD_MAX names of 256 bytes and one buffer: the offset fits.
        self.subdir_offsets.push(self.waiting_names.len() as u32);
        self.subdir_inos.push(ino);
        self.push_waiting(name);
    }

    /// Removes the second and later names of each subdirectory, and returns their
    /// offsets. The name that is first in byte order stays.
    ///
    /// Subdirectories with equal inode numbers are one. A number of 0 is unknown and
    /// equals no other.
    pub(crate) fn take_doubles(&mut self) -> Vec<u32> {
        let inos = &self.subdir_inos;
        let has_doubles = match inos.len() {
            0 | 1 => false,
            // This comparison needs no memory.
            2..=FEW => (1..inos.len()).any(|index| inos[..index].contains(&inos[index])),
            _ => {
                let mut sorted = inos.clone();
                sorted.sort_unstable();
                sorted.windows(2).any(|pair| pair[0] == pair[1])
            }
        };
        if !has_doubles {
            return Vec::new();
        }
        let names = &self.waiting_names;
        let name = |offset: u32| {
            let name = &names[offset as usize..];
            name.split(|&byte| byte == 0).next().unwrap_or_default()
        };
        let mut subdirs: Vec<(u64, u32)> = (inos.iter().copied())
            .zip(self.subdir_offsets.iter().copied())
            .collect();
        subdirs.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| name(a.1).cmp(name(b.1))));
        let mut doubles = Vec::new();
        // Zero means that the listing has no number.
        let is_double = |a: &(u64, u32), b: &(u64, u32)| a.0 == b.0 && a.0 != 0;
        subdirs.dedup_by(|b, a| {
            let double = is_double(a, b);
            if double {
                doubles.push(b.1);
            }
            double
        });
        (self.subdir_inos, self.subdir_offsets) = subdirs.into_iter().unzip();
        doubles
    }

    /// Adds the target of a symbolic link, which is no directory.
    pub(crate) fn push_followed(&mut self, name: &[u8], target: &Attributes) {
        match self.followed.wanted().need_stat() {
            true => self.followed.push_stated(name, target),
            false => self.followed.push_listed(name, target.kind, false),
        }
    }

    /// Adds a symbolic link that workers follow when the rest is done: it leads to a
    /// directory, or nowhere, or nobody has looked. Its name must hold no NUL.
    pub(crate) fn push_link(&mut self, name: &[u8]) {
        self.link_offsets.push(self.waiting_names.len() as u32);
        self.push_waiting(name);
    }

    fn push_waiting(&mut self, name: &[u8]) {
        self.waiting_names.extend_from_slice(name);
        self.waiting_names.push(0);
    }

    pub(crate) fn entry_count(&self) -> usize {
        self.batch.len() + self.followed.len() + self.subdir_offsets.len() + self.link_offsets.len()
    }
}
