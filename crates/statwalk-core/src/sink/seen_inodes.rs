// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the bytes of an inode were counted already.
//!
//! For sums it does not matter which of its names brought them. Where it does,
//! see `first_names`.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::{Context, LinkPolicy};
use crate::batch::Batch;
use crate::entry::{FileId, FileType};
use crate::fields::Fields;
use crate::inode_numbers::{InodeNumber, InodeNumbers};
use crate::inode_set::InodeSet;
use crate::parts::Parts;

/// Whether one more name of an entry can bring its bytes again.
#[inline]
pub(super) fn may_repeat(context: &Context, batch: &Batch, index: usize) -> bool {
    context.links == LinkPolicy::Once
        && match context.follows {
            true => !stands_for_a_directory(batch, index),
            false => {
                batch.links()[index] > 1
                    || (context.mounted_files.as_deref())
                        .is_some_and(|files| is_mounted(files, batch, index))
            }
        }
}

/// Whether an entry is one of the files that are mounted. Apart: most scans know of none.
#[inline(never)]
fn is_mounted(files: &HashSet<FileId>, batch: &Batch, index: usize) -> bool {
    files.contains(&batch.id(index))
}

/// Whether an entry is a link to a directory that is listed elsewhere: it has no bytes.
///
/// It says nothing about the other names of the same link. One of them can dangle, and then
/// counts as itself, whichever of them comes first.
fn stands_for_a_directory(batch: &Batch, index: usize) -> bool {
    let is_nothing = |bytes: &[u64]| bytes.get(index).is_none_or(|&bytes| bytes == 0);
    batch.kinds()[index] == FileType::Symlink
        && batch.wanted().has_any(Fields::SIZE | Fields::ALLOCATED)
        && is_nothing(batch.size_bytes())
        && is_nothing(batch.allocated_bytes())
}

/// The inodes whose bytes were counted, for all workers.
#[derive(Clone)]
pub(super) struct SeenInodes {
    /// From how many links on an inode is remembered.
    links_min: u32,
    follows: bool,
    mounted_files: Option<Arc<HashSet<FileId>>>,
    inodes: Arc<InodeNumbers>,
    counted: Arc<Counted>,
    /// Those of several scans, in the place of the own ones.
    of_scans: Option<CountedInodes>,
}

/// The inodes with several links whose bytes some scans have counted: 12 bytes each. Clones
/// share them.
///
/// With [`Totals::with_counted_inodes`](super::Totals::with_counted_inodes), an inode that has
/// a name in each of two scans brings its bytes in the first.
#[derive(Clone, Default)]
pub struct CountedInodes {
    set: Arc<InodeSet>,
}

impl CountedInodes {
    /// No scan has counted any.
    #[must_use]
    pub fn new() -> CountedInodes {
        CountedInodes::default()
    }
}

impl fmt::Debug for CountedInodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountedInodes").finish_non_exhaustive()
    }
}

/// Which were counted.
struct Counted {
    /// A bit for each number, where another sink keeps inodes by their numbers.
    numbers: Parts<Vec<u64>>,
    /// Elsewhere.
    set: InodeSet,
}

impl SeenInodes {
    pub(super) fn new(context: &Context) -> SeenInodes {
        SeenInodes::after(context, None)
    }

    /// The same, without the inodes that other scans have counted.
    pub(super) fn after(context: &Context, of_scans: Option<CountedInodes>) -> SeenInodes {
        let links_min = match (context.links, context.follows) {
            (LinkPolicy::Each, _) => u32::MAX,
            (LinkPolicy::Once, true) => 0,
            // Each entry is compared with the files that are mounted.
            (LinkPolicy::Once, false) if context.mounted_files.is_some() => 0,
            (LinkPolicy::Once, false) => 2,
        };
        SeenInodes {
            links_min,
            follows: context.follows,
            of_scans,
            mounted_files: context.mounted_files.clone(),
            inodes: Arc::clone(&context.inodes),
            counted: Arc::new(Counted {
                numbers: Parts::new(),
                set: InodeSet::new(),
            }),
        }
    }

    /// Whether the bytes of the entry were not counted yet; from now on they are.
    #[inline]
    pub(super) fn is_new(&self, batch: &Batch, index: usize) -> bool {
        if batch.links()[index] < self.links_min || self.links_min == u32::MAX {
            return true;
        }
        if self.follows && stands_for_a_directory(batch, index) {
            return true;
        }
        if let Some(files) = &self.mounted_files
            && batch.links()[index] < 2
            && !is_mounted(files, batch, index)
        {
            return true;
        }
        self.add(batch.id(index))
    }

    /// Apart, so that the usual case needs few registers.
    #[inline(never)]
    fn add(&self, id: FileId) -> bool {
        if let Some(counted) = &self.of_scans {
            return counted.set.insert(id);
        }
        match self.inodes.are_needed() {
            true => self.counted.insert(self.inodes.number(id)),
            false => self.counted.set.insert(id),
        }
    }
}

impl Counted {
    /// Adds the number of an inode; false if it was there.
    fn insert(&self, number: InodeNumber) -> bool {
        let mut counted = self.numbers.lock(number.part);
        let word = number.index as usize / 64;
        if counted.len() <= word {
            counted.resize(word + 1, 0);
        }
        let bit = 1 << (number.index % 64);
        let is_new = counted[word] & bit == 0;
        counted[word] |= bit;
        is_new
    }
}
