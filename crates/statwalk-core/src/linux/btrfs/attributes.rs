// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns an inode item into the attributes that statx would show
//! (`btrfs_getattr`, fs/btrfs/inode.c of Linux 6.18).

use rustix::fs::makedev;

use crate::entry::{Attributes, Fields, FileId, FileType};
use crate::linux::decode::btrfs::inode_item::InodeItem;

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
    if wanted.contains(Fields::MTIME) {
        attributes.set_mtime(inode.mtime.seconds, inode.mtime.nanoseconds);
    }
    if wanted.contains(Fields::ATIME) {
        attributes.set_atime(inode.atime.seconds, inode.atime.nanoseconds);
    }
    if wanted.contains(Fields::CTIME) {
        attributes.set_ctime(inode.ctime.seconds, inode.ctime.nanoseconds);
    }
    if wanted.contains(Fields::BTIME) {
        attributes.set_btime(Some((inode.btime.seconds, inode.btime.nanoseconds)));
    }
    if wanted.contains(Fields::RDEV) {
        // statx shows 0:0 for an entry that is no device.
        let (major, minor) = match kind {
            FileType::BlockDevice | FileType::CharDevice => inode.device(),
            _ => (0, 0),
        };
        attributes.rdev = makedev(major, minor);
    }
    attributes
}
