// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many system calls a source has made, and how much it has read without.
//!
//! Each thread counts its own, so that counting costs one instruction a call.
//! A worker is a thread, and tells its number when it begins something.

use std::cell::Cell;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a call of this thread.
#[inline]
pub(crate) fn count() {
    CALLS.set(CALLS.get() + 1);
}

/// Counts entries that this thread has read from a device.
#[inline]
pub(crate) fn count_reads(entries: u64) {
    READS.set(READS.get() + entries);
}

/// The entries that this thread has read from devices.
#[inline]
pub(crate) fn read() -> u64 {
    READS.get()
}

/// The calls of this thread.
#[inline]
pub(crate) fn made() -> u64 {
    CALLS.get()
}

/// Sets what this thread has made and read: in a simulation it is many.
#[cfg(test)]
pub(crate) fn set((made, read): (u64, u64)) {
    CALLS.set(made);
    READS.set(read);
}
