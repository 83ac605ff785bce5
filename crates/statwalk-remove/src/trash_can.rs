// SPDX-License-Identifier: MIT OR Apache-2.0

//! Moves items to the trash of their own file system, and back.
//!
//! Places and files: the FreeDesktop.org Trash specification, version 1.0. The crate
//! `trash` implements it by paths, and so cannot compare an item at the moment of the move.
//! It also copies items to the home trash where their own file system has none.
//! Here a move is one rename or nothing.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use statwalk_sys::user;

use crate::births::Births;
use crate::door::{self, Expected};
use crate::failure::{Cause, Failure, Operation};
use crate::identity::Identity;
use crate::item::{Found, Item};
use crate::mount_index::MountIndex;
use crate::now::Now;
use crate::opening::Opening;
use crate::owner_mode;
use crate::path;
use crate::refusal::Refusal;
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::trash_info;

/// So many names are tried for an item: thousands of marked files can have one name.
const NUMBERED_MAX: u32 = 16;
const ATTEMPTS_MAX: u32 = NUMBERED_MAX + 16;

/// `S_ISVTX`: others may not remove the entries of a user.
const STICKY: u32 = 0o1000;

/// The user's way to a trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trash {
    home: Vec<u8>,
}

/// The trash on the file system of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrashPlace {
    /// The directory that has `files` and `info`. A trial or a move makes it.
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
    /// As it was confirmed; where a move gives another inode number, as it is in the trash.
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

    /// Finds the trash of each item and tries it: makes it, moves a file within it, and takes
    /// away all that it has made. Answers with the directories of the trashes.
    ///
    /// # Errors
    ///
    /// No trash is possible on a file system, it does not work there, others can write it, or
    /// an item holds it.
    pub fn try_for(
        &self,
        items: &[Item],
        surroundings: &Surroundings,
    ) -> Result<Vec<Vec<u8>>, Refusal> {
        let index = MountIndex::of(&surroundings.mounts);
        let mut places: Vec<(TrashPlace, &Item)> = Vec::new();
        let (mut known, mut by_id) = (HashSet::new(), HashMap::new());
        for (number, item) in items.iter().enumerate() {
            let place = self.place_of(item, surroundings, &index)?;
            if known.insert(place.clone()) {
                places.push((place, item));
            }
            let identity = item.identity();
            by_id
                .entry((identity.device, identity.inode))
                .or_insert(number);
        }
        // A trial changes times, also those of an item that holds the trash.
        for (place, _) in &places {
            let way = ids_on_way(&place.directory);
            if let Some(first) = way.iter().filter_map(|id| by_id.get(id)).min() {
                let item = &items[*first];
                return Err(Refusal::HoldsTrash {
                    path: item.path().to_vec(),
                    trash: place.directory.clone(),
                });
            }
        }
        for (place, item) in &places {
            let mut rooms = Rooms::open(place, surroundings.user)
                .map_err(|fault| fault.refusal(item, place))?;
            let tried = rooms.try_move();
            rooms.unmake();
            tried.map_err(|errno| Fault::Failed(errno).refusal(item, place))?;
        }
        let mut directories: Vec<_> = (places.into_iter())
            .map(|(place, _)| place.directory)
            .collect();
        directories.sort();
        Ok(directories)
    }

    /// Finds the trash on the item's own file system, and makes nothing.
    ///
    /// # Errors
    ///
    /// No trash is possible on that file system, or the trash there is not safe.
    pub fn place(&self, item: &Item, surroundings: &Surroundings) -> Result<TrashPlace, Refusal> {
        self.place_of(item, surroundings, &MountIndex::of(&surroundings.mounts))
    }

    /// The same, with the places of its mounts.
    pub(crate) fn place_of(
        &self,
        item: &Item,
        surroundings: &Surroundings,
        index: &MountIndex,
    ) -> Result<TrashPlace, Refusal> {
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
        let mount = own.mount;
        let mount = mount.and_then(|id| index.with_id(id, &surroundings.mounts));
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
            Ok(seen) if seen.is_own_of(user) && is_near(&seen) => {}
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
        index: &MountIndex,
        now: Now,
    ) -> Result<Trashed, Cause> {
        let place = self.place_of(item, surroundings, index)?;
        let Found { base: from, seen } = item.find(Opening::probe())?;
        let directory = Seen::of_open(&from)?.identity;
        let mut rooms =
            Rooms::open(&place, surroundings.user).map_err(|fault| fault.refusal(item, &place))?;
        let moved = rooms.take(item, &from, &place, now);
        let (new_name, seen_there, identity) = match moved {
            Ok(moved) => moved,
            Err(cause) => {
                rooms.unmake();
                return Err(match cause {
                    Cause::Mount => {
                        let path = item.path().to_vec();
                        let is_on_overlay = Births::of(&from).is_of_overlay();
                        match is_on_overlay && seen.is_directory() {
                            true => Refusal::LowerLayer { path },
                            false => Refusal::NoTrash { path },
                        }
                        .into()
                    }
                    cause => cause,
                });
            }
        };
        Ok(Trashed {
            seen: seen_there,
            path: item.path().to_vec(),
            trash: place.directory,
            name: new_name,
            top: place.top,
            identity,
            born: item.born(),
            directory: (directory.device, directory.inode),
        })
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
    let rooms = Rooms::open(&place, user::effective()?);
    let mut rooms = rooms.map_err(Cause::from)?;
    let restored = rooms.restore(trashed);
    if restored.is_err() {
        rooms.unmake();
    }
    restored
}

/// The reason why a trash cannot be opened.
enum Fault {
    /// It is another user's, or others can write it.
    Unsafe,
    Failed(Errno),
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Fault {
        Fault::Failed(errno)
    }
}

impl From<Fault> for Cause {
    fn from(fault: Fault) -> Cause {
        match fault {
            Fault::Unsafe => Errno::PERM.into(),
            Fault::Failed(errno) => errno.into(),
        }
    }
}

impl Fault {
    fn refusal(self, item: &Item, place: &TrashPlace) -> Refusal {
        let path = item.path().to_vec();
        let trash = place.directory.clone();
        match self {
            Fault::Unsafe => Refusal::UnsafeTrash { path, trash },
            Fault::Failed(errno) => Refusal::TrashFails {
                path,
                trash,
                errno: errno.raw_os_error(),
            },
        }
    }
}

/// The two directories of a trash.
struct Rooms {
    files: OwnedFd,
    info: OwnedFd,
    made: Made,
}

/// Directories that were made, each with the one that holds it and its name.
#[derive(Default)]
struct Made(Vec<(OwnedFd, Vec<u8>, Seen)>);

impl Made {
    /// Makes a directory for the user alone, or finds it. Opens it.
    fn directory(
        &mut self,
        above: impl AsFd,
        name: &[u8],
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        let made = rustix::fs::mkdirat(&above, name, Mode::RWXU);
        if !matches!(made, Ok(()) | Err(Errno::EXIST)) {
            made?;
        }
        let flags = match made {
            Ok(()) => OFlags::NOFOLLOW,
            Err(_) => flags,
        };
        let open = open_directory(&above, name, flags)?;
        if made.is_ok() {
            let above = above.as_fd().try_clone_to_owned();
            let above = above.map_err(|_| Errno::MFILE)?;
            owner_mode::grant(&open, Mode::RWXU);
            self.0.push((above, name.to_vec(), Seen::of_open(&open)?));
        }
        Ok(open)
    }

    /// Takes away those that are empty, the last one first.
    fn unmake(&mut self) {
        while let Some((above, name, seen)) = self.0.pop() {
            // An empty directory harms nobody; the first error counts.
            let _ = door::remove(above.as_fd(), &name, &Expected::Emptied(&seen));
        }
    }
}

impl Rooms {
    /// Opens them, and makes the missing ones for the user alone. Nothing stays of a trash
    /// that fails.
    fn open(place: &TrashPlace, user: u32) -> Result<Rooms, Fault> {
        let mut made = Made::default();
        let opened = Rooms::open_both(place, user, &mut made);
        match opened {
            Ok((files, info)) => Ok(Rooms { files, info, made }),
            Err(fault) => {
                made.unmake();
                Err(fault)
            }
        }
    }

    fn open_both(
        place: &TrashPlace,
        user: u32,
        made: &mut Made,
    ) -> Result<(OwnedFd, OwnedFd), Fault> {
        let trash = match &place.top {
            // A link to a trash in the home is the user's own choice.
            None => make_all(&place.directory, made)?,
            Some(top) => at_top(top, &place.directory[top.len()..], made)?,
        };
        if !Seen::of_open(&trash)?.is_own_of(user) {
            return Err(Fault::Unsafe);
        }
        let mut room = |name: &[u8]| -> Result<OwnedFd, Fault> {
            let room = made.directory(&trash, name, OFlags::NOFOLLOW)?;
            match Seen::of_open(&room)?.owner == user {
                true => Ok(room),
                false => Err(Fault::Unsafe),
            }
        };
        Ok((room(b"files")?, room(b"info")?))
    }

    /// Takes away the directories that were made for this trash, if they are empty.
    fn unmake(&mut self) {
        self.made.unmake();
    }

    /// Writes a file as a move does, moves it as an item, and removes it.
    fn try_move(&self) -> Result<(), Errno> {
        let name = format!(".statwalk-{}", door::random_part()).into_bytes();
        let text = trash_info::text(&name, Now::default());
        write_new(&self.info, &name, &text)?;
        // A network file system can set the times when the file is closed.
        let probe = Seen::of(&self.info, &name)?.identity;
        let (files, info) = (self.files.as_fd(), self.info.as_fd());
        let tried = match door::rename(info, &name, &probe, files, &name) {
            Err(cause) if door::lacks_flags(&cause) => {
                door::rename_in(info, &name, &probe, files, &name).map(drop)
            }
            tried => tried,
        };
        for room in [files, info] {
            discard(room, &name);
        }
        tried.map_err(|cause| match cause {
            Cause::Errno(number) => Errno::from_raw_os_error(number),
            Cause::Mount => Errno::XDEV,
            _ => Errno::IO,
        })
    }

    /// Moves an item in. Answers with its name, with its attributes there, and with the
    /// identity by which it is known again.
    fn take(
        &self,
        item: &Item,
        from: &OwnedFd,
        place: &TrashPlace,
        now: Now,
    ) -> Result<(Vec<u8>, Option<Seen>, Identity), Cause> {
        let name = item.name();
        let original = match &place.top {
            Some(top) if top != b"/" => &item.path()[top.len() + 1..],
            Some(_) => &item.path()[1..],
            None => item.path(),
        };
        let text = trash_info::text(original, now);
        let (from, files) = (from.as_fd(), self.files.as_fd());
        let mut has_flags = true;
        for attempt in 1..=ATTEMPTS_MAX {
            let new_name = match has_flags && attempt <= NUMBERED_MAX {
                true => trash_info::name_in_trash(name, attempt),
                // Nobody else has this name: without flags, the move replaces nothing.
                false => trash_info::name_with(name, &format!(".{}", door::random_part())),
            };
            let info_name = [&new_name[..], trash_info::ENDING].concat();
            match write_new(&self.info, &info_name, &text) {
                Err(Errno::EXIST) => continue,
                other => other?,
            }
            let moved = match has_flags {
                true => door::rename(from, name, item.identity(), files, &new_name)
                    .map(|()| (Seen::of(files, &new_name).ok(), *item.identity())),
                false => door::rename_in(from, name, item.identity(), files, &new_name)
                    .map(|seen| (Some(seen), seen.identity)),
            };
            let cause = match moved {
                Ok((seen, identity)) => return Ok((new_name, seen, identity)),
                Err(cause) => cause,
            };
            if cause == Cause::Moved {
                // The line says where the entry belongs.
                let place = path::join(&path::join(&place.directory, b"files"), &new_name);
                return Err(Cause::OtherInTrash { place });
            }
            // The line about an item that is not there.
            discard(self.info.as_fd(), &info_name);
            match cause {
                Cause::Errno(number) if number == Errno::EXIST.raw_os_error() => {}
                cause if has_flags && door::lacks_flags(&cause) => has_flags = false,
                cause => return Err(cause),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Moves an item out, to its path.
    fn restore(&self, trashed: &Trashed) -> Result<Restored, Cause> {
        let (directory, name) = path::split(&trashed.path).ok_or(Errno::INVAL)?;
        let to = Opening::probe().path(directory)?;
        // The modification time may be newer: programs can write to what lies in the trash.
        let seen = match Seen::of(&self.files, &trashed.name) {
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
        let is_unchanged =
            is_same_directory && trashed.seen.is_some_and(|then| then.is_like(&seen));
        let files = self.files.as_fd();
        let moved = match door::rename(files, &trashed.name, &seen.identity, to.as_fd(), name) {
            Err(cause) if door::lacks_flags(&cause) => {
                door::rename_out(files, &trashed.name, &seen, to.as_fd(), name)
            }
            moved => moved,
        };
        moved.map_err(|cause| match cause {
            Cause::Errno(errno) => Cause::StaysInTrash {
                place: trashed.place(),
                errno,
            },
            cause => cause,
        })?;
        let info_name = [&trashed.name[..], trash_info::ENDING].concat();
        // A line without its item harms nobody.
        discard(self.info.as_fd(), &info_name);
        Ok(match is_unchanged {
            true => Restored::Unchanged,
            false => Restored::Changed,
        })
    }
}

/// Opens `.Trash/NUMBER` or `.Trash-NUMBER` at a mount point, where others may write, and
/// makes the last directory.
fn at_top(top: &[u8], names: &[u8], made: &mut Made) -> Result<OwnedFd, Fault> {
    let mut here = Opening::probe().path(top)?;
    let names: Vec<&[u8]> = (names.split(|&byte| byte == b'/'))
        .filter(|name| !name.is_empty())
        .collect();
    for (index, name) in names.iter().enumerate() {
        if index + 1 == names.len() {
            return Ok(made.directory(&here, name, OFlags::NOFOLLOW)?);
        }
        here = open_directory(&here, name, OFlags::NOFOLLOW)?;
        if Seen::of_open(&here)?.mode & STICKY == 0 {
            return Err(Fault::Unsafe);
        }
    }
    Ok(here)
}

fn open_directory(from: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(from, name, flags, Mode::empty())
}

/// Opens a directory; makes it and the missing ones above. Links are followed.
fn make_all(directory: &[u8], made: &mut Made) -> Result<OwnedFd, Errno> {
    let mut missing = Vec::new();
    let mut above = Path::new(OsStr::from_bytes(directory));
    let mut here = loop {
        match open_directory(CWD, above.as_os_str().as_bytes(), OFlags::empty()) {
            Ok(open) => break open,
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        let (Some(name), Some(parent)) = (above.file_name(), above.parent()) else {
            return Err(Errno::NOENT);
        };
        missing.push(name.as_bytes());
        above = parent;
    };
    for name in missing.into_iter().rev() {
        here = made.directory(&here, name, OFlags::empty())?;
    }
    Ok(here)
}

/// The inodes of a trash, of its rooms, and of the directories that hold it.
fn ids_on_way(trash: &[u8]) -> Vec<(u64, u64)> {
    let trash = Path::new(OsStr::from_bytes(trash));
    let exists = trash
        .ancestors()
        .find_map(|above| above.canonicalize().ok());
    let exists = exists.unwrap_or_default();
    let rooms = [trash.join("files"), trash.join("info")];
    let all = exists.ancestors().chain(rooms.iter().map(|room| &**room));
    all.filter_map(|path| Seen::of(CWD, path.as_os_str().as_bytes()).ok())
        .map(|seen| (seen.identity.device, seen.identity.inode))
        .collect()
}

/// The directory itself, or the nearest one above that exists. Links are followed.
fn nearest(directory: &[u8]) -> Option<Seen> {
    let directory = Path::new(OsStr::from_bytes(directory));
    let open = directory.ancestors().find_map(|above| {
        open_directory(CWD, above.as_os_str().as_bytes(), OFlags::empty()).ok()
    })?;
    Seen::of_open(open).ok()
}

fn write_new(directory: impl AsFd, name: &[u8], text: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    owner_mode::grant(&file, Mode::RUSR | Mode::WUSR);
    let written = file.write_all(text);
    drop(file);
    written.map_err(|error| {
        discard(directory.as_fd(), name);
        Errno::from_io_error(&error).unwrap_or(Errno::IO)
    })
}

/// Removes a file that a trash has made. The first error counts, so this has none.
fn discard(directory: BorrowedFd<'_>, name: &[u8]) {
    if let Ok(seen) = Seen::of(directory, name) {
        let _ = door::remove(directory, name, &Expected::Item(&seen.identity));
    }
}
