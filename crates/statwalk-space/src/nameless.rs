// SPDX-License-Identifier: MIT OR Apache-2.0

//! The space of a mounted ext4 that no name leads to, by its device: files that were
//! deleted while in use, and blocks of the file system itself.

use std::os::fd::BorrowedFd;

use rustix::fs::StatVfs;
use statwalk_core::NotInPlace;
use statwalk_core::in_place::ext4_of_mount;
use statwalk_ext4::{Bytes, Inode, Volume};

/// The number of reads after which a list that goes on changing is given up.
const READS_MAX: u32 = 16;

/// An inode in use without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unlinked {
    pub(crate) inode: u64,
    pub(crate) allocated_bytes: u64,
}

impl Unlinked {
    fn of(inode: &Inode) -> Unlinked {
        Unlinked {
            inode: inode.number().into(),
            allocated_bytes: inode.allocated_bytes(),
        }
    }
}

/// The device of a mounted file system, with the space that no name leads to.
#[derive(Debug)]
pub(crate) struct Nameless<B> {
    volume: Volume<B>,
    name: String,
}

/// Opens the device. The parameters are those of [`ext4_of_mount`].
pub(crate) fn open(
    number: &str,
    top: BorrowedFd<'_>,
    point: &str,
) -> Result<Nameless<impl Bytes + use<>>, NotInPlace> {
    let (volume, name) = ext4_of_mount(number, top, point)?;
    Ok(Nameless { volume, name })
}

impl<B: Bytes> Nameless<B> {
    /// Reads the list of deleted files. Absent where the file system has none, or the list
    /// cannot be read, or changed during each read.
    pub(crate) fn unlinked(&self) -> Option<Vec<Unlinked>> {
        if !self.volume.lists_unlinked_inodes() {
            return None;
        }
        let read = || -> Option<Vec<Unlinked>> {
            let inodes = self.volume.unlinked_inodes().ok()?;
            Some(inodes.iter().map(Unlinked::of).collect())
        };
        let mut before = read();
        for _ in 1..READS_MAX {
            let now = read();
            if now.is_some() && before == now {
                return now;
            }
            before = now;
        }
        None
    }

    /// Returns the bytes of the file system itself that statfs counts as used.
    ///
    /// Its size by statfs lacks the blocks that the kernel leaves out as metadata; with the
    /// option `minixdf` none. So nobody has to know how the kernel counts them. They are
    /// fewer than the file system has, or with `bigalloc`, where the superblock can have an
    /// old number of them, more.
    pub(crate) fn metadata_bytes(&self, numbers: &StatVfs) -> Result<i64, String> {
        if numbers.f_blocks < numbers.f_bfree {
            return Err("by its superblock it has more metadata than there is".into());
        }
        let own_bytes = self.volume.own_bytes();
        let own_bytes = own_bytes.map_err(|damage| format!("{}: {damage}", self.name))?;
        let superblock = self.volume.superblock();
        let blocks = superblock.blocks_count;
        let whole_bytes = blocks.saturating_mul(superblock.block_size_bytes.into());
        let shown_bytes = numbers.f_blocks.saturating_mul(numbers.f_frsize);
        let counted = counted_bytes(own_bytes, whole_bytes, shown_bytes);
        let has_clusters = superblock.cluster_size_bytes != superblock.block_size_bytes;
        match counted < 0 && !has_clusters {
            // `ext4_statfs_project`, fs/ext4/super.c.
            true => Err("df has the size of a project, and not of the file system".into()),
            false => Ok(counted),
        }
    }
}

/// The part of the own bytes that is not among those that the size lacks.
fn counted_bytes(own_bytes: u64, whole_bytes: u64, shown_bytes: u64) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let lacking = signed(whole_bytes).saturating_sub(signed(shown_bytes));
    signed(own_bytes).saturating_sub(lacking)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_the_size_lacks_are_not_counted() {
        assert_eq!(counted_bytes(50, 1000, 960), 10);
        // With minixdf.
        assert_eq!(counted_bytes(50, 1000, 1000), 50);
        assert_eq!(counted_bytes(50, 1000, 900), -50);
        assert_eq!(counted_bytes(u64::MAX, 0, u64::MAX), i64::MAX);
    }
}
