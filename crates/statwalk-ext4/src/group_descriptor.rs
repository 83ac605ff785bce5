// SPDX-License-Identifier: MIT OR Apache-2.0

//! Group descriptors: where the inodes of a group lie, how many were ever used, and where
//! its bitmaps lie.
//!
//! `struct ext4_group_desc`, fs/ext4/ext4.h; `descriptor_loc` and
//! `ext4_group_desc_csum`, fs/ext4/super.c, of Linux 6.18. With flex_bg the
//! tables of several groups lie together; nothing else changes.

use super::checksum::{Crc32c, crc16};
use super::feature;
use super::superblock::{Checksums, SUPERBLOCK_OFFSET_BYTES, Superblock};
use crate::Malformed;
use crate::little_endian::{u16_at, u32_at};

/// `EXT4_BG_INODE_UNINIT`: no inode of the group was ever used.
const FLAG_INODE_UNINIT: u16 = 1;
/// Where `bg_checksum` lies.
const CHECKSUM_OFFSET: usize = 0x1E;

/// The fields of a group descriptor that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDescriptor {
    /// The block that says which blocks are in use.
    pub block_bitmap_block: u64,
    /// The block that says which inodes are in use.
    pub inode_bitmap_block: u64,
    /// The first block of the inode table.
    pub inode_table_block: u64,
    /// The number of inodes at the table's beginning that were written. The bytes
    /// behind them have no meaning.
    pub initialised_inodes: u32,
}

impl GroupDescriptor {
    /// Decodes a descriptor of the size that the superblock says.
    ///
    /// # Errors
    ///
    /// It is too short, its checksum does not match, or more inodes are unused
    /// than there are.
    pub fn decode(
        bytes: &[u8],
        group: u32,
        superblock: &Superblock,
    ) -> Result<GroupDescriptor, Malformed> {
        let size = superblock.descriptor_size_bytes as usize;
        let bytes = bytes
            .get(..size)
            .ok_or(Malformed::at(bytes.len(), "the group descriptor is cut"))?;
        let u16 = |offset| u16_at(bytes, offset).unwrap_or(0);
        let u32 = |offset| u32_at(bytes, offset).unwrap_or(0);
        if superblock.checksums == Checksums::Verified
            && checksum(bytes, group, superblock) != u16(CHECKSUM_OFFSET)
        {
            return Err(Malformed::at(
                CHECKSUM_OFFSET,
                "the group descriptor's checksum does not match",
            ));
        }
        let is_64bit = superblock.features.incompat(feature::INCOMPAT_64BIT);
        let block = |low, high| {
            let high = if is_64bit { u32(high) } else { 0 };
            u64::from(high) << 32 | u64::from(u32(low))
        };
        let mut unused_inodes = u32::from(u16(0x1C));
        if is_64bit {
            unused_inodes |= u32::from(u16(0x32)) << 16;
        }
        // Without sums of descriptors the fields hold nothing, and all tables
        // are written: ext4_has_group_desc_csum, fs/ext4/ext4.h.
        let has_sums = superblock.features.ro_compat(feature::RO_COMPAT_GDT_CSUM)
            || superblock
                .features
                .ro_compat(feature::RO_COMPAT_METADATA_CSUM);
        let initialised_inodes = if !has_sums {
            superblock.inodes_per_group
        } else if u16(0x12) & FLAG_INODE_UNINIT != 0 {
            0
        } else {
            superblock
                .inodes_per_group
                .checked_sub(unused_inodes)
                .ok_or(Malformed::at(0x1C, "more inodes are unused than there are"))?
        };
        Ok(GroupDescriptor {
            block_bitmap_block: block(0x0, 0x20),
            inode_bitmap_block: block(0x4, 0x24),
            inode_table_block: block(0x8, 0x28),
            initialised_inodes,
        })
    }
}

/// Returns the place of a group's descriptor on the device, in bytes.
///
/// It is absent if 64 bits do not hold it. It can lie beyond the end of the device.
#[must_use]
pub fn offset_bytes(group: u32, superblock: &Superblock) -> Option<u64> {
    let block_size = u64::from(superblock.block_size_bytes);
    let size = superblock.descriptor_size_bytes;
    let per_block = superblock.block_size_bytes / size;
    let (table_block, index) = (group / per_block, group % per_block);
    let has_meta_groups = superblock.features.incompat(feature::INCOMPAT_META_BG);
    // The superblock lies in block 1 if blocks are 1 KiB, else in block 0.
    let superblock_block = SUPERBLOCK_OFFSET_BYTES / block_size;
    let block = if has_meta_groups && table_block >= superblock.first_meta_bg {
        let first_group = table_block.checked_mul(per_block)?;
        let mut behind = u64::from(superblock.has_superblock_copy(first_group));
        // The first group begins at block 0 while the superblock is in block 1.
        if first_group == 0 && superblock.first_data_block == 0 {
            behind += superblock_block;
        }
        u64::from(first_group) * u64::from(superblock.blocks_per_group)
            + u64::from(superblock.first_data_block)
            + behind
    } else {
        superblock_block + 1 + u64::from(table_block)
    };
    block
        .checked_mul(block_size)?
        .checked_add(u64::from(index) * u64::from(size))
}

/// The checksum of a descriptor of the right size.
fn checksum(bytes: &[u8], group: u32, superblock: &Superblock) -> u16 {
    let (before, after) = bytes.split_at(CHECKSUM_OFFSET.min(bytes.len()));
    let after = after.get(2..).unwrap_or_default();
    let group = group.to_le_bytes();
    if superblock
        .features
        .ro_compat(feature::RO_COMPAT_METADATA_CSUM)
    {
        Crc32c(superblock.checksum_seed)
            .with(&group)
            .with(before)
            .with(&[0; 2])
            .with(after)
            .0 as u16
    } else {
        let sum = crc16(crc16(crc16(!0, &superblock.uuid), &group), before);
        // Without 64bit nothing lies behind the sum.
        crc16(sum, after)
    }
}

#[cfg(test)]
mod tests {
    use super::super::superblock::tests::{plain, put16, put32};
    use super::*;

    fn superblock(incompat: u32, ro_compat: u32) -> Superblock {
        let mut bytes = plain();
        put32(&mut bytes, 0x4, 10_000_000);
        put32(&mut bytes, 0x60, incompat);
        put32(&mut bytes, 0x64, ro_compat);
        put16(&mut bytes, 0xFE, 64);
        bytes[0x175] = 1;
        let sum = Crc32c::NEW.with(&bytes[..0x3FC]).0;
        put32(&mut bytes, 0x3FC, sum);
        Superblock::decode(&bytes, Checksums::Verified).unwrap()
    }

    #[test]
    fn high_halves_count_only_with_64bit() {
        let mut bytes = vec![0; 64];
        put32(&mut bytes, 0x0, 75);
        put32(&mut bytes, 0x4, 76);
        put32(&mut bytes, 0x8, 77);
        put32(&mut bytes, 0x20, 4);
        put32(&mut bytes, 0x24, 3);
        put32(&mut bytes, 0x28, 2);
        let decode = |superblock: &Superblock| GroupDescriptor::decode(&bytes, 0, superblock);
        let old = decode(&superblock(0, 0)).unwrap();
        assert_eq!((old.block_bitmap_block, old.inode_bitmap_block), (75, 76));
        assert_eq!(old.inode_table_block, 77);
        assert_eq!(old.initialised_inodes, 2048);
        let new = decode(&superblock(feature::INCOMPAT_64BIT, 0)).unwrap();
        assert_eq!(new.block_bitmap_block, 75 | 4 << 32);
        assert_eq!(new.inode_bitmap_block, 76 | 3 << 32);
        assert_eq!(new.inode_table_block, 77 | 2 << 32);
    }

    #[test]
    fn unused_inodes_count_only_with_checksums() {
        let superblock = superblock(0, feature::RO_COMPAT_GDT_CSUM);
        let initialised = |flags, unused| {
            let mut bytes = vec![0; 32];
            put16(&mut bytes, 0x12, flags);
            put16(&mut bytes, 0x1C, unused);
            let sum = checksum(&bytes, 3, &superblock);
            put16(&mut bytes, CHECKSUM_OFFSET, sum);
            GroupDescriptor::decode(&bytes, 3, &superblock)
                .map(|descriptor| descriptor.initialised_inodes)
        };
        assert_eq!(initialised(0, 2000), Ok(48));
        assert_eq!(initialised(FLAG_INODE_UNINIT, 0), Ok(0));
        assert!(initialised(0, 2049).is_err());
    }

    #[test]
    fn each_bit_counts_in_the_sum() {
        for ro_compat in [
            feature::RO_COMPAT_GDT_CSUM,
            feature::RO_COMPAT_METADATA_CSUM,
        ] {
            let superblock = superblock(feature::INCOMPAT_64BIT, ro_compat);
            let mut bytes: Vec<u8> = (0..64).collect();
            put16(&mut bytes, 0x12, 0);
            put16(&mut bytes, 0x1C, 0);
            put16(&mut bytes, 0x32, 0);
            let sum = checksum(&bytes, 9, &superblock);
            put16(&mut bytes, CHECKSUM_OFFSET, sum);
            assert!(GroupDescriptor::decode(&bytes, 9, &superblock).is_ok());
            assert!(GroupDescriptor::decode(&bytes, 8, &superblock).is_err());
            for bit in 0..64 * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    GroupDescriptor::decode(&bytes, 9, &superblock).is_err(),
                    "bit {bit}"
                );
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn a_cut_descriptor_is_malformed() {
        let superblock = superblock(feature::INCOMPAT_64BIT, 0);
        for length in 0..64 {
            assert!(GroupDescriptor::decode(&vec![0; length], 0, &superblock).is_err());
        }
    }

    #[test]
    fn descriptors_lie_behind_the_superblock_or_in_their_groups() {
        let mut superblock = superblock(0, feature::RO_COMPAT_SPARSE_SUPER);
        assert_eq!(offset_bytes(0, &superblock), Some(4096));
        assert_eq!(offset_bytes(129, &superblock), Some(2 * 4096 + 32));
        superblock.features.incompat = feature::INCOMPAT_META_BG;
        assert_eq!(offset_bytes(0, &superblock), Some(4096));
        // 128 is no power of 3, 5 or 7: no copy of the superblock before it.
        assert_eq!(
            offset_bytes(129, &superblock),
            Some(128 * 32768 * 4096 + 32)
        );
        superblock.first_meta_bg = 2;
        assert_eq!(offset_bytes(129, &superblock), Some(2 * 4096 + 32));
        superblock.block_size_bytes = 1024;
        superblock.first_data_block = 1;
        superblock.first_meta_bg = 0;
        assert_eq!(offset_bytes(0, &superblock), Some(2048));
        superblock.first_data_block = 0;
        assert_eq!(offset_bytes(0, &superblock), Some(2048));
        let _ = offset_bytes(u32::MAX, &superblock);
    }
}
