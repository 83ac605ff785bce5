// SPDX-License-Identifier: MIT OR Apache-2.0

//! ROOT_ITEM: a subvolume, or another tree.

use crate::Malformed;
use crate::inode_item::INODE_ITEM_BYTES;
use crate::reader::Reader;

/// The root of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootItem {
    /// The last transaction that changed the tree.
    pub generation: u64,
    /// The logical address of its first node.
    pub bytenr: u64,
    /// The size of its nodes.
    pub used_bytes: u64,
    /// The last transaction in which a snapshot of it was made.
    pub last_snapshot: u64,
    /// `BTRFS_ROOT_SUBVOL_RDONLY` is 1.
    pub flags: u64,
    /// Zero for a deleted subvolume that the kernel is cleaning up.
    pub ref_count: u32,
    /// Absent for items of the old, shorter form, and where an old kernel wrote
    /// the item and left this part as it was.
    pub history: Option<RootHistory>,
}

/// The fields that newer kernels add to a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootHistory {
    /// Its own.
    pub uuid: [u8; 16],
    /// The UUID of its origin if it is a snapshot; else zeros.
    pub parent_uuid: [u8; 16],
    /// The last transaction that changed an inode.
    pub ctransid: u64,
    /// The transaction that made it.
    pub otransid: u64,
}

impl RootItem {
    /// Reads the item.
    pub fn parse(bytes: &[u8]) -> Result<RootItem, Malformed> {
        let mut reader = Reader::new(bytes, "ROOT_ITEM");
        let _inode = reader.take(INODE_ITEM_BYTES)?;
        let generation = reader.u64()?;
        let _root_dirid = reader.u64()?;
        let bytenr = reader.u64()?;
        let _byte_limit = reader.u64()?;
        let used_bytes = reader.u64()?;
        let last_snapshot = reader.u64()?;
        let flags = reader.u64()?;
        let ref_count = reader.u32()?;
        let _drop_progress = reader.take(17)?;
        let _drop_level = reader.u8()?;
        let _level = reader.u8()?;
        let history = if reader.is_at_end() {
            None
        } else {
            // `generation_v2` is a copy by which a newer kernel sees that no
            // older one has written the item since (btrfs_read_root_item).
            let generation_again = reader.u64()?;
            let uuid = reader.array()?;
            let parent_uuid = reader.array()?;
            let _received_uuid: [u8; 16] = reader.array()?;
            let ctransid = reader.u64()?;
            let otransid = reader.u64()?;
            (generation_again == generation).then_some(RootHistory {
                uuid,
                parent_uuid,
                ctransid,
                otransid,
            })
        };
        Ok(RootItem {
            generation,
            bytenr,
            used_bytes,
            last_snapshot,
            flags,
            ref_count,
            history,
        })
    }
}
