// SPDX-License-Identifier: MIT OR Apache-2.0

//! The interface to facts that no scan has.

/// The file system itself, as answers ask it. A call can take as long as the file system.
pub trait Disk {
    /// The real path of a root, from the root of its file system on.
    fn real_path(&self, path: &[u8]) -> Vec<u8>;

    /// Whether the `CACHEDIR.TAG` in a directory begins with the signature.
    fn has_cache_tag(&self, path: &[u8]) -> bool;
}
