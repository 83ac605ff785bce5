// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many system calls the source has made.
//!
//! Each thread counts its own, so that counting costs one instruction a call.

use std::cell::Cell;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a call of this thread.
#[inline]
pub(super) fn count() {
    CALLS.set(CALLS.get() + 1);
}

/// The calls of this thread since this was last asked.
pub(crate) fn take() -> u64 {
    CALLS.take()
}
