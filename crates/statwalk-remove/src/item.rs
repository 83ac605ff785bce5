// SPDX-License-Identifier: MIT OR Apache-2.0

//! An entry that a user has marked for removal.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::io::Errno;

use crate::births::Births;
use crate::failure::Cause;
use crate::identity::Identity;
use crate::opening::Opening;
use crate::path;
use crate::recognition::{Recognition, has_moving_numbers};
use crate::refusal::Refusal;
use crate::seen::Seen;

/// The confirmed item and the open directory that holds it.
pub(crate) struct Found {
    pub base: OwnedFd,
    pub seen: Seen,
}

/// An absolute path, and the identity that the entry must still have when it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    path: Vec<u8>,
    identity: Identity,
    /// Device and inode of the directory that holds it, where they are confirmed too.
    directory: Option<(u64, u64)>,
    /// The time of the inode's creation, where it is known.
    born: Option<(i64, u32)>,
    recognition: Recognition,
    /// The number of the mount, where the inode number moves.
    mount: Option<u64>,
    bytes: u64,
}

impl Item {
    /// Makes an item of facts that are known, for instance from a scan.
    ///
    /// The path is absolute, with no link in its directories: a removal follows none.
    /// [`Item::look`] resolves them.
    #[must_use]
    pub fn new(path: impl Into<Vec<u8>>, identity: Identity) -> Item {
        Item {
            path: path.into(),
            identity,
            directory: None,
            born: None,
            recognition: Recognition::Inode,
            mount: None,
            bytes: 0,
        }
    }

    pub(crate) fn seen(
        path: Vec<u8>,
        directory: &Seen,
        seen: &Seen,
        recognition: Recognition,
    ) -> Item {
        let directory = &directory.identity;
        Item {
            directory: Some((directory.device, directory.inode)),
            born: seen.born,
            recognition,
            mount: seen.mount,
            ..Item::new(path, seen.identity)
        }
    }

    /// Makes an item of a path as it is now, and resolves links in its directories.
    ///
    /// A link at the end of the path is the item itself. A path of a scan can lead elsewhere
    /// than at the time of the scan: [`Lookout`](crate::Lookout) compares.
    ///
    /// # Errors
    ///
    /// The path leads nowhere, or ends with `..` or is `/`.
    pub fn look(path: &[u8]) -> io::Result<Item> {
        let path = std::path::absolute(Path::new(OsStr::from_bytes(path)))?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let directory = directory.canonicalize()?.into_os_string().into_vec();
        let open = Opening::probe().path(&directory)?;
        let above = Seen::of_open(&open)?;
        let seen = Births::of(&open).kept(Seen::of(&open, name.as_bytes())?);
        let path = path::join(&directory, name.as_bytes());
        Ok(Item::seen(path, &above, &seen, Recognition::Inode))
    }

    /// Adds the bytes that the user saw in the dialog. Only the journal uses them.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Item {
        self.bytes = bytes;
        self
    }

    /// Opens the directory of the item without following links, and looks at the item.
    ///
    /// # Errors
    ///
    /// The item or its directory is not the confirmed one, or cannot be looked at.
    pub(crate) fn find(&self, opening: Opening) -> Result<Found, Cause> {
        let (directory, name) = path::split(&self.path).ok_or(Errno::INVAL)?;
        let base = opening.path(directory)?;
        if self.is_known_by_name() {
            return self.find_by_name(base, name);
        }
        if let Some(id) = self.directory {
            let now = Seen::of_open(&base)?.identity;
            if id != (now.device, now.inode) {
                return Err(Cause::Changed);
            }
        }
        let seen = Seen::of(&base, name)?;
        // A network file system may know the time at one moment and not at another.
        let is_born_then = match (self.born, seen.born) {
            (Some(own), Some(born)) => own == born,
            _ => true,
        };
        match is_born_then && seen.identity == self.identity {
            true => Ok(Found { base, seen }),
            false => Err(Cause::Changed),
        }
    }

    fn find_by_name(&self, base: OwnedFd, name: &[u8]) -> Result<Found, Cause> {
        let above = Seen::of_open(&base)?;
        let seen = Seen::of(&base, name)?;
        let by = self.recognition;
        let device = self.directory.map(|(device, _)| device);
        let is_it = device.is_none_or(|device| device == above.identity.device)
            && by.kept(seen.identity) == by.kept(self.identity)
            && seen.mount == self.mount;
        if !is_it {
            return Err(Cause::Changed);
        }
        if !has_moving_numbers(base.as_fd(), name) {
            let path = self.path.clone();
            return Err(Refusal::NumbersHold { path }.into());
        }
        Ok(Found { base, seen })
    }

    /// Says whether the item is known again without its inode number, because the numbers
    /// of its file system move. A removal takes it only
    /// [by name](crate::Removal::by_name).
    #[must_use]
    pub fn is_known_by_name(&self) -> bool {
        self.recognition == Recognition::Name
    }

    pub(crate) fn recognition(&self) -> Recognition {
        self.recognition
    }

    /// The path of the directory that holds it; empty for `/`.
    pub(crate) fn directory_path(&self) -> &[u8] {
        path::split(&self.path).map_or(b"", |(directory, _)| directory)
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The last name of the path; empty for `/`.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        path::split(&self.path).map_or(b"", |(_, name)| name)
    }

    /// The confirmed identity.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn born(&self) -> Option<(i64, u32)> {
        self.born
    }

    /// The bytes of [`Item::with_bytes`].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
