// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sets of blocks or clusters, as ranges.

use crate::superblock::Superblock;

/// A set of clusters, as ranges.
#[derive(Debug)]
pub(crate) struct Clusters {
    blocks_log2: u32,
    /// The first one of each range, and the one behind its last.
    ranges: Vec<(u64, u64)>,
}

impl Clusters {
    pub(crate) fn new(superblock: &Superblock) -> Clusters {
        let blocks = superblock.cluster_size_bytes / superblock.block_size_bytes;
        Clusters {
            blocks_log2: blocks.trailing_zeros(),
            ranges: Vec::new(),
        }
    }

    /// A set of blocks.
    pub(crate) fn of_blocks() -> Clusters {
        Clusters {
            blocks_log2: 0,
            ranges: Vec::new(),
        }
    }

    /// The first one of each range, and the one behind its last, as
    /// [`merge`](Self::merge) left them.
    pub(crate) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Adds the clusters of consecutive blocks.
    pub(crate) fn add(&mut self, first_block: u64, blocks_count: u64) {
        let Some(last_block) = blocks_count.checked_sub(1) else {
            return;
        };
        let last_block = first_block.saturating_add(last_block);
        let first = first_block >> self.blocks_log2;
        let end = (last_block >> self.blocks_log2).saturating_add(1);
        match self.ranges.last_mut() {
            Some(range) if range.0 <= first && first <= range.1 => range.1 = range.1.max(end),
            _ => self.push(first, end),
        }
    }

    /// A damaged file can name the same blocks again and again: they take no more memory.
    fn push(&mut self, first: u64, end: u64) {
        if self.ranges.len() == self.ranges.capacity() {
            self.merge();
            self.ranges.reserve(self.ranges.len().max(64));
        }
        self.ranges.push((first, end));
    }

    /// Brings the ranges into order, and has each cluster in one of them.
    pub(crate) fn merge(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, range| {
            let meets = next.0 <= range.1;
            if meets {
                range.1 = range.1.max(next.1);
            }
            meets
        });
    }

    pub(crate) fn take(&mut self, other: Clusters) {
        self.ranges.extend(other.ranges);
    }

    /// The number of different ones.
    pub(crate) fn count(mut self) -> u64 {
        self.merge();
        self.ranges.iter().map(|(first, end)| end - first).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_counts_once() {
        let mut clusters = Clusters {
            blocks_log2: 2,
            ranges: Vec::new(),
        };
        for (first, count) in [(17, 1), (0, 4), (3, 2), (100, 0), (16, 9), (5, 1), (40, 8)] {
            clusters.add(first, count);
        }
        // 4; 0; 0 and 1; none; 4 to 6; 1; 10 and 11.
        assert_eq!(clusters.ranges.len(), 5);
        assert_eq!(clusters.count(), 7);
    }

    #[test]
    fn the_same_clusters_take_no_more_memory() {
        let mut clusters = Clusters {
            blocks_log2: 0,
            ranges: Vec::new(),
        };
        for round in 0..1000 {
            for place in 0..10 {
                clusters.add(place * 7 + round % 2, 2);
            }
        }
        assert!(clusters.ranges.capacity() < 200, "{clusters:?}");
        clusters.add(u64::MAX, u64::MAX);
        assert_eq!(clusters.count(), 30);
    }
}
