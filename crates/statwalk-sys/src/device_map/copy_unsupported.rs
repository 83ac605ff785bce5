// SPDX-License-Identifier: MIT OR Apache-2.0

//! Machines without a routine that may fault: no map is ever made there.

use std::ffi::c_void;

pub(super) const IS_SUPPORTED: bool = false;

/// Copies nothing.
///
/// # Safety
///
/// Always sound.
pub(super) unsafe fn copy(_into: *mut u8, _from: *const u8, _length: usize) -> bool {
    false
}

/// There is no copy that could have been interrupted.
///
/// # Safety
///
/// Always sound.
pub(super) unsafe fn leave(_context: *mut c_void, _address: usize) -> bool {
    false
}

/// Brings nothing.
pub(super) fn prefetch(_from: *const u8, _count: usize) {}
