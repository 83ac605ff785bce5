// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sums of items, where the bytes of an inode count under one of its names.

use crate::data::Item;
use crate::filter::Bytes;

/// The sums of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The names.
    pub entries: u64,
    /// Their space on disk, in bytes.
    pub allocated_bytes: u128,
    /// Their length, in bytes.
    pub apparent_bytes: u128,
    /// The newest modification, in nanoseconds since 1970; absent where it is unknown.
    pub newest_ns: Option<i64>,
}

impl Counted {
    pub(crate) fn of(item: &Item<'_>) -> Counted {
        let counts = !item.notes.counts_elsewhere;
        Counted {
            entries: item.entries,
            allocated_bytes: if counts { item.allocated_bytes } else { 0 },
            apparent_bytes: if counts { item.apparent_bytes } else { 0 },
            newest_ns: item.newest_ns,
        }
    }

    /// One of the two sizes.
    #[must_use]
    pub fn bytes(&self, bytes: Bytes) -> u128 {
        match bytes {
            Bytes::Disk => self.allocated_bytes,
            Bytes::Apparent => self.apparent_bytes,
        }
    }

    pub(crate) fn add(&mut self, more: &Counted) {
        self.entries += more.entries;
        self.allocated_bytes += more.allocated_bytes;
        self.apparent_bytes += more.apparent_bytes;
        self.newest_ns = self.newest_ns.max(more.newest_ns);
    }

    /// Takes sums away, but no time. Those of a scan that goes on can be of different moments.
    pub(crate) fn take_away(&mut self, less: &Counted) {
        self.entries = self.entries.saturating_sub(less.entries);
        self.allocated_bytes = self.allocated_bytes.saturating_sub(less.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_sub(less.apparent_bytes);
    }
}
