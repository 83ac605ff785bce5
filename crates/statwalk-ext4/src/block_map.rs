// SPDX-License-Identifier: MIT OR Apache-2.0

//! The block map of ext2 and ext3: 12 blocks, and three trees of blocks.
//!
//! `ext4_block_to_path`, fs/ext4/indirect.c, and `ext4_ind_check_inode`,
//! fs/ext4/block_validity.c and ext4.h, of Linux 6.18.

use crate::Malformed;
use crate::block_range::BlockRange;
use crate::little_endian::u32_at;

/// `EXT4_NDIR_BLOCKS`: blocks that the inode names itself.
const DIRECT_COUNT: usize = 12;
/// `EXT4_N_BLOCKS`: those and the three trees.
pub const ROOT_POINTERS: usize = 15;

/// One of the pointers in an inode, and the blocks of the file below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootPointer {
    /// A block on the device, or 0 for a hole.
    pub block: u32,
    /// The number of levels of blocks with pointers in between, 0 to 3.
    pub depth: u32,
    /// The first block of the file that lies there.
    pub logical_block: u64,
}

/// Returns one of the 15 pointers in [`block_area`](super::inode::Inode::block_area).
#[must_use]
pub fn root_pointer(block_area: &[u8], index: usize, block_size_bytes: u32) -> Option<RootPointer> {
    let block = u32_at(block_area, index.checked_mul(4)?)?;
    let per_block = u64::from(block_size_bytes / 4);
    let (depth, logical_block) = match index.checked_sub(DIRECT_COUNT) {
        None => (0, index as u64),
        Some(0) => (1, 12),
        Some(1) => (2, 12 + per_block),
        Some(2) => (3, 12 + per_block + per_block * per_block),
        Some(_) => return None,
    };
    Some(RootPointer {
        block,
        depth,
        logical_block,
    })
}

/// Checks the pointers in an inode for which the kernel refuses it: not those to trees.
///
/// # Errors
///
/// A pointer leads out of the file system.
pub fn check_root(block_area: &[u8], blocks: BlockRange) -> Result<(), Malformed> {
    for index in 0..DIRECT_COUNT {
        let block = u32_at(block_area, index * 4).unwrap_or(0);
        if block != 0 && !blocks.holds(block.into(), 1) {
            return Err(Malformed::at(
                index * 4,
                "a block is not on the file system",
            ));
        }
    }
    Ok(())
}

/// Whether a pointer in an inode leads to a block for which `is_taken`: not those to trees.
pub(crate) fn root_claims(block_area: &[u8], mut is_taken: impl FnMut(u64, u64) -> bool) -> bool {
    (0..DIRECT_COUNT)
        .filter_map(|index| u32_at(block_area, index * 4))
        .any(|block| block != 0 && is_taken(block.into(), 1))
}

/// The most blocks that a file can have, if the file system counts `counted` blocks for it:
/// those with pointers count as well. `ext4_max_bitmap_size`, fs/ext4/super.c.
pub(crate) fn blocks_max(block_size_log2: u32, counted: u64) -> u64 {
    let per_block = 1_u64 << block_size_log2.saturating_sub(2);
    let named = DIRECT_COUNT as u64 + per_block + per_block.pow(2) + per_block.pow(3);
    let pointers = 3 + 2 * per_block + per_block.pow(2);
    if named + pointers <= counted {
        return named;
    }
    let behind_first = counted.saturating_sub(DIRECT_COUNT as u64 + per_block);
    let Some(in_third) = behind_first.checked_sub(per_block.pow(2)) else {
        return counted.saturating_sub(2 + behind_first.div_ceil(per_block));
    };
    let pointers =
        3 + per_block + in_third.div_ceil(per_block) + in_third.div_ceil(per_block.pow(2));
    counted.saturating_sub(pointers)
}

/// Returns the number of blocks of the file below one pointer.
#[must_use]
pub fn blocks_below(depth: u32, block_size_bytes: u32) -> u64 {
    // At most 2^14 to the power of 3.
    u64::from(block_size_bytes / 4).saturating_pow(depth)
}

/// Returns a pointer of a block of pointers; 0 is a hole.
#[inline]
#[must_use]
pub fn pointer(block: &[u8], index: usize) -> Option<u32> {
    u32_at(block, index.checked_mul(4)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_begin_where_the_one_before_ends() {
        let area: Vec<u8> = (0..15_u32).flat_map(u32::to_le_bytes).collect();
        for block_size in [1024, 4096, 65536] {
            let mut next = 0;
            for index in 0..ROOT_POINTERS {
                let root = root_pointer(&area, index, block_size).unwrap();
                assert_eq!(root.block, index as u32);
                assert_eq!(root.logical_block, next);
                next += blocks_below(root.depth, block_size);
            }
        }
        assert_eq!(root_pointer(&area, 15, 1024), None);
        assert_eq!(root_pointer(&area[..59], 14, 1024), None);
        assert_eq!(root_pointer(&[0; 200], 15, 1024), None);
        assert_eq!(root_pointer(&area, usize::MAX, 1024), None);
    }

    #[test]
    fn the_direct_pointers_lie_on_the_file_system() {
        let blocks = BlockRange {
            superblock: 1,
            end: 100,
        };
        let mut area = vec![0; 60];
        assert_eq!(check_root(&area, blocks), Ok(()));
        area[4 * 11] = 99;
        // The root of a tree, which the kernel looks at when it needs it.
        area[4 * 12] = 200;
        assert_eq!(check_root(&area, blocks), Ok(()));
        area[4 * 11] = 100;
        assert!(check_root(&area, blocks).is_err());
        area[4 * 11] = 1;
        assert!(check_root(&area, blocks).is_err());
    }

    #[test]
    fn pointers_end_with_the_block() {
        let block = [1, 0, 0, 0, 2, 0, 0, 0, 3];
        assert_eq!(pointer(&block, 1), Some(2));
        assert_eq!(pointer(&block, 2), None);
        assert_eq!(pointer(&block, usize::MAX), None);
    }
}
