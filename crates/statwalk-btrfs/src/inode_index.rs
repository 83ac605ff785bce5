// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items in the answer to a search, found by their inodes.

use std::cell::Cell;

use crate::kind::{DIR_INDEX, INODE_ITEM};
use crate::search_items::{SearchItem, SearchItems, search_items};
use crate::{Key, Malformed};

/// The places of inodes in the answer to a search, whose bytes the caller keeps.
#[derive(Debug, Default)]
pub struct InodeIndex {
    inodes: Vec<InodeStart>,
    end: ItemStart,
    /// The index of the last inode: most calls ask for the next one.
    last_found: Cell<usize>,
}

/// The begin of an inode's items.
#[derive(Clone, Copy, Debug, Default)]
struct InodeStart {
    inode: u64,
    at: ItemStart,
    /// Its first `DIR_INDEX`, if it has one.
    entries: Option<ItemStart>,
}

/// The position of an item.
#[derive(Clone, Copy, Debug, Default)]
struct ItemStart {
    offset: u32,
    /// The number of items before it.
    index: u32,
}

impl InodeIndex {
    /// Takes in an answer of `count` items in the place of the one before. Returns the key of
    /// the last item.
    pub fn fill(&mut self, bytes: &[u8], count: u32) -> Result<Option<Key>, Malformed> {
        self.inodes.clear();
        let mut items = search_items(bytes, count);
        let (mut at, mut last) = (ItemStart::default(), None);
        while let Some(item) = items.next() {
            let key = item?.key;
            if self.inodes.last().map(|start| start.inode) != Some(key.objectid) {
                self.inodes.push(InodeStart {
                    inode: key.objectid,
                    at,
                    entries: None,
                });
            }
            if key.kind == DIR_INDEX
                && let Some(inode) = self.inodes.last_mut()
            {
                inode.entries.get_or_insert(at);
            }
            at.offset = items.offset() as u32;
            at.index += 1;
            last = Some(key);
        }
        self.end = at;
        Ok(last)
    }

    /// The index of an inode.
    #[inline]
    fn position(&self, inode: u64) -> Option<usize> {
        let is_at = |index: usize| self.inodes.get(index).is_some_and(|at| at.inode == inode);
        let last = self.last_found.get();
        let found = if is_at(last + 1) {
            last + 1
        } else if is_at(last) {
            last
        } else {
            self.inodes
                .binary_search_by_key(&inode, |at| at.inode)
                .ok()?
        };
        self.last_found.set(found);
        Some(found)
    }

    /// The items of an inode from one of them on.
    #[inline]
    fn items<'b>(&self, bytes: &'b [u8], position: usize, from: ItemStart) -> SearchItems<'b> {
        let next = self.inodes.get(position + 1);
        let to = next.map_or(self.end, |next| next.at);
        let bytes = bytes.get(from.offset as usize..to.offset as usize);
        search_items(bytes.unwrap_or_default(), to.index - from.index)
    }

    /// The `DIR_INDEX` items of a directory in the answer, of these bytes.
    #[inline]
    pub fn entries_of<'b>(
        &self,
        bytes: &'b [u8],
        directory: u64,
    ) -> impl Iterator<Item = SearchItem<'b>> + use<'b> {
        let position = self.position(directory);
        let entries = position.and_then(|position| {
            let from = self.inodes[position].entries?;
            Some(self.items(bytes, position, from))
        });
        // `fill` has decoded all items once: no error is left.
        let items = entries.into_iter().flatten().map_while(Result::ok);
        items.take_while(|item| item.key.kind == DIR_INDEX)
    }

    /// The inode item of an inode in the answer, of these bytes, if it has one.
    #[inline]
    pub fn inode_item<'b>(&self, bytes: &'b [u8], inode: u64) -> Option<&'b [u8]> {
        let position = self.position(inode)?;
        let from = self.inodes[position].at;
        let first = self.items(bytes, position, from).next()?.ok()?;
        (first.key.kind == INODE_ITEM).then_some(first.bytes)
    }
}
