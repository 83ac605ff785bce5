// SPDX-License-Identifier: MIT OR Apache-2.0

//! The superblock: the layout of everything else.
//!
//! `struct ext4_super_block`, fs/ext4/ext4.h, and the checks of `ext4_fill_super`,
//! fs/ext4/super.c, of Linux 6.18.

use std::fmt;

use super::checksum::Crc32c;
use super::directory_block::DirectoryFormat;
use super::feature::{self, Features, IncompatBits};
use super::inode::InodeFormat;
use crate::Malformed;
use crate::block_range::BlockRange;
use crate::little_endian::{u16_at, u32_at};

/// The place of the superblock on the device, for blocks of any size.
pub const SUPERBLOCK_OFFSET_BYTES: u64 = 1024;
/// The length of the superblock.
pub const SUPERBLOCK_BYTES: usize = 1024;

/// `EXT4_SUPER_MAGIC`, include/uapi/linux/magic.h; ext2 and ext3 have the same.
const MAGIC: u16 = 0xEF53;
/// `EXT4_GOOD_OLD_INODE_SIZE`.
const OLD_INODE_SIZE_BYTES: u16 = 128;
/// `EXT4_GOOD_OLD_FIRST_INO`.
const OLD_FIRST_INODE: u32 = 11;
/// `EXT4_MIN_DESC_SIZE`, the size without the feature 64bit.
const OLD_DESCRIPTOR_BYTES: u16 = 32;
/// `EXT4_CRC32C_CHKSUM`, the one kind of checksum there is.
const CHECKSUM_TYPE_CRC32C: u8 = 1;
/// `EXT4_VALID_FS`: it was unmounted, or never written to.
const STATE_VALID: u16 = 1;
/// `EXT4_ERROR_FS`: the kernel found errors.
const STATE_ERRORS: u16 = 2;

/// `EXT4_DEFM_UID16`.
const DEFAULT_SHORT_OWNERS: u32 = 0x10;

/// The treatment of checksums, where a structure has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Compare them; one that does not match is damage.
    Verified,
    /// Do not look at them: for fuzzing and for measurements.
    Ignored,
}

/// The reason why a superblock cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfit {
    /// There is no superblock.
    NoSuperblock,
    /// It is the journal of another file system.
    JournalDevice,
    /// It has features that a reader must know and this crate does not.
    Features(IncompatBits),
    /// Its checksums are of a kind that does not exist yet.
    ChecksumType(u8),
    /// The superblock's checksum does not match.
    Checksum,
    /// The superblock contradicts itself.
    Malformed(Malformed),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::NoSuperblock => f.write_str("no ext2, ext3 or ext4 superblock"),
            Unfit::JournalDevice => f.write_str("the journal of another file system"),
            Unfit::Features(bits) => write!(f, "unknown features: {bits}"),
            Unfit::ChecksumType(kind) => write!(f, "unknown kind of checksum: {kind}"),
            Unfit::Checksum => f.write_str("the superblock's checksum does not match"),
            Unfit::Malformed(malformed) => write!(f, "superblock: {malformed}"),
        }
    }
}

/// A superblock that makes sense: a file system that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Superblock {
    /// `s_uuid`.
    pub uuid: [u8; 16],
    /// The three words of features.
    pub features: Features,
    /// The treatment of checksums; they are ignored where there are none.
    pub checksums: Checksums,
    /// The sum that all other sums begin with, where there is `metadata_csum`.
    pub checksum_seed: u32,
    /// 1 KiB to 64 KiB, a power of two.
    pub block_size_bytes: u32,
    /// The unit of allocation: a block, or more with `bigalloc`.
    pub cluster_size_bytes: u32,
    /// 128 bytes to a block, a power of two.
    pub inode_size_bytes: u32,
    /// 32 bytes, or a power of two from 64 to 1,024.
    pub descriptor_size_bytes: u32,
    /// The number of blocks that it claims.
    pub blocks_count: u64,
    /// The block that the first group begins with: 1 if blocks are 1 KiB, else 0.
    pub first_data_block: u32,
    /// At least 8.
    pub blocks_per_group: u32,
    /// At least 1.
    pub inodes_per_group: u32,
    /// The highest number of an inode; at most the groups times their inodes.
    pub inodes_count: u32,
    /// `s_free_inodes_count`. While the file system is mounted it may be old.
    pub free_inodes_count: u32,
    /// The lowest number that is not reserved.
    pub first_inode: u32,
    /// The number of groups that it claims.
    pub groups_count: u32,
    /// The first block of descriptors that lies where `meta_bg` puts it.
    pub first_meta_bg: u32,
    /// The two groups with a copy, with `sparse_super2`.
    pub backup_groups: [u32; 2],
    /// `s_state`.
    pub state: u16,
    /// `s_default_mount_opts`.
    pub default_mount_options: u32,
    /// `s_encoding`: the encoding of casefolded names; 0 without.
    pub encoding: u16,
    /// `s_mmp_block`: the block that says who has it mounted, with `mmp`.
    pub mmp_block: u64,
    /// `s_journal_inum`: the inode of the journal, with `has_journal`; 0 where it lies on
    /// another device.
    pub journal_inode: u32,
    /// `s_reserved_gdt_blocks`: the blocks behind the descriptors, for more of them.
    pub reserved_descriptor_blocks: u32,
    /// `s_creator_os`: 0 for Linux.
    pub creator_os: u32,
    /// `s_orphan_file_inum`: the inode of the orphan file, with `orphan_file`.
    pub orphan_file: u32,
    /// `s_usr_quota_inum`, `s_grp_quota_inum` and `s_prj_quota_inum`: 0 where there is none.
    pub quota_files: [u32; 3],
}

impl Superblock {
    /// Decodes the 1,024 bytes at [`SUPERBLOCK_OFFSET_BYTES`].
    ///
    /// # Errors
    ///
    /// There is no superblock, or it contradicts itself, or its features forbid to
    /// read. A journal that was not replayed is no error: see
    /// [`needs_recovery`](Self::needs_recovery).
    pub fn decode(bytes: &[u8], checksums: Checksums) -> Result<Superblock, Unfit> {
        let bytes: &[u8; SUPERBLOCK_BYTES] = bytes.first_chunk().ok_or(Unfit::NoSuperblock)?;
        let u16 = |offset| u16_at(bytes, offset).unwrap_or(0);
        let u32 = |offset| u32_at(bytes, offset).unwrap_or(0);
        if u16(0x38) != MAGIC {
            return Err(Unfit::NoSuperblock);
        }
        // Linux looks at the words before revision 1 as well, and warns:
        // mke2fs -r 0 with features makes such file systems.
        let features = Features {
            compat: u32(0x5C),
            incompat: u32(0x60),
            ro_compat: u32(0x64),
        };
        if features.incompat(feature::INCOMPAT_JOURNAL_DEV) {
            return Err(Unfit::JournalDevice);
        }
        if features.unreadable().0 != 0 {
            return Err(Unfit::Features(features.unreadable()));
        }
        let uuid = *bytes[0x68..].first_chunk().expect("1,024 bytes");
        let checksum_seed = checksum_seed(bytes, features, &uuid, checksums)?;
        let is_dynamic = u32(0x4C) != 0;
        let is_64bit = features.incompat(feature::INCOMPAT_64BIT);
        // A shift that is too long gives 0, which the checks refuse.
        let size = |log2| 1024_u32.checked_shl(log2).unwrap_or(0);
        let has_clusters = features.ro_compat(feature::RO_COMPAT_BIGALLOC);
        let has_sums = features.ro_compat(feature::RO_COMPAT_METADATA_CSUM)
            || features.ro_compat(feature::RO_COMPAT_GDT_CSUM);
        let mut superblock = Superblock {
            uuid,
            features,
            checksums: if has_sums {
                checksums
            } else {
                Checksums::Ignored
            },
            checksum_seed,
            block_size_bytes: size(u32(0x18)),
            cluster_size_bytes: size(u32(if has_clusters { 0x1C } else { 0x18 })),
            inode_size_bytes: match is_dynamic {
                true => u16(0x58),
                false => OLD_INODE_SIZE_BYTES,
            }
            .into(),
            descriptor_size_bytes: match is_64bit {
                true => u16(0xFE),
                false => OLD_DESCRIPTOR_BYTES,
            }
            .into(),
            blocks_count: match is_64bit {
                true => u64::from(u32(0x150)) << 32 | u64::from(u32(0x4)),
                false => u32(0x4).into(),
            },
            first_data_block: u32(0x14),
            blocks_per_group: u32(0x20),
            inodes_per_group: u32(0x28),
            inodes_count: u32(0x0),
            free_inodes_count: u32(0x10),
            first_inode: match is_dynamic {
                true => u32(0x54),
                false => OLD_FIRST_INODE,
            },
            groups_count: 0,
            first_meta_bg: u32(0x104),
            backup_groups: [u32(0x24C), u32(0x250)],
            state: u16(0x3A),
            default_mount_options: u32(0x100),
            encoding: u16(0x27C),
            mmp_block: u64::from(u32(0x168)) | u64::from(u32(0x16C)) << 32,
            journal_inode: u32(0xE0),
            reserved_descriptor_blocks: u16(0xCE).into(),
            creator_os: u32(0x48),
            orphan_file: u32(0x280),
            quota_files: [u32(0x240), u32(0x244), u32(0x26C)],
        };
        superblock.check_sizes()?;
        superblock.groups_count = superblock.count_groups()?;
        Ok(superblock)
    }

    fn check_sizes(&self) -> Result<(), Unfit> {
        let block_bytes = self.block_size_bytes;
        if !(1024..=64 << 10).contains(&block_bytes) {
            return Err(malformed(0x18, "the block size is above 64 KiB"));
        }
        // EXT4_MAX_CLUSTER_LOG_SIZE is 30.
        if !(block_bytes..=1 << 30).contains(&self.cluster_size_bytes) {
            return Err(malformed(0x1C, "the cluster size is out of range"));
        }
        let inode_bytes = self.inode_size_bytes;
        if !(u32::from(OLD_INODE_SIZE_BYTES)..=block_bytes).contains(&inode_bytes)
            || !inode_bytes.is_power_of_two()
        {
            return Err(malformed(0x58, "the inode size is out of range"));
        }
        // EXT4_MIN_DESC_SIZE_64BIT and EXT4_MAX_DESC_SIZE.
        let descriptor_bytes = self.descriptor_size_bytes;
        if self.features.incompat(feature::INCOMPAT_64BIT)
            && !((64..=1024).contains(&descriptor_bytes) && descriptor_bytes.is_power_of_two())
        {
            return Err(malformed(0xFE, "the descriptor size is out of range"));
        }
        Ok(())
    }

    /// The number of the groups, once their sizes are in range.
    fn count_groups(&self) -> Result<u32, Unfit> {
        let (first, blocks_per_group) = (u64::from(self.first_data_block), self.blocks_per_group);
        if first >= self.blocks_count {
            return Err(malformed(0x14, "the first data block is behind the last"));
        }
        if first > 1 {
            return Err(malformed(0x14, "the first data block is neither 0 nor 1"));
        }
        // A bitmap of one block says which clusters are free.
        let blocks_of_cluster = u64::from(self.cluster_size_bytes / self.block_size_bytes);
        let blocks_per_group_max = 8 * u64::from(self.block_size_bytes) * blocks_of_cluster;
        if !(8..=blocks_per_group_max).contains(&blocks_per_group.into()) {
            return Err(malformed(0x20, "the blocks per group are out of range"));
        }
        let inodes_per_group = self.inodes_per_group;
        if inodes_per_group == 0 || inodes_per_group > 8 * self.block_size_bytes {
            return Err(malformed(0x28, "the inodes per group are out of range"));
        }
        let groups = (self.blocks_count - first).div_ceil(blocks_per_group.into());
        let Ok(groups) = u32::try_from(groups) else {
            return Err(malformed(0x4, "there are more than 2^32 groups"));
        };
        if u64::from(self.inodes_count) > u64::from(groups) * u64::from(inodes_per_group) {
            return Err(malformed(0x0, "there are more inodes than the groups hold"));
        }
        Ok(groups)
    }

    /// Returns whether the journal holds changes that are not in place: the file
    /// system is mounted, or was not unmounted. A mount can show a newer state than
    /// this crate.
    #[must_use]
    pub fn needs_recovery(&self) -> bool {
        self.features.incompat(feature::INCOMPAT_RECOVER)
    }

    /// Returns the number that statfs(2) shows as `f_fsid`: both halves of the UUID in one.
    /// `ext4_statfs`, fs/ext4/super.c, and `uuid_to_fsid`, include/linux/uuid.h of Linux 6.18.
    #[must_use]
    pub fn fsid(&self) -> u64 {
        let (low, high) = self.uuid.split_at(8);
        let number = |half: &[u8]| {
            let bytes = half.iter().rev();
            bytes.fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        number(low) ^ number(high)
    }

    /// Returns whether it was not unmounted, or has errors: the mark of an ext2 in use.
    #[must_use]
    pub fn is_unclean(&self) -> bool {
        self.state & STATE_VALID == 0
    }

    /// Returns whether the kernel has found errors that were not repaired since.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.state & STATE_ERRORS != 0
    }

    /// Returns whether a mount shows owners of 16 bits unless it has another option: the
    /// upper halves can hold anything then.
    #[must_use]
    pub fn has_short_owners(&self) -> bool {
        self.default_mount_options & DEFAULT_SHORT_OWNERS != 0
    }

    /// Returns whether structures have a CRC-32C that is compared.
    #[must_use]
    pub fn verifies_metadata(&self) -> bool {
        self.checksums == Checksums::Verified
            && self.features.ro_compat(feature::RO_COMPAT_METADATA_CSUM)
    }

    /// Returns whether inodes have a CRC-32C that is compared. Those of another system
    /// have none: `ext4_inode_csum_verify`, fs/ext4/inode.c.
    #[must_use]
    pub fn verifies_inodes(&self) -> bool {
        self.verifies_metadata() && self.creator_os == 0
    }

    /// Returns the features that this crate does not know, and by their definition
    /// need not know in order to read.
    #[must_use]
    pub fn unknown_read_only_features(&self) -> u32 {
        self.features.ro_compat & !feature::RO_COMPAT_KNOWN
    }

    /// Returns whether a group begins with a copy of the superblock.
    ///
    /// `ext4_bg_has_super`, fs/ext4/balloc.c.
    #[must_use]
    pub fn has_superblock_copy(&self, group: u32) -> bool {
        if group == 0 {
            return true;
        }
        if self.features.compat & feature::COMPAT_SPARSE_SUPER2 != 0 {
            return self.backup_groups.contains(&group);
        }
        if group == 1 || !self.features.ro_compat(feature::RO_COMPAT_SPARSE_SUPER) {
            return true;
        }
        [3, 5, 7].into_iter().any(|root| is_power(group, root))
    }

    /// Returns the properties that inodes depend on.
    #[must_use]
    pub fn inode_format(&self) -> InodeFormat {
        InodeFormat {
            size_bytes: self.inode_size_bytes,
            block_size_log2: self.block_size_bytes.trailing_zeros(),
            has_huge_files: self.features.ro_compat(feature::RO_COMPAT_HUGE_FILE),
            has_large_directories: self.features.incompat(feature::INCOMPAT_LARGEDIR),
            is_64bit: self.features.incompat(feature::INCOMPAT_64BIT),
            has_attribute_inodes: self.features.incompat(feature::INCOMPAT_EA_INODE),
            has_casefolding: self.features.incompat(feature::INCOMPAT_CASEFOLD),
            forbids_indexes: self.features.compat & feature::COMPAT_DIR_INDEX == 0
                && self.features.ro_compat(feature::RO_COMPAT_METADATA_CSUM),
            first_inode: self.first_inode,
            inodes_count: self.inodes_count,
            cluster_size_log2: self.cluster_size_bytes.trailing_zeros(),
            blocks: BlockRange {
                superblock: self.first_data_block,
                end: self.blocks_count,
            },
        }
    }

    /// Returns the properties that directory blocks depend on.
    #[must_use]
    pub fn directory_format(&self) -> DirectoryFormat {
        DirectoryFormat {
            block_size_bytes: self.block_size_bytes,
            inode_max: self.inodes_count,
            has_types: self.features.incompat(feature::INCOMPAT_FILETYPE),
        }
    }
}

/// The seed of the checksums of metadata, once that of the superblock is right; 0 where
/// there are none.
fn checksum_seed(
    bytes: &[u8; SUPERBLOCK_BYTES],
    features: Features,
    uuid: &[u8; 16],
    checksums: Checksums,
) -> Result<u32, Unfit> {
    if !features.ro_compat(feature::RO_COMPAT_METADATA_CSUM) {
        return Ok(0);
    }
    let u32 = |offset| u32_at(bytes, offset).unwrap_or(0);
    let kind = bytes[0x175];
    if kind != CHECKSUM_TYPE_CRC32C {
        return Err(Unfit::ChecksumType(kind));
    }
    let is_right = || Crc32c::NEW.with(&bytes[..0x3FC]) == Crc32c(u32(0x3FC));
    if checksums == Checksums::Verified && !is_right() {
        return Err(Unfit::Checksum);
    }
    Ok(match features.incompat(feature::INCOMPAT_CSUM_SEED) {
        true => u32(0x270),
        false => Crc32c::NEW.with(uuid).0,
    })
}

fn malformed(offset: usize, what: &'static str) -> Unfit {
    Unfit::Malformed(Malformed::at(offset, what))
}

/// Whether a number is a power of `root`, the first at least.
fn is_power(number: u32, root: u32) -> bool {
    let mut power = u64::from(root);
    while power < u64::from(number) {
        power *= u64::from(root);
    }
    power == u64::from(number)
}

impl std::error::Error for Unfit {}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A superblock as small as it can be: 8,192 blocks of 4 KiB in one group.
    pub(crate) fn plain() -> Vec<u8> {
        let mut bytes = vec![0; SUPERBLOCK_BYTES];
        put32(&mut bytes, 0x0, 2048);
        put32(&mut bytes, 0x4, 8192);
        put32(&mut bytes, 0x18, 2);
        put32(&mut bytes, 0x1C, 2);
        put32(&mut bytes, 0x20, 32768);
        put32(&mut bytes, 0x28, 2048);
        put16(&mut bytes, 0x38, MAGIC);
        put16(&mut bytes, 0x3A, STATE_VALID);
        put32(&mut bytes, 0x4C, 1);
        put32(&mut bytes, 0x54, 11);
        put16(&mut bytes, 0x58, 256);
        put32(&mut bytes, 0x60, feature::INCOMPAT_FILETYPE);
        bytes
    }

    pub(crate) fn put16(bytes: &mut [u8], offset: usize, value: u16) {
        bytes[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn put32(bytes: &mut [u8], offset: usize, value: u32) {
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Superblock, Unfit> {
        Superblock::decode(bytes, Checksums::Verified)
    }

    #[test]
    fn a_uuid_is_folded_as_the_kernel_does_it() {
        let mut superblock = Superblock::decode(&plain(), Checksums::Verified).unwrap();
        superblock.uuid = [0; 16];
        superblock.uuid[0] = 1;
        superblock.uuid[9] = 2;
        assert_eq!(superblock.fsid(), 0x0201);
        superblock.uuid = [0xff; 16];
        assert_eq!(superblock.fsid(), 0);
    }

    #[test]
    fn a_plain_one_is_read() {
        let superblock = decode(&plain()).unwrap();
        assert_eq!(superblock.block_size_bytes, 4096);
        assert_eq!(superblock.groups_count, 1);
        assert_eq!(superblock.descriptor_size_bytes, 32);
        assert!(!superblock.needs_recovery() && !superblock.is_unclean());
        assert_eq!(superblock.checksums, Checksums::Ignored);
    }

    #[test]
    fn a_cut_or_empty_one_is_none() {
        let bytes = plain();
        for length in 0..SUPERBLOCK_BYTES {
            assert_eq!(decode(&bytes[..length]), Err(Unfit::NoSuperblock));
        }
        assert_eq!(decode(&[0; 1024]), Err(Unfit::NoSuperblock));
    }

    #[test]
    fn a_dirty_journal_is_reported_and_read() {
        let mut bytes = plain();
        put32(&mut bytes, 0x60, 0x2 | feature::INCOMPAT_RECOVER);
        assert!(decode(&bytes).unwrap().needs_recovery());
    }

    #[test]
    fn revision_0_has_fixed_sizes() {
        let mut bytes = plain();
        put32(&mut bytes, 0x4C, 0);
        put32(&mut bytes, 0x54, 77);
        put16(&mut bytes, 0x58, 0);
        let superblock = decode(&bytes).unwrap();
        assert_eq!(superblock.inode_size_bytes, 128);
        assert_eq!(superblock.first_inode, 11);
    }

    #[test]
    fn what_must_not_be_read_is_named() {
        let mut bytes = plain();
        put32(&mut bytes, 0x60, 0x1002);
        let unfit = decode(&bytes).unwrap_err();
        assert_eq!(unfit.to_string(), "unknown features: dirdata");
        put32(&mut bytes, 0x60, feature::INCOMPAT_JOURNAL_DEV);
        assert_eq!(decode(&bytes), Err(Unfit::JournalDevice));
        let mut bytes = plain();
        put32(&mut bytes, 0x64, 1 << 25);
        let superblock = decode(&bytes).unwrap();
        assert_eq!(superblock.unknown_read_only_features(), 1 << 25);
    }

    #[test]
    fn checksums_are_compared_when_asked() {
        let mut bytes = plain();
        put32(&mut bytes, 0x64, feature::RO_COMPAT_METADATA_CSUM);
        assert_eq!(decode(&bytes), Err(Unfit::ChecksumType(0)));
        bytes[0x175] = 1;
        assert_eq!(decode(&bytes), Err(Unfit::Checksum));
        assert!(Superblock::decode(&bytes, Checksums::Ignored).is_ok());
        let sum = Crc32c::NEW.with(&bytes[..0x3FC]).0;
        put32(&mut bytes, 0x3FC, sum);
        assert!(decode(&bytes).unwrap().verifies_metadata());
    }

    #[test]
    fn nonsense_is_malformed() {
        let cases: [(usize, u32, &str); 9] = [
            (0x0, u32::MAX, "more inodes"),
            (0x4, 0, "first data block"),
            (0x14, 9, "first data block"),
            (0x18, 7, "block size"),
            (0x18, u32::MAX, "block size"),
            (0x20, 0, "blocks per group"),
            (0x20, u32::MAX, "blocks per group"),
            (0x28, 0, "inodes per group"),
            (0x58, 200, "inode size"),
        ];
        for (offset, value, expected) in cases {
            let mut bytes = plain();
            put32(&mut bytes, offset, value);
            let text = decode(&bytes).unwrap_err().to_string();
            assert!(text.contains(expected), "{offset:#x}: {text}");
        }
        let mut bytes = plain();
        put32(&mut bytes, 0x60, feature::INCOMPAT_64BIT);
        for size in [0, 32, 63, 96, 2048] {
            put16(&mut bytes, 0xFE, size);
            let text = decode(&bytes).unwrap_err().to_string();
            assert!(text.contains("descriptor size"), "{text}");
        }
        put16(&mut bytes, 0xFE, 64);
        put32(&mut bytes, 0x150, u32::MAX);
        let text = decode(&bytes).unwrap_err().to_string();
        assert!(text.contains("2^32 groups"), "{text}");
    }

    #[test]
    fn copies_of_the_superblock_lie_in_few_groups() {
        let mut superblock = decode(&plain()).unwrap();
        let with_copies = |superblock: &Superblock| {
            (0..60)
                .filter(|&group| superblock.has_superblock_copy(group))
                .collect::<Vec<_>>()
        };
        assert_eq!(with_copies(&superblock).len(), 60);
        superblock.features.ro_compat = feature::RO_COMPAT_SPARSE_SUPER;
        assert_eq!(with_copies(&superblock), [0, 1, 3, 5, 7, 9, 25, 27, 49]);
        superblock.features.compat = feature::COMPAT_SPARSE_SUPER2;
        superblock.backup_groups = [2, 50];
        assert_eq!(with_copies(&superblock), [0, 2, 50]);
    }
}
