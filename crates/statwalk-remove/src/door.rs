// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one door: the only calls that take a name away.
//!
//! Each looks at the entry by its directory's descriptor, compares it with the expected
//! one, and acts at once. `cargo xtask tidy` keeps these calls out of all other files of
//! the product.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::failure::Cause;
use crate::identity::Identity;
use crate::path::is_plain_name;
use crate::seen::Seen;

/// The entry that may be removed.
pub(crate) enum Expected<'a> {
    /// An item that is no directory: all of its identity must be the confirmed one.
    Item(&'a Identity),
    /// Any entry that is no directory, on the mount of the directory that holds it.
    Within(&'a Seen),
    /// This directory, which is empty.
    Emptied(&'a Seen),
}

/// The reason why a name is still there.
pub(crate) enum Kept {
    /// A directory, which must be emptied first.
    Directory(Box<Seen>),
    Failed(Cause),
}

impl From<Errno> for Kept {
    fn from(errno: Errno) -> Kept {
        Kept::Failed(errno.into())
    }
}

impl From<Cause> for Kept {
    fn from(cause: Cause) -> Kept {
        Kept::Failed(cause)
    }
}

/// Removes one name from an open directory, and returns the attributes from just before.
///
/// # Errors
///
/// The entry is not the expected one, or the kernel refuses. Then the name is still there.
pub(crate) fn remove(
    directory: BorrowedFd<'_>,
    name: &[u8],
    expected: Expected<'_>,
) -> Result<Seen, Kept> {
    if !is_plain_name(name) {
        return Err(Errno::INVAL.into());
    }
    let seen = Seen::of(directory, name)?;
    let flags = match expected {
        Expected::Item(identity) if seen.identity != *identity || seen.is_directory() => {
            return Err(Cause::Changed.into());
        }
        Expected::Within(above) if !seen.is_on_mount_of(above) => {
            return Err(Cause::Mount.into());
        }
        Expected::Within(_) if seen.is_directory() => {
            return Err(Kept::Directory(Box::new(seen)));
        }
        Expected::Item(_) | Expected::Within(_) => AtFlags::empty(),
        Expected::Emptied(before) if !seen.is_same(before) => {
            return Err(Cause::Changed.into());
        }
        // A directory that is not empty, or a mount point, refuses.
        Expected::Emptied(_) => AtFlags::REMOVEDIR,
    };
    match rustix::fs::unlinkat(directory, name, flags) {
        Ok(()) => Ok(seen),
        Err(Errno::BUSY) => Err(Cause::Mount.into()),
        Err(errno) => Err(errno.into()),
    }
}

/// Moves one entry within a file system, and never over another name.
///
/// After the move it looks again, where other processes do not expect the entry. If the
/// entry is not the expected one, it goes back.
///
/// # Errors
///
/// The entry is not the expected one, or the kernel refuses. `EXDEV` is
/// [`Cause::Mount`]: nothing is ever copied. [`Cause::Moved`] says that another entry
/// was moved, and that its old name is taken.
pub(crate) fn rename(
    from: BorrowedFd<'_>,
    name: &[u8],
    expected: &Identity,
    to: BorrowedFd<'_>,
    new_name: &[u8],
) -> Result<(), Cause> {
    if !is_plain_name(name) || !is_plain_name(new_name) {
        return Err(Errno::INVAL.into());
    }
    if Seen::of(from, name)?.identity != *expected {
        return Err(Cause::Changed);
    }
    let flags = RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(from, name, to, new_name, flags)?;
    match Seen::of(to, new_name) {
        Ok(seen) if !seen.identity.is_same_inode(expected) => {
            match rustix::fs::renameat_with(to, new_name, from, name, flags) {
                Ok(()) => Err(Cause::Changed),
                // Its place is taken meanwhile, so it stays.
                Err(_) => Err(Cause::Moved),
            }
        }
        _ => Ok(()),
    }
}
