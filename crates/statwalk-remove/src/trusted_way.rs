// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way to a file that the program writes for its user.
//!
//! A link that another user has placed would lead a writer with more rights to a directory
//! that the other user chooses. The kernel refuses such links in sticky directories alone,
//! and only where `fs.protected_symlinks` is set. So each name is opened by itself, and its
//! owner is looked at by descriptor.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use statwalk_view::{Charset, escape};

use crate::identity::EntryType;
use crate::owner_mode;
use crate::path;
use crate::seen::Seen;

/// As many links as the kernel follows (`MAXSYMLINKS`).
const LINKS_MAX: u32 = 40;

const PLACE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the directory at an absolute path to act in it, and makes missing ones for the user
/// alone.
///
/// # Errors
///
/// A link on the way is another user's: neither the caller's, nor root's, nor of the owner
/// of the directory that holds it. Or the directory is not the caller's or root's.
pub(crate) fn open(directory: &Path, user: u32) -> io::Result<OwnedFd> {
    let mut here = rustix::fs::openat(CWD, "/", PLACE, Mode::empty())?;
    let mut above = Seen::of_open(&here)?;
    // Links are replaced by their text, and the next name is the last one.
    let mut names = names_of(directory);
    let mut links = 0;
    let mut shown = b"/".to_vec();
    while let Some(name) = names.pop() {
        let found = match rustix::fs::openat(&here, &name[..], PLACE, Mode::empty()) {
            Err(Errno::NOENT) => {
                let made = rustix::fs::mkdirat(&here, &name[..], Mode::RWXU);
                if !matches!(made, Ok(()) | Err(Errno::EXIST)) {
                    made?;
                }
                let open = rustix::fs::openat(&here, &name[..], PLACE, Mode::empty())?;
                if made.is_ok() && Seen::of_open(&open)?.is_directory() {
                    owner_mode::grant(&open, Mode::RWXU);
                }
                open
            }
            found => found?,
        };
        let seen = Seen::of_open(&found)?;
        if seen.identity.entry_type != EntryType::Link {
            shown = path::join(&shown, &name);
            (here, above) = (found, seen);
            continue;
        }
        if ![user, 0, above.owner].contains(&seen.owner) {
            return Err(of_another("link", &path::join(&shown, &name)));
        }
        links += 1;
        if links > LINKS_MAX {
            return Err(Errno::LOOP.into());
        }
        let target = rustix::fs::readlinkat(&found, "", Vec::new())?;
        let target = Path::new(OsStr::from_bytes(target.as_bytes()));
        if target.is_absolute() {
            here = rustix::fs::openat(CWD, "/", PLACE, Mode::empty())?;
            above = Seen::of_open(&here)?;
            shown = b"/".to_vec();
        }
        names.extend(names_of(target));
    }
    if !above.is_directory() {
        return Err(Errno::NOTDIR.into());
    }
    match [user, 0].contains(&above.owner) {
        true => Ok(here),
        false => Err(of_another("directory", &shown)),
    }
}

/// The error about an entry of another user.
pub(crate) fn of_another(noun: &str, path: &[u8]) -> io::Error {
    let path = escape(path, Charset::Unicode);
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("the {noun} {path} belongs to another user"),
    )
}

/// The names of a path, the last one first.
fn names_of(path: &Path) -> Vec<Vec<u8>> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_bytes().to_vec()),
        Component::ParentDir => Some(b"..".to_vec()),
        _ => None,
    });
    names.collect()
}
