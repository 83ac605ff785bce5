// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns an inode into the attributes that statx would show.

use rustix::fs::makedev;
use statwalk_ext4::{Inode, Timestamp};

use crate::entry::{Attributes, FileId};
use crate::fields::Fields;
use crate::time::{Time, nanoseconds_of};

/// The wanted attributes, and those that cost nothing; `dev` becomes `st_dev`.
#[inline]
pub(super) fn attributes(inode: &Inode, wanted: Fields, dev: u64) -> Attributes {
    let mut attributes = Attributes::of_type(inode.kind());
    attributes.valid = wanted | Fields::TYPE;
    attributes.size_bytes = inode.size_bytes();
    attributes.allocated_bytes = inode.allocated_bytes();
    attributes.links = inode.links();
    attributes.id = FileId {
        dev,
        ino: u64::from(inode.number()),
    };
    if wanted.contains(Fields::OWNER) {
        attributes.uid = inode.uid();
        attributes.gid = inode.gid();
    }
    if wanted.contains(Fields::MTIME) {
        attributes.set_time_ns(Time::Modified, nanoseconds(inode.mtime()));
    }
    if wanted.has_any(Fields::RARE) {
        attributes.mode = inode.mode();
        if wanted.contains(Fields::ATIME) {
            attributes.set_time_ns(Time::Accessed, nanoseconds(inode.atime()));
        }
        if wanted.contains(Fields::CTIME) {
            attributes.set_time_ns(Time::Changed, nanoseconds(inode.ctime()));
        }
        if wanted.contains(Fields::BTIME) {
            attributes.set_birth_ns(inode.btime().map(nanoseconds));
        }
        if wanted.contains(Fields::RDEV) {
            // statx shows 0:0 for an entry that is no device.
            let (major, minor) = inode.rdev().unwrap_or((0, 0));
            attributes.rdev = makedev(major, minor);
        }
        attributes.flags = inode.flags() & FLAGS;
        attributes.flags_mask = FLAGS;
    }
    attributes.with_odd_times(wanted, || {
        let birth = inode.btime().map(|time| time.seconds);
        let times = [inode.mtime(), inode.atime(), inode.ctime()];
        let [mtime, atime, ctime] = times.map(|time| Some(time.seconds));
        [mtime, atime, ctime, birth]
    })
}

/// The flags that ext4 shows with the bits that it keeps (`ext4_getattr`, fs/ext4/inode.c of
/// Linux 6.18): compressed, immutable, append-only, not for dump(8), encrypted, verity. Whether
/// DAX is at work depends on the mount.
const FLAGS: u32 = 0x4 | 0x10 | 0x20 | 0x40 | 0x800 | 0x10_0000;

/// A time as the engine has it.
#[inline]
pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    nanoseconds_of(time.seconds, time.nanoseconds)
}
