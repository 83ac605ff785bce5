// SPDX-License-Identifier: MIT OR Apache-2.0

//! The blocks of the file system itself: the kernel refuses a file that claims one.
//!
//! `ext4_setup_system_zone` and `ext4_sb_block_valid`, fs/ext4/block_validity.c of Linux
//! 6.18: superblocks, descriptors and the room for more, bitmaps, inode tables, and the
//! journal.

use crate::block_set::Clusters;
use crate::bytes::Bytes;
use crate::feature;
use crate::group_descriptor::GroupDescriptor;
use crate::superblock::Superblock;
use crate::volume::Volume;

/// The binary logarithm of the number of blocks in a window: a group of 4 KiB blocks.
const WINDOW_LOG2: u32 = 15;

/// The part of a window from its first block of the file system to its last, in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hull {
    begin: u16,
    end: u16,
}

impl Hull {
    fn include(&mut self, begin: u16, end: u16) {
        if self.begin < self.end {
            self.begin = self.begin.min(begin);
            self.end = self.end.max(end);
        } else {
            *self = Hull { begin, end };
        }
    }
}

/// Collects the blocks of the groups, while their descriptors are read.
#[derive(Debug)]
pub(crate) struct GroupBlocks {
    /// Of many groups those of a kind lie one behind the other.
    kinds: [Clusters; 4],
}

impl GroupBlocks {
    pub(crate) fn new() -> GroupBlocks {
        GroupBlocks {
            kinds: [(); 4].map(|()| Clusters::of_blocks()),
        }
    }

    pub(crate) fn add(&mut self, group: u32, descriptor: &GroupDescriptor, of: &Superblock) {
        let [copies, block_bitmaps, inode_bitmaps, tables] = &mut self.kinds;
        let (first, mut count) = of.copied_blocks(group);
        let per_block = of.block_size_bytes / of.descriptor_size_bytes;
        let is_meta = of.features.incompat(feature::INCOMPAT_META_BG)
            && group / per_block >= of.first_meta_bg;
        if !is_meta && of.has_superblock_copy(group) {
            count += u64::from(of.reserved_descriptor_blocks);
        }
        copies.add(first, count);
        let inodes_per_block = of.block_size_bytes / of.inode_size_bytes;
        let table_blocks = u64::from(of.inodes_per_group.div_ceil(inodes_per_block));
        for (kind, first, count) in [
            (block_bitmaps, descriptor.block_bitmap_block, 1),
            (inode_bitmaps, descriptor.inode_bitmap_block, 1),
            (tables, descriptor.inode_table_block, table_blocks),
        ] {
            kind.add(first, count);
        }
    }

    fn into_blocks(self) -> Clusters {
        let mut blocks = Clusters::of_blocks();
        for kind in self.kinds {
            blocks.take(kind);
        }
        blocks.merge();
        blocks
    }
}

/// The blocks that no file may claim.
#[derive(Debug)]
pub(crate) struct SystemZones {
    own: Clusters,
    journal: Clusters,
    journal_inode: u32,
    /// Most files lie outside of the hull of their window: one look for each extent.
    windows: Vec<Hull>,
}

impl SystemZones {
    /// Sorts the blocks. `journal` are those of an inode, which may claim them itself.
    pub(crate) fn new(
        groups: GroupBlocks,
        journal: (u32, Clusters),
        blocks_end: u64,
    ) -> SystemZones {
        let (journal_inode, mut journal) = journal;
        journal.merge();
        let own = groups.into_blocks();
        let windows = blocks_end.div_ceil(1 << WINDOW_LOG2);
        let mut windows = vec![Hull::default(); usize::try_from(windows).unwrap_or(0)];
        for &(first, end) in own.ranges().iter().chain(journal.ranges()) {
            let (mut first, end) = (first, end.min(blocks_end));
            while first < end {
                let index = first >> WINDOW_LOG2;
                let window_begin = index << WINDOW_LOG2;
                let part_end = end.min(window_begin + (1 << WINDOW_LOG2));
                if let Some(hull) = windows.get_mut(index as usize) {
                    // At most 2^15.
                    let within = |block: u64| (block - window_begin) as u16;
                    hull.include(within(first), within(part_end));
                }
                first = part_end;
            }
        }
        SystemZones {
            own,
            journal,
            journal_inode,
            windows,
        }
    }

    /// Returns whether the file `inode` may not have one of `count` blocks from `first` on.
    #[inline]
    pub(crate) fn forbid(&self, inode: u32, first: u64, count: u64) -> bool {
        let index = first >> WINDOW_LOG2;
        let begin = first & ((1 << WINDOW_LOG2) - 1);
        let end = begin.saturating_add(count);
        let Some(hull) = self.windows.get(index as usize) else {
            return false;
        };
        let is_outside = end <= u64::from(hull.begin) || begin >= u64::from(hull.end);
        if is_outside && end <= 1 << WINDOW_LOG2 {
            return false;
        }
        self.forbid_exactly(inode, first, first.saturating_add(count))
    }

    #[cold]
    #[inline(never)]
    fn forbid_exactly(&self, inode: u32, first: u64, end: u64) -> bool {
        let meets = |set: &Clusters| {
            let ranges = set.ranges();
            let behind = ranges.partition_point(|range| range.0 < end);
            let last = behind.checked_sub(1).and_then(|index| ranges.get(index));
            last.is_some_and(|last| last.1 > first)
        };
        meets(&self.own) || (inode != self.journal_inode && meets(&self.journal))
    }
}

impl<B: Bytes> Volume<B> {
    /// The blocks of the journal, and its inode. A journal that cannot be read has none.
    pub(crate) fn journal_blocks(&self) -> (u32, Clusters) {
        let superblock = self.superblock();
        let number = superblock.journal_inode;
        let mut blocks = Clusters::of_blocks();
        let mut blocks_left = self.blocks_on_device();
        if superblock.features.compat & feature::COMPAT_HAS_JOURNAL != 0
            && number != 0
            && let Ok(inode) = self.own_inode(number)
            && self
                .add_file(&inode, &mut blocks, &mut blocks_left)
                .is_err()
        {
            blocks = Clusters::of_blocks();
        }
        (number, blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zones(own: &[(u64, u64)], journal: &[(u64, u64)]) -> SystemZones {
        let add = |set: &mut Clusters, ranges: &[(u64, u64)]| {
            for &(first, count) in ranges {
                set.add(first, count);
            }
        };
        let mut groups = GroupBlocks::new();
        add(&mut groups.kinds[0], own);
        let mut of_journal = Clusters::of_blocks();
        add(&mut of_journal, journal);
        SystemZones::new(groups, (8, of_journal), 200_000)
    }

    #[test]
    fn exactly_the_blocks_of_the_file_system_are_forbidden() {
        let own = [
            (0, 5),
            (30, 10),
            (32_760, 20),
            (65_536, 32_768),
            (131_071, 1),
        ];
        let journal = [(50_000, 1000), (190_000, 50_000)];
        let zones = zones(&own, &journal);
        let holds = |ranges: &[(u64, u64)], first: u64, count: u64| {
            let meets =
                |&(other, length): &(u64, u64)| first < other + length && other < first + count;
            ranges.iter().any(meets)
        };
        let edges: Vec<u64> = (own.iter().chain(&journal))
            .flat_map(|&(first, count)| [first, first + count])
            .chain([100, 32_768, 98_304, 140_000, 199_999])
            .flat_map(|edge| edge.saturating_sub(2)..edge + 3)
            .filter(|&edge| edge < 200_000)
            .collect();
        for &first in &edges {
            for count in [1, 2, 5, 1000, 32_768] {
                let expected = holds(&own, first, count);
                assert_eq!(zones.forbid(8, first, count), expected, "{first} {count}");
                let expected = expected || holds(&journal, first, count);
                assert_eq!(zones.forbid(12, first, count), expected, "{first} {count}");
            }
        }
        assert!(!zones.forbid(12, u64::MAX, u64::MAX));
    }
}
