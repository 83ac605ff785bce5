// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds closed directories again, without opening them for reading.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::fcntl_dupfd_cloexec;

use crate::dir_handle::DirHandle;
use crate::failure::Failure;
use crate::linux::statx::uninterrupted;
use crate::listing::source::Way;
use crate::tally;

const SEARCH: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(super) fn duplicate(fd: BorrowedFd<'_>) -> Result<DirHandle, Failure> {
    // The second count is for the close that follows.
    tally::count();
    tally::count();
    Ok(fcntl_dupfd_cloexec(fd, 0)?.into())
}

pub(super) fn root(from: BorrowedFd<'_>, path: &CStr, follows: bool) -> Result<DirHandle, Failure> {
    let flags = match follows {
        true => SEARCH.difference(OFlags::NOFOLLOW),
        false => SEARCH,
    };
    Ok(uninterrupted(|| openat(from, path, flags, Mode::empty()))?.into())
}

pub(super) fn above(fd: BorrowedFd<'_>, levels: usize) -> Result<DirHandle, Failure> {
    let path = vec!["..".to_owned(); levels].join("/");
    Ok(uninterrupted(|| openat(fd, path.as_str(), SEARCH, Mode::empty()))?.into())
}

/// Goes down by the names of a path.
pub(super) fn below(
    from: BorrowedFd<'_>,
    path: &[u8],
    way: Way,
    has_openat2: bool,
) -> Result<DirHandle, Failure> {
    let flags = match way {
        Way::ThroughLink => SEARCH.difference(OFlags::NOFOLLOW),
        Way::Within | Way::Across => SEARCH,
    };
    if way != Way::Within {
        return Ok(uninterrupted(|| openat(from, path, flags, Mode::empty()))?.into());
    }
    if has_openat2 {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let found = uninterrupted(|| openat2(from, path, flags, Mode::empty(), resolve));
        return Ok(found?.into());
    }
    // O_NOFOLLOW applies to the last name only, so each name has its own call.
    let mut names = path.split(|&byte| byte == b'/');
    let first = names.next().unwrap_or_default();
    let mut found = uninterrupted(|| openat(from, first, flags, Mode::empty()))?;
    for name in names {
        found = uninterrupted(|| openat(&found, name, flags, Mode::empty()))?;
    }
    Ok(found.into())
}
