// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finds the blocks of one directory and delivers those that are sound.
//!
//! The work is bounded, whatever the image claims. Blocks of a directory come in
//! rising order, so each is read once. Trees have a depth. For one directory no more
//! blocks are read than the device has.

use std::ops::ControlFlow;

use super::bytes::Bytes;
use super::damage::{Damage, Fault};
use super::volume::Volume;
use crate::Malformed;
use crate::block_map;
use crate::checksum::Crc32c;
use crate::directory_block::{self, DirectoryEntries, Part};
use crate::extent_node::{DEPTH_MAX, ExtentNode};
use crate::feature;
use crate::inline_data;
use crate::inode::{ContentLocation, Inode};

/// How much is copied at once where blocks are consecutive: few calls where a
/// copy is a call, and still in the first cache when it is parsed.
const RUN_BYTES_MAX: usize = 16 << 10;

/// The step in which the used part of a block is copied: a power of two.
const USED_BYTES_STEP: usize = 512;

/// How many bad blocks end the reading of a directory. Where one is torn, the
/// others are worth reading; where many are, it is no directory.
const DAMAGED_BLOCKS_MAX: u32 = 16;

/// Buffers that serve one directory after the other; each thread has its own.
///
/// They grow to 16 KiB or one block, and with deep extent trees by one block for
/// each level.
#[derive(Debug, Default)]
pub struct DirectoryScratch {
    run: Vec<u8>,
    nodes: [Vec<u8>; DEPTH_MAX as usize],
    inodes: Vec<Inode>,
    parent: Option<u32>,
}

impl DirectoryScratch {
    /// Makes buffers that take no memory yet.
    #[must_use]
    pub fn new() -> DirectoryScratch {
        DirectoryScratch::default()
    }

    /// Returns the parent of the directory that was read last, by its own `..`.
    /// It is absent if that part of the directory was not read.
    #[must_use]
    pub fn parent(&self) -> Option<u32> {
        self.parent
    }

    /// Inodes that were kept, to be read into.
    pub(super) fn take_inodes(&mut self) -> Vec<Inode> {
        std::mem::take(&mut self.inodes)
    }

    /// Keeps them for the next time.
    pub(super) fn keep_inodes(&mut self, inodes: Vec<Inode>) {
        self.inodes = inodes;
    }

    /// Returns a buffer of a length; its content has no meaning.
    pub(super) fn buffer(&mut self, length: usize) -> &mut [u8] {
        sized(&mut self.run, length)
    }
}

fn sized(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    &mut buffer[..length]
}

/// Blocks that follow each other in the directory and on the device.
#[derive(Clone, Copy)]
struct Run {
    logical_block: u64,
    physical_block: u64,
    blocks_count: u64,
}

/// The reads that follow a block of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// No other reads.
    Nothing,
    /// The inodes of its entries. They lie anywhere, and a processor can wait for
    /// several at once: [`Bytes::will_read`] announces them.
    Inodes,
}

/// The reading of one directory.
pub(super) struct DirectoryReader<'a, B, F> {
    volume: &'a Volume<B>,
    inode: &'a Inode,
    ahead: Ahead,
    visit: F,
    /// Where blocks have checksums.
    seed: Option<Crc32c>,
    is_indexed: bool,
    block_size: usize,
    /// The first block that was not come to yet.
    next_block: u64,
    /// The number of blocks by the directory's size.
    blocks_end: u64,
    /// How many blocks may still be read, of entries and of pointers.
    blocks_left: u64,
    damaged_count: u32,
    damage: Option<Damage>,
    /// The inode of `..`, once it was read.
    parent: Option<u32>,
}

impl<'a, B: Bytes, F> DirectoryReader<'a, B, F>
where
    F: FnMut(DirectoryEntries<'_>) -> ControlFlow<()>,
{
    /// Begins with a directory that may be read at all.
    pub(super) fn new(
        volume: &'a Volume<B>,
        inode: &'a Inode,
        blocks_left: u64,
        ahead: Ahead,
        visit: F,
    ) -> DirectoryReader<'a, B, F> {
        let superblock = volume.superblock();
        let block_size = superblock.block_size_bytes;
        DirectoryReader {
            volume,
            inode,
            ahead,
            visit,
            seed: volume.block_seed(inode),
            is_indexed: superblock.features.compat & feature::COMPAT_DIR_INDEX != 0
                && inode.is_indexed(),
            block_size: block_size as usize,
            next_block: 0,
            blocks_end: inode.size_bytes().div_ceil(u64::from(block_size)),
            blocks_left,
            damaged_count: 0,
            damage: None,
            parent: None,
        }
    }

    /// Reads everything; answers how many bytes that took, and the first damage.
    pub(super) fn read(mut self, scratch: &mut DirectoryScratch) -> (u64, Result<(), Damage>) {
        let blocks_before = self.blocks_left;
        let flow = match self.inode.content_location() {
            ContentLocation::Inline => self.read_inline(scratch),
            ContentLocation::Extents => {
                let DirectoryScratch { run, nodes, .. } = scratch;
                self.read_extents(self.inode.block_area(), None, 0, nodes, run)
            }
            ContentLocation::BlockMap => self.read_block_map(scratch),
        };
        scratch.parent = self.parent;
        let is_inline = self.inode.content_location() == ContentLocation::Inline;
        if flow.is_continue() && !is_inline {
            if !self
                .inode
                .size_bytes()
                .is_multiple_of(self.block_size as u64)
            {
                // The kernel lists the names in the last block, and finds none of them:
                // `ext4_readdir`, fs/ext4/dir.c, and `__ext4_find_entry`, fs/ext4/namei.c.
                let what = "the directory's size is no whole number of blocks";
                self.note(self.malformed(0, 0x4, what));
            } else if self.blocks_end == 0 {
                self.note(self.malformed(0, 0x4, "the directory has no blocks"));
            } else if self.next_block < self.blocks_end {
                self.note(self.malformed(0, 0x4, "the directory has a hole"));
            }
        }
        let used_bytes = if is_inline {
            u64::from(self.volume.superblock().inode_size_bytes)
        } else {
            (blocks_before - self.blocks_left).saturating_mul(self.block_size as u64)
        };
        (used_bytes, self.damage.map_or(Ok(()), Err))
    }

    fn read_inline(&mut self, scratch: &mut DirectoryScratch) -> ControlFlow<()> {
        let volume = self.volume;
        let format = volume.superblock().directory_format();
        let whole = match volume.whole_inode(self.inode, scratch) {
            Ok(whole) => whole,
            Err(damage) => return self.stop(damage),
        };
        let checked = inline_data::directory(self.inode, whole).and_then(|found| {
            directory_block::check(found.first, format)?;
            directory_block::check(found.rest, format)?;
            Ok(found)
        });
        match checked {
            Ok(found) => {
                self.parent = Some(found.parent);
                (self.visit)(directory_block::entries(found.first, format))?;
                (self.visit)(directory_block::entries(found.rest, format))
            }
            Err(malformed) => self.stop(Damage::malformed(self.inode.number(), 0, malformed)),
        }
    }

    /// Reads what lies below a node. `parent` says which depth it has, and with which
    /// block it begins; the root was checked with the inode.
    fn read_extents(
        &mut self,
        node: &[u8],
        parent: Option<(u16, u32)>,
        block: u64,
        levels: &mut [Vec<u8>],
        run: &mut Vec<u8>,
    ) -> ControlFlow<()> {
        let number = self.inode.number();
        let decoded = match parent {
            None => ExtentNode::decode(node),
            Some((depth, first)) => {
                ExtentNode::decode_block(node, depth, self.seed).and_then(|node| {
                    node.check(Some(first), self.inode.format().blocks)?;
                    Ok(node)
                })
            }
        };
        let node = match decoded {
            Ok(node) => node,
            Err(malformed) => return self.stop(Damage::malformed(number, block, malformed)),
        };
        for index in 0..node.records_count() {
            if node.depth() == 0 {
                let extent = match node.extent(index) {
                    Ok(extent) => extent,
                    Err(malformed) => {
                        return self.stop(Damage::malformed(number, block, malformed));
                    }
                };
                if extent.is_unwritten {
                    // Nobody wrote entries there. It counts as a hole.
                    continue;
                }
                let blocks = Run {
                    logical_block: u64::from(extent.logical_block),
                    physical_block: extent.physical_block,
                    blocks_count: u64::from(extent.blocks_count),
                };
                self.read_run(blocks, run)?;
                continue;
            }
            let child = match node.index(index) {
                Ok(index) => index,
                Err(malformed) => return self.stop(Damage::malformed(number, block, malformed)),
            };
            let Some((buffer, deeper)) = levels.split_first_mut() else {
                return self.stop(self.malformed(block, 6, "the extent tree is too deep"));
            };
            let parent = (node.depth() - 1, child.logical_block);
            let buffer = sized(buffer, self.block_size);
            if let Err(damage) = self.read_block(child.child_block, buffer) {
                return self.stop(damage);
            }
            self.read_extents(buffer, Some(parent), child.child_block, deeper, run)?;
        }
        ControlFlow::Continue(())
    }

    fn read_block_map(&mut self, scratch: &mut DirectoryScratch) -> ControlFlow<()> {
        let DirectoryScratch { run, nodes, .. } = scratch;
        for index in 0..block_map::ROOT_POINTERS {
            let area = self.inode.block_area();
            let Some(root) = block_map::root_pointer(area, index, self.block_size as u32) else {
                break;
            };
            if root.logical_block >= self.blocks_end {
                break;
            }
            self.read_pointers(root.block, root.depth, root.logical_block, nodes, run)?;
        }
        ControlFlow::Continue(())
    }

    /// Reads what one pointer leads to, through `depth` blocks of pointers.
    fn read_pointers(
        &mut self,
        block: u32,
        depth: u32,
        logical_block: u64,
        levels: &mut [Vec<u8>],
        run: &mut Vec<u8>,
    ) -> ControlFlow<()> {
        if block == 0 {
            // A hole: seen when the next block is there, or at the end.
            return ControlFlow::Continue(());
        }
        let physical_block = u64::from(block);
        if depth == 0 {
            let blocks = Run {
                logical_block,
                physical_block,
                blocks_count: 1,
            };
            return self.read_run(blocks, run);
        }
        // There are five buffers, and three levels.
        let Some((buffer, deeper)) = levels.split_first_mut() else {
            return ControlFlow::Continue(());
        };
        let buffer = sized(buffer, self.block_size);
        if let Err(damage) = self.read_block(physical_block, buffer) {
            return self.stop(damage);
        }
        let below = block_map::blocks_below(depth - 1, self.block_size as u32);
        for index in 0..self.block_size / 4 {
            let logical_block = logical_block + below * index as u64;
            if logical_block >= self.blocks_end {
                break;
            }
            let pointer = block_map::pointer(buffer, index).unwrap_or(0);
            self.read_pointers(pointer, depth - 1, logical_block, deeper, run)?;
        }
        ControlFlow::Continue(())
    }

    /// Reads blocks with entries, as many at once as the buffer takes.
    fn read_run(&mut self, blocks: Run, buffer: &mut Vec<u8>) -> ControlFlow<()> {
        if blocks.logical_block >= self.blocks_end {
            // Allocated behind the end: not of the directory.
            return ControlFlow::Continue(());
        }
        if blocks.logical_block < self.next_block {
            let what = "the directory's blocks are not in order";
            return self.stop(self.malformed(blocks.physical_block, 0, what));
        }
        if blocks.logical_block > self.next_block {
            self.note(self.malformed(blocks.physical_block, 0, "the directory has a hole"));
        }
        let end = (blocks.logical_block + blocks.blocks_count).min(self.blocks_end);
        let mut logical_block = blocks.logical_block;
        self.next_block = end;
        while logical_block < end {
            let physical_block = blocks.physical_block + (logical_block - blocks.logical_block);
            let at_once = match self.seed {
                Some(_) => (RUN_BYTES_MAX / self.block_size).max(1) as u64,
                // Without checksums a block is copied as far as it is used.
                None => 1,
            };
            let count = at_once
                .min(end - logical_block)
                .min(self.blocks_left.max(1));
            let into = sized(buffer, self.block_size * count as usize);
            let outcome = match self.seed {
                Some(_) => self.read_blocks(physical_block, count, into),
                None => self.read_used(physical_block, into),
            };
            match outcome {
                Ok(()) => {}
                // The others of the run may lie before the end of the device.
                Err(damage) if count > 1 && damage.fault != Fault::TooMuchWork => {
                    self.read_singly(logical_block, physical_block, count, into)?;
                    logical_block += count;
                    continue;
                }
                Err(damage) => {
                    self.bad_block(damage)?;
                    logical_block += count;
                    continue;
                }
            }
            for (block, index) in into.chunks_mut(self.block_size).zip(0..) {
                self.deliver(block, logical_block + index, physical_block + index)?;
            }
            logical_block += count;
        }
        ControlFlow::Continue(())
    }

    fn read_singly(
        &mut self,
        logical_block: u64,
        physical_block: u64,
        count: u64,
        buffer: &mut [u8],
    ) -> ControlFlow<()> {
        let Some(buffer) = buffer.get_mut(..self.block_size) else {
            return ControlFlow::Continue(());
        };
        for index in 0..count {
            match self.read_block(physical_block + index, buffer) {
                Ok(()) => self.deliver(buffer, logical_block + index, physical_block + index)?,
                Err(damage) => self.bad_block(damage)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Delivers one block if it is sound.
    ///
    /// Where it is not, it is copied once more: the kernel changes entries and
    /// checksum in two steps.
    #[inline]
    fn deliver(
        &mut self,
        block: &mut [u8],
        logical_block: u64,
        physical_block: u64,
    ) -> ControlFlow<()> {
        if self.check(block, logical_block).is_err() {
            if let Err(damage) = self.read_block(physical_block, block) {
                return self.bad_block(damage);
            }
            if let Err(malformed) = self.check(block, logical_block) {
                let number = self.inode.number();
                return self.bad_block(Damage::malformed(number, physical_block, malformed));
            }
        }
        if logical_block == 0 {
            self.parent = directory_block::parent_inode(block);
        }
        let format = self.volume.superblock().directory_format();
        (self.visit)(directory_block::entries(block, format))
    }

    #[inline]
    fn check(&self, block: &[u8], logical_block: u64) -> Result<(), Malformed> {
        if let Some(seed) = self.seed {
            directory_block::check_checksum(block, self.part(logical_block), seed)?;
        }
        // Without checksums this tells a directory from what took its place.
        if logical_block == 0 && directory_block::own_inode(block) != Some(self.inode.number()) {
            return Err(Malformed {
                offset_bytes: 0,
                what: "the directory does not begin with itself",
            });
        }
        let format = self.volume.superblock().directory_format();
        match self.ahead {
            Ahead::Nothing => directory_block::check(block, format),
            Ahead::Inodes => {
                let coming = |inode| self.volume.will_read(inode);
                directory_block::check_and_visit(block, format, coming)
            }
        }
    }

    /// The part of the directory that a block must be: `is_dx` and `ext4_read_dirblock`,
    /// fs/ext4/namei.c, and `ext4_readdir`.
    fn part(&self, logical_block: u64) -> Part {
        match (self.is_indexed, logical_block) {
            (false, _) => Part::Leaf,
            (true, 0) => Part::Root,
            (true, _) => Part::LeafOrNode,
        }
    }

    fn read_block(&mut self, block: u64, into: &mut [u8]) -> Result<(), Damage> {
        self.read_blocks(block, 1, into)
    }

    /// Copies what is used of a block: small directories leave most of it empty.
    ///
    /// The chain of records is followed in the copy. The bytes behind a name within
    /// a long record stay as they were; nobody looks at them.
    #[inline]
    fn read_used(&mut self, block: u64, into: &mut [u8]) -> Result<(), Damage> {
        let begin = self.locate(block, 1)?;
        let format = self.volume.superblock().directory_format();
        let mut copied = 0;
        let mut record = 0;
        while record < into.len() {
            // A record whose name may end beyond the copy is not followed yet.
            if record + directory_block::NAMED_BYTES_MAX > copied && copied < into.len() {
                let from = copied.max(record & !(USED_BYTES_STEP - 1));
                copied = (record + directory_block::NAMED_BYTES_MAX)
                    .next_multiple_of(USED_BYTES_STEP)
                    .min(into.len());
                self.volume
                    .bytes()
                    .read(begin.saturating_add(from as u64), &mut into[from..copied])
                    .map_err(|error| Damage::unreadable(self.inode.number(), block, error))?;
            }
            match directory_block::next_record(into, record, format) {
                Some(next) => record = next,
                // Damage, which the check finds.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    #[inline]
    fn read_blocks(&mut self, block: u64, count: u64, into: &mut [u8]) -> Result<(), Damage> {
        let offset = self.locate(block, count)?;
        self.volume
            .bytes()
            .read(offset, into)
            .map_err(|error| Damage::unreadable(self.inode.number(), block, error))
    }

    /// Where blocks lie on the device, in bytes; they are counted as read.
    #[inline]
    fn locate(&mut self, block: u64, count: u64) -> Result<u64, Damage> {
        let number = self.inode.number();
        let superblock = self.volume.superblock();
        let is_within = block
            .checked_add(count)
            .is_some_and(|end| end <= superblock.blocks_count);
        if block <= u64::from(superblock.first_data_block) || !is_within {
            return Err(self.malformed(block, 0, "the block is not on the file system"));
        }
        self.blocks_left = self
            .blocks_left
            .checked_sub(count)
            .ok_or(Damage::of_inode(number, Fault::TooMuchWork))?;
        // Both numbers were checked when the superblock was decoded.
        Ok(block.saturating_mul(self.block_size as u64))
    }

    fn malformed(&self, block: u64, offset_bytes: u32, what: &'static str) -> Damage {
        let malformed = Malformed { offset_bytes, what };
        Damage::malformed(self.inode.number(), block, malformed)
    }

    /// Keeps the first damage.
    fn note(&mut self, damage: Damage) {
        self.damage.get_or_insert(damage);
    }

    /// Notes a bad block, and goes on while there are few.
    #[cold]
    fn bad_block(&mut self, damage: Damage) -> ControlFlow<()> {
        self.note(damage);
        self.damaged_count += 1;
        if self.damaged_count >= DAMAGED_BLOCKS_MAX || damage.fault == Fault::TooMuchWork {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Notes damage after which nothing more can be found.
    #[cold]
    fn stop(&mut self, damage: Damage) -> ControlFlow<()> {
        self.note(damage);
        ControlFlow::Break(())
    }
}
