// SPDX-License-Identifier: MIT OR Apache-2.0

//! Damage: structures on a volume that contradict themselves or each other.
//!
//! On a mounted file system the kernel may be in the middle of a change. Damage is
//! then a reason to ask the kernel.

use std::fmt;

use super::bytes::ReadError;
use crate::Malformed;

/// Something of an inode, or of a directory's blocks, that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The inode that was read; 0 if it was none.
    pub inode: u32,
    /// The block on the device that it was found in; 0 if it was in none.
    pub block: u64,
    /// Where in the block, or else in the inode.
    pub offset_bytes: u32,
    /// The kind of damage.
    pub fault: Fault,
}

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It contradicts itself; the words are the end of a sentence.
    Malformed(&'static str),
    /// It could not be read.
    Unreadable(ReadError),
    /// The names are encrypted. No damage, but nothing to show either.
    Encrypted,
    /// It is no directory, and was read as one.
    NotADirectory,
    /// The number is none, or is reserved for the file system itself.
    NoSuchInode,
    /// More was to be read than the whole device holds: a loop.
    TooMuchWork,
}

impl Damage {
    pub(super) fn of_inode(inode: u32, fault: Fault) -> Damage {
        Damage {
            inode,
            block: 0,
            offset_bytes: 0,
            fault,
        }
    }

    pub(super) fn malformed(inode: u32, block: u64, malformed: Malformed) -> Damage {
        Damage {
            inode,
            block,
            offset_bytes: malformed.offset_bytes,
            fault: Fault::Malformed(malformed.what),
        }
    }

    pub(super) fn unreadable(inode: u32, block: u64, error: ReadError) -> Damage {
        Damage {
            inode,
            block,
            offset_bytes: 0,
            fault: Fault::Unreadable(error),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Malformed(what) => f.write_str(what),
            Fault::Unreadable(error) => error.fmt(f),
            Fault::Encrypted => f.write_str("the names are encrypted"),
            Fault::NotADirectory => f.write_str("no directory"),
            Fault::NoSuchInode => f.write_str("there is no such inode"),
            Fault::TooMuchWork => f.write_str("more blocks than the device has"),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inode = ("inode", u64::from(self.inode));
        let place = [
            inode,
            ("block", self.block),
            ("byte", self.offset_bytes.into()),
        ];
        let mut separator = "";
        for (what, number) in place.into_iter().filter(|(_, number)| *number != 0) {
            write!(f, "{separator}{what} {number}")?;
            separator = ", ";
        }
        if !separator.is_empty() {
            f.write_str(": ")?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for Damage {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_says_where_and_what() {
        let damage = Damage::malformed(12, 345, Malformed::at(16, "the entry has no name"));
        assert_eq!(
            damage.to_string(),
            "inode 12, block 345, byte 16: the entry has no name"
        );
        let damage = Damage::of_inode(7, Fault::NoSuchInode);
        assert_eq!(damage.to_string(), "inode 7: there is no such inode");
        let damage = Damage::of_inode(0, Fault::TooMuchWork);
        assert_eq!(damage.to_string(), "more blocks than the device has");
    }
}
