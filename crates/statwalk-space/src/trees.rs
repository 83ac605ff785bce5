// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trees of a mounted btrfs, synced and open for searches.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use statwalk_btrfs::kind::{FIRST_FREE, FS_TREE, LAST_FREE, ROOT_BACKREF, ROOT_ITEM, ROOT_TREE};
use statwalk_btrfs::root_item::RootItem;
use statwalk_btrfs::root_ref::RootRef;
use statwalk_btrfs::search_items::{SearchItem, search_items};
use statwalk_btrfs::{Key, Malformed};
use statwalk_core::Generation;
use statwalk_core::in_place::synced_btrfs;
use statwalk_sys::btrfs::{
    ExtentRefs, Found, SEARCH_ARGUMENT_BYTES, SearchKey, extent_refs, open_inode, tree_search,
};
use statwalk_sys::fiemap::{FileExtent, file_extents};

/// The buffer of one search: 16 to 64 KiB are fastest; above 64 KiB every item fits.
pub(crate) const SEARCH_BYTES: usize = SEARCH_ARGUMENT_BYTES + (66 << 10);

/// The trees of a mounted btrfs.
pub(crate) struct Trees {
    /// Its topmost directory: the descriptor for searches.
    top: OwnedFd,
    /// The last transaction before the sync. Items of later ones have changed since.
    pub(crate) generation: Generation,
}

/// A subvolume in the tree of roots.
#[derive(Default)]
pub(crate) struct Subvolume {
    /// The last transaction that changed it.
    pub(crate) generation: u64,
    /// Its name in another one, in the tree and the directory. Absent at the top and after a
    /// deletion.
    pub(crate) name: Option<((u64, u64), Vec<u8>)>,
}

impl Trees {
    /// Syncs the btrfs that holds an open file, and opens its trees.
    pub(crate) fn holding(fd: BorrowedFd<'_>) -> io::Result<Trees> {
        let (top, generation) = synced_btrfs(fd)?;
        Ok(Trees { top, generation })
    }

    /// Its topmost directory.
    pub(crate) fn top(&self) -> BorrowedFd<'_> {
        self.top.as_fd()
    }

    /// Searches a tree.
    pub(crate) fn search<'b>(
        &self,
        key: &SearchKey,
        buffer: &'b mut [u8],
    ) -> io::Result<Found<'b>> {
        tree_search(self.top(), key, buffer)
    }

    /// Calls `take` for each item between two keys of a tree.
    ///
    /// Leaves that no transaction from `transid` on wrote are left out.
    pub(crate) fn each(
        &self,
        tree: u64,
        first: Key,
        last: Key,
        transid: u64,
        mut take: impl FnMut(&SearchItem<'_>) -> Result<(), Malformed>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; SEARCH_BYTES];
        let mut next = Some(first);
        while let Some(first) = next.filter(|first| *first <= last) {
            let key = SearchKey {
                first,
                last,
                transid_min: transid,
                ..SearchKey::whole(tree)
            };
            let found = self.search(&key, &mut buffer)?;
            next = None;
            for item in search_items(found.bytes, found.item_count) {
                let item = item.map_err(damaged)?;
                take(&item).map_err(damaged)?;
                next = item.key.next();
            }
        }
        Ok(())
    }

    /// All subvolumes of the file system, by the numbers of their trees; deleted ones until
    /// they are cleaned up.
    pub(crate) fn subvolumes(&self) -> io::Result<HashMap<u64, Subvolume>> {
        let mut all: HashMap<u64, Subvolume> = HashMap::new();
        self.each(ROOT_TREE, Key::MIN, Key::MAX, 0, |item| {
            let tree = item.key.objectid;
            if tree != FS_TREE && !(FIRST_FREE..=LAST_FREE).contains(&tree) {
                return Ok(());
            }
            match item.key.kind {
                ROOT_ITEM => {
                    all.entry(tree).or_default().generation =
                        RootItem::parse(item.bytes)?.generation
                }
                ROOT_BACKREF => {
                    let name = RootRef::parse(item.bytes)?;
                    let place = (item.key.offset, name.directory);
                    all.entry(tree).or_default().name = Some((place, name.name.to_vec()));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Finds up to `room` places in files that use an extent.
    pub(crate) fn extent_refs(
        &self,
        address: u64,
        room: usize,
        into: &mut ExtentRefs,
    ) -> io::Result<()> {
        extent_refs(self.top(), address, room, into)
    }

    /// Reads the extents of a file, and whether each is shared, until `go_on` breaks.
    pub(crate) fn file_extents(
        &self,
        tree: u64,
        inode: u64,
        into: &mut Vec<FileExtent>,
        go_on: impl FnMut() -> ControlFlow<()>,
    ) -> io::Result<()> {
        let fd = open_inode(self.top(), tree, inode)?;
        file_extents(fd.as_fd(), into, go_on)
    }
}

/// The error of an item that makes no sense.
pub(crate) fn damaged(malformed: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, malformed.to_string())
}
