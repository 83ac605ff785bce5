// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the bytes of an inode were counted already.
//!
//! For sums it does not matter which of its names brought them. Where it does,
//! see `first_names`.

use std::sync::Arc;

use super::{Context, LinkPolicy};
use crate::batch::Batch;
use crate::entry::FileId;
use crate::inode_numbers::{InodeNumber, InodeNumbers};
use crate::inode_set::InodeSet;
use crate::parts::Parts;

/// Whether one more name of an entry can bring its bytes again.
pub(super) fn may_repeat(context: &Context, links: u32) -> bool {
    context.links == LinkPolicy::Once && (context.follows || links > 1)
}

/// The inodes whose bytes were counted, for all workers.
#[derive(Clone)]
pub(super) struct SeenInodes {
    /// From how many links on an inode is remembered.
    links_min: u32,
    inodes: Arc<InodeNumbers>,
    counted: Arc<Counted>,
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
        let links_min = match (context.links, context.follows) {
            (LinkPolicy::Each, _) => u32::MAX,
            (LinkPolicy::Once, true) => 0,
            (LinkPolicy::Once, false) => 2,
        };
        SeenInodes {
            links_min,
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
        self.add(batch.id(index))
    }

    /// Apart, so that the usual case needs few registers.
    #[inline(never)]
    fn add(&self, id: FileId) -> bool {
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
