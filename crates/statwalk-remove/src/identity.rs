// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts by which an entry is known again.

use rustix::fs::FileType;

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe, a socket, or a type that this crate does not know.
    Other,
}

impl EntryType {
    pub(crate) fn from_mode(mode: u32) -> EntryType {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => EntryType::File,
            FileType::Directory => EntryType::Directory,
            FileType::Symlink => EntryType::Link,
            _ => EntryType::Other,
        }
    }
}

/// Device, inode, type and modification time of an entry, as the user has confirmed them.
///
/// A removal compares all of them at the moment of acting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// The type.
    pub entry_type: EntryType,
    /// Seconds of the modification time since 1970.
    pub mtime_s: i64,
    /// Nanoseconds of the modification time.
    pub mtime_ns: u32,
}

impl Identity {
    /// Says whether `other` is the same inode, perhaps with another modification time.
    #[must_use]
    pub fn is_same_inode(&self, other: &Identity) -> bool {
        (self.device, self.inode, self.entry_type) == (other.device, other.inode, other.entry_type)
    }
}
