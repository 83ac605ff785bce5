// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many system calls the source has made.
//!
//! Each thread counts its own, so that counting costs one instruction a call.
//! A worker is a thread, and tells its number when it begins something.

use std::cell::Cell;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a call of this thread.
#[inline]
pub(super) fn count() {
    CALLS.set(CALLS.get() + 1);
}

/// The calls of this thread.
#[inline]
pub(crate) fn made() -> u64 {
    CALLS.get()
}
