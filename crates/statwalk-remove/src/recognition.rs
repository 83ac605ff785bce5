// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts by which an entry is known again.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::identity::Identity;
use crate::listing::Listing;
use crate::seen::Seen;

/// So many entries of a directory are asked for their numbers.
const WITNESSES_MAX: usize = 8;

const LISTED: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The facts that must be those of before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recognition {
    #[default]
    Inode,
    /// All but the inode number and the creation time. Only where [`has_moving_numbers`].
    Name,
}

impl Recognition {
    /// The identity without a number that another look need not find again.
    pub(crate) fn kept(self, identity: Identity) -> Identity {
        match self {
            Recognition::Inode => identity,
            Recognition::Name => Identity {
                inode: 0,
                ..identity
            },
        }
    }

    /// The same of all attributes.
    pub(crate) fn kept_of(self, seen: Seen) -> Seen {
        match self {
            Recognition::Inode => seen,
            Recognition::Name => Seen {
                identity: self.kept(seen.identity),
                born: None,
                ..seen
            },
        }
    }

    /// Says whether both can be the same entry. By name, its mount is the same, too.
    pub(crate) fn is_same(self, one: &Seen, other: &Seen) -> bool {
        let (one, other) = (self.kept_of(*one), self.kept_of(*other));
        match self {
            Recognition::Inode => one.is_same_inode(&other),
            Recognition::Name => one.is_same(&other),
        }
    }
}

/// Says whether an entry and a second one of its mount show numbers that move: its directory,
/// one beside it, or one within.
pub(crate) fn has_moving_numbers(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    let Ok(item) = hold(directory, name) else {
        return false;
    };
    let Ok(seen) = Seen::of_open(&item) else {
        return false;
    };
    if !Seen::has_moving_number(&item) {
        return false;
    }
    let is_second = |open: BorrowedFd<'_>| {
        Seen::of_open(open).is_ok_and(|other| other.is_on_mount_of(&seen))
            && Seen::has_moving_number(open)
    };
    is_second(directory)
        || entries(directory, name)
            .iter()
            .any(|open| is_second(open.as_fd()))
        || entries(item.as_fd(), b"")
            .iter()
            .any(|open| is_second(open.as_fd()))
}

/// Opens the first entries of a directory but one, to look at them.
fn entries(directory: BorrowedFd<'_>, but: &[u8]) -> Vec<OwnedFd> {
    let mut listing = Listing::new();
    let names = rustix::fs::openat(directory, ".", LISTED, Mode::empty())
        .and_then(|open| listing.next(open.as_fd()));
    let names = names.ok().flatten().unwrap_or_default();
    let others = names.iter().filter(|name| *name != but);
    others
        .take(WITNESSES_MAX)
        .filter_map(|name| hold(directory, name).ok())
        .collect()
}

/// Opens an entry of any type itself, so that its inode stays known. A link is not followed,
/// and no automount starts.
pub(crate) fn hold(directory: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}
