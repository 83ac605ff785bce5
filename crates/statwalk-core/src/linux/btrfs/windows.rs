// SPDX-License-Identifier: MIT OR Apache-2.0

//! The results of a worker's last searches.
//!
//! A window holds all items of a tree from one key to another. For keys within it no
//! search is needed: an item that it lacks does not exist.

use std::io;

use statwalk_btrfs::inode_index::InodeIndex;
use statwalk_btrfs::kind::INODE_ITEM;
use statwalk_btrfs::search_items::{SearchItem, search_items};
use statwalk_btrfs::{Key, Malformed};
use statwalk_sys::btrfs::SEARCH_ARGUMENT_BYTES;

use super::mounted::{Mounted, SEARCH_BYTES};

/// Inode numbers up to this distance count as the next.
const GAP: u64 = 4;

/// The windows of one worker.
///
/// A subdirectory often needs items beside its parent, and the files of a directory can
/// lie in several places.
const WINDOWS_MAX: usize = 8;

/// The buffer of a search for one inode item. Longer items exist, but no search for an
/// inode returns one.
const SINGLE_BYTES: usize = SEARCH_ARGUMENT_BYTES + 512;

/// The failure of a search.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The kernel returned an error, or bytes that make no sense.
    Unread,
}

/// The windows of one worker.
#[derive(Default)]
pub(super) struct Windows {
    windows: Vec<Window>,
    /// The window that the next search replaces.
    oldest: usize,
    /// The window of the last key.
    near: usize,
    single: Vec<u8>,
}

/// All items of a tree from one key to another.
pub(super) struct Window {
    /// The address of its [`Mounted`]: a worker can meet several file systems.
    file_system: usize,
    tree: u64,
    first: Key,
    last: Key,
    buffer: Vec<u8>,
    index: InodeIndex,
}

impl Windows {
    /// The window that holds a key, if there is one.
    #[inline]
    pub(super) fn holding(&mut self, volume: &Mounted, tree: u64, key: Key) -> Option<&Window> {
        let holds = |window: &Window| window.holds(volume, tree, key);
        if !self.windows.get(self.near).is_some_and(holds) {
            self.near = self.windows.iter().position(holds)?;
        }
        self.windows.get(self.near)
    }

    /// Whether the last window ends just before an inode, as it does for a reader that
    /// follows the order of the tree.
    #[inline]
    pub(super) fn end_before(&self, tree: u64, inode: u64) -> bool {
        self.windows.get(self.near).is_some_and(|window| {
            let last = window.last.objectid;
            window.tree == tree && last < inode && inode - last <= GAP
        })
    }

    /// Searches from a key on, and returns the new window.
    pub(super) fn read(
        &mut self,
        volume: &Mounted,
        tree: u64,
        key: Key,
    ) -> Result<&Window, Trouble> {
        if self.windows.len() < WINDOWS_MAX {
            self.near = self.windows.len();
            self.windows.push(Window::empty());
        } else {
            self.near = self.oldest;
            self.oldest = (self.oldest + 1) % WINDOWS_MAX;
        }
        let window = &mut self.windows[self.near];
        match window.fill(volume, tree, key) {
            Ok(()) => Ok(window),
            Err(_) => {
                window.tree = 0;
                Err(Trouble::Unread)
            }
        }
    }

    /// The inode item of one inode, by a search for nothing else.
    pub(super) fn single(
        &mut self,
        volume: &Mounted,
        tree: u64,
        inode: u64,
    ) -> Result<Option<&[u8]>, Trouble> {
        self.single.resize(SINGLE_BYTES, 0);
        let key = inode_key(inode);
        let found = volume.search(tree, key, key, &mut self.single);
        let found = found.map_err(|_| Trouble::Unread)?;
        let item = search_items(found.bytes, found.item_count).next();
        let item = item.transpose().map_err(|_| Trouble::Unread)?;
        Ok(item.map(|item| item.bytes))
    }
}

impl Window {
    fn empty() -> Window {
        Window {
            file_system: 0,
            tree: 0,
            first: Key::MAX,
            last: Key::MIN,
            buffer: vec![0; SEARCH_BYTES],
            index: InodeIndex::default(),
        }
    }

    fn holds(&self, volume: &Mounted, tree: u64, key: Key) -> bool {
        self.tree == tree
            && self.first <= key
            && key <= self.last
            && self.file_system == std::ptr::from_ref(volume).addr()
    }

    fn fill(&mut self, volume: &Mounted, tree: u64, first: Key) -> io::Result<()> {
        let found = volume.search(tree, first, Key::MAX, &mut self.buffer)?;
        self.file_system = std::ptr::from_ref(volume).addr();
        self.tree = tree;
        self.first = first;
        let unreadable = |_: Malformed| io::Error::from(rustix::io::Errno::UCLEAN);
        let filled = self.index.fill(found.bytes, found.item_count);
        // Without an item, none follows.
        self.last = filled.map_err(unreadable)?.unwrap_or(Key::MAX);
        Ok(())
    }

    /// The last key of the window.
    pub(super) fn last(&self) -> Key {
        self.last
    }

    #[inline]
    fn items(&self) -> &[u8] {
        &self.buffer[SEARCH_ARGUMENT_BYTES..]
    }

    /// The `DIR_INDEX` items of a directory that the window holds.
    #[inline]
    pub(super) fn entries_of(&self, directory: u64) -> impl Iterator<Item = SearchItem<'_>> {
        self.index.entries_of(self.items(), directory)
    }

    /// The inode item of an inode, if it has one.
    #[inline]
    pub(super) fn inode_item(&self, inode: u64) -> Option<&[u8]> {
        self.index.inode_item(self.items(), inode)
    }
}

/// The key of an inode's first item.
pub(super) fn inode_key(inode: u64) -> Key {
    Key {
        objectid: inode,
        kind: INODE_ITEM,
        offset: 0,
    }
}
