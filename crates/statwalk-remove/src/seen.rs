// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attributes of an entry at this moment, from statx(2), or fstatat(2) where that is
//! refused.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, StatxFlags, makedev};
use rustix::io::Errno;
use rustix::path::Arg;
use statwalk_sys::statx::{by_fstatat, is_refused};

use crate::identity::{EntryType, Identity};
use crate::recognition::Recognition;

/// `S_IWGRP` and `S_IWOTH`. An access control list shows its mask in the first.
const OTHERS_WRITE: u32 = 0o022;

/// One answer of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub identity: Identity,
    /// The number of the mount, since Linux 5.8. Absent where statx is refused.
    pub mount: Option<u64>,
    /// The time of the inode's creation, where the file system keeps it. With it, an inode
    /// number that is used again is another identity.
    pub born: Option<(i64, u32)>,
    pub link_count: u32,
    pub owner: u32,
    pub mode: u32,
    pub apparent_bytes: u64,
    pub allocated_bytes: u64,
}

impl Seen {
    /// Looks at a name. A link is itself, and no automount starts.
    pub(crate) fn of(directory: impl AsFd, name: &[u8]) -> Result<Seen, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        Seen::ask(directory, name, flags)
    }

    /// Looks at an open file.
    pub(crate) fn of_open(file: impl AsFd) -> Result<Seen, Errno> {
        Seen::ask(file, b"", AtFlags::EMPTY_PATH)
    }

    /// Says whether an open file shows another inode number at each of three looks, which ask
    /// the file system itself. No rename does that to a descriptor but by chance.
    pub(crate) fn has_moving_number(file: impl AsFd) -> bool {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
        let number = || Seen::ask(&file, b"", flags).map(|seen| seen.identity.inode);
        let (Ok(first), Ok(second)) = (number(), number()) else {
            return false;
        };
        first != second && number().is_ok_and(|third| third != second)
    }

    fn ask(directory: impl AsFd, name: &[u8], flags: AtFlags) -> Result<Seen, Errno> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        let statx = match rustix::fs::statx(&directory, name, flags, wanted) {
            // A file system can return it, too.
            Err(Errno::NOSYS) if is_refused() => {
                name.into_with_c_str(|name| by_fstatat(directory.as_fd(), name, flags))
            }
            answer => answer,
        }?;
        let has = |flag: StatxFlags| statx.stx_mask & flag.bits() != 0;
        let mode = u32::from(statx.stx_mode);
        Ok(Seen {
            identity: Identity {
                device: makedev(statx.stx_dev_major, statx.stx_dev_minor),
                inode: statx.stx_ino,
                entry_type: EntryType::from_mode(mode),
                mtime_s: statx.stx_mtime.tv_sec,
                mtime_ns: statx.stx_mtime.tv_nsec,
            },
            mount: has(StatxFlags::MNT_ID).then_some(statx.stx_mnt_id),
            born: has(StatxFlags::BTIME)
                .then_some((statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec)),
            link_count: statx.stx_nlink,
            owner: statx.stx_uid,
            mode,
            apparent_bytes: statx.stx_size,
            allocated_bytes: statx.stx_blocks.saturating_mul(512),
        })
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.identity.entry_type == EntryType::Directory
    }

    /// Says whether it is a directory of the user that others cannot write.
    pub(crate) fn is_own_of(&self, user: u32) -> bool {
        self.is_directory() && self.owner == user && self.mode & OTHERS_WRITE == 0
    }

    /// Says whether `other` is the same inode on the same mount, and not a successor
    /// with the same number where creation times tell.
    pub(crate) fn is_same(&self, other: &Seen) -> bool {
        self.is_same_inode(other) && self.is_on_mount_of(other)
    }

    /// The same on any mount.
    pub(crate) fn is_same_inode(&self, other: &Seen) -> bool {
        // A network file system may know the time at one moment and not at another.
        let is_born_together = match (self.born, other.born) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        is_born_together && self.identity.is_same_inode(&other.identity)
    }

    /// Says whether `other` can be the same entry where inode numbers move: device, mount and
    /// type are the same, and those of a file's content too.
    pub(crate) fn is_alike(&self, other: &Seen) -> bool {
        let own = Recognition::Name.kept_of(*self);
        let other = Recognition::Name.kept_of(*other);
        match own.is_directory() {
            true => own.is_same(&other),
            false => own.is_like(&other) && own.is_on_mount_of(&other),
        }
    }

    /// The same inode, without a sign of a change of its content.
    pub(crate) fn is_like(&self, other: &Seen) -> bool {
        let content = |seen: &Seen| (seen.identity, seen.apparent_bytes, seen.allocated_bytes);
        self.is_same_inode(other) && content(self) == content(other)
    }

    /// Without its number, the device stands for the mount.
    pub(crate) fn is_on_mount_of(&self, other: &Seen) -> bool {
        match (self.mount, other.mount) {
            (Some(own), Some(other)) => own == other,
            _ => self.identity.device == other.identity.device,
        }
    }
}
