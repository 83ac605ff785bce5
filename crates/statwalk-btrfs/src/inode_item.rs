// SPDX-License-Identifier: MIT OR Apache-2.0

//! INODE_ITEM: the attributes of a file.

use crate::Malformed;
use crate::reader::Reader;

/// `sizeof(struct btrfs_inode_item)`
pub const INODE_ITEM_BYTES: usize = 160;

/// A point in time, as `struct btrfs_timespec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Since 1970.
    pub seconds: i64,
    /// Within the second.
    pub nanoseconds: u32,
}

/// An inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InodeItem {
    /// The transaction that made it.
    pub generation: u64,
    /// The transaction that changed it last.
    pub transid: u64,
    /// `st_size`.
    pub size_bytes: u64,
    /// The space of its data, before compression and whether or not others share it.
    /// For data within the tree it is their length; see [`InodeItem::blocks`].
    pub data_bytes: u64,
    /// Always one for a directory.
    pub link_count: u32,
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Type and permissions, as `st_mode`.
    pub mode: u32,
    /// A device number in the kernel's own form; see [`InodeItem::device`].
    pub rdev: u64,
    /// `BTRFS_INODE_NODATASUM` and others, include/uapi/linux/btrfs_tree.h.
    pub flags: u64,
    /// When it was read last.
    pub atime: Time,
    /// When the inode changed last.
    pub ctime: Time,
    /// When the content changed last.
    pub mtime: Time,
    /// When it was made.
    pub btime: Time,
}

impl InodeItem {
    /// Reads the item.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<InodeItem, Malformed> {
        let mut reader = Reader::new(bytes, "INODE_ITEM");
        let item: &[u8; INODE_ITEM_BYTES] = reader.chunk()?;
        let mut reader = Reader::new(item, "INODE_ITEM");
        let generation = reader.u64()?;
        let transid = reader.u64()?;
        let size_bytes = reader.u64()?;
        let data_bytes = reader.u64()?;
        let _block_group = reader.u64()?;
        let link_count = reader.u32()?;
        let uid = reader.u32()?;
        let gid = reader.u32()?;
        let mode = reader.u32()?;
        let rdev = reader.u64()?;
        let flags = reader.u64()?;
        let _sequence = reader.u64()?;
        let _reserved = reader.take(4 * 8)?;
        Ok(InodeItem {
            generation,
            transid,
            size_bytes,
            data_bytes,
            link_count,
            uid,
            gid,
            mode,
            rdev,
            flags,
            atime: time(&mut reader)?,
            ctime: time(&mut reader)?,
            mtime: time(&mut reader)?,
            btime: time(&mut reader)?,
        })
    }

    /// `st_blocks`: 512 bytes each, in whole sectors (`btrfs_getattr`,
    /// fs/btrfs/inode.c).
    pub fn blocks(&self, sector_bytes: u32) -> u64 {
        let sector_bytes = u64::from(sector_bytes.max(1));
        let sectors = match sector_bytes.is_power_of_two() {
            // As it always is; a division takes longer than all else here.
            true => {
                let rest = self.data_bytes & (sector_bytes - 1);
                (self.data_bytes >> sector_bytes.trailing_zeros()) + u64::from(rest != 0)
            }
            false => self.data_bytes.div_ceil(sector_bytes),
        };
        sectors.saturating_mul(sector_bytes) / 512
    }

    /// The major and minor number of a device (`MAJOR` and `MINOR`,
    /// include/linux/kdev_t.h).
    pub fn device(&self) -> (u32, u32) {
        let rdev = self.rdev as u32;
        (rdev >> 20, rdev & 0xf_ffff)
    }
}

fn time(reader: &mut Reader<'_>) -> Result<Time, Malformed> {
    Ok(Time {
        seconds: reader.u64()?.cast_signed(),
        nanoseconds: reader.u32()?,
    })
}
