// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items in the answer to a search.

use crate::reader::Reader;
use crate::{Key, Malformed};

/// `sizeof(struct btrfs_ioctl_search_header)`
const HEADER_BYTES: usize = 32;

/// An item of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchItem<'a> {
    /// Where it stands.
    pub key: Key,
    /// The transaction that wrote the leaf last in which it stands.
    pub transid: u64,
    /// The item itself.
    pub bytes: &'a [u8],
}

/// Reads `count` items, each with its `struct btrfs_ioctl_search_header`.
///
/// Bytes behind them are not looked at. After an error there are no more.
pub fn search_items(bytes: &[u8], count: u32) -> SearchItems<'_> {
    SearchItems {
        reader: Reader::new(bytes, "search item"),
        left: count,
    }
}

/// See [`search_items`].
#[derive(Debug, Clone)]
pub struct SearchItems<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> SearchItems<'a> {
    /// Where the next item begins.
    #[inline]
    pub fn offset(&self) -> usize {
        self.reader.offset()
    }

    fn read(&mut self) -> Result<SearchItem<'a>, Malformed> {
        let mut reader = self.reader;
        let header: &[u8; HEADER_BYTES] = reader.chunk()?;
        let mut header = Reader::new(header, "search item");
        let transid = u64::from_ne_bytes(header.array()?);
        let objectid = u64::from_ne_bytes(header.array()?);
        let offset = u64::from_ne_bytes(header.array()?);
        let at_kind = self.reader.offset() + header.offset();
        let kind = u32::from_ne_bytes(header.array()?);
        let kind = u8::try_from(kind).map_err(|_| Malformed::at(at_kind, "search item"))?;
        let length = u32::from_ne_bytes(header.array()?);
        let bytes = reader.take(length as usize)?;
        self.reader = reader;
        Ok(SearchItem {
            key: Key {
                objectid,
                kind,
                offset,
            },
            transid,
            bytes,
        })
    }
}

impl<'a> Iterator for SearchItems<'a> {
    type Item = Result<SearchItem<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let item = self.read();
        if item.is_err() {
            self.left = 0;
        }
        Some(item)
    }
}
