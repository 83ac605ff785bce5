// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts that decide whether an item may be removed at all.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::CWD;
use statwalk_sys::mount_table::{self, Mount, Watch};
use statwalk_sys::user;

use crate::seen::Seen;

/// The mounts, the home and the working directory of the user, and the user.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The table of mounts, in its own order: later mounts cover earlier ones.
    pub mounts: Vec<Mount>,
    /// The home directory, without links in its path.
    pub home: Option<Vec<u8>>,
    /// The working directory, without links in its path.
    pub working_directory: Option<Vec<u8>>,
    /// Files that the program needs, for instance the snapshot on the screen.
    pub kept: Vec<Vec<u8>>,
    /// Device and inode of directories that are never removed, by whatever path.
    pub protected: Vec<(u64, u64)>,
    /// The user's number, to tell other owners.
    pub user: u32,
}

impl Surroundings {
    /// Reads the mount table and the working directory, and resolves links of `home`.
    ///
    /// Protected are `/`, the home, the working directory, and all directories above both.
    ///
    /// # Errors
    ///
    /// The mount table cannot be read: without it no removal is safe.
    pub fn read(home: Option<&[u8]>) -> io::Result<Surroundings> {
        let resolve = |path: &Path| -> Option<Vec<u8>> {
            Some(path.canonicalize().ok()?.into_os_string().into_vec())
        };
        let home = home.and_then(|home| resolve(Path::new(OsStr::from_bytes(home))));
        let working_directory = std::env::current_dir().ok().and_then(|dir| resolve(&dir));
        let mut protected = Vec::new();
        for path in [&home, &working_directory].into_iter().flatten() {
            for above in Path::new(OsStr::from_bytes(path)).ancestors() {
                protect(above, &mut protected);
            }
        }
        protect(Path::new("/"), &mut protected);
        Ok(Surroundings {
            mounts: mount_table::read()?,
            home,
            working_directory,
            kept: Vec::new(),
            protected,
            user: user::effective()?,
        })
    }

    /// Keeps a directory from removal, by whatever path. A missing one needs none.
    pub fn protect(&mut self, path: &[u8]) {
        let path = Path::new(OsStr::from_bytes(path));
        if let Ok(path) = path.canonicalize() {
            protect(&path, &mut self.protected);
        }
    }

    /// Takes the mounts of this moment. The table is read where it has changed since the
    /// last call with this `watch`; the answer says whether it was.
    pub(crate) fn renew_mounts(&mut self, watch: &mut Option<Watch>) -> io::Result<bool> {
        if let Some(open) = watch
            && !open.has_changed().unwrap_or(true)
        {
            return Ok(false);
        }
        // The watch shows a change once: if the read fails, the next call must read.
        let mut open = match watch.take() {
            Some(open) => open,
            None => Watch::open()?,
        };
        self.mounts = open.read()?;
        *watch = Some(open);
        Ok(true)
    }
}

fn protect(path: &Path, protected: &mut Vec<(u64, u64)>) {
    if let Ok(seen) = Seen::of(CWD, path.as_os_str().as_bytes()) {
        let id = (seen.identity.device, seen.identity.inode);
        if !protected.contains(&id) {
            protected.push(id);
        }
    }
}
