// SPDX-License-Identifier: MIT OR Apache-2.0

//! DIR_ITEM and DIR_INDEX: the entries of a directory.

use crate::reader::Reader;
use crate::{Key, Malformed};

/// An entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirItem<'a> {
    /// Its target: the INODE_ITEM of an inode in this tree, or the ROOT_ITEM of a
    /// subvolume.
    pub location: Key,
    /// The transaction that made it.
    pub transid: u64,
    /// `BTRFS_FT_REG_FILE` is 1, `BTRFS_FT_DIR` 2; the highest bit says that the
    /// name is encrypted (`BTRFS_FT_ENCRYPTED`, Linux 6.18).
    pub file_type: u8,
    /// The bytes on the device: the caller must check the name.
    pub name: &'a [u8],
}

/// The entries in one item: several where names have the same hash. After an
/// error there are no more.
#[derive(Debug, Clone)]
pub struct DirItems<'a> {
    reader: Reader<'a>,
}

/// Reads a DIR_ITEM or DIR_INDEX.
pub fn dir_items(bytes: &[u8]) -> DirItems<'_> {
    DirItems {
        reader: Reader::new(bytes, "DIR_ITEM"),
    }
}

impl<'a> DirItems<'a> {
    fn read(&mut self) -> Result<DirItem<'a>, Malformed> {
        let reader = &mut self.reader;
        let objectid = reader.u64()?;
        let kind = reader.u8()?;
        let offset = reader.u64()?;
        let transid = reader.u64()?;
        let data_bytes = reader.u16()?;
        let name_bytes = reader.u16()?;
        let file_type = reader.u8()?;
        let name = reader.take(name_bytes.into())?;
        // Only extended attributes have data.
        let _data = reader.take(data_bytes.into())?;
        Ok(DirItem {
            location: Key {
                objectid,
                kind,
                offset,
            },
            transid,
            file_type,
            name,
        })
    }
}

impl<'a> Iterator for DirItems<'a> {
    type Item = Result<DirItem<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_at_end() {
            return None;
        }
        let found = self.read();
        if found.is_err() {
            self.reader.give_up();
        }
        Some(found)
    }
}
