// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one door: the only calls that take a name away.
//!
//! Each looks at the entry by its directory's descriptor, compares it with the expected
//! one, and acts at once. `cargo xtask tidy` keeps these calls out of all other files of
//! the product.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;
use statwalk_sys::user;

use crate::failure::Cause;
use crate::identity::Identity;
use crate::path::is_plain_name;
use crate::recognition::hold;
use crate::seen::Seen;

/// The entry that may be removed.
pub(crate) enum Expected<'a> {
    /// An item that is no directory: all of its identity must be the confirmed one.
    Item(&'a Identity),
    /// Any entry that is no directory, on the mount of the directory that holds it.
    Within(&'a Seen),
    /// This directory, which is empty.
    Emptied(&'a Seen),
    /// An entry [like](Seen::is_alike) this one, where inode numbers move. A directory is
    /// empty.
    Named(&'a Seen),
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
    expected: &Expected<'_>,
) -> Result<Seen, Kept> {
    let (seen, flags) = compare(directory, name, expected)?;
    unlink(directory, name, flags)?;
    Ok(seen)
}

/// Removes the name of a confirmed item, which cannot be another entry by then.
///
/// The entry first gets a name that no other process knows. If it is not the expected one
/// there, it gets its own name back. Where the entry cannot be renamed, this is
/// [`remove`]: the disk is full, the file system lacks `RENAME_NOREPLACE`, or a directory
/// is one of a lower layer.
///
/// # Errors
///
/// The entry is not the expected one, or the kernel refuses. Then the name is still there.
/// [`Cause::Moved`] says that its old name is taken.
pub(crate) fn remove_item(
    directory: BorrowedFd<'_>,
    name: &[u8],
    expected: &Expected<'_>,
) -> Result<Seen, Kept> {
    let (seen, flags) = compare(directory, name, expected)?;
    let own = format!(".statwalk-{}", random_part()).into_bytes();
    let rename = |from: &[u8], to: &[u8]| {
        rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE)
    };
    match rename(name, &own) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(Cause::Changed.into()),
        Err(_) => return remove(directory, name, expected),
    }
    let is_it = |moved: &Seen| match expected {
        Expected::Named(_) => moved.is_alike(&seen),
        _ => moved.identity.is_same_inode(&seen.identity),
    };
    let removed = match Seen::of(directory, &own) {
        Ok(moved) if is_it(&moved) => unlink(directory, &own, flags),
        Ok(_) => Err(Cause::Changed),
        Err(errno) => Err(errno.into()),
    };
    match removed {
        Ok(()) => Ok(seen),
        Err(cause) => match rename(&own, name) {
            Ok(()) => Err(cause.into()),
            Err(_) => Err(Cause::Moved.into()),
        },
    }
}

/// The part of a name that nobody can expect: 16 digits.
pub(crate) fn random_part() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{random:016x}")
}

/// Looks at an entry, which must be the expected one. Answers with the flags that remove
/// its name.
fn compare(
    directory: BorrowedFd<'_>,
    name: &[u8],
    expected: &Expected<'_>,
) -> Result<(Seen, AtFlags), Kept> {
    if !is_plain_name(name) {
        return Err(Errno::INVAL.into());
    }
    let seen = Seen::of(directory, name)?;
    let flags = match expected {
        Expected::Item(identity) if seen.identity != **identity || seen.is_directory() => {
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
        Expected::Named(before) if !seen.is_alike(before) => {
            return Err(Cause::Changed.into());
        }
        Expected::Named(before) if before.is_directory() => AtFlags::REMOVEDIR,
        Expected::Named(_) => AtFlags::empty(),
    };
    Ok((seen, flags))
}

fn unlink(directory: BorrowedFd<'_>, name: &[u8], flags: AtFlags) -> Result<(), Cause> {
    match rustix::fs::unlinkat(directory, name, flags) {
        Ok(()) => Ok(()),
        Err(Errno::BUSY) => Err(Cause::Mount),
        Err(errno) => Err(errno.into()),
    }
}

/// Says whether a file system has no renames with flags: NFS, sshfs, ntfs-3g, mergerfs and
/// most others in user space (renameat2(2), `EINVAL`).
///
/// The kernel says the same of a directory that would move into itself. No rename moves it.
pub(crate) fn lacks_flags(cause: &Cause) -> bool {
    let lacking = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP];
    lacking.map(Cause::from).contains(cause)
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
    step();
    rustix::fs::renameat_with(from, name, to, new_name, flags)?;
    step();
    match Seen::of(to, new_name) {
        Ok(seen) if !seen.identity.is_same_inode(expected) => {
            step();
            match rustix::fs::renameat_with(to, new_name, from, name, flags) {
                Ok(()) => Err(Cause::Changed),
                // Its place is taken meanwhile, so it stays.
                Err(_) => Err(Cause::Moved),
            }
        }
        _ => Ok(()),
    }
}

/// Moves one entry into a directory that the user alone can write, where the file system
/// [lacks flags](lacks_flags). Answers with its attributes there.
///
/// `new_name` has a random part, so nobody else's entry is there. A descriptor from before
/// the move tells whether the entry is the expected one: some unions give a directory
/// another number when it moves. Another entry goes back as by [`rename_out`].
///
/// # Errors
///
/// As those of [`rename`]; `EPERM` where others can write the directory.
pub(crate) fn rename_in(
    from: BorrowedFd<'_>,
    name: &[u8],
    expected: &Identity,
    own: BorrowedFd<'_>,
    new_name: &[u8],
) -> Result<Seen, Cause> {
    if !is_plain_name(name) || !is_plain_name(new_name) {
        return Err(Errno::INVAL.into());
    }
    if !Seen::of_open(own)?.is_own_of(user::effective()?) {
        return Err(Errno::PERM.into());
    }
    step();
    let held = hold(from, name)?;
    if Seen::of_open(&held)?.identity != *expected {
        return Err(Cause::Changed);
    }
    if Seen::of(own, new_name) != Err(Errno::NOENT) {
        return Err(Errno::EXIST.into());
    }
    step();
    rustix::fs::renameat(from, name, own, new_name)?;
    step();
    match (Seen::of_open(&held), Seen::of(own, new_name)) {
        (Ok(held), Ok(moved)) if held.is_same_inode(&moved) => Ok(moved),
        (_, Ok(moved)) => match rename_out(own, new_name, &moved, from, name) {
            Ok(()) => Err(Cause::Changed),
            Err(_) => Err(Cause::Moved),
        },
        (_, Err(_)) => Err(Cause::Moved),
    }
}

/// Moves one entry out of a directory that the user alone can write to a name that is free,
/// where the file system [lacks flags](lacks_flags).
///
/// A link takes no name that is taken. A directory takes the place of an empty one that this
/// call has made; the kernel refuses where that is no longer empty, or no directory.
///
/// # Errors
///
/// The entry is not the expected one, others can write the directory, the name is taken, or
/// the file system has no links. Then the entry is where it was.
pub(crate) fn rename_out(
    own: BorrowedFd<'_>,
    own_name: &[u8],
    expected: &Seen,
    to: BorrowedFd<'_>,
    name: &[u8],
) -> Result<(), Cause> {
    if !is_plain_name(own_name) || !is_plain_name(name) {
        return Err(Errno::INVAL.into());
    }
    if !Seen::of_open(own)?.is_own_of(user::effective()?) {
        return Err(Errno::PERM.into());
    }
    let held = hold(own, own_name)?;
    if !Seen::of_open(&held)?.is_same_inode(expected) {
        return Err(Cause::Replaced);
    }
    if !expected.is_directory() {
        step();
        rustix::fs::linkat(own, own_name, to, name, AtFlags::empty())?;
        step();
        // No other process writes here, and the link has shown where this name leads.
        return unlink(own, own_name, AtFlags::empty());
    }
    step();
    rustix::fs::mkdirat(to, name, Mode::RWXU)?;
    let made = Seen::of(to, name)?;
    step();
    let Err(errno) = rustix::fs::renameat(own, own_name, to, name) else {
        return Ok(());
    };
    step();
    // The first error counts.
    let _ = remove(to, name, &Expected::Emptied(&made));
    Err(errno.into())
}

/// Where tests let another process act: before a call that changes a name, and after it.
#[cfg(not(test))]
fn step() {}

#[cfg(test)]
use tests::step;

#[cfg(test)]
mod tests;
