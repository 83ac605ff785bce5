// SPDX-License-Identifier: MIT OR Apache-2.0

//! EXTENT_DATA: where a part of a file lies, `struct btrfs_file_extent_item`.

use super::reader::Reader;
use crate::decode::Malformed;

/// A part of a file. The offset of its key is where in the file it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentData<'a> {
    /// The transaction that made it.
    pub generation: u64,
    /// How long it is without compression. For an extent of which this is a part
    /// that is a bound and not a length.
    pub ram_bytes: u64,
    /// `BTRFS_COMPRESS_NONE` is 0, then zlib, lzo, zstd (fs/btrfs/fs.h).
    pub compression: u8,
    /// Where it lies.
    pub place: Place<'a>,
}

/// Where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// In the tree: the data follow, compressed perhaps.
    Inline(&'a [u8]),
    /// On the device, `BTRFS_FILE_EXTENT_REG`.
    Regular(Extent),
    /// Reserved on the device and not written yet, `BTRFS_FILE_EXTENT_PREALLOC`.
    Preallocated(Extent),
}

/// A part of an extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The logical address of the whole extent, by which it is known when it is
    /// shared. Zero is a hole.
    pub disk_bytenr: u64,
    /// The size of the whole extent, compressed.
    pub disk_num_bytes: u64,
    /// Where in the extent, without compression, this part begins.
    pub offset_bytes: u64,
    /// How much of the file this part is.
    pub num_bytes: u64,
}

impl Extent {
    /// Whether nothing lies there.
    pub fn is_hole(&self) -> bool {
        self.disk_bytenr == 0
    }
}

impl<'a> ExtentData<'a> {
    /// Reads the item.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<ExtentData<'a>, Malformed> {
        let mut reader = Reader::new(bytes, "EXTENT_DATA");
        let generation = reader.u64()?;
        let ram_bytes = reader.u64()?;
        let compression = reader.u8()?;
        let _encryption = reader.u8()?;
        let _other_encoding = reader.u16()?;
        let at_type = reader.malformed();
        let place = match reader.u8()? {
            0 => Place::Inline(reader.rest()),
            1 => Place::Regular(extent(&mut reader)?),
            2 => Place::Preallocated(extent(&mut reader)?),
            _ => return Err(at_type),
        };
        Ok(ExtentData {
            generation,
            ram_bytes,
            compression,
            place,
        })
    }
}

fn extent(reader: &mut Reader<'_>) -> Result<Extent, Malformed> {
    Ok(Extent {
        disk_bytenr: reader.u64()?,
        disk_num_bytes: reader.u64()?,
        offset_bytes: reader.u64()?,
        num_bytes: reader.u64()?,
    })
}
