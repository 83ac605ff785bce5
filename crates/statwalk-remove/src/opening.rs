// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opens directories without following links.
//!
//! `openat2` (openat2(2), Linux 5.6) refuses links and mounts by itself. Where it is
//! missing or forbidden, each name is opened alone, and the caller compares the mount.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// A path of more bytes is opened in parts; the kernel's limit is 4,096.
const PART_MAX: usize = 3_000;

const PLACE: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

const LISTING: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// The call that opens directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Openat2,
    /// `openat` for each name.
    Openat,
}

impl Opening {
    /// Chooses `openat2` where it works.
    pub(crate) fn probe() -> Opening {
        match rustix::fs::openat2(CWD, "/", PLACE, Mode::empty(), NO_LINKS) {
            Ok(_) => Opening::Openat2,
            // ENOSYS of an old kernel, EPERM of a filter of system calls.
            Err(_) => Opening::Openat,
        }
    }

    /// Opens a plain path to act in the directory. A link anywhere in it is an error.
    pub(crate) fn path(self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let mut here = rustix::fs::openat(CWD, "/", PLACE, Mode::empty())?;
        let mut part: Vec<u8> = Vec::new();
        let names = path.split(|&byte| byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            let is_full = part.len() + name.len() >= PART_MAX || self == Opening::Openat;
            if is_full && !part.is_empty() {
                here = self.step(&here, &part)?;
                part.clear();
            }
            if !part.is_empty() {
                part.push(b'/');
            }
            part.extend_from_slice(name);
        }
        match part.is_empty() {
            true => Ok(here),
            false => self.step(&here, &part),
        }
    }

    fn step(self, from: impl AsFd, part: &[u8]) -> Result<OwnedFd, Errno> {
        match self {
            Opening::Openat2 => rustix::fs::openat2(from, part, PLACE, Mode::empty(), NO_LINKS),
            // A link is opened itself, and is no directory.
            Opening::Openat => rustix::fs::openat(from, part, PLACE, Mode::empty()),
        }
    }

    /// Opens the directory above, to look at it. It can lie anywhere.
    pub(crate) fn above(self, from: impl AsFd) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(from, "..", PLACE, Mode::empty())
    }

    /// Opens a subdirectory, or `..`, to list it. `openat2` refuses another mount.
    pub(crate) fn listing(self, from: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
        match self {
            Opening::Openat2 => rustix::fs::openat2(
                from,
                name,
                LISTING,
                Mode::empty(),
                NO_LINKS.union(ResolveFlags::NO_XDEV),
            ),
            Opening::Openat => rustix::fs::openat(from, name, LISTING, Mode::empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_testkit::Scratch;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn no_link_in_a_path_is_followed() {
        let scratch = Scratch::new().unwrap();
        let real = scratch.subdirectory("real").unwrap();
        std::fs::create_dir(real.join("inner")).unwrap();
        std::os::unix::fs::symlink(&real, scratch.path().join("link")).unwrap();
        for opening in [Opening::Openat2, Opening::Openat] {
            let open = |path: &str| opening.path(scratch.path().join(path).as_os_str().as_bytes());
            assert!(open("real/inner").is_ok());
            for path in ["link", "link/inner", "real/missing"] {
                assert!(open(path).is_err(), "{opening:?} {path}");
            }
            assert!(opening.path(b"/").is_ok());
        }
    }
}
