// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns an inode item into the attributes that statx would show
//! (`btrfs_getattr`, fs/btrfs/inode.c of Linux 6.18).

use rustix::fs::makedev;
use statwalk_btrfs::inode_item::InodeItem;

use crate::entry::{Attributes, FileId, FileType};
use crate::fields::Fields;
use crate::time::Time;

/// The bits of an inode item (include/uapi/linux/btrfs_tree.h; verity is the first of the upper
/// half), and those of statx(2).
const FLAGS: [(u64, u32); 5] = [
    (1 << 11, 0x4),
    (1 << 6, 0x10),
    (1 << 7, 0x20),
    (1 << 8, 0x40),
    (1 << 32, 0x10_0000),
];

/// The wanted attributes, and those that cost nothing.
#[inline]
pub(super) fn attributes(
    inode: &InodeItem,
    wanted: Fields,
    id: FileId,
    sector_bytes: u32,
) -> Attributes {
    let kind = FileType::of_mode(inode.mode as u16);
    let mut attributes = Attributes::of_type(kind);
    attributes.valid = wanted | Fields::TYPE;
    attributes.size_bytes = inode.size_bytes;
    attributes.allocated_bytes = inode.blocks(sector_bytes).saturating_mul(512);
    attributes.links = inode.link_count;
    attributes.id = id;
    attributes.uid = inode.uid;
    attributes.gid = inode.gid;
    attributes.mode = inode.mode as u16;
    let times = [inode.mtime, inode.atime, inode.ctime, inode.btime];
    for (time, at) in Time::ALL.into_iter().zip(times) {
        if wanted.contains(time.field()) {
            attributes.set_time(time, at.seconds, at.nanoseconds);
        }
    }
    if wanted.contains(Fields::RDEV) {
        // statx shows 0:0 for an entry that is no device.
        let (major, minor) = match kind {
            FileType::BlockDevice | FileType::CharDevice => inode.device(),
            _ => (0, 0),
        };
        attributes.rdev = makedev(major, minor);
    }
    for (own, shown) in FLAGS {
        let holds = inode.flags & own != 0;
        attributes.flags |= if holds { shown } else { 0 };
        attributes.flags_mask |= shown;
    }
    attributes
}
