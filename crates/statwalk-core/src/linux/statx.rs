// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the attributes of one entry with statx, and with fstatat where statx is refused.
//!
//! `struct statx` and its masks: statx(2), include/uapi/linux/stat.h of Linux 6.18.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Statx, StatxAttributes, StatxFlags, StatxTimestamp, makedev, statx};
use rustix::io::Errno;
use statwalk_sys::statx::{by_fstatat, is_refused};
pub(crate) use statwalk_sys::statx::{has_mount_id, mount_id};

use crate::entry::{Attributes, FileId, FileType};
use crate::fields::Fields;
use crate::tally;
use crate::time::{Time, nanoseconds_of};

/// How often [`uninterrupted`] repeats a call.
///
/// The limit exists because a file system in user space can return EINTR forever.
const INTERRUPTIONS_MAX: u32 = 100;

/// Repeats a call that a signal interrupts, up to [`INTERRUPTIONS_MAX`] times.
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

/// Makes a statx call, repeated as in [`uninterrupted`], and checks its block count.
/// Where statx is refused, it asks fstatat.
///
/// # Errors
///
/// The kernel's error; EOVERFLOW if the mask has blocks and their bytes do not fit
/// in 64 bits. A file system in user space can claim 2^64 blocks. The real disk
/// usage is unknown then, and any number would be wrong.
// A call out of line copies the 256 bytes of the answer three times: 9 % more CPU time
// for a tree, most of it in the kernel (300,000 files, in turns).
#[inline(always)]
fn believed(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    let blocks_max = match mask.contains(StatxFlags::BLOCKS) {
        true => u64::MAX / 512,
        false => u64::MAX,
    };
    let mut tries = 0;
    loop {
        tally::count();
        match statx(dir, path, flags, mask) {
            Err(Errno::INTR) if tries < INTERRUPTIONS_MAX => tries += 1,
            Err(Errno::NOSYS) => return without_statx(dir, path, flags, blocks_max),
            // Not `uninterrupted(call)?`: the copy of `Statx` would take longer than
            // the rest of this function.
            Ok(stat) if stat.stx_blocks > blocks_max => return Err(Errno::OVERFLOW),
            answer => return answer,
        }
    }
}

/// Asks fstatat, unless it was a file system that returned ENOSYS.
#[cold]
#[inline(never)]
fn without_statx(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    blocks_max: u64,
) -> Result<Statx, Errno> {
    if !is_refused() {
        return Err(Errno::NOSYS);
    }
    let found = uninterrupted(|| by_fstatat(dir, path, flags))?;
    match found.stx_blocks > blocks_max {
        true => Err(Errno::OVERFLOW),
        false => Ok(found),
    }
}

/// The mask for device and inode number, and the type.
pub(crate) const IDENTITY: StatxFlags = StatxFlags::TYPE.union(StatxFlags::INO);

/// The smallest statx mask with the wanted fields, the type and the mount.
///
/// The walk itself needs the type and the mount.
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

/// The mask for a directory's own stat: the wanted fields, its inode number, and
/// the fields of its change stamp.
pub(crate) fn directory_mask(wanted: Fields) -> StatxFlags {
    mask(wanted) | StatxFlags::INO | StatxFlags::NLINK | StatxFlags::MTIME | StatxFlags::CTIME
}

/// Stats an entry of a directory by its name.
///
/// It follows no symbolic link and triggers no automount.
pub(crate) fn by_name(dir: BorrowedFd<'_>, name: &CStr, mask: StatxFlags) -> Result<Statx, Errno> {
    by_name_with(dir, name, AtFlags::empty(), mask)
}

/// As [`by_name`], with more flags.
#[inline(always)]
pub(crate) fn by_name_with(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    const FLAGS: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);
    believed(dir, name, FLAGS | flags, mask)
}

/// Stats the target of a name in a directory: it follows symbolic links and
/// triggers no automount.
pub(crate) fn through_links(
    dir: BorrowedFd<'_>,
    name: &CStr,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    believed(dir, name, AtFlags::NO_AUTOMOUNT, mask)
}

/// Stats an open descriptor.
pub(crate) fn by_descriptor(fd: BorrowedFd<'_>, mask: StatxFlags) -> Result<Statx, Errno> {
    by_descriptor_with(fd, AtFlags::empty(), mask)
}

/// As [`by_descriptor`], with more flags.
#[inline]
pub(crate) fn by_descriptor_with(
    fd: BorrowedFd<'_>,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    believed(fd, c"", AtFlags::EMPTY_PATH | flags, mask)
}

/// Device and inode number of the entry.
pub(crate) fn file_id(stat: &Statx) -> FileId {
    FileId {
        dev: makedev(stat.stx_dev_major, stat.stx_dev_minor),
        ino: stat.stx_ino,
    }
}

/// Whether the file system of the entry has the flag of chattr(1) that dump(8) reads.
///
/// ext4, XFS, btrfs, F2FS, GFS2, tmpfs and ZFS say so with every answer. FUSE, NFS, SMB, 9P,
/// AFS and Ceph do not: they have no such flag, or know it only after a question of its own.
pub(crate) fn knows_dump_flag(stat: &Statx) -> bool {
    (stat.stx_attributes_mask).contains(StatxAttributes::NODUMP)
}

/// Whether the entry is an automount point on which nothing is mounted yet.
///
/// `STATX_ATTR_MOUNT_ROOT` is there since Linux 5.8, when mount ids came.
pub(crate) fn is_idle_automount(stat: &Statx) -> bool {
    stat.stx_attributes.contains(StatxAttributes::AUTOMOUNT)
        && !stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
}

/// Makes attributes of the kernel's answer.
///
/// Exactly the wanted fields and the type are valid. The kernel fills all basic
/// fields, whatever the mask; a birth time can be absent.
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
        attributes.set_time_ns(Time::Modified, nanoseconds(&stat.stx_mtime));
    }
    if wanted.has_any(Fields::RARE) {
        if wanted.contains(Fields::ATIME) {
            attributes.set_time_ns(Time::Accessed, nanoseconds(&stat.stx_atime));
        }
        if wanted.contains(Fields::CTIME) {
            attributes.set_time_ns(Time::Changed, nanoseconds(&stat.stx_ctime));
        }
        if wanted.contains(Fields::BTIME) {
            let ns = has_birth(stat).then(|| nanoseconds(&stat.stx_btime));
            attributes.set_birth_ns(ns);
        }
        if wanted.contains(Fields::RDEV) {
            attributes.rdev = makedev(stat.stx_rdev_major, stat.stx_rdev_minor);
        }
        // btrfs shows that a file has verity without a bit in the mask.
        attributes.flags = (stat.stx_attributes & FLAGS).bits() as u32;
        attributes.flags_mask = (stat.stx_attributes_mask & FLAGS).bits() as u32 | attributes.flags;
    }
    attributes.with_odd_times(wanted, || {
        let birth = has_birth(stat).then_some(stat.stx_btime.tv_sec);
        let (mtime, atime, ctime) = (stat.stx_mtime, stat.stx_atime, stat.stx_ctime);
        [
            Some(mtime.tv_sec),
            Some(atime.tv_sec),
            Some(ctime.tv_sec),
            birth,
        ]
    })
}

/// The flags of an inode that statx(2) has.
const FLAGS: StatxAttributes = StatxAttributes::COMPRESSED
    .union(StatxAttributes::IMMUTABLE)
    .union(StatxAttributes::APPEND)
    .union(StatxAttributes::NODUMP)
    .union(StatxAttributes::ENCRYPTED)
    .union(StatxAttributes::VERITY)
    .union(StatxAttributes::DAX);

fn has_birth(stat: &Statx) -> bool {
    stat.stx_mask & StatxFlags::BTIME.bits() != 0
}

fn nanoseconds(time: &StatxTimestamp) -> i64 {
    nanoseconds_of(time.tv_sec, time.tv_nsec)
}
