// SPDX-License-Identifier: MIT OR Apache-2.0

//! Shell patterns, which are there on Linux alone: no other library was compared.

use std::ffi::CStr;

/// Whether the system has them.
pub(crate) const ARE_THERE: bool = false;

/// Whether a pattern fits. None does: [`ARE_THERE`] says so before.
pub(crate) fn fnmatch(_pattern: &CStr, _name: &CStr) -> bool {
    false
}
