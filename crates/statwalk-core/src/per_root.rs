// SPDX-License-Identifier: MIT OR Apache-2.0

//! Values by root, as many as a worker has met.
//!
//! A shell gives thousands of roots for `*`. A value of each root for each worker took
//! 139 MB for 13,000 of them.

/// The value of a root, made with those before it where there is none yet.
#[inline]
pub(crate) fn of_root<T: Clone + Default>(values: &mut Vec<T>, root: usize) -> &mut T {
    if values.len() <= root {
        values.resize(root + 1, T::default());
    }
    &mut values[root]
}
