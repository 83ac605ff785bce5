// SPDX-License-Identifier: MIT OR Apache-2.0

//! Facts about a node of a tree beside its sums.

/// Facts about a node that change the meaning of its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The directory, or the attributes of the entry, could not be read.
    pub is_unreadable: bool,
    /// Something below could not be read: the numbers are lower bounds.
    pub is_incomplete: bool,
    /// The directory is left out by a pattern.
    pub is_excluded: bool,
    /// The directory is another file system that the scan does not enter.
    pub is_mount: bool,
    /// The directory changed each time that it was read.
    pub has_changed: bool,
    /// The bytes of the inode count under another of its names.
    pub counts_elsewhere: bool,
    /// The inode has other names.
    pub has_other_names: bool,
}
