// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds a directory again that was closed to stay within the bound.
//!
//! Three ways, cheapest first: the worker still has it; it lies above the
//! directory that the worker has, some `..` up; it is reached from the nearest
//! ancestor that is open. Whichever way, device and inode number must be those
//! that were seen before, so a tree that was rearranged meanwhile cannot lead
//! the scan elsewhere.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::Lister;
use super::open_dir::OpenDir;
use crate::directory::{Dir, Place};
use crate::entry::FileId;
use crate::source::posix::open;
use crate::source::posix::open::NotOpened;
use crate::source::posix::stat::{self, uninterrupted};
use crate::tally;

/// How many bytes of path one call may carry: below `PATH_MAX`, limits.h.
const PATH_BYTES_MAX: usize = 4000;

/// Up to how many levels `..` is tried before the way from above.
const LEVELS_UP_MAX: usize = 64;

const SEARCH: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Lister {
    /// A descriptor of a directory that is not open.
    ///
    /// It stays with the worker, for the next of its subdirectories.
    pub(crate) fn reopen(&mut self, dir: &Arc<Dir>) -> Result<OwnedFd, Errno> {
        if let Some((kept, fd)) = &self.kept
            && Arc::ptr_eq(kept, dir)
        {
            return duplicate(fd.as_fd());
        }
        let fd = match self.found_from_below(dir) {
            Some(fd) => fd,
            None => self.found_from_above(dir)?,
        };
        let copy = duplicate(fd.as_fd())?;
        self.kept = Some((Arc::clone(dir), fd));
        Ok(copy)
    }

    /// Opens a directory, to read it, that was opened before.
    ///
    /// # Errors
    ///
    /// `ENOENT` where something else stands in its place.
    pub(crate) fn open_again(
        &mut self,
        dir: &OpenDir,
        identity: Option<FileId>,
    ) -> Result<OwnedFd, Errno> {
        let opened = match &dir.place {
            Place::Root(path) => open::root(path, &self.terms),
            Place::Child(parent, offset) => {
                let base = self.reopen(parent)?;
                let (base, name) = (base.as_fd(), parent.child_name(*offset));
                match open::child(base, name, &self.terms) {
                    Err(NotOpened::OtherMount | NotOpened::Automount) => {
                        open::across(base, name, &self.terms)
                    }
                    Err(NotOpened::NotADirectory(_)) if dir.followed => {
                        open::through_links(base, name, &self.terms)
                    }
                    opened => opened,
                }
            }
        };
        let fd = opened.map_err(|refused| match refused {
            NotOpened::Gone(errno) | NotOpened::Refused(errno) => errno,
            NotOpened::NotADirectory(_) | NotOpened::OtherMount | NotOpened::Automount => {
                Errno::NOENT
            }
        })?;
        let found = stat::by_descriptor(fd.as_fd(), open::IDENTITY)?;
        match identity == Some(stat::file_id(&found)) {
            true => Ok(fd),
            false => Err(Errno::NOENT),
        }
    }

    /// Goes up from the directory that the worker has.
    fn found_from_below(&self, dir: &Arc<Dir>) -> Option<OwnedFd> {
        let (kept, fd) = self.kept.as_ref()?;
        let mut levels = 0;
        let mut above = Arc::clone(kept);
        while !Arc::ptr_eq(&above, dir) {
            above = Arc::clone(above.place.parent()?);
            levels += 1;
            if levels > LEVELS_UP_MAX {
                return None;
            }
        }
        let path = vec!["..".to_owned(); levels].join("/");
        let found = uninterrupted(|| openat(fd, path.as_str(), SEARCH, Mode::empty())).ok()?;
        is_same(&found, dir).then_some(found)
    }

    /// Goes down from the nearest ancestor that is open.
    fn found_from_above(&self, dir: &Arc<Dir>) -> Result<OwnedFd, Errno> {
        let mut way = Vec::new();
        let mut above = dir;
        let mut fd = loop {
            way.push(above);
            match &above.place {
                Place::Root(path) => {
                    way.pop();
                    // Where links are followed, a root can be one.
                    let flags = match self.terms.follows {
                        true => SEARCH.difference(OFlags::NOFOLLOW),
                        false => SEARCH,
                    };
                    break uninterrupted(|| openat(CWD, &**path, flags, Mode::empty()))?;
                }
                Place::Child(parent, _) => {
                    let held = parent.held.get().and_then(Weak::upgrade);
                    if let Some(open) = held.as_ref().and_then(|held| held.handle.get()) {
                        break duplicate(open)?;
                    }
                    above = parent;
                }
            }
        };
        // Names of one mount go into one call, as many as fit.
        let mut path = Vec::new();
        while let Some(next) = way.pop() {
            let Place::Child(parent, offset) = &next.place else {
                continue;
            };
            let name = parent.child_name(*offset).to_bytes();
            let crosses = parent.mount.id != next.mount.id || next.followed;
            let full = path.len() + name.len() + 1 > PATH_BYTES_MAX;
            if !path.is_empty() && (crosses || full || !self.terms.has_openat2) {
                fd = self.step(fd.as_fd(), &path, false)?;
                path.clear();
            }
            if crosses {
                fd = match next.followed {
                    true => through_link(fd.as_fd(), name)?,
                    false => self.step(fd.as_fd(), name, true)?,
                };
                continue;
            }
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        if !path.is_empty() {
            fd = self.step(fd.as_fd(), &path, false)?;
        }
        // Something else stands in its place: for this scan it is gone.
        if is_same(&fd, dir) {
            Ok(fd)
        } else {
            Err(Errno::NOENT)
        }
    }

    fn step(&self, from: BorrowedFd<'_>, path: &[u8], crosses: bool) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        uninterrupted(|| {
            if crosses || !self.terms.has_openat2 {
                openat(from, path, SEARCH, Mode::empty())
            } else {
                openat2(from, path, SEARCH, Mode::empty(), resolve)
            }
        })
    }
}

fn through_link(from: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = SEARCH.difference(OFlags::NOFOLLOW);
    uninterrupted(|| openat(from, name, flags, Mode::empty()))
}

fn duplicate(fd: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    // And the call that closes it.
    tally::count();
    tally::count();
    fcntl_dupfd_cloexec(fd, 0)
}

fn is_same(fd: &OwnedFd, dir: &Dir) -> bool {
    let mask = open::IDENTITY;
    match (stat::by_descriptor(fd.as_fd(), mask), dir.identity) {
        (Ok(found), Some(expected)) => stat::file_id(&found) == expected,
        _ => false,
    }
}
