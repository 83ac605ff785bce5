// SPDX-License-Identifier: MIT OR Apache-2.0

//! One node of an extent tree: the root in an inode, or a block.
//!
//! fs/ext4/ext4_extents.h and the checks of `__ext4_ext_check`,
//! fs/ext4/extents.c, of Linux 6.18.

use super::checksum::Crc32c;
use crate::Malformed;
use crate::block_range::BlockRange;
use crate::little_endian::{u16_at, u32_at};

/// `EXT4_MAX_EXTENT_DEPTH`: levels below the root.
pub const DEPTH_MAX: u16 = 5;

/// The depth from which on the kernel refuses an inode when it reads it; it refuses to
/// use a tree that is deeper than [`DEPTH_MAX`].
const INODE_DEPTH_MAX: u16 = 32;

/// `EXT4_EXT_MAGIC`.
const MAGIC: u16 = 0xF30A;
/// The header, an extent and an index are 12 bytes each.
const RECORD_BYTES: usize = 12;
/// `EXT_INIT_MAX_LEN`: longer ones are shorter ones that were not written yet.
const WRITTEN_BLOCKS_MAX: u16 = 1 << 15;

/// Consecutive blocks of a file that are consecutive on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its first block in the file.
    pub logical_block: u32,
    /// How many, 1 to 32,768.
    pub blocks_count: u32,
    /// Its first block on the device.
    pub physical_block: u64,
    /// Whether it is allocated but reads as zeros.
    pub is_unwritten: bool,
}

/// A reference to a node one level below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtentIndex {
    /// The first block in the file that lies there, or behind it.
    pub logical_block: u32,
    /// The node's block on the device.
    pub child_block: u64,
}

/// A node whose header makes sense.
#[derive(Clone, Copy, Debug)]
pub struct ExtentNode<'a> {
    bytes: &'a [u8],
    records_count: usize,
    records_max: usize,
    depth: u16,
}

impl<'a> ExtentNode<'a> {
    /// Decodes a node that fills `bytes`: the 60 bytes in an inode, or a block.
    ///
    /// # Errors
    ///
    /// The magic number is wrong, or it claims more records than there is room for,
    /// or it is too deep.
    pub fn decode(bytes: &'a [u8]) -> Result<ExtentNode<'a>, Malformed> {
        ExtentNode::decode_to(bytes, DEPTH_MAX)
    }

    /// Decodes a node that is a block of its own. `depth` is the one that its parent has
    /// for it, and `seed` that of the inode where blocks have checksums.
    pub(crate) fn decode_block(
        bytes: &'a [u8],
        depth: u16,
        seed: Option<Crc32c>,
    ) -> Result<ExtentNode<'a>, Malformed> {
        let node = ExtentNode::decode(bytes)?;
        if node.depth != depth {
            return Err(Malformed::at(6, "the extent tree's depth is wrong"));
        }
        if seed.is_some_and(|seed| !node.is_checksum_right(seed)) {
            let what = "the extent node's checksum does not match";
            return Err(Malformed::at(0, what));
        }
        Ok(node)
    }

    fn decode_to(bytes: &'a [u8], depth_max: u16) -> Result<ExtentNode<'a>, Malformed> {
        let u16 =
            |offset| u16_at(bytes, offset).ok_or(Malformed::at(offset, "the extent node is cut"));
        if u16(0)? != MAGIC {
            return Err(Malformed::at(0, "the extent node's magic number is wrong"));
        }
        let (records_count, records_max, depth) =
            (usize::from(u16(2)?), usize::from(u16(4)?), u16(6)?);
        if records_max == 0 || (records_max + 1) * RECORD_BYTES > bytes.len() {
            return Err(Malformed::at(
                4,
                "the extent node claims more than its room",
            ));
        }
        if records_count > records_max {
            return Err(Malformed::at(2, "the extent node has too many records"));
        }
        if depth > depth_max {
            return Err(Malformed::at(6, "the extent tree is too deep"));
        }
        if depth > 0 && records_count == 0 {
            return Err(Malformed::at(2, "the extent node has no children"));
        }
        Ok(ExtentNode {
            bytes,
            records_count,
            records_max,
            depth,
        })
    }

    /// Returns the number of levels below; 0 for a leaf, which has extents.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.depth
    }

    /// Returns the number of extents or indexes.
    #[must_use]
    pub fn records_count(&self) -> usize {
        self.records_count
    }

    /// Returns one extent of a leaf.
    ///
    /// # Errors
    ///
    /// There is no such extent, or it has no blocks, or reaches beyond the last that a file can have.
    #[inline]
    pub fn extent(&self, index: usize) -> Result<Extent, Malformed> {
        let (offset, record) = self.record(index)?;
        let logical_block = u32_at(record, 0).unwrap_or(0);
        let length = u16_at(record, 4).unwrap_or(0);
        let is_unwritten = length > WRITTEN_BLOCKS_MAX;
        let blocks_count = u32::from(if is_unwritten {
            length - WRITTEN_BLOCKS_MAX
        } else {
            length
        });
        if blocks_count == 0 {
            return Err(Malformed::at(offset + 4, "the extent has no blocks"));
        }
        if logical_block.checked_add(blocks_count - 1).is_none() {
            return Err(Malformed::at(
                offset,
                "the extent reaches beyond the last block",
            ));
        }
        let high = u16_at(record, 6).unwrap_or(0);
        let low = u32_at(record, 8).unwrap_or(0);
        Ok(Extent {
            logical_block,
            blocks_count,
            physical_block: u64::from(high) << 32 | u64::from(low),
            is_unwritten,
        })
    }

    /// Returns one index of an inner node.
    ///
    /// # Errors
    ///
    /// There is no such index.
    pub fn index(&self, index: usize) -> Result<ExtentIndex, Malformed> {
        let (_, record) = self.record(index)?;
        let low = u32_at(record, 4).unwrap_or(0);
        let high = u16_at(record, 8).unwrap_or(0);
        Ok(ExtentIndex {
            logical_block: u32_at(record, 0).unwrap_or(0),
            child_block: u64::from(high) << 32 | u64::from(low),
        })
    }

    /// Checks all records, as the kernel does before it uses any:
    /// `ext4_valid_extent_entries`.
    ///
    /// `first` is the block of the file with which the node begins, by its parent.
    ///
    /// # Errors
    ///
    /// A record has no blocks, or such that lie outside of the file system. Or the records
    /// overlap, or do not begin with `first`.
    pub fn check(&self, first: Option<u32>, blocks: BlockRange) -> Result<(), Malformed> {
        let mut next = 0;
        for index in 0..self.records_count {
            let (offset, record) = self.record(index)?;
            let logical_block = u32_at(record, 0).unwrap_or(0);
            let (physical_block, count) = match self.depth {
                0 => {
                    let extent = self.extent(index)?;
                    (extent.physical_block, extent.blocks_count)
                }
                _ => (self.index(index)?.child_block, 1),
            };
            let malformed = |what| Err(Malformed::at(offset, what));
            if index == 0 && first.is_some_and(|first| first != logical_block) {
                return malformed("the extent node does not begin where its parent says");
            }
            if logical_block < next {
                return malformed("the extents overlap");
            }
            let Some(end) = logical_block.checked_add(count) else {
                return malformed("the extent reaches beyond the last block");
            };
            if !blocks.holds(physical_block, count.into()) {
                return malformed("an extent is not on the file system");
            }
            next = end;
        }
        Ok(())
    }

    /// Returns whether the sum behind the records of a block matches; a root has none.
    ///
    /// `ext4_extent_block_csum`: `seed` is that of the inode.
    #[must_use]
    pub fn is_checksum_right(&self, seed: Crc32c) -> bool {
        let end = (self.records_max + 1) * RECORD_BYTES;
        let sum = u32_at(self.bytes, end);
        self.bytes
            .get(..end)
            .is_some_and(|covered| Some(seed.with(covered).0) == sum)
    }

    #[inline]
    fn record(&self, index: usize) -> Result<(usize, &'a [u8]), Malformed> {
        if index >= self.records_count {
            return Err(Malformed::at(2, "the extent node has no such record"));
        }
        // The count was checked against the room.
        let offset = (index + 1) * RECORD_BYTES;
        let record = self.bytes.get(offset..offset + RECORD_BYTES);
        record
            .map(|record| (offset, record))
            .ok_or(Malformed::at(offset, "the extent node is cut"))
    }
}

/// Checks the root in an inode for which the kernel refuses the inode.
///
/// # Errors
///
/// As [`ExtentNode::decode`] and [`ExtentNode::check`].
pub fn check_root(block_area: &[u8], blocks: BlockRange) -> Result<(), Malformed> {
    ExtentNode::decode_to(block_area, INODE_DEPTH_MAX)?.check(None, blocks)
}

/// Whether a record of the root in an inode names a block for which `is_taken`.
#[inline]
pub(crate) fn root_claims(block_area: &[u8], mut is_taken: impl FnMut(u64, u64) -> bool) -> bool {
    let ([header, records @ ..], []) = block_area.as_chunks::<RECORD_BYTES>() else {
        return false;
    };
    let [_, _, c0, c1, _, _, d0, d1, ..] = *header;
    let count = usize::from(u16::from_le_bytes([c0, c1]));
    let is_leaf = [d0, d1] == [0, 0];
    records.iter().take(count).any(|record| {
        let [_, _, _, _, n0, n1, h0, h1, p0, p1, p2, p3] = *record;
        if is_leaf {
            let length = u16::from_le_bytes([n0, n1]);
            let is_unwritten = length > WRITTEN_BLOCKS_MAX;
            let count = length - u16::from(is_unwritten) * WRITTEN_BLOCKS_MAX;
            let high = u64::from(u16::from_le_bytes([h0, h1])) << 32;
            is_taken(
                high | u64::from(u32::from_le_bytes([p0, p1, p2, p3])),
                count.into(),
            )
        } else {
            // An index has the low half first.
            let high = u64::from(u16::from_le_bytes([p0, p1])) << 32;
            is_taken(high | u64::from(u32::from_le_bytes([n0, n1, h0, h1])), 1)
        }
    })
}

/// Returns whether this is the usual root: a leaf without a fault.
#[inline]
#[must_use]
pub fn is_sound_leaf(block_area: &[u8], blocks: BlockRange) -> bool {
    let ([header, records @ ..], []) = block_area.as_chunks::<RECORD_BYTES>() else {
        return false;
    };
    let [m0, m1, c0, c1, r0, r1, d0, d1, ..] = *header;
    let count = u16::from_le_bytes([c0, c1]);
    // Magic number, room and depth in one comparison: all but the count.
    let fixed = u64::from_le_bytes([m0, m1, c0, c1, r0, r1, d0, d1]) & !(0xFFFF << 16);
    let is_leaf = fixed == u64::from(MAGIC) | (records.len() as u64) << 32;
    let Some(records) = records.get(..count.into()).filter(|_| is_leaf) else {
        return false;
    };
    let mut next = 0;
    records.iter().all(|record| {
        let [l0, l1, l2, l3, n0, n1, h0, h1, p0, p1, p2, p3] = *record;
        let logical_block = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        let length = u16::from_le_bytes([n0, n1]);
        let is_unwritten = length > WRITTEN_BLOCKS_MAX;
        let count = u64::from(length) - u64::from(is_unwritten) * u64::from(WRITTEN_BLOCKS_MAX);
        let high = u64::from(u16::from_le_bytes([h0, h1])) << 32;
        let physical_block = high | u64::from(u32::from_le_bytes([p0, p1, p2, p3]));
        let is_after = count > 0 && logical_block >= next;
        next = logical_block + count;
        is_after && next <= u64::from(u32::MAX) && blocks.holds(physical_block, count)
    })
}

#[cfg(test)]
mod tests {
    use super::super::superblock::tests::{put16, put32};
    use super::*;

    fn node(count: u16, max: u16, depth: u16, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        put16(&mut bytes, 0, MAGIC);
        put16(&mut bytes, 2, count);
        put16(&mut bytes, 4, max);
        put16(&mut bytes, 6, depth);
        bytes
    }

    #[test]
    fn a_leaf_has_extents() {
        let mut bytes = node(2, 4, 0, 60);
        put32(&mut bytes, 12, 7);
        put16(&mut bytes, 16, 32768);
        put16(&mut bytes, 18, 1);
        put32(&mut bytes, 20, 99);
        put16(&mut bytes, 28, 32769);
        let node = ExtentNode::decode(&bytes).unwrap();
        assert_eq!(
            node.extent(0),
            Ok(Extent {
                logical_block: 7,
                blocks_count: 32768,
                physical_block: 1 << 32 | 99,
                is_unwritten: false
            })
        );
        let unwritten = node.extent(1).unwrap();
        assert!(unwritten.is_unwritten && unwritten.blocks_count == 1);
        assert!(node.extent(2).is_err());
    }

    #[test]
    fn an_inner_node_has_indexes() {
        let mut bytes = node(1, 340, 2, 4096);
        put32(&mut bytes, 12, 5);
        put32(&mut bytes, 16, 1234);
        put16(&mut bytes, 20, 3);
        let node = ExtentNode::decode(&bytes).unwrap();
        assert_eq!(node.depth(), 2);
        let index = node.index(0).unwrap();
        assert_eq!(index.child_block, 3 << 32 | 1234);
        assert_eq!(index.logical_block, 5);
    }

    #[test]
    fn nonsense_is_malformed() {
        let decode = |bytes: &[u8]| ExtentNode::decode(bytes).map(|_| ());
        assert!(decode(&node(4, 4, 0, 60)).is_ok());
        assert!(decode(&node(4, 5, 0, 60)).is_err());
        assert!(decode(&node(5, 4, 0, 60)).is_err());
        assert!(decode(&node(0, 0, 0, 60)).is_err());
        assert!(decode(&node(0, 4, 1, 60)).is_err());
        assert!(decode(&node(1, 4, 6, 60)).is_err());
        assert!(decode(&node(65535, 65535, 0, 60)).is_err());
        assert!(decode(&[0; 60]).is_err());
        let bytes = node(4, 4, 0, 60);
        for index in [4, usize::MAX / 12, usize::MAX - 1, usize::MAX] {
            let node = ExtentNode::decode(&bytes).unwrap();
            assert!(node.extent(index).is_err() && node.index(index).is_err());
        }
        for length in 0..60 {
            assert!(decode(&node(4, 4, 0, 60)[..length]).is_err());
        }
        let mut bytes = node(1, 4, 0, 60);
        assert!(ExtentNode::decode(&bytes).unwrap().extent(0).is_err());
        put32(&mut bytes, 12, u32::MAX);
        put16(&mut bytes, 16, 2);
        assert!(ExtentNode::decode(&bytes).unwrap().extent(0).is_err());
    }

    /// The quick answer for leaves must be the one of the general check.
    #[test]
    fn a_leaf_is_sound_where_the_general_check_says_so() {
        let blocks = BlockRange {
            superblock: 1,
            end: 1000,
        };
        let (mut sound, mut refused) = (0, 0);
        let mut state = 1_u64;
        let mut below = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % limit
        };
        for _ in 0..200_000 {
            let count = below(6) as u16;
            let mut bytes = node(count, 4, 0, 60);
            let mut logical = below(3) as u32;
            for record in 0..usize::from(count.min(4)) {
                let lengths = [0, 1, 2, 32_767, 32_768, 32_769, 32_770];
                let length = lengths[below(7) as usize];
                put32(&mut bytes, 12 + 12 * record, logical);
                put16(&mut bytes, 16 + 12 * record, length);
                put16(&mut bytes, 18 + 12 * record, u16::from(below(20) == 0));
                put32(&mut bytes, 20 + 12 * record, below(1002) as u32);
                logical = match below(9) {
                    0 => 0,
                    1 => u32::MAX - below(3) as u32,
                    _ => logical.wrapping_add(below(4) as u32),
                };
            }
            if below(4) == 0 {
                bytes[below(8) as usize] ^= 1 << below(8);
            }
            let is_sound = check_root(&bytes, blocks).is_ok();
            let is_usual = bytes[..2] == MAGIC.to_le_bytes() && bytes[4..8] == [4, 0, 0, 0];
            assert_eq!(
                is_sound_leaf(&bytes, blocks),
                is_sound && is_usual,
                "{bytes:?}"
            );
            sound += usize::from(is_sound);
            refused += usize::from(!is_sound);
        }
        assert!(sound > 1000 && refused > 1000, "{sound} {refused}");
    }

    /// One case for each reason for which the kernel refuses the records of a node.
    #[test]
    fn records_are_refused_as_by_the_kernel() {
        let blocks = BlockRange {
            superblock: 1,
            end: 1000,
        };
        // Block of the file, length, block of the device.
        let leaf = |extents: &[(u32, u16, u32)]| {
            let mut bytes = node(extents.len() as u16, 4, 0, 60);
            for (index, &(logical, length, physical)) in extents.iter().enumerate() {
                put32(&mut bytes, 12 + 12 * index, logical);
                put16(&mut bytes, 16 + 12 * index, length);
                put32(&mut bytes, 20 + 12 * index, physical);
            }
            bytes
        };
        let check = |extents: &[(u32, u16, u32)], first| {
            let bytes = leaf(extents);
            ExtentNode::decode(&bytes).unwrap().check(first, blocks)
        };
        assert_eq!(check(&[], None), Ok(()));
        assert_eq!(
            check(&[(0, 5, 10), (5, 995, 5), (4000, 1, 999)], None),
            Ok(())
        );
        assert_eq!(check(&[(7, 32769, 10)], Some(7)), Ok(()), "unwritten");
        for (extents, first, expected) in [
            (&[(7, 1, 10)][..], Some(6), "where its parent says"),
            (&[(0, 5, 10), (4, 1, 50)], None, "overlap"),
            (&[(5, 1, 10), (0, 1, 50)], None, "overlap"),
            (&[(0, 0, 10)], None, "no blocks"),
            (&[(u32::MAX, 1, 10)], None, "beyond the last"),
            (&[(0, 1, 1000)], None, "not on the file system"),
            (&[(0, 32769, 1000)], None, "not on the file system"),
            (&[(0, 2, 999)], None, "not on the file system"),
            (&[(0, 1, 1)], None, "not on the file system"),
            (&[(0, 1, 0)], None, "not on the file system"),
        ] {
            let what = check(extents, first).unwrap_err().what;
            assert!(what.contains(expected), "{what}, not {expected}");
        }
        let inner = |children: &[(u32, u32)]| {
            let mut bytes = node(children.len() as u16, 4, 7, 60);
            for (index, &(logical, child)) in children.iter().enumerate() {
                put32(&mut bytes, 12 + 12 * index, logical);
                put32(&mut bytes, 16 + 12 * index, child);
            }
            check_root(&bytes, blocks)
        };
        // The depth is one that the kernel refuses later.
        assert_eq!(inner(&[(0, 10), (1, 10)]), Ok(()));
        assert!(inner(&[(0, 10), (0, 11)]).is_err());
        assert!(inner(&[(0, 1000)]).is_err());
        assert!(inner(&[]).is_err());
    }

    #[test]
    fn the_sum_lies_behind_the_room() {
        let mut bytes = node(1, 340, 0, 4096);
        let sum = Crc32c(5).with(&bytes[..4092]).0;
        put32(&mut bytes, 4092, sum);
        let is_right = |bytes: &[u8]| {
            let node = ExtentNode::decode(bytes).unwrap();
            node.is_checksum_right(Crc32c(5))
        };
        assert!(is_right(&bytes));
        bytes[100] = 1;
        assert!(!is_right(&bytes));
        assert!(!is_right(&node(1, 4, 0, 60)));
    }
}
