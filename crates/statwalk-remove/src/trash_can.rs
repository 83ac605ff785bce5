// SPDX-License-Identifier: MIT OR Apache-2.0

//! Moves items to the trash of their own file system, and back.
//!
//! Places and files: the FreeDesktop.org Trash specification, version 1.0. The crate
//! `trash` implements it by paths, and so cannot compare an item at the moment of the move.
//! It also copies items to the home trash where their own file system has none.
//! Here a move is `renameat2` or nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::births::Births;
use crate::door::{self, Expected};
use crate::failure::{Cause, Failure, Operation};
use crate::identity::Identity;
use crate::item::{Found, Item};
use crate::now::Now;
use crate::opening::Opening;
use crate::path;
use crate::refusal::Refusal;
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::trash_info;

/// So many names are tried for an item.
const ATTEMPTS_MAX: u32 = 10_000;

/// `S_ISVTX`: others may not remove the entries of a user.
const STICKY: u32 = 0o1000;

/// Where others may write, a trash is not the user's own.
const OTHERS_WRITE: u32 = 0o022;

/// The user's way to a trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trash {
    home: Vec<u8>,
}

/// The trash on the file system of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrashPlace {
    /// The directory that has `files` and `info`. It is made at the first move.
    pub directory: Vec<u8>,
    /// The mount point, where the trash is not the one of the home.
    pub top: Option<Vec<u8>>,
}

/// An item in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trashed {
    /// Its path before.
    pub path: Vec<u8>,
    /// The trash.
    pub trash: Vec<u8>,
    /// Its name in `files` of the trash.
    pub name: Vec<u8>,
    top: Option<Vec<u8>>,
    /// The item in the trash, just after the move.
    seen: Option<Seen>,
    /// As it was confirmed.
    identity: Identity,
    born: Option<(i64, u32)>,
    directory: (u64, u64),
}

/// The state of an item that is back at its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// Nothing shows a change since the move.
    Unchanged,
    /// It was written to, or its directory is another one than before.
    Changed,
}

impl Trashed {
    /// The path in the trash.
    pub(crate) fn place(&self) -> Vec<u8> {
        path::join(&path::join(&self.trash, b"files"), &self.name)
    }
}

impl Trash {
    /// The argument is the home trash, `$XDG_DATA_HOME/Trash`.
    #[must_use]
    pub fn new(home: impl Into<Vec<u8>>) -> Trash {
        Trash { home: home.into() }
    }

    /// Finds the trash on the item's own file system, and makes nothing.
    ///
    /// # Errors
    ///
    /// No trash is possible on that file system, or the trash there is not safe.
    pub fn place(&self, item: &Item, surroundings: &Surroundings) -> Result<TrashPlace, Refusal> {
        let no_trash = || Refusal::NoTrash {
            path: item.path().to_vec(),
        };
        let (directory, _) = path::split(item.path()).ok_or_else(no_trash)?;
        let open = (Opening::probe().path(directory)).map_err(|_| no_trash())?;
        let own = Seen::of_open(open).map_err(|_| no_trash())?;
        // A rename needs one device and one mount: subvolumes of btrfs have two devices,
        // bind mounts have two mounts.
        let is_near = |other: &Seen| {
            other.identity.device == own.identity.device && other.is_on_mount_of(&own)
        };
        let unsafe_trash = |trash: &[u8]| Refusal::UnsafeTrash {
            path: item.path().to_vec(),
            trash: trash.to_vec(),
        };
        let user = surroundings.user;
        if let Some(near_home) = nearest(&self.home)
            && is_near(&near_home)
        {
            if near_home.owner != user {
                return Err(unsafe_trash(&self.home));
            }
            return Ok(TrashPlace {
                directory: self.home.clone(),
                top: None,
            });
        }
        let mut mounts = surroundings.mounts.iter().rev();
        let mount = mounts.find(|mount| Some(mount.id) == own.mount);
        let top = mount.ok_or_else(no_trash)?.point.clone();
        let at_top = |name: &[u8]| Seen::of(CWD, &path::join(&top, name)).ok();
        if !at_top(b".").is_some_and(|seen| is_near(&seen)) {
            return Err(no_trash());
        }
        let shared = at_top(b".Trash")
            .filter(|seen| seen.is_directory() && seen.mode & STICKY != 0 && is_near(seen));
        let name = match shared {
            Some(_) => format!(".Trash/{user}"),
            None => format!(".Trash-{user}"),
        };
        let directory = path::join(&top, name.as_bytes());
        match Seen::of(CWD, &directory) {
            Err(Errno::NOENT) => {}
            Ok(seen) if is_safe(&seen, user) && is_near(&seen) => {}
            _ => return Err(unsafe_trash(&directory)),
        }
        Ok(TrashPlace {
            directory,
            top: Some(top),
        })
    }

    /// Moves an item, if it is still the confirmed one.
    pub(crate) fn take(
        &self,
        item: &Item,
        surroundings: &Surroundings,
        now: Now,
    ) -> Result<Trashed, Cause> {
        let place = self.place(item, surroundings)?;
        let name = item.name();
        let Found { base: from, seen } = item.find(Opening::probe())?;
        let directory = Seen::of_open(&from)?.identity;
        let Rooms { files, info } = Rooms::open(&place, surroundings.user)
            .map_err(|cause| refuse_unsafe(cause, item, &place))?;
        let original = match &place.top {
            Some(top) if top != b"/" => &item.path()[top.len() + 1..],
            Some(_) => &item.path()[1..],
            None => item.path(),
        };
        let text = trash_info::text(original, now);
        for attempt in 1..=ATTEMPTS_MAX {
            let new_name = trash_info::name_in_trash(name, attempt);
            let info_name = [&new_name[..], trash_info::ENDING].concat();
            let written = match write_new(&info, &info_name, &text) {
                Err(Errno::EXIST) => continue,
                other => other?,
            };
            let moved = door::rename(
                from.as_fd(),
                name,
                item.identity(),
                files.as_fd(),
                &new_name,
            );
            let cause = match moved {
                Ok(()) => {
                    return Ok(Trashed {
                        seen: Seen::of(&files, &new_name).ok(),
                        path: item.path().to_vec(),
                        trash: place.directory,
                        name: new_name,
                        top: place.top,
                        identity: *item.identity(),
                        born: item.born(),
                        directory: (directory.device, directory.inode),
                    });
                }
                Err(cause) => cause,
            };
            if cause == Cause::Moved {
                // The line says where the entry belongs.
                return Err(cause);
            }
            // The line about an item that is not there; the first error counts.
            let _ = door::remove(info.as_fd(), &info_name, &Expected::Item(&written));
            match cause {
                Cause::Errno(number) if number == Errno::EXIST.raw_os_error() => {}
                Cause::Mount => {
                    let path = item.path().to_vec();
                    let is_on_overlay = Births::of(&from).is_of_overlay();
                    return Err(match is_on_overlay && seen.is_directory() {
                        true => Refusal::LowerLayer { path },
                        false => Refusal::NoTrash { path },
                    }
                    .into());
                }
                cause => return Err(cause),
            }
        }
        Err(Errno::EXIST.into())
    }
}

/// Moves an item from the trash back to its path, never over another entry.
///
/// # Errors
///
/// The path is taken, its directory is gone, or the item is no longer in the trash. Another
/// entry that has its name there stays there.
pub fn restore(trashed: &Trashed) -> Result<Restored, Failure> {
    restore_item(trashed).map_err(|cause| Failure {
        path: trashed.path.clone(),
        operation: Operation::Restore,
        cause,
    })
}

fn restore_item(trashed: &Trashed) -> Result<Restored, Cause> {
    let place = TrashPlace {
        directory: trashed.trash.clone(),
        top: trashed.top.clone(),
    };
    let rooms = Rooms::open(&place, rustix::process::geteuid().as_raw())?;
    let (directory, name) = path::split(&trashed.path).ok_or(Errno::INVAL)?;
    let to = Opening::probe().path(directory)?;
    // The modification time may be newer: programs can write to what lies in the trash.
    let seen = match Seen::of(&rooms.files, &trashed.name) {
        Err(Errno::NOENT) => return Err(Cause::NotInTrash),
        seen => seen?,
    };
    // The trash can be emptied meanwhile, and the number of the inode given to another.
    let is_born_then = match (trashed.born, seen.born) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    if !is_born_then || !seen.identity.is_same_inode(&trashed.identity) {
        return Err(Cause::Replaced);
    }
    let directory = Seen::of_open(&to)?.identity;
    let is_same_directory = trashed.directory == (directory.device, directory.inode);
    let is_unchanged = is_same_directory && trashed.seen.is_some_and(|then| then.is_like(&seen));
    door::rename(
        rooms.files.as_fd(),
        &trashed.name,
        &seen.identity,
        to.as_fd(),
        name,
    )?;
    let info_name = [&trashed.name[..], trash_info::ENDING].concat();
    if let Ok(info) = Seen::of(&rooms.info, &info_name) {
        // A line without its item harms nobody.
        let expected = Expected::Item(&info.identity);
        let _ = door::remove(rooms.info.as_fd(), &info_name, &expected);
    }
    Ok(match is_unchanged {
        true => Restored::Unchanged,
        false => Restored::Changed,
    })
}

/// The two directories of a trash.
struct Rooms {
    files: OwnedFd,
    info: OwnedFd,
}

impl Rooms {
    /// Opens them, and makes the missing ones for the user alone.
    fn open(place: &TrashPlace, user: u32) -> Result<Rooms, Cause> {
        let trash = match &place.top {
            None => {
                // A link to a trash in the home is the user's own choice.
                make_all(&place.directory)?;
                open_directory(CWD, &place.directory, OFlags::empty())?
            }
            Some(top) => at_top(top, &place.directory[top.len()..])?,
        };
        if !is_safe(&Seen::of_open(&trash)?, user) {
            return Err(Errno::PERM.into());
        }
        let room = |name: &[u8]| -> Result<OwnedFd, Cause> {
            match rustix::fs::mkdirat(&trash, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            let room = open_directory(&trash, name, OFlags::NOFOLLOW)?;
            match Seen::of_open(&room)?.owner == user {
                true => Ok(room),
                false => Err(Errno::PERM.into()),
            }
        };
        Ok(Rooms {
            files: room(b"files")?,
            info: room(b"info")?,
        })
    }
}

/// Opens `.Trash/NUMBER` or `.Trash-NUMBER` at a mount point, where others may write, and
/// makes the last directory.
fn at_top(top: &[u8], names: &[u8]) -> Result<OwnedFd, Cause> {
    let mut here = Opening::probe().path(top)?;
    let names: Vec<&[u8]> = (names.split(|&byte| byte == b'/'))
        .filter(|name| !name.is_empty())
        .collect();
    for (index, name) in names.iter().enumerate() {
        let is_last = index + 1 == names.len();
        if is_last {
            match rustix::fs::mkdirat(&here, *name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        here = open_directory(&here, name, OFlags::NOFOLLOW)?;
        if !is_last && Seen::of_open(&here)?.mode & STICKY == 0 {
            return Err(Errno::PERM.into());
        }
    }
    Ok(here)
}

fn refuse_unsafe(cause: Cause, item: &Item, place: &TrashPlace) -> Cause {
    match cause {
        Cause::Errno(number) if number == Errno::PERM.raw_os_error() => Refusal::UnsafeTrash {
            path: item.path().to_vec(),
            trash: place.directory.clone(),
        }
        .into(),
        cause => cause,
    }
}

fn is_safe(seen: &Seen, user: u32) -> bool {
    seen.is_directory() && seen.owner == user && seen.mode & OTHERS_WRITE == 0
}

fn open_directory(from: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(from, name, flags, Mode::empty())
}

/// Makes a directory and the missing ones above.
fn make_all(directory: &[u8]) -> Result<(), Errno> {
    use std::os::unix::fs::DirBuilderExt;
    let directory = Path::new(OsStr::from_bytes(directory));
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    made.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// The directory itself, or the nearest one above that exists. Links are followed.
fn nearest(directory: &[u8]) -> Option<Seen> {
    let directory = Path::new(OsStr::from_bytes(directory));
    let open = directory.ancestors().find_map(|above| {
        open_directory(CWD, above.as_os_str().as_bytes(), OFlags::empty()).ok()
    })?;
    Seen::of_open(open).ok()
}

fn write_new(directory: impl AsFd, name: &[u8], text: &[u8]) -> Result<Identity, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    let written = file.write_all(text);
    let identity = Seen::of_open(&file)?.identity;
    match written {
        Ok(()) => Ok(identity),
        Err(error) => {
            // The first error counts.
            let _ = door::remove(directory.as_fd(), name, &Expected::Item(&identity));
            Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
        }
    }
}
