// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the bytes of an inode were counted already.
//!
//! For sums it does not matter which of its names brought them. Where it does,
//! see `first_names`.

use std::sync::Arc;

use super::{Context, LinkPolicy};
use crate::batch::Batch;
use crate::entry::FileId;
use crate::inode_set::InodeSet;

/// Whether one more name of an entry can bring its bytes again.
pub(super) fn may_repeat(context: &Context, links: u32) -> bool {
    context.links == LinkPolicy::Once && (context.follows || links > 1)
}

/// The inodes whose bytes were counted, for all workers.
#[derive(Clone)]
pub(super) struct SeenInodes {
    /// From how many links on an inode is remembered.
    links_min: u32,
    set: Arc<InodeSet>,
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
            set: Arc::new(InodeSet::new()),
        }
    }

    /// Whether the bytes of the entry were not counted yet; from now on they are.
    #[inline]
    pub(super) fn is_new(&self, batch: &Batch, index: usize) -> bool {
        if batch.links()[index] < self.links_min || self.links_min == u32::MAX {
            return true;
        }
        self.set.insert(FileId {
            dev: batch.devs()[index],
            ino: batch.inos()[index],
        })
    }
}
