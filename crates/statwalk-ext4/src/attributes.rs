// SPDX-License-Identifier: MIT OR Apache-2.0

//! Extended attributes within an inode: the kernel gives nobody an inode whose attributes
//! make no sense.
//!
//! `struct ext4_xattr_entry`, fs/ext4/xattr.h; `check_xattrs`, fs/ext4/xattr.c, which
//! `ext4_iget_extra_inode` calls, of Linux 6.18. It does not look at the block with more
//! attributes before somebody asks for one.

use std::ops::RangeInclusive;

use crate::Malformed;
use crate::inode::ROOT_INODE;
use crate::little_endian::{u8_at, u16_at, u32_at};

/// `EXT4_XATTR_MAGIC`.
pub(crate) const MAGIC: u32 = 0xEA02_0000;
/// The magic number, before the first entry.
pub(crate) const HEADER_BYTES: usize = 4;
/// `struct ext4_xattr_entry` without the name.
pub(crate) const ENTRY_BYTES: usize = 16;
/// The magic number and the end of the list.
pub(crate) const BYTES_MIN: usize = HEADER_BYTES + END_BYTES;
/// Four zero bytes end the list.
const END_BYTES: usize = 4;
/// `EXT4_XATTR_SIZE_MAX`.
const VALUE_BYTES_MAX: u32 = 1 << 24;

/// Checks the attributes whose header lies at `begin`; `whole` are all bytes of the inode.
///
/// Large values have an inode of their own, one of `inodes`, where the file system has such.
pub(crate) fn check(
    whole: &[u8],
    begin: usize,
    inodes: Option<RangeInclusive<u32>>,
) -> Result<(), Malformed> {
    let first = begin + HEADER_BYTES;
    // Values have their place from the first entry on.
    let area = whole.get(first..).unwrap_or_default();
    let malformed = |entry: usize, what| Err(Malformed::at(first + entry, what));
    let mut end = 0;
    while let Some(next) = next_entry(area, end) {
        if next + END_BYTES > area.len() {
            return malformed(end, "an attribute's name ends beyond the inode");
        }
        let name_bytes = u8_at(area, end).unwrap_or(0).into();
        let name = area.get(end + ENTRY_BYTES..).unwrap_or_default();
        if name.iter().take(name_bytes).any(|&byte| byte == 0) {
            return malformed(end, "an attribute's name holds a NUL");
        }
        end = next;
    }
    let names_end = end + END_BYTES;
    let mut entry = 0;
    while let Some(next) = next_entry(area, entry).filter(|_| entry < end) {
        let size = u32_at(area, entry + 8).unwrap_or(0);
        let inode = u32_at(area, entry + 4).unwrap_or(0);
        if inode != 0 {
            let Some(inodes) = &inodes else {
                return malformed(entry, "an attribute has an inode where none can");
            };
            if inode == ROOT_INODE || !inodes.contains(&inode) {
                return malformed(entry, "an attribute's inode does not exist");
            }
            if size == 0 {
                return malformed(entry, "an attribute has an inode and no value");
            }
        }
        if size > VALUE_BYTES_MAX {
            return malformed(entry, "an attribute's value is too large");
        }
        if size != 0 && inode == 0 {
            let begin = usize::from(u16_at(area, entry + 2).unwrap_or(0));
            let room = area.len().checked_sub(begin);
            // With the bytes that fill its last word.
            let padded = (size as usize).next_multiple_of(4);
            if begin < names_end || room.is_none_or(|room| padded > room) {
                return malformed(entry, "an attribute's value does not fit the inode");
            }
        }
        entry = next;
    }
    Ok(())
}

/// Where the entry behind another one begins, or nothing at the end of the list.
fn next_entry(area: &[u8], entry: usize) -> Option<usize> {
    u32_at(area, entry).filter(|&word| word != 0)?;
    let name_bytes = usize::from(u8_at(area, entry)?);
    Some(entry + (ENTRY_BYTES + name_bytes).next_multiple_of(4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::superblock::tests::{put16, put32};

    const BEGIN: usize = 160;
    const FIRST: usize = BEGIN + HEADER_BYTES;

    /// An inode with `user.ab`, whose value has 8 bytes, and `user.c`, which has none.
    fn whole() -> Vec<u8> {
        let mut bytes = vec![0; 256];
        put32(&mut bytes, BEGIN, MAGIC);
        bytes[FIRST..FIRST + 2].copy_from_slice(&[2, 1]);
        put16(&mut bytes, FIRST + 2, 256 - FIRST as u16 - 8);
        put32(&mut bytes, FIRST + 8, 8);
        bytes[FIRST + 16..FIRST + 18].copy_from_slice(b"ab");
        bytes[FIRST + 20..FIRST + 22].copy_from_slice(&[1, 1]);
        bytes[FIRST + 36] = b'c';
        bytes
    }

    fn with(inodes: Option<RangeInclusive<u32>>, change: fn(&mut [u8])) -> Option<&'static str> {
        let mut bytes = whole();
        change(&mut bytes);
        check(&bytes, BEGIN, inodes).err().map(|error| error.what)
    }

    #[test]
    fn sound_attributes_pass() {
        assert_eq!(with(None, |_| {}), None);
        assert_eq!(with(None, |b| put32(b, FIRST, 0)), None, "none at all");
        assert_eq!(with(None, |b| put32(b, FIRST + 8, 0)), None, "no value");
        // The value ends with the inode, and begins where the list ends.
        assert_eq!(with(None, |b| put16(b, FIRST + 2, 44)), None);
        assert_eq!(with(Some(11..=20), |b| put32(b, FIRST + 4, 20)), None);
    }

    #[test]
    fn what_the_kernel_refuses_is_malformed() {
        let refused = |inodes, change, expected: &str| {
            let found = with(inodes, change).unwrap_or("nothing");
            assert!(found.contains(expected), "{found}, not {expected}");
        };
        refused(None, |b| b[FIRST] = 77, "beyond");
        refused(None, |b| b[FIRST + 20] = 255, "beyond");
        refused(None, |b| b[FIRST + 17] = 0, "NUL");
        refused(None, |b| b[FIRST + 36] = 0, "NUL");
        refused(None, |b| put32(b, FIRST + 4, 20), "where none can");
        for number in [1, 2, 10, 21, u32::MAX] {
            let mut bytes = whole();
            put32(&mut bytes, FIRST + 4, number);
            let found = check(&bytes, BEGIN, Some(11..=20)).unwrap_err();
            assert!(found.what.contains("does not exist"), "{number}: {found}");
        }
        let with_inode: fn(&mut [u8]) = |b| {
            put32(b, FIRST + 4, 20);
            put32(b, FIRST + 8, 0);
        };
        refused(Some(11..=20), with_inode, "no value");
        refused(None, |b| put32(b, FIRST + 8, (1 << 24) + 1), "too large");
        refused(None, |b| put32(b, FIRST + 8, 9), "does not fit");
        refused(None, |b| put16(b, FIRST + 2, 40), "does not fit");
        refused(None, |b| put16(b, FIRST + 2, u16::MAX), "does not fit");
    }

    #[test]
    fn any_bytes_are_answered() {
        for fill in [1, 0x7F, 0xFF] {
            for length in 0..=256 {
                let mut bytes = vec![fill; length];
                let _ = check(&bytes, BEGIN, None);
                if let Some(header) = bytes.get_mut(BEGIN..BEGIN + 4) {
                    header.copy_from_slice(&MAGIC.to_le_bytes());
                }
                let _ = check(&bytes, BEGIN, Some(11..=20));
            }
        }
    }
}
