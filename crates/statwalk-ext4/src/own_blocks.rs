// SPDX-License-Identifier: MIT OR Apache-2.0

//! The blocks that a file system takes for itself: all that are in use and belong to no
//! entry of a directory.
//!
//! The superblocks, the descriptors, the bitmaps and the inode tables of all groups, and
//! the files that no directory lists. With `bigalloc` several of them lie in one cluster,
//! and it counts once. `ext4_calculate_overhead`, fs/ext4/super.c of Linux 6.18, counts
//! less: neither all files nor the blocks with pointers to a journal or to reserved
//! descriptors.

use crate::block_map;
use crate::block_set::Clusters;
use crate::bytes::Bytes;
use crate::damage::{Damage, Fault};
use crate::extent_node::ExtentNode;
use crate::feature;
use crate::inode::{ContentLocation, Inode, ROOT_INODE};
use crate::superblock::{SUPERBLOCK_OFFSET_BYTES, Superblock};
use crate::volume::Volume;

/// `EXT4_BAD_INO`: the inode of the blocks that the disk cannot keep. It has no type.
const BAD_BLOCKS_INODE: u32 = 1;
/// `EXT4_GOOD_OLD_FIRST_INO`: the inodes below belong to the file system itself.
const RESERVED_END: u32 = 11;

impl<B: Bytes> Volume<B> {
    /// Returns the bytes in use that belong to no entry of a directory.
    ///
    /// With the [allocated bytes](Inode::allocated_bytes) of all entries and of the
    /// [unlinked inodes](Self::unlinked_inodes) they are the used bytes of the file system.
    /// Those of `df` lack a part of them, which the kernel leaves out of the size as well.
    ///
    /// It reads all group descriptors. It takes 16 bytes of memory for each range of such
    /// blocks: with `flex_bg` three for 16 groups, else three for each.
    ///
    /// # Errors
    ///
    /// A descriptor or a file of the file system itself cannot be read, or makes no sense.
    /// A group is not on the device, or those files have more blocks than it.
    pub fn own_bytes(&self) -> Result<u64, Damage> {
        let superblock = self.superblock();
        let mut clusters = Clusters::new(superblock);
        self.add_groups(&mut clusters)?;
        if superblock.features.incompat(feature::INCOMPAT_MMP) {
            clusters.add(superblock.mmp_block, 1);
        }
        let mut blocks_left = self.blocks_on_device();
        for number in self.own_files() {
            let inode = self.own_inode(number)?;
            // A number that is not in use can have old fields.
            if number == BAD_BLOCKS_INODE || !inode.is_free() {
                self.add_file(&inode, &mut clusters, &mut blocks_left)?;
            }
        }
        let cluster_bytes = u64::from(superblock.cluster_size_bytes);
        Ok(clusters.count().saturating_mul(cluster_bytes))
    }

    /// The numbers of the inodes that no directory lists. A journal that is not among the
    /// reserved ones has a name.
    fn own_files(&self) -> impl Iterator<Item = u32> {
        let superblock = self.superblock();
        let features = superblock.features;
        let reserved = (1..RESERVED_END).filter(|&number| number != ROOT_INODE);
        let orphans =
            (features.compat & feature::COMPAT_ORPHAN_FILE != 0).then_some(superblock.orphan_file);
        let quotas = (features.ro_compat(feature::RO_COMPAT_QUOTA))
            .then_some(superblock.quota_files)
            .into_iter()
            .flatten();
        let others = orphans.into_iter().chain(quotas);
        reserved.chain(others.filter(|&number| number >= RESERVED_END))
    }

    /// Adds the superblocks, the descriptors, and what these name.
    fn add_groups(&self, clusters: &mut Clusters) -> Result<(), Damage> {
        let superblock = self.superblock();
        let inodes_per_block = superblock.block_size_bytes / superblock.inode_size_bytes;
        let table_blocks = u64::from(superblock.inodes_per_group.div_ceil(inodes_per_block));
        // Of many groups those of a kind lie one behind the other.
        let mut kinds = [(); 4].map(|()| Clusters::new(superblock));
        let [copies, block_bitmaps, inode_bitmaps, tables] = &mut kinds;
        for group in 0..superblock.groups_count {
            let (first, count) = superblock.copied_blocks(group);
            copies.add(first, count);
            let descriptor = self.group_descriptor(group)?;
            for (kind, first, count) in [
                (&mut *block_bitmaps, descriptor.block_bitmap_block, 1),
                (&mut *inode_bitmaps, descriptor.inode_bitmap_block, 1),
                (&mut *tables, descriptor.inode_table_block, table_blocks),
            ] {
                // `ext4_check_descriptors`, fs/ext4/super.c.
                if !superblock.inode_format().blocks.holds(first, count) {
                    let what = "a block of a group is not on the file system";
                    return Err(Damage::of_inode(0, Fault::Malformed(what)));
                }
                kind.add(first, count);
            }
        }
        for kind in kinds {
            clusters.take(kind);
        }
        Ok(())
    }

    /// Adds all blocks of a file: those with its content, and those with pointers.
    pub(crate) fn add_file(
        &self,
        file: &Inode,
        clusters: &mut Clusters,
        blocks_left: &mut u64,
    ) -> Result<(), Damage> {
        if file.attribute_block() != 0 {
            clusters.add(file.attribute_block(), 1);
        }
        let mut walk = FileWalk {
            volume: self,
            file,
            clusters,
            blocks_left,
        };
        match file.content_location() {
            ContentLocation::Inline => Ok(()),
            ContentLocation::Extents => walk.add_extents(file.block_area(), 0, None),
            ContentLocation::BlockMap => {
                let block_bytes = self.superblock().block_size_bytes;
                let roots = (0..block_map::ROOT_POINTERS).filter_map(|index| {
                    block_map::root_pointer(file.block_area(), index, block_bytes)
                });
                for root in roots {
                    walk.add_map(root.block, root.depth)?;
                }
                Ok(())
            }
        }
    }
}

impl Superblock {
    /// The first of the blocks that a group has before its bitmaps, and their number: the
    /// superblock or a copy of it, and descriptors. The first group has those before, too.
    ///
    /// `ext4_bg_num_gdb`, fs/ext4/balloc.c. The descriptors that are reserved belong to a
    /// file, `EXT4_RESIZE_INO`.
    pub(crate) fn copied_blocks(&self, group: u32) -> (u64, u64) {
        let has_copy = self.has_superblock_copy(group);
        let per_block = self.block_size_bytes / self.descriptor_size_bytes;
        let has_meta_groups = self.features.incompat(feature::INCOMPAT_META_BG);
        let descriptor_blocks = if has_meta_groups && group / per_block >= self.first_meta_bg {
            // The first two groups and the last one of those that a block describes.
            let within = group % per_block;
            u64::from(within < 2 || within == per_block - 1)
        } else if !has_copy {
            0
        } else if has_meta_groups {
            self.first_meta_bg.into()
        } else {
            self.groups_count.div_ceil(per_block).into()
        };
        let count = u64::from(has_copy) + descriptor_blocks;
        match group {
            0 => {
                // It lies in block 1 if blocks are 1 KiB, else in block 0.
                let superblock_block = SUPERBLOCK_OFFSET_BYTES / u64::from(self.block_size_bytes);
                (0, superblock_block + count)
            }
            _ => {
                let first = u64::from(group) * u64::from(self.blocks_per_group);
                (first + u64::from(self.first_data_block), count)
            }
        }
    }
}

/// The walk over the blocks of one file.
struct FileWalk<'w, B> {
    volume: &'w Volume<B>,
    file: &'w Inode,
    clusters: &'w mut Clusters,
    /// The blocks that all files together may still have: damaged ones claim anything.
    blocks_left: &'w mut u64,
}

impl<B: Bytes> FileWalk<'_, B> {
    /// Adds what a node of an extent tree names. `block` is the place of the node, 0 in the
    /// inode, and `depth` the one that it must have.
    fn add_extents(&mut self, node: &[u8], block: u64, depth: Option<u16>) -> Result<(), Damage> {
        let number = self.file.number();
        let wrong = |malformed| Damage::malformed(number, block, malformed);
        let found = match depth {
            None => ExtentNode::decode(node),
            Some(depth) => ExtentNode::decode_block(node, depth, self.volume.block_seed(self.file)),
        };
        let found = found.map_err(wrong)?;
        for index in 0..found.records_count() {
            if found.depth() == 0 {
                let extent = found.extent(index).map_err(wrong)?;
                self.add(extent.physical_block, extent.blocks_count.into())?;
                continue;
            }
            let child = found.index(index).map_err(wrong)?.child_block;
            let below = self.read(child)?;
            self.add_extents(&below, child, Some(found.depth() - 1))?;
        }
        Ok(())
    }

    /// Adds a block of the old map and, where it has pointers, those that it names.
    fn add_map(&mut self, block: u32, depth: u32) -> Result<(), Damage> {
        let block = u64::from(block);
        if block == 0 {
            return Ok(());
        }
        if depth == 0 {
            return self.add(block, 1);
        }
        let pointers = self.read(block)?;
        for index in 0..pointers.len() / 4 {
            let pointer = block_map::pointer(&pointers, index).unwrap_or(0);
            self.add_map(pointer, depth - 1)?;
        }
        Ok(())
    }

    /// Adds a block with pointers, and reads it.
    fn read(&mut self, block: u64) -> Result<Vec<u8>, Damage> {
        self.add(block, 1)?;
        let block_bytes = self.volume.superblock().block_size_bytes;
        let mut bytes = vec![0; block_bytes as usize];
        let offset = block.saturating_mul(block_bytes.into());
        let unreadable = |error| Damage::unreadable(self.file.number(), block, error);
        let read = self.volume.bytes().read(offset, &mut bytes);
        read.map_err(unreadable)?;
        Ok(bytes)
    }

    fn add(&mut self, first: u64, count: u64) -> Result<(), Damage> {
        if !self.file.format().blocks.holds(first, count) {
            return Err(self.fault("a block is not on the file system"));
        }
        let Some(left) = self.blocks_left.checked_sub(count) else {
            return Err(Damage::of_inode(self.file.number(), Fault::TooMuchWork));
        };
        *self.blocks_left = left;
        self.clusters.add(first, count);
        Ok(())
    }

    fn fault(&self, what: &'static str) -> Damage {
        Damage::of_inode(self.file.number(), Fault::Malformed(what))
    }
}
