// SPDX-License-Identifier: MIT OR Apache-2.0

//! The count of what is left in a directory. `listing/finished.rs` goes up with it.

use std::sync::atomic::{AtomicU32, Ordering};

/// A count of what is not finished.
pub(crate) struct Unfinished(AtomicU32);

impl Unfinished {
    pub(crate) fn new(count: u32) -> Unfinished {
        Unfinished(AtomicU32::new(count))
    }

    /// Adds one.
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one off. Returns whether it was the last.
    pub(crate) fn take_one(&self) -> bool {
        // All that other workers delivered comes before the note of the last one.
        let before = self.0.fetch_sub(1, Ordering::AcqRel);
        debug_assert!(before > 0, "more is finished than was there");
        before == 1
    }
}
