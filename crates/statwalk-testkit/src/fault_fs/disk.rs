// SPDX-License-Identifier: MIT OR Apache-2.0

//! A disk with one head: the cost of reading inodes out of order.
//!
//! The model. Inodes lie on the disk by number, some of them in a block, as in an inode
//! table of ext4; a directory's entries lie where its inode does. A call reads the
//! block of its inode, and later calls find that block in memory. To read a block the
//! head moves to it from the end of the last block. It does not move to the next block;
//! else it takes a time to settle and a time for each block between. Calls are served
//! one after another in the order in which they arrive; the disk does not reorder them.
//! Reading itself takes no time.
//!
//! So the cost of a scan is known without a clock: the number of seeks and the
//! blocks that the head passed.

use std::collections::HashSet;
use std::time::Duration;

/// How the disk is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// How many inodes lie in a block; 16 on an ext4 with usual sizes.
    pub inodes_per_block: u64,
    /// How long the head takes to settle.
    pub settle: Duration,
    /// How long it takes for each block that it passes.
    pub per_block: Duration,
}

/// The head, and the cached blocks.
#[derive(Debug)]
pub(super) struct Head {
    disk: Disk,
    /// The block that comes next without a move.
    next: u64,
    in_memory: HashSet<u64>,
}

/// A move of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seek {
    pub(super) blocks: u64,
    pub(super) duration: Duration,
}

impl Head {
    pub(super) fn new(disk: Disk) -> Head {
        Head {
            disk,
            next: 0,
            in_memory: HashSet::new(),
        }
    }

    /// Reads the block of an inode, if it is not in memory.
    pub(super) fn read(&mut self, ino: u64) -> Option<Seek> {
        let block = ino / self.disk.inodes_per_block;
        if !self.in_memory.insert(block) {
            return None;
        }
        let blocks = block.abs_diff(self.next);
        self.next = block + 1;
        if blocks == 0 {
            return None;
        }
        let moved = u32::try_from(blocks).unwrap_or(u32::MAX);
        Some(Seek {
            blocks,
            duration: self.disk.settle + self.disk.per_block * moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_moves_only_for_blocks_out_of_order() {
        const MS: Duration = Duration::from_millis(1);
        let mut head = Head::new(Disk {
            inodes_per_block: 10,
            settle: 5 * MS,
            per_block: MS,
        });
        let seek = |blocks: u64, ms: u32| {
            Some(Seek {
                blocks,
                duration: ms * MS,
            })
        };
        assert_eq!(head.read(3), None);
        assert_eq!(head.read(7), None, "the same block");
        assert_eq!(head.read(12), None, "the next block");
        assert_eq!(head.read(55), seek(3, 8));
        assert_eq!(head.read(5), None, "in memory");
        assert_eq!(head.read(22), seek(4, 9), "back from the end of block 5");
    }
}
