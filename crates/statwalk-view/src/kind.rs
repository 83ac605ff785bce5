// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kind of a node of a tree.

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A device, a socket or a pipe, or something of unknown type.
    Other,
    /// Entries of a directory that have no node of their own, summed.
    Rest,
    /// The bytes of a directory itself.
    Itself,
    /// All roots together.
    Roots,
}
