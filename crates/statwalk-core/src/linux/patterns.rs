// SPDX-License-Identifier: MIT OR Apache-2.0

//! Shell patterns, by the C library.

pub(crate) use statwalk_sys::fnmatch::fnmatch;

/// Whether the system has them.
pub(crate) const ARE_THERE: bool = true;
