// SPDX-License-Identifier: MIT OR Apache-2.0

//! A whole file system over any bytes: inodes by number, directories by inode.
//!
//! Inodes lie where fs/ext4/inode.c, `__ext4_get_inode_loc`, of Linux 6.18
//! looks for them.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::bytes::{Bytes, ReadError};
use super::damage::{Damage, Fault};
use super::directory_reader::{Ahead, DirectoryReader, DirectoryScratch};
use super::group_table::{GROUPS_MAX, GroupTable};
use crate::block_map;
use crate::block_set::Clusters;
use crate::checksum::Crc32c;
use crate::directory_block::{DirectoryEntries, DirectoryEntry};
use crate::extent_node::ExtentNode;
use crate::group_descriptor::GroupDescriptor;
use crate::inode::{self, ContentLocation, Inode, InodeFormat, ROOT_INODE};
use crate::superblock::{Checksums, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET_BYTES, Superblock, Unfit};
use crate::system_zones::{GroupBlocks, SystemZones};
use statwalk_format::FileType;

/// How long the superblock of a mounted file system is waited for whose checksum
/// does not match, pause by pause, in milliseconds. The kernel changes first the
/// fields and then the checksum (fs/ext4/orphan.c, `ext4_orphan_add`, of Linux
/// 6.18). It may have to wait for a processor in between.
const SUPERBLOCK_PAUSES_MS: [u64; 8] = [0, 0, 1, 2, 5, 10, 20, 50];

/// How many times the device's bytes may be read as directories in all. A sound
/// file system needs a part of one; the rest is for directories that are read again.
const DEVICE_READS_MAX: u64 = 4;

/// How many inodes are copied before the first is looked at: as many as a core
/// waits for at once (`examples/speed.rs`).
const INODES_AT_ONCE: usize = 16;

const WRONG_CHECKSUM: Fault = Fault::Malformed("the inode's checksum does not match");

/// The reason why there is no volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The superblock could not be read.
    Unreadable(ReadError),
    /// The superblock cannot be used.
    Unfit(Unfit),
    /// It has more groups than any that was ever made.
    TooManyGroups(u32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unreadable(error) => write!(f, "superblock: {error}"),
            Refusal::Unfit(unfit) => unfit.fmt(f),
            Refusal::TooManyGroups(count) => write!(f, "too many block groups: {count}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// An ext2, ext3 or ext4 file system.
///
/// Many threads can call all methods at once. The file system may be mounted and
/// change: a volume copies each inode and each block before it looks at it. So an
/// answer is consistent within one of them, and not beyond.
#[derive(Debug)]
pub struct Volume<B> {
    bytes: B,
    superblock: Superblock,
    inode_format: InodeFormat,
    groups: GroupTable,
    blocks_on_device: u64,
    /// The beginning of the sums of inodes, where they are compared.
    inode_seed: Option<u32>,
    zones: SystemZones,
    /// The bytes that all directories together may still read.
    bytes_left: AtomicU64,
}

impl<B: Bytes> Volume<B> {
    /// Reads the superblock, and the place of each group's inodes.
    ///
    /// It takes some 20 bytes of memory for each group that lies on the device.
    ///
    /// # Errors
    ///
    /// There is no such file system, or it has features that this crate does not know.
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_ext4::Volume;
    ///
    /// let refusal = Volume::open([0; 4096].as_slice()).unwrap_err();
    /// assert_eq!(refusal.to_string(), "no ext2, ext3 or ext4 superblock");
    /// ```
    pub fn open(bytes: B) -> Result<Volume<B>, Refusal> {
        Volume::open_with(bytes, Checksums::Verified)
    }

    /// Opens a volume like [`open`](Self::open), and says whether to compare checksums.
    ///
    /// These are the checksums of the superblock, group descriptors, inodes, extent blocks
    /// and directory blocks.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(bytes: B, checksums: Checksums) -> Result<Volume<B>, Refusal> {
        Volume::open_patiently(bytes, checksums, &[])
    }

    /// Opens a file system that the kernel may be writing.
    ///
    /// If the superblock's checksum does not match, this reads the superblock again,
    /// for a tenth of a second at most: the kernel changes it in two steps.
    ///
    /// This compares no checksum of an inode, which would take a fifth of the time of an
    /// entry and more (`examples/speed.rs`). The kernel compares it when it reads the inode.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_mounted(bytes: B) -> Result<Volume<B>, Refusal> {
        let mut volume = Volume::open_patiently(bytes, Checksums::Verified, &SUPERBLOCK_PAUSES_MS)?;
        volume.inode_seed = None;
        Ok(volume)
    }

    fn open_patiently(
        bytes: B,
        checksums: Checksums,
        pauses_ms: &[u64],
    ) -> Result<Volume<B>, Refusal> {
        let mut pauses_ms = pauses_ms.iter();
        let mut raw = [0; SUPERBLOCK_BYTES];
        let decoded = loop {
            match bytes.read(SUPERBLOCK_OFFSET_BYTES, &mut raw) {
                Ok(()) => {}
                Err(ReadError::BeyondEnd) => break Err(Unfit::NoSuperblock),
                Err(error) => return Err(Refusal::Unreadable(error)),
            }
            match (Superblock::decode(&raw, checksums), pauses_ms.next()) {
                (Err(Unfit::Checksum), Some(&pause_ms)) => {
                    thread::sleep(Duration::from_millis(pause_ms));
                }
                (decoded, _) => break decoded,
            }
        };
        let superblock = decoded.map_err(Refusal::Unfit)?;
        if superblock.groups_count > GROUPS_MAX {
            return Err(Refusal::TooManyGroups(superblock.groups_count));
        }
        let mut group_blocks = GroupBlocks::new();
        let groups = GroupTable::read(&bytes, &superblock, &mut group_blocks);
        let block_size = u64::from(superblock.block_size_bytes);
        let blocks_on_device = bytes
            .length_bytes()
            .div_ceil(block_size)
            .min(superblock.blocks_count);
        let mut volume = Volume {
            inode_format: superblock.inode_format(),
            inode_seed: (superblock.verifies_inodes()).then_some(superblock.checksum_seed),
            zones: SystemZones::new(GroupBlocks::new(), (0, Clusters::of_blocks()), 0),
            bytes_left: AtomicU64::new(bytes.length_bytes().saturating_mul(DEVICE_READS_MAX)),
            blocks_on_device,
            bytes,
            superblock,
            groups,
        };
        let journal = volume.journal_blocks();
        volume.zones = SystemZones::new(group_blocks, journal, blocks_on_device);
        Ok(volume)
    }

    /// Returns the superblock as it was when the volume was opened.
    #[must_use]
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Returns the bytes that the volume reads.
    #[must_use]
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// Returns whether the device is shorter than the file system: a part of an image.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        let block_size = u64::from(self.superblock.block_size_bytes);
        self.bytes.length_bytes() / block_size < self.superblock.blocks_count
    }

    /// Copies an inode.
    ///
    /// It may be [free](Inode::is_free): then a name that leads to it is old.
    ///
    /// # Errors
    ///
    /// There is no such inode, it belongs to the file system itself, or it cannot be
    /// read or makes no sense. Its checksum does not match, or it claims blocks of the
    /// file system itself.
    #[inline]
    pub fn inode(&self, number: u32) -> Result<Inode, Damage> {
        let mut inode = Inode::empty(self.inode_format);
        self.read_inode(number, &mut inode)?;
        Ok(inode)
    }

    /// Copies an inode in place of one that was copied before.
    ///
    /// # Errors
    ///
    /// As [`inode`](Self::inode); `inode` then has no meaning.
    #[inline]
    pub fn read_inode(&self, number: u32, inode: &mut Inode) -> Result<(), Damage> {
        self.copy_inode(number, inode)?;
        self.check_inode(inode)
    }

    /// Makes an inode for [`read_inode`](Self::read_inode).
    #[must_use]
    pub fn empty_inode(&self) -> Inode {
        Inode::empty(self.inode_format)
    }

    /// Announces that an inode is read soon: see [`Bytes::will_read`].
    #[inline]
    pub fn will_read(&self, number: u32) {
        if number != 0
            && let Some(offset) = self.groups.likely_offset(number, &self.superblock)
        {
            self.bytes.will_read(offset, self.inode_format.kept_bytes());
        }
    }

    /// Returns the used part of each inode table that lies on the device.
    ///
    /// Each item is the number of the first inode, the place of its bytes on the
    /// device, and the number of bytes.
    pub fn inode_tables(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        let end = self.bytes.length_bytes();
        let tables = self.groups.tables(&self.superblock);
        tables.filter(move |&(_, offset, bytes)| {
            offset.checked_add(bytes).is_some_and(|last| last <= end)
        })
    }

    /// Gives the parts of a directory that its inode names, each by its place on the device
    /// and its length in bytes.
    ///
    /// Of a large directory these are the blocks of its extent tree or block map.
    pub fn each_run(&self, inode: &Inode, mut each: impl FnMut(u64, u32)) {
        let block_size = self.superblock.block_size_bytes;
        if inode.is_free() {
            return;
        }
        let mut add = |block: u64, count: u32| {
            let end = block.checked_add(u64::from(count));
            let is_within = end.is_some_and(|end| end <= self.superblock.blocks_count);
            if block > 0 && is_within {
                let bytes = count.saturating_mul(block_size);
                each(block.saturating_mul(u64::from(block_size)), bytes);
            }
        };
        match inode.content_location() {
            ContentLocation::Inline => {}
            ContentLocation::Extents => {
                let Ok(node) = ExtentNode::decode(inode.block_area()) else {
                    return;
                };
                for index in 0..node.records_count() {
                    if node.depth() > 0 {
                        if let Ok(index) = node.index(index) {
                            add(index.child_block, 1);
                        }
                    } else if let Ok(extent) = node.extent(index)
                        && !extent.is_unwritten
                    {
                        add(extent.physical_block, extent.blocks_count);
                    }
                }
            }
            ContentLocation::BlockMap => {
                for index in 0..block_map::ROOT_POINTERS {
                    let root = block_map::root_pointer(inode.block_area(), index, block_size);
                    add(root.map_or(0, |root| u64::from(root.block)), 1);
                }
            }
        }
    }

    /// Visits the entries of a directory, without `.` and `..`.
    ///
    /// # Errors
    ///
    /// The first damage. `visit` sees no entry of a damaged block, and all entries of
    /// the other blocks, before and after it.
    pub fn read_directory(
        &self,
        inode: &Inode,
        scratch: &mut DirectoryScratch,
        mut visit: impl FnMut(DirectoryEntry<'_>),
    ) -> Result<(), Damage> {
        self.read_directory_blocks(inode, scratch, Ahead::Nothing, |entries| {
            entries.for_each(&mut visit);
            ControlFlow::Continue(())
        })
    }

    /// Visits the entries of a directory with their inodes, without `.` and `..`.
    ///
    /// It copies several inodes before it looks at the first, so that the processor
    /// waits for all of them at once. This takes a quarter off the time of an entry
    /// (`examples/speed.rs`).
    ///
    /// # Errors
    ///
    /// As [`read_directory`](Self::read_directory). An inode that cannot be read is
    /// an error of its entry.
    pub fn read_directory_and_inodes(
        &self,
        inode: &Inode,
        scratch: &mut DirectoryScratch,
        mut visit: impl FnMut(DirectoryEntry<'_>, Result<&Inode, Damage>),
    ) -> Result<(), Damage> {
        let mut inodes = scratch.take_inodes();
        inodes.resize(INODES_AT_ONCE, Inode::empty(self.inode_format));
        let outcome = self.read_directory_blocks(inode, scratch, Ahead::Nothing, |entries| {
            let mut ahead = entries.clone();
            let mut entries = entries;
            loop {
                let mut outcomes = [Ok(()); INODES_AT_ONCE];
                let mut count = 0;
                // Not a loop over `ahead` first: zip would take one entry too many.
                for (inode, outcome) in inodes.iter_mut().zip(&mut outcomes) {
                    let Some(entry) = ahead.next() else {
                        break;
                    };
                    *outcome = self.copy_inode(entry.inode, inode);
                    count += 1;
                }
                for (inode, outcome) in inodes.iter_mut().zip(outcomes).take(count) {
                    let Some(entry) = entries.next() else {
                        break;
                    };
                    let outcome = outcome.and_then(|()| self.check_inode(inode));
                    visit(entry, outcome.map(|()| &*inode));
                }
                if count < INODES_AT_ONCE {
                    return ControlFlow::Continue(());
                }
            }
        });
        scratch.keep_inodes(inodes);
        outcome
    }

    /// Visits the entries of a directory a block at a time, until `visit` breaks off.
    ///
    /// `ahead` names the reads that `visit` does itself.
    ///
    /// # Errors
    ///
    /// As [`read_directory`](Self::read_directory).
    pub fn read_directory_blocks(
        &self,
        inode: &Inode,
        scratch: &mut DirectoryScratch,
        ahead: Ahead,
        visit: impl FnMut(DirectoryEntries<'_>) -> ControlFlow<()>,
    ) -> Result<(), Damage> {
        let refused = |fault| Err(Damage::of_inode(inode.number(), fault));
        if inode.kind() != FileType::Directory {
            return refused(Fault::NotADirectory);
        }
        if inode.is_encrypted() {
            return refused(Fault::Encrypted);
        }
        // Directories that share blocks, each within its bound, are no end.
        let bytes_left = self.bytes_left.load(Ordering::Relaxed);
        if bytes_left == 0 {
            return refused(Fault::TooMuchWork);
        }
        let reader = DirectoryReader::new(self, inode, self.blocks_on_device, ahead, visit);
        let (used_bytes, outcome) = reader.read(scratch);
        let less = |left: u64| Some(left.saturating_sub(used_bytes));
        let _ = self
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        outcome
    }

    /// Returns the parent of a directory, by its own `..`.
    ///
    /// It is absent if the directory cannot be read.
    pub fn parent_of(&self, number: u32, scratch: &mut DirectoryScratch) -> Option<u32> {
        let inode = self.inode(number).ok()?;
        let first = |_: DirectoryEntries<'_>| ControlFlow::Break(());
        self.read_directory_blocks(&inode, scratch, Ahead::Nothing, first)
            .ok()?;
        scratch.parent()
    }

    /// Returns whether an entry of the directory `dir` leads to the inode `number`.
    ///
    /// Entries in damaged blocks do not count.
    pub fn lists(&self, dir: u32, number: u32, scratch: &mut DirectoryScratch) -> bool {
        let Ok(inode) = self.inode(dir) else {
            return false;
        };
        let mut is_listed = false;
        // An entry that damage hides does not count.
        let _ = self.read_directory(&inode, scratch, |entry| is_listed |= entry.inode == number);
        is_listed
    }

    /// All bytes of an inode that was copied before.
    ///
    /// They are read now, and are an error if the inode changed meanwhile.
    pub(super) fn whole_inode<'a>(
        &self,
        inode: &Inode,
        scratch: &'a mut DirectoryScratch,
    ) -> Result<&'a [u8], Damage> {
        let number = inode.number();
        let whole = scratch.buffer(self.superblock.inode_size_bytes as usize);
        self.read_inode_bytes(number, whole)?;
        if !whole.starts_with(inode.bytes()) {
            let fault = Fault::Malformed("the inode changed while it was read");
            return Err(Damage::of_inode(number, fault));
        }
        Ok(whole)
    }

    /// Checks an inode that was copied, as far as the kernel does before it believes it:
    /// `__ext4_iget`. One that is not in use can have old fields.
    #[inline]
    fn check_inode(&self, inode: &mut Inode) -> Result<(), Damage> {
        if inode.is_free() {
            return Ok(());
        }
        if !self.inode_format.keeps_all() {
            self.check_large_inode(inode)?;
        } else if let Some(seed) = self.inode_seed
            && !inode.has_right_checksum(seed)
        {
            self.copy_inode_again(inode, seed)?;
        }
        let number = inode.number();
        if let Err(malformed) = inode.check() {
            return Err(Damage::malformed(number, 0, malformed));
        }
        if inode.claims(|first, count| self.zones.forbid(number, first, count)) {
            let fault = Fault::Malformed("a block of the file claims one of the file system");
            return Err(Damage::of_inode(number, fault));
        }
        Ok(())
    }

    /// Copies an inode whose checksum does not match once more: the kernel changes fields
    /// and checksum in two steps.
    #[cold]
    #[inline(never)]
    fn copy_inode_again(&self, inode: &mut Inode, seed: u32) -> Result<(), Damage> {
        let number = inode.number();
        self.copy_inode(number, inode)?;
        match inode.has_right_checksum(seed) {
            true => Ok(()),
            false => Err(Damage::of_inode(number, WRONG_CHECKSUM)),
        }
    }

    /// Checks the sum and the attributes of an inode that is larger than an [`Inode`] keeps.
    #[cold]
    #[inline(never)]
    fn check_large_inode(&self, inode: &Inode) -> Result<(), Damage> {
        let number = inode.number();
        let mut scratch = DirectoryScratch::new();
        let whole = self.whole_inode(inode, &mut scratch)?;
        if let Some(seed) = self.inode_seed
            && !inode::is_checksum_right(whole, number, seed)
        {
            return Err(Damage::of_inode(number, WRONG_CHECKSUM));
        }
        let checked = inode.check_attributes(whole);
        checked.map_err(|malformed| Damage::malformed(number, 0, malformed))
    }

    #[inline]
    fn copy_inode(&self, number: u32, inode: &mut Inode) -> Result<(), Damage> {
        // ext4_valid_inum, fs/ext4/ext4.h: names lead to these only.
        let is_valid = number == ROOT_INODE
            || (self.superblock.first_inode..=self.superblock.inodes_count).contains(&number);
        if number == 0 || !is_valid {
            return Err(Damage::of_inode(number, Fault::NoSuchInode));
        }
        inode.fill_with(number, |into| self.read_inode_bytes(number, into))
    }

    /// Copies an inode that may belong to the file system itself.
    pub(super) fn own_inode(&self, number: u32) -> Result<Inode, Damage> {
        if number == 0 || number > self.superblock.inodes_count {
            return Err(Damage::of_inode(number, Fault::NoSuchInode));
        }
        let mut inode = Inode::empty(self.inode_format);
        inode.fill_with(number, |into| self.read_inode_bytes(number, into))?;
        let malformed = |malformed| Damage::malformed(number, 0, malformed);
        inode.check().map_err(malformed)?;
        Ok(inode)
    }

    /// Returns the seed of the checksums of a file's blocks, where they are compared.
    pub(super) fn block_seed(&self, inode: &Inode) -> Option<Crc32c> {
        (self.superblock.verifies_metadata())
            .then(|| inode.checksum_seed(self.superblock.checksum_seed))
    }

    /// Reads the descriptor of a group. Its damage has no inode.
    pub(super) fn group_descriptor(&self, group: u32) -> Result<GroupDescriptor, Damage> {
        let descriptor = (self.groups).descriptor(group, &self.bytes, &self.superblock);
        descriptor.map_err(|no_place| no_place.damage(0))
    }

    /// Returns the number of blocks that the device holds, whatever the superblock claims.
    pub(super) fn blocks_on_device(&self) -> u64 {
        self.blocks_on_device
    }

    #[inline]
    fn read_inode_bytes(&self, number: u32, into: &mut [u8]) -> Result<(), Damage> {
        match self.groups.known_offset(number, &self.superblock) {
            Some(offset) => self.read_inode_bytes_at(offset, number, into),
            None => self.read_new_inode_bytes(number, into),
        }
    }

    /// Apart, because the usual inode would pay for the registers.
    #[cold]
    #[inline(never)]
    fn read_new_inode_bytes(&self, number: u32, into: &mut [u8]) -> Result<(), Damage> {
        let offset = self
            .groups
            .offset_looked_up(number, &self.bytes, &self.superblock)
            .map_err(|no_place| no_place.damage(number))?;
        self.read_inode_bytes_at(offset, number, into)
    }

    #[inline]
    fn read_inode_bytes_at(&self, offset: u64, number: u32, into: &mut [u8]) -> Result<(), Damage> {
        self.bytes
            .read(offset, into)
            .map_err(|error| Damage::unreadable(number, 0, error))
    }
}
