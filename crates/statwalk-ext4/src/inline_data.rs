// SPDX-License-Identifier: MIT OR Apache-2.0

//! Content that lies in the inode: first in `i_block`, then in the value of
//! the attribute `system.data` behind the fields.
//!
//! `ext4_get_inode_loc` and `ext4_find_inline_data_nolock`, fs/ext4/inline.c;
//! fs/ext4/xattr.h, of Linux 6.18. A value of `system.data` in an inode or block
//! of its own does not exist.

use super::inode::Inode;
use crate::Malformed;
use crate::attributes::{ENTRY_BYTES, HEADER_BYTES, MAGIC};
use crate::little_endian::{u8_at, u16_at, u32_at};

/// `EXT4_XATTR_INDEX_SYSTEM`.
const INDEX_SYSTEM: u8 = 7;
/// `EXT4_INLINE_DOTDOT_SIZE`: the parent's number, in place of `.` and `..`.
const PARENT_BYTES: usize = 4;

/// The entries of a directory that lies in its inode, in two parts; no entry
/// is in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineDirectory<'a> {
    /// The parent's number.
    pub parent: u32,
    /// Entries in `i_block`.
    pub first: &'a [u8],
    /// Entries in the attribute.
    pub rest: &'a [u8],
}

/// Finds the entries of a directory; `whole` are all bytes of its inode.
///
/// # Errors
///
/// The attributes make no sense, or there is no `system.data` among them.
pub fn directory<'a>(inode: &'a Inode, whole: &'a [u8]) -> Result<InlineDirectory<'a>, Malformed> {
    let value = system_data(whole, inode.attributes_offset())?;
    let area = inode.block_area();
    let first = &area[PARENT_BYTES.min(area.len())..];
    // The size counts i_block as full. The rest of the value is not in use.
    let size = usize::try_from(inode.size_bytes()).unwrap_or(usize::MAX);
    let rest_bytes = size.saturating_sub(area.len());
    let rest = value
        .get(..rest_bytes)
        .ok_or(Malformed::at(0x4, "the directory is longer than its inode"))?;
    if size < area.len() {
        return Err(Malformed::at(
            0x4,
            "the directory is shorter than its inode",
        ));
    }
    Ok(InlineDirectory {
        parent: u32_at(area, 0).unwrap_or(0),
        first,
        rest,
    })
}

/// The value of `system.data` among the attributes that begin at `offset`.
fn system_data(whole: &[u8], offset: usize) -> Result<&[u8], Malformed> {
    if u32_at(whole, offset) != Some(MAGIC) {
        return Err(Malformed::at(offset, "the inode has no attributes"));
    }
    let first = offset + HEADER_BYTES;
    let values = whole.get(first..).unwrap_or_default();
    let mut entry = 0;
    // Four zero bytes end the list; each round goes at least 16 bytes on.
    while u32_at(values, entry).is_some_and(|word| word != 0) {
        let cut = Malformed::at(first + entry, "the attribute is cut");
        let name_bytes = usize::from(u8_at(values, entry).ok_or(cut)?);
        let name_begin = entry + ENTRY_BYTES;
        let name = values.get(name_begin..name_begin + name_bytes).ok_or(cut)?;
        if u8_at(values, entry + 1) == Some(INDEX_SYSTEM) && name == b"data" {
            if u32_at(values, entry + 4) != Some(0) {
                return Err(Malformed::at(first + entry, "system.data lies elsewhere"));
            }
            let begin = usize::from(u16_at(values, entry + 2).ok_or(cut)?);
            let length = u32_at(values, entry + 8).ok_or(cut)? as usize;
            let end = begin.checked_add(length).ok_or(cut)?;
            return values.get(begin..end).ok_or(cut);
        }
        entry = name_begin + name_bytes.next_multiple_of(4);
    }
    Err(Malformed::at(first, "the inode has no system.data"))
}

#[cfg(test)]
mod tests {
    use super::super::inode::InodeFormat;
    use super::super::superblock::tests::{put16, put32};
    use super::*;
    use crate::block_range::BlockRange;

    const FORMAT: InodeFormat = InodeFormat {
        size_bytes: 256,
        block_size_log2: 12,
        has_huge_files: true,
        has_large_directories: false,
        is_64bit: true,
        has_attribute_inodes: false,
        has_casefolding: false,
        forbids_indexes: false,
        first_inode: 11,
        inodes_count: 5000,
        cluster_size_log2: 12,
        blocks: BlockRange {
            superblock: 0,
            end: 1 << 20,
        },
    };

    /// An inode with `user.x` before `system.data`, whose value has 24 bytes.
    fn inode_bytes() -> Vec<u8> {
        let mut bytes = vec![0; 256];
        put16(&mut bytes, 0x0, 0o040_755);
        put32(&mut bytes, 0x4, 60 + 20);
        put32(&mut bytes, 0x28, 2);
        bytes[0x2C..0x64].fill(0x11);
        put16(&mut bytes, 0x80, 32);
        put32(&mut bytes, 160, MAGIC);
        bytes[164..166].copy_from_slice(&[1, 1]);
        bytes[180] = b'x';
        bytes[184..186].copy_from_slice(&[4, INDEX_SYSTEM]);
        put16(&mut bytes, 186, 256 - 164 - 24);
        put32(&mut bytes, 192, 24);
        bytes[200..204].copy_from_slice(b"data");
        bytes[232..].fill(0x22);
        bytes
    }

    fn lengths(bytes: &[u8]) -> Result<(usize, usize), Malformed> {
        let inode = Inode::from_bytes(bytes, 12, FORMAT);
        directory(&inode, bytes).map(|found| (found.first.len(), found.rest.len()))
    }

    #[test]
    fn both_parts_are_found() {
        let bytes = inode_bytes();
        let inode = Inode::from_bytes(&bytes, 12, FORMAT);
        let found = directory(&inode, &bytes).unwrap();
        assert_eq!(found.parent, 2);
        assert_eq!(found.first, [0x11; 56]);
        assert_eq!(found.rest, [0x22; 20]);
    }

    #[test]
    fn nonsense_is_malformed() {
        let with = |change: fn(&mut [u8])| {
            let mut bytes = inode_bytes();
            change(&mut bytes);
            lengths(&bytes)
        };
        assert_eq!(with(|b| put32(b, 0x4, 60)), Ok((56, 0)));
        assert!(with(|b| put32(b, 0x4, 59)).is_err());
        assert!(with(|b| put32(b, 0x4, 85)).is_err());
        assert!(with(|b| put32(b, 0x4, u32::MAX)).is_err());
        assert!(with(|b| put32(b, 160, 0)).is_err());
        assert!(with(|b| put16(b, 0x80, 92)).is_err());
        assert!(with(|b| put16(b, 0x80, u16::MAX)).is_err());
        assert!(with(|b| b[184] = 255).is_err());
        assert!(with(|b| b[200] = b'D').is_err());
        assert!(with(|b| put32(b, 188, 1)).is_err());
        assert!(with(|b| put32(b, 192, u32::MAX)).is_err());
        assert!(with(|b| put16(b, 186, u16::MAX)).is_err());
        assert!(with(|b| b[164..].fill(0xFF)).is_err());
        let bytes = inode_bytes();
        for length in 0..256 {
            let inode = Inode::from_bytes(&bytes, 12, FORMAT);
            assert!(directory(&inode, &bytes[..length]).is_err());
        }
    }
}
