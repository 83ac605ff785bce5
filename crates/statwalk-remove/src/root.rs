// SPDX-License-Identifier: MIT OR Apache-2.0

//! The root of a scan, resolved once.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::births::Births;
use crate::path;
use crate::seen::Seen;

/// A root as it was when its scan began.
///
/// The path that the user gave can lead elsewhere later. So it is resolved once, and items
/// are looked up below the result.
#[derive(Debug)]
pub struct Root {
    path: Vec<u8>,
    pub(crate) seen: Seen,
    /// The user named a link to it.
    pub(crate) is_behind_link: bool,
    /// While it is open, no other inode can get its number.
    pub(crate) open: OwnedFd,
}

impl Root {
    /// Resolves the path of a root as a scan does, with all links on the way.
    ///
    /// It follows a link at the end only where `follows_links` is set, or where the path
    /// ends with a slash.
    ///
    /// It holds a descriptor, so the file system stays busy.
    ///
    /// # Errors
    ///
    /// The path leads nowhere.
    pub fn find(path: &[u8], follows_links: bool) -> io::Result<Root> {
        let given = Path::new(OsStr::from_bytes(path));
        let is_plain_end = path.rsplit(|&byte| byte == b'/').next();
        let is_plain_end = is_plain_end.is_some_and(path::is_plain_name);
        let as_named = match (given.file_name(), is_plain_end && !follows_links) {
            (Some(name), true) => {
                let parent = std::path::absolute(given)?;
                let parent = parent.parent().unwrap_or(Path::new("/")).canonicalize()?;
                parent.join(name)
            }
            _ => given.canonicalize()?,
        };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = rustix::fs::openat(CWD, &as_named, flags, Mode::empty())?;
        let seen = Births::of(&open).kept(Seen::of_open(&open)?);
        let without_slash = Path::new(given.as_os_str()).components().as_path();
        let named = Seen::of(CWD, without_slash.as_os_str().as_bytes())?;
        Ok(Root {
            path: as_named.into_os_string().into_vec(),
            is_behind_link: !named.is_same_inode(&seen),
            seen,
            open,
        })
    }

    /// The absolute path without links.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}
