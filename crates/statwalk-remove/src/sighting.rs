// SPDX-License-Identifier: MIT OR Apache-2.0

//! An item as it was at one moment.

use crate::item::Item;
use crate::seen::Seen;

/// The facts by which a marked item is known again.
#[derive(Clone, Debug)]
pub struct Sighting {
    path: Vec<u8>,
    directory: Seen,
    seen: Seen,
}

impl Sighting {
    pub(crate) fn new(path: Vec<u8>, directory: Seen, seen: Seen) -> Sighting {
        Sighting {
            path,
            directory,
            seen,
        }
    }

    /// The absolute path without links.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Says whether both are the same inode in the same directory. Its content and its
    /// times can differ.
    #[must_use]
    pub fn is_same_item(&self, other: &Sighting) -> bool {
        self.seen.is_same_inode(&other.seen) && self.directory.is_same_inode(&other.directory)
    }

    /// The item, for a survey and a removal.
    #[must_use]
    pub fn into_item(self) -> Item {
        Item::seen(self.path, &self.directory, &self.seen)
    }
}
