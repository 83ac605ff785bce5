// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers that other users cannot guess, for names of temporary files.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// A number that is another one each time: the keys of a new `RandomState` are random.
pub(crate) fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}
