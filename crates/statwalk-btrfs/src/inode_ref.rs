// SPDX-License-Identifier: MIT OR Apache-2.0

//! INODE_REF and INODE_EXTREF: the names of an inode.

use crate::Malformed;
use crate::reader::Reader;

/// One name of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InodeRef<'a> {
    /// The directory that has it.
    pub parent: u64,
    /// The offset of its DIR_INDEX there.
    pub index: u64,
    /// `..` for the top directory of a subvolume, in itself.
    pub name: &'a [u8],
}

/// The names in one item. After an error there are no more.
#[derive(Debug, Clone)]
pub struct InodeRefs<'a> {
    reader: Reader<'a>,
    /// The directory of all of them. Absent where each tells its own.
    parent: Option<u64>,
}

/// Reads an INODE_REF; `parent` is the offset of its key.
pub fn inode_refs(bytes: &[u8], parent: u64) -> InodeRefs<'_> {
    InodeRefs {
        reader: Reader::new(bytes, "INODE_REF"),
        parent: Some(parent),
    }
}

/// Reads an INODE_EXTREF.
pub fn inode_extrefs(bytes: &[u8]) -> InodeRefs<'_> {
    InodeRefs {
        reader: Reader::new(bytes, "INODE_EXTREF"),
        parent: None,
    }
}

impl<'a> InodeRefs<'a> {
    fn read(&mut self) -> Result<InodeRef<'a>, Malformed> {
        let reader = &mut self.reader;
        let parent = match self.parent {
            Some(parent) => parent,
            None => reader.u64()?,
        };
        let index = reader.u64()?;
        let name_bytes = reader.u16()?;
        let name = reader.take(name_bytes.into())?;
        Ok(InodeRef {
            parent,
            index,
            name,
        })
    }
}

impl<'a> Iterator for InodeRefs<'a> {
    type Item = Result<InodeRef<'a>, Malformed>;

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
