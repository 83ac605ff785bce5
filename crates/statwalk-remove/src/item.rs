// SPDX-License-Identifier: MIT OR Apache-2.0

//! An entry that a user has marked for removal.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::io::Errno;

use crate::identity::Identity;
use crate::opening::Opening;
use crate::path;
use crate::seen::Seen;

/// An absolute path, and the identity that the entry must still have when it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    path: Vec<u8>,
    identity: Identity,
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
            bytes: 0,
        }
    }

    /// Makes an item of a path as it is now, and resolves links in its directories.
    ///
    /// A link at the end of the path is the item itself.
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
        let seen = Seen::of(&open, name.as_bytes())?;
        Ok(Item::new(
            path::join(&directory, name.as_bytes()),
            seen.identity,
        ))
    }

    /// Adds the bytes that the user saw in the dialog. Only the journal uses them.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Item {
        self.bytes = bytes;
        self
    }

    /// Looks whether the entry is still the confirmed one.
    pub(crate) fn is_as_confirmed(&self, opening: Opening) -> Result<bool, Errno> {
        let (directory, name) = path::split(&self.path).ok_or(Errno::INVAL)?;
        let seen = Seen::of(opening.path(directory)?, name)?;
        Ok(seen.identity == self.identity)
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

    /// The bytes of [`Item::with_bytes`].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
