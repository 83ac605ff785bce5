// SPDX-License-Identifier: MIT OR Apache-2.0

//! EXTENT_DATA: the place of a part of a file, `struct btrfs_file_extent_item`.

use crate::Malformed;
use crate::reader::Reader;

/// A part of a file. The offset of its key is its offset in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentData<'a> {
    /// The transaction that made it.
    pub generation: u64,
    /// Its length without compression. If it is a part of a larger extent, this is only
    /// a bound.
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
    /// The logical address of the whole extent, which identifies a shared one. Zero is a
    /// hole.
    pub disk_bytenr: u64,
    /// The size of the whole extent, compressed.
    pub disk_num_bytes: u64,
    /// The offset of this part in the extent, without compression.
    pub offset_bytes: u64,
    /// The length of this part in the file.
    pub num_bytes: u64,
}

impl Extent {
    /// Whether it is a hole.
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
