// SPDX-License-Identifier: MIT OR Apache-2.0

//! One buffer of a listing.
//!
//! A worker decodes the whole buffer before the first stat. So another worker can
//! read the next buffer of the directory meanwhile.

use std::ffi::CStr;

use statwalk_sys::c_strings::CStrings;

use super::seen_names::SeenNames;
use crate::batch::Batch;
use crate::entry::{Attributes, FileType};

/// The entries of one buffer.
#[derive(Default)]
pub(crate) struct Listed {
    names: CStrings,
    /// The attributes by the numbers of the names, of a source whose listings have them.
    attributes: Vec<Attributes>,
    entries: Vec<ListedEntry>,
    /// Numbers of entries of which only the type is kept, by their types.
    counts: [u32; FileType::ALL.len()],
}

pub(super) struct ListedEntry {
    /// The inode number in the listing, without the device.
    pub(super) ino: u64,
    /// The number of its name.
    name: u32,
    pub(super) kind: FileType,
}

/// Selects the names of a listing that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptNames {
    All,
    /// Names of directories, and of entries without a type. Other entries are only
    /// counted.
    OfDirectories,
}

impl KeptNames {
    /// Whether the name of an entry of this type is kept.
    #[inline]
    pub(crate) fn keep(self, kind: FileType) -> bool {
        self == KeptNames::All || matches!(kind, FileType::Directory | FileType::Unknown)
    }
}

impl Listed {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of entries, with those that are only counted.
    pub(super) fn len_with_counted(&self) -> usize {
        let counted: u32 = self.counts.iter().sum();
        self.entries.len() + counted as usize
    }

    /// Whether it has counts and typed directories alone, so that no entry needs a stat.
    pub(super) fn has_types_alone(&self) -> bool {
        let counted: u32 = self.counts.iter().sum();
        let is_typed = |entry: &ListedEntry| entry.kind == FileType::Directory;
        counted > 0 && self.entries.iter().all(is_typed)
    }

    /// Adds the entries that are only counted to a batch.
    pub(super) fn add_counted_to(&self, batch: &mut Batch) {
        for (kind, &count) in FileType::ALL.into_iter().zip(&self.counts) {
            if count > 0 {
                batch.push_types(kind, count as usize);
            }
        }
    }

    /// Whether an entry has to be stat'ed to find its type, or that of its target.
    pub(super) fn has_unknown(&self, follows: bool) -> bool {
        let is_unknown = |kind| match kind {
            FileType::Symlink => follows,
            kind => kind == FileType::Unknown,
        };
        self.entries.iter().any(|entry| is_unknown(entry.kind))
    }

    /// Whether an entry has this name.
    pub(super) fn holds(&self, name: &CStr) -> bool {
        (0..self.len()).any(|index| self.name(index) == name)
    }

    pub(super) fn name(&self, index: usize) -> &CStr {
        self.names.get(self.entries[index].name as usize)
    }

    /// As [`name`](Self::name), for callers that pass it to no system call.
    pub(super) fn name_bytes(&self, index: usize) -> &[u8] {
        self.name(index).to_bytes()
    }

    #[inline]
    pub(super) fn entry(&self, index: usize) -> &ListedEntry {
        &self.entries[index]
    }

    /// The attributes that the listing has brought.
    #[inline]
    pub(super) fn listed_attributes(&self, entry: &ListedEntry) -> Option<&Attributes> {
        self.attributes.get(entry.name as usize)
    }

    pub(super) fn kind(&self, index: usize) -> FileType {
        self.entries[index].kind
    }

    pub(crate) fn ino(&self, index: usize) -> u64 {
        self.entries[index].ino
    }

    /// Removes the entries from `start` on, and returns them.
    pub(super) fn split_off(&mut self, start: usize) -> Listed {
        let mut part = Listed::default();
        for mut entry in self.entries.drain(start..) {
            let name = self.names.get(entry.name as usize);
            let attributes = self.attributes.get(entry.name as usize);
            part.attributes.extend(attributes);
            entry.name = part.names.len() as u32;
            part.names.push(name);
            part.entries.push(entry);
        }
        part
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.attributes.clear();
        self.entries.clear();
        self.counts = [0; FileType::ALL.len()];
    }

    /// Removes the entries from `start` on whose names are in `seen`, and counts those whose
    /// names `names` leaves out.
    ///
    /// An entry without a name stays: each is an error.
    pub(super) fn keep_first(&mut self, start: usize, names: KeptNames, seen: &mut SeenNames) {
        let mut kept = start;
        for index in start..self.entries.len() {
            let kind = self.kind(index);
            let name = self.name_bytes(index);
            if !name.is_empty() && !seen.add(name) {
                continue;
            }
            match names.keep(kind) {
                true => {
                    self.entries.swap(kept, index);
                    kept += 1;
                }
                false => self.count(kind),
            }
        }
        self.entries.truncate(kept);
    }

    /// Sorts the entries by their inode numbers.
    pub(super) fn sort_by_inode(&mut self) {
        radsort::sort_by_key(&mut self.entries, |entry| entry.ino);
    }

    /// Adds an entry with its name, or counts it if `names` leaves its name out.
    pub(crate) fn add(&mut self, name: &CStr, ino: u64, kind: FileType, names: KeptNames) {
        match names.keep(kind) {
            true => self.push(name, ino, kind),
            false => self.count(kind),
        }
    }

    /// As [`add`](Self::add), with attributes that the listing brings: those of the entry
    /// itself, on the mount of its directory. A source adds all its entries so, or none.
    pub(crate) fn add_with(
        &mut self,
        name: &CStr,
        ino: u64,
        attributes: &Attributes,
        names: KeptNames,
    ) {
        if names.keep(attributes.kind) {
            self.attributes.push(*attributes);
        }
        self.add(name, ino, attributes.kind, names);
    }

    /// Adds an entry with its name.
    #[inline]
    pub(crate) fn push(&mut self, name: &CStr, ino: u64, kind: FileType) {
        self.entries.push(ListedEntry {
            ino,
            // It fits: the entries of some buffers are far below 2^32.
            name: self.names.len() as u32,
            kind,
        });
        self.names.push(name);
    }

    /// Counts an entry whose name is not kept.
    #[inline]
    pub(crate) fn count(&mut self, kind: FileType) {
        self.counts[kind as usize] += 1;
    }

    /// Adds an entry whose name begins with NUL. Its stat will fail.
    ///
    /// A file system in user space can list such a name.
    #[cold]
    pub(crate) fn push_nameless(&mut self, ino: u64) {
        self.push(c"", ino, FileType::Unknown);
    }
}
