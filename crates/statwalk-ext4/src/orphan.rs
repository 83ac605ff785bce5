// SPDX-License-Identifier: MIT OR Apache-2.0

//! Inodes without a name that are still in use: deleted while they were open.
//!
//! The kernel keeps a list of them, so that their blocks are not lost in a crash. One part
//! is a chain: it begins in the superblock and goes on in a field of each inode. The other
//! part is the orphan file, which some file systems have. `ext4_orphan_add` and
//! `ext4_init_orphan_info`, fs/ext4/orphan.c of Linux 6.18.

use std::collections::BTreeSet;

use crate::block_map;
use crate::bytes::Bytes;
use crate::damage::{Damage, Fault};
use crate::extent_node::ExtentNode;
use crate::feature;
use crate::inode::{ContentLocation, Inode};
use crate::little_endian::u32_at;
use crate::superblock::SUPERBLOCK_OFFSET_BYTES;
use crate::volume::Volume;

/// The place of `s_last_orphan` in the superblock.
const LAST_ORPHAN_OFFSET: u64 = 0xE8;
/// `EXT4_MAX_ORPHAN_FILE_BLOCKS`.
const BLOCKS_MAX: u64 = 512;
/// `EXT4_ORPHAN_BLOCK_MAGIC`.
const MAGIC: u32 = 0x0B10_CA04;
/// `struct ext4_orphan_block_tail`: the magic number, and a checksum.
const TAIL_BYTES: usize = 8;

impl<B: Bytes> Volume<B> {
    /// Returns whether the kernel keeps the list: only with a journal.
    #[must_use]
    pub fn lists_unlinked_inodes(&self) -> bool {
        self.superblock().features.compat & feature::COMPAT_HAS_JOURNAL != 0
    }

    /// Reads the inodes that are in use and have no name, in the order of their numbers.
    ///
    /// Files that were deleted while a process had them open, and files that never had a
    /// name. On a mounted file system the answer changes at any time: read it twice, and
    /// believe two that are equal.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or makes no sense. On a mounted file system a change
    /// meanwhile can look like that.
    pub fn unlinked_inodes(&self) -> Result<Vec<Inode>, Damage> {
        let mut numbers = BTreeSet::new();
        self.follow_chain(&mut numbers)?;
        self.read_orphan_file(&mut numbers)?;
        let mut unlinked = Vec::new();
        for number in numbers {
            let inode = self.inode(number)?;
            // A file with names is in the list while it is cut short.
            if inode.links() == 0 && inode.mode() != 0 {
                unlinked.push(inode);
            }
        }
        Ok(unlinked)
    }

    /// Adds the inodes of the chain.
    fn follow_chain(&self, numbers: &mut BTreeSet<u32>) -> Result<(), Damage> {
        // The superblock as it is now: it may be older in memory than the list.
        let mut first = [0; 4];
        self.bytes()
            .read(SUPERBLOCK_OFFSET_BYTES + LAST_ORPHAN_OFFSET, &mut first)
            .map_err(|error| Damage::unreadable(0, 0, error))?;
        let mut next = u32::from_le_bytes(first);
        while next != 0 {
            if !numbers.insert(next) {
                return Err(malformed(next, "the chain of orphans is a loop"));
            }
            next = self.inode(next)?.next_orphan();
        }
        Ok(())
    }

    /// Adds the inodes of the orphan file.
    fn read_orphan_file(&self, numbers: &mut BTreeSet<u32>) -> Result<(), Damage> {
        let superblock = self.superblock();
        if superblock.features.compat & feature::COMPAT_ORPHAN_FILE == 0 {
            return Ok(());
        }
        let file = self.inode(superblock.orphan_file)?;
        let block_bytes = superblock.block_size_bytes as usize;
        let blocks_count = file.size_bytes() / block_bytes as u64;
        if blocks_count > BLOCKS_MAX {
            return Err(malformed(file.number(), "the orphan file is too large"));
        }
        let mut block = vec![0; block_bytes];
        for logical_block in 0..blocks_count as u32 {
            self.read_content_block(&file, logical_block, &mut block)?;
            let (entries, tail) = block.split_at(block_bytes - TAIL_BYTES);
            // The kernel sets the checksum behind it later, when it writes the block.
            if u32_at(tail, 0) != Some(MAGIC) {
                let what = "the orphan file's magic number is wrong";
                return Err(malformed(file.number(), what));
            }
            let entries = entries.chunks_exact(4).filter_map(|entry| u32_at(entry, 0));
            numbers.extend(entries.filter(|&number| number != 0));
        }
        Ok(())
    }

    fn read_content_block(
        &self,
        file: &Inode,
        logical_block: u32,
        into: &mut [u8],
    ) -> Result<(), Damage> {
        let physical_block = match file.content_location() {
            ContentLocation::Extents => self.find_in_extents(file, logical_block, into)?,
            ContentLocation::BlockMap => self.find_in_map(file, logical_block, into)?,
            ContentLocation::Inline => 0,
        };
        self.read_block_of(file, physical_block, into)
    }

    /// The block on the device, or 0 for a hole. `node` has room for a block.
    fn find_in_extents(
        &self,
        file: &Inode,
        logical_block: u32,
        node: &mut [u8],
    ) -> Result<u64, Damage> {
        let number = file.number();
        let seed = self.block_seed(file);
        let (mut block, mut depth) = (0, None);
        loop {
            let wrong = |malformed| Damage::malformed(number, block, malformed);
            let found = match depth {
                None => ExtentNode::decode(file.block_area()),
                Some(depth) => ExtentNode::decode_block(node, depth, seed),
            };
            let found = found.map_err(wrong)?;
            if found.depth() == 0 {
                for index in 0..found.records_count() {
                    let extent = found.extent(index).map_err(wrong)?;
                    let Some(within) = logical_block.checked_sub(extent.logical_block) else {
                        break;
                    };
                    if within < extent.blocks_count && !extent.is_unwritten {
                        return Ok(extent.physical_block + u64::from(within));
                    }
                }
                return Ok(0);
            }
            let mut child = 0;
            for index in 0..found.records_count() {
                let index = found.index(index).map_err(wrong)?;
                if index.logical_block > logical_block {
                    break;
                }
                child = index.child_block;
            }
            // Each node is one level lower, so this ends.
            depth = Some(found.depth() - 1);
            self.read_block_of(file, child, node)?;
            block = child;
        }
    }

    /// The block on the device, or 0 for a hole. `pointers` has room for a block.
    fn find_in_map(
        &self,
        file: &Inode,
        logical_block: u32,
        pointers: &mut [u8],
    ) -> Result<u64, Damage> {
        let block_bytes = self.superblock().block_size_bytes;
        let area = file.block_area();
        let roots = (0..block_map::ROOT_POINTERS)
            .filter_map(|index| block_map::root_pointer(area, index, block_bytes));
        let logical_block = u64::from(logical_block);
        let Some(root) = roots
            .take_while(|root| root.logical_block <= logical_block)
            .last()
        else {
            return Ok(0);
        };
        let (mut block, mut within) = (root.block, logical_block - root.logical_block);
        for depth in (0..root.depth).rev() {
            if block == 0 {
                return Ok(0);
            }
            self.read_block_of(file, u64::from(block), pointers)?;
            let below = block_map::blocks_below(depth, block_bytes);
            let index = usize::try_from(within / below).unwrap_or(usize::MAX);
            block = block_map::pointer(pointers, index).unwrap_or(0);
            within %= below;
        }
        Ok(u64::from(block))
    }

    /// Reads a block of the device that belongs to a file.
    fn read_block_of(&self, file: &Inode, block: u64, into: &mut [u8]) -> Result<(), Damage> {
        let superblock = self.superblock();
        if block <= u64::from(superblock.first_data_block) || block >= superblock.blocks_count {
            let what = match block {
                0 => "the orphan file has a hole",
                _ => "the block is not on the file system",
            };
            return Err(malformed(file.number(), what));
        }
        let offset = block.saturating_mul(u64::from(superblock.block_size_bytes));
        self.bytes()
            .read(offset, into)
            .map_err(|error| Damage::unreadable(file.number(), block, error))
    }
}

fn malformed(inode: u32, what: &'static str) -> Damage {
    Damage::of_inode(inode, Fault::Malformed(what))
}
