// SPDX-License-Identifier: MIT OR Apache-2.0

//! The key of an item: its place in its tree.

/// Where an item stands in its tree. Keys are ordered as the tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The object that it belongs to: in a subvolume's tree, an inode number.
    pub objectid: u64,
    /// Its type, `BTRFS_INODE_ITEM_KEY` for instance.
    pub kind: u8,
    /// Depends on the kind.
    pub offset: u64,
}

impl Key {
    /// The first of all keys.
    pub const MIN: Key = Key {
        objectid: 0,
        kind: 0,
        offset: 0,
    };

    /// The last of all keys.
    pub const MAX: Key = Key {
        objectid: u64::MAX,
        kind: u8::MAX,
        offset: u64::MAX,
    };

    /// The key that follows this one: a search that came to here goes on there.
    #[must_use]
    pub fn next(self) -> Option<Key> {
        let Key {
            objectid,
            kind,
            offset,
        } = self;
        if let Some(offset) = offset.checked_add(1) {
            Some(Key { offset, ..self })
        } else if let Some(kind) = kind.checked_add(1) {
            Some(Key {
                objectid,
                kind,
                offset: 0,
            })
        } else {
            Some(Key {
                objectid: objectid.checked_add(1)?,
                kind: 0,
                offset: 0,
            })
        }
    }
}
