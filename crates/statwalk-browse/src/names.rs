// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names that a shell knows, whatever the tree is.

/// The names of owners, categories and endings.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The name of an owner; absent where nobody knows it.
    pub owner: fn(uid: u32) -> Option<String>,
    /// The category of a file with this name: the content that the name promises.
    pub category: fn(name: &[u8]) -> &'static str,
    /// The ending of a file with this name, in lower case; empty where it has none. It can
    /// have several parts, as in `tar.gz`.
    pub ending: fn(name: &[u8]) -> Vec<u8>,
}
