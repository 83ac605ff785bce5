// SPDX-License-Identifier: MIT OR Apache-2.0

//! The blocks of a file system that files may have.
//!
//! `ext4_sb_block_valid`, fs/ext4/block_validity.c of Linux 6.18, without its tree of
//! the blocks with metadata.

/// The blocks behind the superblock, up to the end of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// The block with the superblock, which no file has: `s_first_data_block`.
    pub superblock: u32,
    /// The number of blocks of the file system.
    pub end: u64,
}

impl BlockRange {
    /// Returns whether a file may have `count` blocks from `first` on.
    #[inline]
    #[must_use]
    pub fn holds(&self, first: u64, count: u64) -> bool {
        let end = first.checked_add(count);
        first > u64::from(self.superblock) && end.is_some_and(|end| end <= self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_lies_between_superblock_and_end() {
        let blocks = BlockRange {
            superblock: 1,
            end: 100,
        };
        for (first, count, holds) in [
            (2, 1, true),
            (2, 98, true),
            (2, 99, false),
            (1, 1, false),
            (0, 1, false),
            (99, 1, true),
            (100, 1, false),
            (u64::MAX, 2, false),
        ] {
            assert_eq!(blocks.holds(first, count), holds, "{first} {count}");
        }
    }
}
