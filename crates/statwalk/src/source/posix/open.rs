// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opens directories so that nothing can lead a scan astray.
//!
//! A directory is opened relative to its parent's descriptor, never through a
//! symbolic link, and never across a mount unless that was decided.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, StatxFlags, fstatfs, openat, openat2};
use rustix::io::Errno;

use super::stat::{self, uninterrupted};
use super::tally;
use super::terms::Terms;
use crate::directory::{MountMark, Place};
use crate::entry::FileType;
use crate::exclusion::CACHE_TAG;
use crate::mounts;

/// A directory that was opened and about which nothing else is known.
pub(crate) struct Opening {
    pub(crate) fd: OwnedFd,
    pub(crate) place: Place,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    /// The parent's mount; absent where a mount begins here.
    pub(crate) parent_mount: Option<MountMark>,
    /// Whether a symbolic link was followed.
    pub(crate) followed: bool,
    /// Whether it was to be read in place and only the kernel could tell.
    pub(crate) in_place_was_tried: bool,
}

/// Why a directory was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// Nothing has this name.
    Gone(Errno),
    /// Something else has this name.
    NotADirectory,
    /// Something is mounted on it.
    OtherMount,
    /// Any other answer.
    Refused(Errno),
}

impl From<Errno> for NotOpened {
    fn from(errno: Errno) -> NotOpened {
        match errno {
            Errno::NOENT => NotOpened::Gone(errno),
            // O_NOFOLLOW answers ELOOP for a link, with O_DIRECTORY ENOTDIR.
            Errno::NOTDIR | Errno::LOOP => NotOpened::NotADirectory,
            Errno::XDEV => NotOpened::OtherMount,
            _ => NotOpened::Refused(errno),
        }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What tells one directory from another.
pub(crate) const IDENTITY: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO);

/// Opens a root. A trailing slash follows a link, as everywhere.
pub(crate) fn root(path: &CStr, terms: &Terms) -> Result<OwnedFd, NotOpened> {
    if terms.follows {
        return through_links(CWD, path, terms);
    }
    open(terms, |flags| openat(CWD, path, flags, Mode::empty()))
}

/// Opens what a symbolic link leads to.
pub(crate) fn through_links(
    parent: BorrowedFd<'_>,
    name: &CStr,
    terms: &Terms,
) -> Result<OwnedFd, NotOpened> {
    open(terms, |flags| {
        openat(
            parent,
            name,
            flags.difference(OFlags::NOFOLLOW),
            Mode::empty(),
        )
    })
}

/// Opens a subdirectory that lies on the same mount.
pub(crate) fn child(
    parent: BorrowedFd<'_>,
    name: &CStr,
    terms: &Terms,
) -> Result<OwnedFd, NotOpened> {
    if terms.has_openat2 {
        return open(terms, |flags| {
            openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)
        });
    }
    // Before Linux 5.6 the mount must be looked up before the open: opening
    // could wake an automount.
    let mask = stat::directory_mask(terms.wanted);
    let here = stat::by_descriptor(parent, mask)?;
    let there = stat::by_name(parent, name, mask)?;
    if stat::mount_id(&here) != stat::mount_id(&there) || stat::is_idle_automount(&there) {
        return Err(NotOpened::OtherMount);
    }
    across(parent, name, terms)
}

/// Opens a subdirectory, whatever is mounted on it.
pub(crate) fn across(
    parent: BorrowedFd<'_>,
    name: &CStr,
    terms: &Terms,
) -> Result<OwnedFd, NotOpened> {
    open(terms, |flags| openat(parent, name, flags, Mode::empty()))
}

fn open(
    terms: &Terms,
    call: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, NotOpened> {
    if terms.no_atime.load(Ordering::Relaxed) {
        match uninterrupted(|| call(DIRECTORY | OFlags::NOATIME)) {
            // Only the owner may ask for it: open(2).
            Err(Errno::PERM) => terms.no_atime.store(false, Ordering::Relaxed),
            answer => return counted(answer),
        }
    }
    counted(uninterrupted(|| call(DIRECTORY)))
}

/// What is opened is closed by one call more.
fn counted(answer: Result<OwnedFd, Errno>) -> Result<OwnedFd, NotOpened> {
    if answer.is_ok() {
        tally::count();
    }
    answer.map_err(NotOpened::from)
}

/// Whether the kernel has openat2 and lets us call it.
///
/// Linux has it since 5.6; some containers forbid what they do not know.
pub(crate) fn has_openat2() -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    !matches!(
        openat2(CWD, c"/", flags, Mode::empty(), ResolveFlags::NO_XDEV),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL)
    )
}

/// The name of the kernel file system that a directory belongs to, if it does.
pub(crate) fn kernel_file_system(fd: BorrowedFd<'_>) -> Option<&'static str> {
    tally::count();
    let found = fstatfs(fd).ok()?;
    // The type is signed on some architectures; the number is not.
    mounts::kernel_file_system(found.f_type as u64 & 0xffff_ffff)
}

/// Whether a directory is tagged as a cache.
pub(crate) fn is_cache_directory(fd: BorrowedFd<'_>) -> bool {
    read_start(fd, c"CACHEDIR.TAG", CACHE_TAG.len()).is_some_and(|start| start == CACHE_TAG)
}

/// The content of a small regular file in a directory, if there is one.
pub(crate) fn read_small_file(dir: BorrowedFd<'_>, name: &CStr) -> Option<Vec<u8>> {
    const MAX: usize = 4 << 20;
    read_start(dir, name, MAX)
}

fn read_start(dir: BorrowedFd<'_>, name: &CStr, max: usize) -> Option<Vec<u8>> {
    // O_NONBLOCK: a fifo of this name must not hold the scan.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = openat(dir, name, flags, Mode::empty()).ok()?;
    let found = stat::by_descriptor(fd.as_fd(), StatxFlags::TYPE).ok()?;
    if FileType::of_mode(found.stx_mode) != FileType::File {
        return None;
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(
        &mut std::io::Read::take(std::fs::File::from(fd), max as u64),
        &mut text,
    )
    .ok()?;
    Some(text)
}
