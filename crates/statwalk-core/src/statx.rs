// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the attributes of one entry with statx.
//!
//! `struct statx` and its masks: statx(2), include/uapi/linux/stat.h of Linux 6.18.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Statx, StatxAttributes, StatxFlags, StatxTimestamp, makedev, statx};
use rustix::io::Errno;

use crate::entry::{Attributes, Fields, FileId, FileType, nanoseconds_of};
use crate::tally;

/// How often a call that a signal interrupts is made again.
///
/// A file system in user space can answer EINTR as often as it likes.
const INTERRUPTIONS_MAX: u32 = 100;

/// Makes a call again while it is interrupted.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut tries = 0;
    loop {
        tally::count();
        match call() {
            Err(Errno::INTR) if tries < INTERRUPTIONS_MAX => tries += 1,
            answer => return answer,
        }
    }
}

/// Stats, again while it is interrupted, and refuses what no file can take: block
/// counts come from the file system, and one in user space can claim 2^64 of 512 bytes.
/// What it takes is unknown then, and any number would be wrong.
#[inline]
fn believed(
    mask: StatxFlags,
    mut call: impl FnMut() -> Result<Statx, Errno>,
) -> Result<Statx, Errno> {
    let blocks_max = match mask.contains(StatxFlags::BLOCKS) {
        true => u64::MAX / 512,
        false => u64::MAX,
    };
    let mut tries = 0;
    loop {
        tally::count();
        match call() {
            Err(Errno::INTR) if tries < INTERRUPTIONS_MAX => tries += 1,
            // A copy of the answer would take longer than all else here.
            Ok(stat) if stat.stx_blocks > blocks_max => return Err(Errno::OVERFLOW),
            answer => return answer,
        }
    }
}

/// What tells one directory from another.
pub(crate) const IDENTITY: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO);

/// The smallest statx mask that gives the wanted fields, and what the walk
/// itself needs: the type and the mount.
pub(crate) fn mask(wanted: Fields) -> StatxFlags {
    let mut mask = StatxFlags::TYPE | StatxFlags::MNT_ID;
    for (field, flag) in [
        (Fields::SIZE, StatxFlags::SIZE),
        (Fields::ALLOCATED, StatxFlags::BLOCKS),
        (Fields::LINKS, StatxFlags::NLINK),
        (Fields::ID, StatxFlags::INO),
        (Fields::MTIME, StatxFlags::MTIME),
        (Fields::ATIME, StatxFlags::ATIME),
        (Fields::CTIME, StatxFlags::CTIME),
        (Fields::BTIME, StatxFlags::BTIME),
        (Fields::OWNER, StatxFlags::UID | StatxFlags::GID),
        (Fields::MODE, StatxFlags::MODE),
    ] {
        if wanted.contains(field) {
            mask |= flag;
        }
    }
    mask
}

/// What a directory's own stat must tell besides the wanted fields: who it is
/// and whether it holds still.
pub(crate) fn directory_mask(wanted: Fields) -> StatxFlags {
    mask(wanted) | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::MTIME | StatxFlags::CTIME
}

/// Stats a name in a directory: the entry itself, never what a link points to,
/// and without waking an automount.
pub(crate) fn by_name(dir: BorrowedFd<'_>, name: &CStr, mask: StatxFlags) -> Result<Statx, Errno> {
    by_name_with(dir, name, AtFlags::empty(), mask)
}

/// As [`by_name`], with flags of one's own besides.
#[inline]
pub(crate) fn by_name_with(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    const FLAGS: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);
    believed(mask, || statx(dir, name, FLAGS | flags, mask))
}

/// Stats what a name in a directory leads to, through symbolic links.
pub(crate) fn through_links(
    dir: BorrowedFd<'_>,
    name: &CStr,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    believed(mask, || statx(dir, name, AtFlags::NO_AUTOMOUNT, mask))
}

/// Stats an open descriptor.
pub(crate) fn by_descriptor(fd: BorrowedFd<'_>, mask: StatxFlags) -> Result<Statx, Errno> {
    by_descriptor_with(fd, AtFlags::empty(), mask)
}

/// As [`by_descriptor`], with flags of one's own besides.
#[inline]
pub(crate) fn by_descriptor_with(
    fd: BorrowedFd<'_>,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    believed(mask, || statx(fd, c"", AtFlags::EMPTY_PATH | flags, mask))
}

/// Device and inode number.
pub(crate) fn file_id(stat: &Statx) -> FileId {
    FileId {
        dev: makedev(stat.stx_dev_major, stat.stx_dev_minor),
        ino: stat.stx_ino,
    }
}

/// The mount that the entry lies in: its id, or the device before Linux 5.8.
pub(crate) fn mount_id(stat: &Statx) -> u64 {
    match has_mount_id(stat) {
        true => stat.stx_mnt_id,
        false => makedev(stat.stx_dev_major, stat.stx_dev_minor),
    }
}

/// Whether the kernel tells the mount that the entry lies in.
pub(crate) fn has_mount_id(stat: &Statx) -> bool {
    stat.stx_mask & StatxFlags::MNT_ID.bits() != 0
}

/// Whether the entry is an automount point on which nothing is mounted yet.
///
/// `STATX_ATTR_MOUNT_ROOT` is there since Linux 5.8, when mount ids came.
pub(crate) fn is_idle_automount(stat: &Statx) -> bool {
    stat.stx_attributes.contains(StatxAttributes::AUTOMOUNT)
        && !stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
}

/// Turns the kernel's answer into attributes.
///
/// Fields that were not in the mask are marked as valid all the same where the
/// kernel filled them: it does so for all basic fields.
#[inline]
pub(crate) fn attributes(stat: &Statx, wanted: Fields) -> Attributes {
    let mut attributes = Attributes::of_type(FileType::of_mode(stat.stx_mode));
    attributes.valid = wanted | Fields::TYPE;
    attributes.size_bytes = stat.stx_size;
    // `believed` refuses more where blocks are wanted.
    attributes.allocated_bytes = stat.stx_blocks.saturating_mul(512);
    attributes.links = stat.stx_nlink;
    attributes.id = file_id(stat);
    attributes.uid = stat.stx_uid;
    attributes.gid = stat.stx_gid;
    attributes.mode = stat.stx_mode;
    if wanted.contains(Fields::MTIME) {
        attributes.set_mtime(nanoseconds(&stat.stx_mtime));
    }
    if wanted.contains(Fields::ATIME) {
        attributes.set_atime(nanoseconds(&stat.stx_atime));
    }
    if wanted.contains(Fields::CTIME) {
        attributes.set_ctime(nanoseconds(&stat.stx_ctime));
    }
    if wanted.contains(Fields::BTIME) {
        let has_one = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
        attributes.set_btime(has_one.then(|| nanoseconds(&stat.stx_btime)));
    }
    if wanted.contains(Fields::RDEV) {
        attributes.rdev = makedev(stat.stx_rdev_major, stat.stx_rdev_minor);
    }
    attributes
}

fn nanoseconds(time: &StatxTimestamp) -> i64 {
    nanoseconds_of(time.tv_sec, time.tv_nsec)
}
