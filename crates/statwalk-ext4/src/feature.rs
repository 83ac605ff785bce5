// SPDX-License-Identifier: MIT OR Apache-2.0

//! The feature words of a superblock, bit by bit.

use std::fmt;

/// `EXT4_FEATURE_COMPAT_HAS_JOURNAL`: changes go through a journal.
pub const COMPAT_HAS_JOURNAL: u32 = 0x4;
/// `EXT4_FEATURE_COMPAT_DIR_INDEX`: large directories have an index.
pub const COMPAT_DIR_INDEX: u32 = 0x20;
/// `EXT4_FEATURE_COMPAT_SPARSE_SUPER2`: two groups have a copy of the superblock.
pub const COMPAT_SPARSE_SUPER2: u32 = 0x200;
/// `EXT4_FEATURE_COMPAT_ORPHAN_FILE`: a file lists inodes in use that have no name.
pub const COMPAT_ORPHAN_FILE: u32 = 0x1000;

/// `EXT4_FEATURE_INCOMPAT_FILETYPE`: directory entries hold types.
pub const INCOMPAT_FILETYPE: u32 = 0x2;
/// `EXT4_FEATURE_INCOMPAT_RECOVER`: the journal holds what is not in place yet.
pub const INCOMPAT_RECOVER: u32 = 0x4;
/// `EXT4_FEATURE_INCOMPAT_JOURNAL_DEV`: not a file system but another's journal.
pub const INCOMPAT_JOURNAL_DEV: u32 = 0x8;
/// `EXT4_FEATURE_INCOMPAT_META_BG`: group descriptors lie in the groups.
pub const INCOMPAT_META_BG: u32 = 0x10;
/// `EXT4_FEATURE_INCOMPAT_EXTENTS`: there are extent trees.
pub const INCOMPAT_EXTENTS: u32 = 0x40;
/// `EXT4_FEATURE_INCOMPAT_64BIT`: block numbers have high halves.
pub const INCOMPAT_64BIT: u32 = 0x80;
/// `EXT4_FEATURE_INCOMPAT_MMP`: a block says who has it mounted.
pub const INCOMPAT_MMP: u32 = 0x100;
/// `EXT4_FEATURE_INCOMPAT_FLEX_BG`: inode tables lie anywhere.
pub const INCOMPAT_FLEX_BG: u32 = 0x200;
/// `EXT4_FEATURE_INCOMPAT_EA_INODE`: large attributes have inodes of their own.
pub const INCOMPAT_EA_INODE: u32 = 0x400;
/// `EXT4_FEATURE_INCOMPAT_CSUM_SEED`: the checksum's seed lies in the superblock.
pub const INCOMPAT_CSUM_SEED: u32 = 0x2000;
/// `EXT4_FEATURE_INCOMPAT_LARGEDIR`: directories of more than 2 GiB.
pub const INCOMPAT_LARGEDIR: u32 = 0x4000;
/// `EXT4_FEATURE_INCOMPAT_INLINE_DATA`: small contents lie in the inode.
pub const INCOMPAT_INLINE_DATA: u32 = 0x8000;
/// `EXT4_FEATURE_INCOMPAT_ENCRYPT`: some directories are encrypted.
pub const INCOMPAT_ENCRYPT: u32 = 0x1_0000;
/// `EXT4_FEATURE_INCOMPAT_CASEFOLD`: some directories ignore case; names are kept as given.
pub const INCOMPAT_CASEFOLD: u32 = 0x2_0000;

/// `EXT4_FEATURE_RO_COMPAT_SPARSE_SUPER`: few groups have a copy of the superblock.
pub const RO_COMPAT_SPARSE_SUPER: u32 = 0x1;
/// `EXT4_FEATURE_RO_COMPAT_HUGE_FILE`: block counts have 48 bits.
pub const RO_COMPAT_HUGE_FILE: u32 = 0x8;
/// `EXT4_FEATURE_RO_COMPAT_GDT_CSUM`: group descriptors have a CRC-16.
pub const RO_COMPAT_GDT_CSUM: u32 = 0x10;
/// `EXT4_FEATURE_RO_COMPAT_QUOTA`: hidden files hold the use of users, groups, projects.
pub const RO_COMPAT_QUOTA: u32 = 0x100;
/// `EXT4_FEATURE_RO_COMPAT_BIGALLOC`: clusters are allocated, not blocks.
pub const RO_COMPAT_BIGALLOC: u32 = 0x200;
/// `EXT4_FEATURE_RO_COMPAT_METADATA_CSUM`: everything has a CRC-32C.
pub const RO_COMPAT_METADATA_CSUM: u32 = 0x400;

/// The features that this crate reads. Linux does not read compression (0x1) and
/// Lustre's data in directories (0x1000) either.
pub const INCOMPAT_READABLE: u32 = INCOMPAT_FILETYPE
    | INCOMPAT_RECOVER
    | INCOMPAT_META_BG
    | INCOMPAT_EXTENTS
    | INCOMPAT_64BIT
    | INCOMPAT_MMP
    | INCOMPAT_FLEX_BG
    | INCOMPAT_EA_INODE
    | INCOMPAT_CSUM_SEED
    | INCOMPAT_LARGEDIR
    | INCOMPAT_INLINE_DATA
    | INCOMPAT_ENCRYPT
    | INCOMPAT_CASEFOLD;

/// Features that do not disturb a reader by definition, as far as e2fsprogs
/// 1.47 and Linux 6.18 know them.
pub const RO_COMPAT_KNOWN: u32 = 0x1_FFFF;

/// The three words of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `s_feature_compat`: a program that does not know them may write.
    pub compat: u32,
    /// `s_feature_incompat`: a program that does not know them must not read.
    pub incompat: u32,
    /// `s_feature_ro_compat`: a program that does not know them may read.
    pub ro_compat: u32,
}

impl Features {
    /// Returns whether a bit of `incompat` is set.
    #[must_use]
    pub fn incompat(self, bit: u32) -> bool {
        self.incompat & bit != 0
    }

    /// Returns whether a bit of `ro_compat` is set.
    #[must_use]
    pub fn ro_compat(self, bit: u32) -> bool {
        self.ro_compat & bit != 0
    }

    /// Returns the bits that forbid this crate to read the file system.
    #[must_use]
    pub fn unreadable(self) -> IncompatBits {
        IncompatBits(self.incompat & !INCOMPAT_READABLE)
    }
}

/// Bits of `incompat`; displayed by their names, or as hexadecimal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompatBits(pub u32);

impl IncompatBits {
    const NAMED: [(u32, &'static str); 16] = [
        (0x1, "compression"),
        (INCOMPAT_FILETYPE, "filetype"),
        (INCOMPAT_RECOVER, "needs_recovery"),
        (INCOMPAT_JOURNAL_DEV, "journal_dev"),
        (INCOMPAT_META_BG, "meta_bg"),
        (INCOMPAT_EXTENTS, "extents"),
        (INCOMPAT_64BIT, "64bit"),
        (INCOMPAT_MMP, "mmp"),
        (INCOMPAT_FLEX_BG, "flex_bg"),
        (INCOMPAT_EA_INODE, "ea_inode"),
        (0x1000, "dirdata"),
        (INCOMPAT_CSUM_SEED, "metadata_csum_seed"),
        (INCOMPAT_LARGEDIR, "large_dir"),
        (INCOMPAT_INLINE_DATA, "inline_data"),
        (INCOMPAT_ENCRYPT, "encrypt"),
        (INCOMPAT_CASEFOLD, "casefold"),
    ];
}

impl fmt::Display for IncompatBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for bit in (0..32).map(|shift| 1 << shift) {
            if self.0 & bit == 0 {
                continue;
            }
            match Self::NAMED.iter().find(|(named, _)| *named == bit) {
                Some((_, name)) => write!(f, "{separator}{name}")?,
                None => write!(f, "{separator}{bit:#x}")?,
            }
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_names() {
        assert_eq!(
            IncompatBits(0x1001 | 1 << 20).to_string(),
            "compression, dirdata, 0x100000"
        );
        assert_eq!(IncompatBits(0).to_string(), "");
    }

    #[test]
    fn only_what_is_unknown_is_unreadable() {
        let features = Features {
            incompat: INCOMPAT_READABLE | 1 << 31,
            ..Features::default()
        };
        assert_eq!(features.unreadable(), IncompatBits(1 << 31));
    }
}
