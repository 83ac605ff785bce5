// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directory blocks: entries one behind the other, whatever index is around them.
//!
//! `struct ext4_dir_entry_2`, fs/ext4/ext4.h; `__ext4_check_dir_entry`,
//! fs/ext4/dir.c; `struct dx_root`, `struct dx_node` and the checksums in
//! fs/ext4/namei.c, of Linux 6.18.
//!
//! A hashed directory (htree) needs no code here: its inner nodes look empty to a
//! reader that does not know them. They look like one deleted entry that fills the
//! block, and the root looks like `.` and `..` with a very long record. So a reader
//! takes all blocks in the order in which they lie.

use super::checksum::Crc32c;
use crate::Malformed;
use crate::little_endian::{u8_at, u16_at, u32_at};
use statwalk_format::FileType;
use statwalk_format::has_slash_or_nul;

/// `ext4_dir_rec_len` of a name of one byte: no entry is shorter.
const RECORD_BYTES_MIN: usize = 12;
/// Inode, length of the record, length of the name, type.
const HEADER_BYTES: usize = 8;
/// The header and the longest name, `EXT4_NAME_LEN`.
pub const NAMED_BYTES_MAX: usize = HEADER_BYTES + 255;
/// `struct ext4_dir_entry_tail`: looks like a deleted entry, holds the checksum.
const TAIL_BYTES: usize = 12;
/// `EXT4_FT_DIR_CSUM`: the type of the tail.
const TAIL_TYPE: u8 = 0xDE;

/// The properties of a file system that its directories depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryFormat {
    /// The size of a block.
    pub block_size_bytes: u32,
    /// The highest number of an inode.
    pub inode_max: u32,
    /// Whether entries hold types: the feature `filetype`.
    pub has_types: bool,
}

/// One name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryEntry<'a> {
    /// 1 to 255 bytes, without `/` and NUL.
    pub name: &'a [u8],
    /// The inode's number, at least 1.
    pub inode: u32,
    /// The type; unknown where entries do not hold it.
    pub kind: FileType,
}

/// Checks a whole block, or the entries within an inode.
///
/// # Errors
///
/// A record is too short or reaches beyond the end. A name is empty, does not fit its
/// record, or holds a slash or a NUL. An inode's number is too high.
pub fn check(bytes: &[u8], format: DirectoryFormat) -> Result<(), Malformed> {
    check_and_visit(bytes, format, |_| {})
}

/// Checks like [`check`], and passes the inode of each entry on at once.
///
/// It passes them on before it knows whether the block is sound: they are hints.
///
/// # Errors
///
/// As [`check`].
#[inline]
pub fn check_and_visit(
    bytes: &[u8],
    format: DirectoryFormat,
    mut visit: impl FnMut(u32),
) -> Result<(), Malformed> {
    let mut offset = 0;
    while offset < bytes.len() {
        let record = record(bytes, offset, format)?;
        if record.inode != 0 {
            visit(record.inode);
            check_entry(&record, offset, format)?;
        }
        offset = record.end;
    }
    Ok(())
}

/// Returns the entries of a [checked](check) block, without `.` and `..`.
///
/// In a block that was not checked, the first damage ends the entries.
#[inline]
pub fn entries(bytes: &[u8], format: DirectoryFormat) -> DirectoryEntries<'_> {
    DirectoryEntries {
        bytes,
        offset: 0,
        format,
    }
}

/// Returns the offset of the next record, or nothing if the length of the record
/// at `offset` is wrong. Behind the last record that is the length of the block.
#[inline]
#[must_use]
pub fn next_record(bytes: &[u8], offset: usize, format: DirectoryFormat) -> Option<usize> {
    let length = record_bytes(bytes, offset, format.block_size_bytes)?;
    let is_right = length >= RECORD_BYTES_MIN && length.is_multiple_of(4);
    offset.checked_add(length).filter(|_| is_right)
}

/// Returns the inode of `.`, the first entry of a directory's first block.
#[inline]
#[must_use]
pub fn own_inode(block: &[u8]) -> Option<u32> {
    let is_dot = u8_at(block, 6) == Some(1) && u8_at(block, 8) == Some(b'.');
    u32_at(block, 0).filter(|_| is_dot)
}

/// Returns the inode of `..`, the second entry of a directory's first block.
#[must_use]
pub fn parent_inode(block: &[u8]) -> Option<u32> {
    let at = usize::from(u16_at(block, 4)?);
    let is_dots = u8_at(block, at + 6) == Some(2) && block.get(at + 8..at + 10) == Some(b"..");
    u32_at(block, at).filter(|_| is_dots)
}

/// The iterator that [`entries`] returns.
#[derive(Clone, Debug)]
pub struct DirectoryEntries<'a> {
    bytes: &'a [u8],
    offset: usize,
    format: DirectoryFormat,
}

impl<'a> Iterator for DirectoryEntries<'a> {
    type Item = DirectoryEntry<'a>;

    #[inline]
    fn next(&mut self) -> Option<DirectoryEntry<'a>> {
        while self.offset < self.bytes.len() {
            let record = record(self.bytes, self.offset, self.format).ok()?;
            self.offset = record.end;
            if record.inode == 0 || matches!(record.name, b"" | b"." | b"..") {
                continue;
            }
            return Some(DirectoryEntry {
                name: record.name,
                inode: record.inode,
                kind: if self.format.has_types {
                    FileType::of_directory_entry(record.kind)
                } else {
                    FileType::Unknown
                },
            });
        }
        None
    }
}

/// The part of a directory that a block must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Entries.
    Leaf,
    /// The root of an index.
    Root,
    /// Entries, or an inner node of an index.
    LeafOrNode,
}

/// Checks the sum of a whole block. In the nodes of an index it lies elsewhere.
///
/// `seed` is that of the inode.
///
/// # Errors
///
/// It does not match, or there is no place for it where that part of a directory has it.
pub fn check_checksum(block: &[u8], part: Part, seed: Crc32c) -> Result<(), Malformed> {
    let none = Malformed::at(0, "the directory block has no checksum");
    let length = block.len();
    let index_offset = match part {
        Part::Leaf => None,
        Part::Root => {
            let no_root = Malformed::at(0, "the directory does not begin with its index");
            Some(index_offset(block).ok_or(no_root)?)
        }
        Part::LeafOrNode => index_offset(block),
    };
    let (sum, place) = if let Some(entries_offset) = index_offset {
        // `struct dx_countlimit`, in place of the first entry's hash.
        let limit = usize::from(u16_at(block, entries_offset).ok_or(none)?);
        let count = usize::from(u16_at(block, entries_offset + 2).ok_or(none)?);
        let tail = entries_offset + limit * 8;
        if count > limit || tail + 8 > length {
            return Err(Malformed::at(entries_offset, "the index claims too much"));
        }
        let entries_end = entries_offset + count * 8;
        let sum = seed
            .with(block.get(..entries_end).ok_or(none)?)
            .with(block.get(tail..tail + 4).ok_or(none)?)
            .with(&[0; 4]);
        (sum, tail + 4)
    } else {
        let end = length.checked_sub(TAIL_BYTES).ok_or(none)?;
        let is_tail = u32_at(block, end) == Some(0)
            && u16_at(block, end + 4) == Some(TAIL_BYTES as u16)
            && u8_at(block, end + 6) == Some(0)
            && u8_at(block, end + 7) == Some(TAIL_TYPE);
        let covered = block.get(..end).filter(|_| is_tail).ok_or(none)?;
        (seed.with(covered), end + 8)
    };
    if u32_at(block, place) == Some(sum.0) {
        Ok(())
    } else {
        Err(Malformed::at(
            place,
            "the directory block's checksum does not match",
        ))
    }
}

/// Where the entries of an index begin, if the block is one: `get_dx_countlimit`.
fn index_offset(block: &[u8]) -> Option<usize> {
    let length = block.len();
    let first = record_bytes(block, 0, length as u32)?;
    if first == length {
        return (u32_at(block, 0) == Some(0)).then_some(8);
    }
    let is_root = first == 12
        && record_bytes(block, 12, length as u32)? == length.checked_sub(12)?
        && u32_at(block, 24) == Some(0)
        && u8_at(block, 29) == Some(8);
    is_root.then_some(32)
}

struct Record<'a> {
    inode: u32,
    name: &'a [u8],
    kind: u8,
    end: usize,
}

#[inline]
fn record(bytes: &[u8], offset: usize, format: DirectoryFormat) -> Result<Record<'_>, Malformed> {
    let header: &[u8; HEADER_BYTES] = bytes
        .get(offset..)
        .and_then(|rest| rest.first_chunk())
        .ok_or(Malformed::at(offset, "the entry is cut"))?;
    // One load: inode, length, length of the name, type.
    let header = u64::from_le_bytes(*header);
    let length = record_length((header >> 32) as u16, format.block_size_bytes);
    if length < RECORD_BYTES_MIN || !length.is_multiple_of(4) {
        return Err(Malformed::at(offset, "the entry's length is wrong"));
    }
    let end = offset + length;
    if end > bytes.len() {
        return Err(Malformed::at(offset, "the entry ends beyond the block"));
    }
    let inode = header as u32;
    let name_begin = offset + HEADER_BYTES;
    let name_end = name_begin + usize::from((header >> 48) as u8);
    let name = if inode == 0 {
        // The tail and deleted entries may hold anything.
        &[]
    } else {
        bytes
            .get(name_begin..name_end)
            .filter(|_| name_end <= end)
            .ok_or(Malformed::at(offset, "the name is longer than its entry"))?
    };
    Ok(Record {
        inode,
        name,
        kind: (header >> 56) as u8,
        end,
    })
}

#[inline]
fn check_entry(
    record: &Record<'_>,
    offset: usize,
    format: DirectoryFormat,
) -> Result<(), Malformed> {
    if record.inode > format.inode_max {
        return Err(Malformed::at(offset, "the entry's inode does not exist"));
    }
    if record.name.is_empty() {
        return Err(Malformed::at(offset, "the entry has no name"));
    }
    if has_slash_or_nul(record.name) {
        return Err(Malformed::at(offset, "the name holds a slash or a NUL"));
    }
    Ok(())
}

/// The length of the record at an offset.
#[inline]
fn record_bytes(bytes: &[u8], offset: usize, block_size_bytes: u32) -> Option<usize> {
    let length = u16_at(bytes, offset.checked_add(4)?)?;
    Some(record_length(length, block_size_bytes))
}

/// The length of a record: `ext4_rec_len_from_disk`.
///
/// 64 KiB do not fit 16 bits: 0 and 65,535 stand for them, and the two low bits,
/// which would be 0, for the high ones. Shorter blocks have nothing of the kind.
#[inline]
fn record_length(length: u16, block_size_bytes: u32) -> usize {
    match (block_size_bytes, length) {
        (65536, 0 | u16::MAX) => 65536,
        (65536, _) => usize::from(length & 0xFFFC) | usize::from(length & 3) << 16,
        _ => usize::from(length),
    }
}

#[cfg(test)]
mod tests {
    use super::super::superblock::tests::{put16, put32};
    use super::*;

    const FORMAT: DirectoryFormat = DirectoryFormat {
        block_size_bytes: 1024,
        inode_max: 5000,
        has_types: true,
    };

    /// Inode, length of the record, name, type.
    type Raw<'a> = (u32, u16, &'a [u8], u8);

    /// A block of 1 KiB; the last entry takes the rest.
    fn block(entries: &[Raw<'_>]) -> Vec<u8> {
        let mut bytes = vec![0; 1024];
        let mut offset = 0;
        for (index, &(inode, length, name, kind)) in entries.iter().enumerate() {
            let is_last = index + 1 == entries.len();
            let length = if is_last {
                1024 - offset
            } else {
                usize::from(length)
            };
            put32(&mut bytes, offset, inode);
            put16(&mut bytes, offset + 4, length as u16);
            bytes[offset + 6] = name.len() as u8;
            bytes[offset + 7] = kind;
            bytes[offset + 8..offset + 8 + name.len()].copy_from_slice(name);
            offset += length;
        }
        bytes
    }

    fn names(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Malformed> {
        check(bytes, FORMAT)?;
        Ok(entries(bytes, FORMAT)
            .map(|entry| entry.name.to_vec())
            .collect())
    }

    #[test]
    fn a_check_visits_the_inodes_in_use() {
        let bytes = block(&[(2, 12, b".", 2), (0, 16, b"deleted", 1), (12, 12, b"a", 1)]);
        let mut visited = Vec::new();
        assert_eq!(
            check_and_visit(&bytes, FORMAT, |inode| visited.push(inode)),
            Ok(())
        );
        assert_eq!(visited, [2, 12]);
    }

    #[test]
    fn entries_come_without_dots_and_without_deleted_ones() {
        let long = [0xFF; 255];
        let bytes = block(&[
            (2, 12, b".", 2),
            (2, 12, b"..", 2),
            (0, 16, b"deleted", 1),
            (12, 12, b"a\n", 1),
            (13, 264, &long, 7),
            (14, 0, b"last", 9),
        ]);
        assert_eq!(
            names(&bytes).unwrap(),
            [b"a\n".to_vec(), long.to_vec(), b"last".to_vec()]
        );
        let kinds: Vec<_> = entries(&bytes, FORMAT).map(|entry| entry.kind).collect();
        assert_eq!(
            kinds,
            [FileType::File, FileType::Symlink, FileType::Unknown]
        );
        let without_types = DirectoryFormat {
            has_types: false,
            ..FORMAT
        };
        assert!(entries(&bytes, without_types).all(|entry| entry.kind == FileType::Unknown));
    }

    #[test]
    fn nodes_of_an_index_are_empty() {
        let mut root = block(&[(2, 12, b".", 2), (2, 0, b"..", 2)]);
        root[29] = 8;
        put16(&mut root, 32, 123);
        put16(&mut root, 34, 2);
        assert_eq!(index_offset(&root), Some(32));
        assert_eq!(names(&root).unwrap(), [b""; 0]);
        let mut inner = vec![0xAA; 1024];
        inner[..8].fill(0);
        put16(&mut inner, 4, 1024);
        assert_eq!(index_offset(&inner), Some(8));
        assert_eq!(names(&inner).unwrap(), [b""; 0]);
        let leaf = block(&[(12, 12, b"a", 1), (13, 0, b"b", 1)]);
        assert_eq!(index_offset(&leaf), None);
    }

    #[test]
    fn damage_is_found_before_anything_is_delivered() {
        let cases: [(&[Raw<'_>], &str); 7] = [
            (&[(12, 12, b"a", 1), (5001, 0, b"b", 1)], "does not exist"),
            (&[(12, 12, b"a", 1), (12, 0, b"", 1)], "no name"),
            (&[(12, 0, b"a/b", 1)], "slash"),
            (&[(12, 0, b"a\0b", 1)], "NUL"),
            (&[(12, 12, b"longer", 1), (12, 0, b"b", 1)], "longer"),
            (&[(12, 8, b"", 1), (12, 0, b"b", 1)], "length"),
            (&[(12, 14, b"a", 1), (12, 0, b"b", 1)], "length"),
        ];
        for (content, expected) in cases {
            let error = names(&block(content)).unwrap_err();
            assert!(error.what.contains(expected), "{error} not {expected}");
        }
        let mut bytes = block(&[(12, 0, b"a", 1)]);
        put16(&mut bytes, 4, 1028);
        assert!(names(&bytes).unwrap_err().what.contains("beyond"));
        assert!(names(&[0; 1024]).is_err());
        assert!(names(&[0; 7]).is_err());
        assert!(names(&[]).unwrap().is_empty());
    }

    #[test]
    fn records_of_large_blocks_are_longer_than_16_bits() {
        let mut bytes = vec![0; 65536];
        let length = |bytes: &[u8]| record_bytes(bytes, 0, 65536);
        assert_eq!(length(&bytes), Some(65536));
        put16(&mut bytes, 4, 65535);
        assert_eq!(length(&bytes), Some(65536));
        put16(&mut bytes, 4, 65532);
        assert_eq!(length(&bytes), Some(65532));
        put16(&mut bytes, 4, 12 | 1);
        assert_eq!(length(&bytes), Some(65536 + 12));
        let format = DirectoryFormat {
            block_size_bytes: 65536,
            ..FORMAT
        };
        assert!(check(&bytes, format).is_err());
        put16(&mut bytes, 4, 0);
        assert!(check(&bytes, format).is_ok());
    }

    #[test]
    fn the_sum_of_a_leaf_lies_in_its_tail() {
        let mut bytes = block(&[(12, 1012, b"a", 1), (0, 12, b"", TAIL_TYPE)]);
        assert!(check_checksum(&bytes, Part::LeafOrNode, Crc32c(9)).is_err());
        let sum = Crc32c(9).with(&bytes[..1012]).0;
        put32(&mut bytes, 1020, sum);
        for (part, is_right) in [
            (Part::LeafOrNode, true),
            (Part::Leaf, true),
            (Part::Root, false),
        ] {
            assert_eq!(check_checksum(&bytes, part, Crc32c(9)).is_ok(), is_right);
        }
        assert!(check_checksum(&bytes, Part::LeafOrNode, Crc32c(8)).is_err());
        bytes[8] = b'b';
        assert!(check_checksum(&bytes, Part::LeafOrNode, Crc32c(9)).is_err());
        assert!(check_checksum(&block(&[(12, 0, b"a", 1)]), Part::Leaf, Crc32c(9)).is_err());
        for length in 0..40 {
            let _ = check_checksum(&bytes[..length], Part::LeafOrNode, Crc32c(9));
        }
    }

    /// Found by fuzzing: a piece of 9 bytes whose first record has 12 overflowed
    /// a subtraction, where the root of an index was looked for.
    #[test]
    fn a_piece_shorter_than_its_first_record_has_no_sum() {
        let piece = [0, 0, 0, 0, 12, 0, 0x1F, 1, 0];
        for length in 0..=piece.len() {
            assert!(check_checksum(&piece[..length], Part::LeafOrNode, Crc32c(1)).is_err());
        }
    }

    #[test]
    fn the_sum_of_an_index_lies_behind_its_room() {
        let mut bytes = block(&[(2, 12, b".", 2), (2, 0, b"..", 2)]);
        bytes[29] = 8;
        put16(&mut bytes, 32, 123);
        put16(&mut bytes, 34, 2);
        let sum = Crc32c(9).with(&bytes[..48]).with(&[0; 8]).0;
        put32(&mut bytes, 1020, sum);
        for (part, is_right) in [
            (Part::LeafOrNode, true),
            (Part::Root, true),
            (Part::Leaf, false),
        ] {
            assert_eq!(check_checksum(&bytes, part, Crc32c(9)).is_ok(), is_right);
        }
        put16(&mut bytes, 34, 124);
        assert!(check_checksum(&bytes, Part::LeafOrNode, Crc32c(9)).is_err());
        put16(&mut bytes, 32, u16::MAX);
        assert!(check_checksum(&bytes, Part::LeafOrNode, Crc32c(9)).is_err());
    }
}
