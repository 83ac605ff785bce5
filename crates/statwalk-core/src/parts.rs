// SPDX-License-Identifier: MIT OR Apache-2.0

//! A value that many workers share, cut into parts, so that they rarely meet.

use std::sync::{Mutex, MutexGuard, OnceLock};

use crossbeam_utils::CachePadded;

use crate::lock::lock;

const PART_BITS: u32 = 6;

/// Parts with a lock each, made when one is first needed: most scans meet no hard
/// link.
pub(crate) struct Parts<T> {
    parts: OnceLock<Box<[CachePadded<Mutex<T>>]>>,
}

impl<T: Default> Parts<T> {
    pub(crate) const fn new() -> Parts<T> {
        Parts {
            parts: OnceLock::new(),
        }
    }

    /// Part `part`, modulo how many there are.
    pub(crate) fn lock(&self, part: u32) -> MutexGuard<'_, T> {
        let parts = self.parts.get_or_init(|| {
            (0..1 << PART_BITS)
                .map(|_| CachePadded::default())
                .collect()
        });
        lock(&parts[part as usize % (1 << PART_BITS)])
    }

    /// All parts, one after another; none if none was needed.
    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        let parts = self.parts.get().into_iter().flatten();
        parts.map(|part| lock(part))
    }
}

/// The part that something with a hash belongs to: by bits between the upper and the
/// lower, which tables use.
pub(crate) fn part_of(hash: u64) -> u32 {
    (hash >> 32) as u32 & ((1 << PART_BITS) - 1)
}
