// SPDX-License-Identifier: MIT OR Apache-2.0

//! The order of paths, for all lists of them.

use std::cmp::Ordering;

/// Compares two paths component by component, bytewise.
///
/// That is the order of the bytes with `/` below all others, so that a
/// directory is followed by what it holds.
///
/// ```
/// use std::cmp::Ordering;
/// assert_eq!(statwalk_format::path_order(b"a/z", b"a.b"), Ordering::Less);
/// ```
#[must_use]
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let key = |&byte: &u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    a.iter().map(key).cmp(b.iter().map(key))
}
