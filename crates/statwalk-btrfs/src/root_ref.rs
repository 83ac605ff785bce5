// SPDX-License-Identifier: MIT OR Apache-2.0

//! ROOT_REF and ROOT_BACKREF: the name of a subvolume in another one.

use crate::Malformed;
use crate::reader::Reader;

/// A name of a subvolume.
///
/// The key of a ROOT_REF has the outer subvolume as object and the inner as
/// offset; that of a ROOT_BACKREF is the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootRef<'a> {
    /// The directory of the outer subvolume that has it.
    pub directory: u64,
    /// The offset of its DIR_INDEX there.
    pub index: u64,
    /// The name.
    pub name: &'a [u8],
}

impl<'a> RootRef<'a> {
    /// Reads either item.
    pub fn parse(bytes: &'a [u8]) -> Result<RootRef<'a>, Malformed> {
        let mut reader = Reader::new(bytes, "ROOT_REF");
        let directory = reader.u64()?;
        let index = reader.u64()?;
        let name_bytes = reader.u16()?;
        let name = reader.take(name_bytes.into())?;
        Ok(RootRef {
            directory,
            index,
            name,
        })
    }
}
