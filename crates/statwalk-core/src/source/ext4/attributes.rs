// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns an inode into the attributes that statx would show.

use rustix::fs::makedev;

use crate::decode::ext4::inode::Inode;
use crate::entry::{Attributes, Fields, FileId};

/// The wanted attributes, and those that cost nothing; `dev` is what `st_dev`
/// is to be.
#[inline]
#[must_use]
pub fn attributes(inode: &Inode, wanted: Fields, dev: u64) -> Attributes {
    let mut attributes = Attributes::of_type(inode.kind());
    attributes.valid = wanted | Fields::TYPE;
    attributes.size_bytes = inode.size_bytes();
    attributes.allocated_bytes = inode.allocated_bytes();
    attributes.links = inode.links();
    attributes.id = FileId {
        dev,
        ino: u64::from(inode.number()),
    };
    attributes.uid = inode.uid();
    attributes.gid = inode.gid();
    attributes.mode = inode.mode();
    if wanted.contains(Fields::MTIME) {
        attributes.set_mtime(inode.mtime_ns());
    }
    if wanted.contains(Fields::ATIME) {
        attributes.set_atime(inode.atime_ns());
    }
    if wanted.contains(Fields::CTIME) {
        attributes.set_ctime(inode.ctime_ns());
    }
    if wanted.contains(Fields::BTIME) {
        attributes.set_btime(inode.btime_ns());
    }
    if wanted.contains(Fields::RDEV) {
        // statx shows 0:0 for what is no device.
        let (major, minor) = inode.rdev().unwrap_or((0, 0));
        attributes.rdev = makedev(major, minor);
    }
    attributes
}
