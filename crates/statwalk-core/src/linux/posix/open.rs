// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opens directories so that no other process can lead the scan elsewhere.
//!
//! Each call opens a directory relative to its parent's descriptor. It follows no
//! symbolic link and crosses no mount, unless the lister has decided that.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::fs::{
    CWD, Mode, OFlags, ResolveFlags, SeekFrom, StatxFlags, fstatfs, openat, openat2, seek,
};
use rustix::io::Errno;
use statwalk_sys::directory_records::DirectoryRecords;
use statwalk_sys::kernel_file_systems;

use super::{Posix, list};
use crate::entry::FileType;
use crate::exclusion::{CACHE_TAG, GITIGNORE_MAX};
use crate::failure::Failure;
use crate::linux::statx::{self, by_descriptor, uninterrupted};
use crate::linux::text_file;
use crate::listing::source::NotOpened;
use crate::tally;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a root, and triggers an automount there.
///
/// A trailing slash follows a link, as in any path.
pub(crate) fn root(path: &CStr, posix: &Posix) -> Result<OwnedFd, NotOpened> {
    let ignored = match posix.follows {
        true => OFlags::NOFOLLOW,
        false => OFlags::empty(),
    };
    open(posix, |flags| {
        openat(posix.here(), path, flags.difference(ignored), Mode::empty())
    })
}

/// Opens the target of a symbolic link, unless it is an idle automount point.
pub(crate) fn through_links(
    parent: BorrowedFd<'_>,
    name: &CStr,
    posix: &Posix,
) -> Result<OwnedFd, NotOpened> {
    without_mounting(parent, name, OFlags::empty(), posix)
}

/// Opens a subdirectory that lies on the same mount.
pub(crate) fn child(
    parent: BorrowedFd<'_>,
    name: &CStr,
    posix: &Posix,
) -> Result<OwnedFd, NotOpened> {
    if posix.has_openat2 {
        let opened = open(posix, |flags| {
            openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)
        });
        return match opened {
            // The entry exists, and autofs waits for a mount on it: autofs_dir_open,
            // fs/autofs/root.c.
            Err(NotOpened::Gone(_)) if posix.is_autofs(parent) => Err(NotOpened::Automount),
            opened => opened,
        };
    }
    // Before Linux 5.6, a stat must look up the mount first: the open could trigger
    // an automount.
    let mask = posix.directory_mask;
    let here = statx::by_descriptor(parent, mask)?;
    let there = statx::by_name(parent, name, mask)?;
    if statx::mount_id(&here) != statx::mount_id(&there) {
        return Err(NotOpened::OtherMount);
    }
    if statx::is_idle_automount(&there) {
        return Err(NotOpened::Automount);
    }
    // A file system on a block device is not autofs.
    match there.stx_dev_major {
        0 => across(parent, name, posix),
        _ => open(posix, |flags| openat(parent, name, flags, Mode::empty())),
    }
}

/// Opens a subdirectory with the file system that is mounted on it, unless it is an
/// idle automount point.
pub(crate) fn across(
    parent: BorrowedFd<'_>,
    name: &CStr,
    posix: &Posix,
) -> Result<OwnedFd, NotOpened> {
    without_mounting(parent, name, OFlags::NOFOLLOW, posix)
}

/// Opens a directory, but no idle automount point of autofs.
///
/// statx shows such a point as an ordinary directory.
fn without_mounting(
    parent: BorrowedFd<'_>,
    name: &CStr,
    nofollow: OFlags,
    posix: &Posix,
) -> Result<OwnedFd, NotOpened> {
    // Without O_DIRECTORY this triggers no mount: follow_automount, fs/namei.c.
    let path = OFlags::PATH | OFlags::CLOEXEC | nofollow;
    let place = uninterrupted(|| openat(parent, name, path, Mode::empty()))?;
    tally::count();
    if !posix.is_autofs(place.as_fd()) {
        return open(posix, |flags| {
            let flags = flags.difference(OFlags::NOFOLLOW) | nofollow;
            openat(parent, name, flags, Mode::empty())
        });
    }
    // To open the dot triggers no mount, and lists the entries of autofs itself. An
    // idle automount point is empty. Below its root, autofs returns ENOENT for one.
    match open(posix, |flags| openat(&place, c".", flags, Mode::empty())) {
        Err(NotOpened::Gone(_)) => Err(NotOpened::Automount),
        Ok(fd) if is_empty(&fd)? => Err(NotOpened::Automount),
        answer => answer,
    }
}

/// AUTOFS_SUPER_MAGIC, include/uapi/linux/magic.h
const AUTOFS: u64 = 0x0187;

impl Posix {
    /// Whether a directory belongs to autofs.
    pub(crate) fn is_autofs(&self, fd: BorrowedFd<'_>) -> bool {
        self.file_system(fd) == Some(AUTOFS)
    }

    /// The magic number of a descriptor's file system, by `f_type` of statfs(2).
    pub(crate) fn file_system(&self, fd: BorrowedFd<'_>) -> Option<u64> {
        tally::count();
        match fstatfs(fd) {
            // The type is signed on some architectures; the number is not.
            Ok(found) => Some(found.f_type as u64 & 0xffff_ffff),
            Err(_) => self.file_system_by_name(fd),
        }
    }

    /// The same where a filter of system calls refuses statfs, as far as it matters for a
    /// total: the table of mounts has names in place of numbers.
    #[cold]
    fn file_system_by_name(&self, fd: BorrowedFd<'_>) -> Option<u64> {
        let mask = statx::IDENTITY | StatxFlags::MNT_ID;
        let found = statx::by_descriptor(fd, mask).ok()?;
        let mounts = self.volumes.mounts();
        let mount = match self.has_mount_ids {
            true => mounts.find(statx::mount_id(&found))?,
            false => {
                let device = statx::file_id(&found).dev;
                let mut all = mounts.all.iter();
                all.find(|mount| mount.device_number() == Some(device))?
            }
        };
        match mount.file_system.as_str() {
            "autofs" => Some(AUTOFS),
            name => kernel_file_systems::number(name),
        }
    }
}

/// Whether a server gives the names and times of a file system with this magic number.
///
/// Only a server can refuse to tell it: FUSE passes statfs(2) on.
pub(crate) fn is_served(magic: Option<u64>) -> bool {
    const MAGICS: [u64; 12] = [
        0x6573_5546, // FUSE_SUPER_MAGIC, include/uapi/linux/magic.h
        0x6969,      // NFS_SUPER_MAGIC
        0x517b,      // SMB_SUPER_MAGIC
        0xff53_4d42, // CIFS_SUPER_MAGIC
        0xfe53_4d42, // SMB2_SUPER_MAGIC
        0x0102_1997, // V9FS_MAGIC
        0x5346_414f, // AFS_SUPER_MAGIC
        0x6b41_4653, // AFS_FS_MAGIC
        0x00c3_6400, // CEPH_SUPER_MAGIC
        0x7375_7245, // CODA_SUPER_MAGIC
        0x0bd0_0bd0, // LL_SUPER_MAGIC, Lustre: lustre/include/uapi/linux/lustre/lustre_user.h
        0x786f_4256, // VBOXSF_SUPER_MAGIC, fs/vboxsf/super.c
    ];
    magic.is_none_or(|magic| MAGICS.contains(&magic))
}

/// Whether an open directory is empty. The next listing begins at its start.
fn is_empty(dir: &OwnedFd) -> Result<bool, Errno> {
    let mut buffer = [0; 1024];
    let is_empty = loop {
        let length = list::read(dir.as_fd(), &mut buffer)?;
        let mut records = DirectoryRecords::of(&buffer[..length]);
        if length == 0 || !records.all(|record| record.is_dot_or_dot_dot()) {
            break length == 0;
        }
    };
    seek(dir, SeekFrom::Start(0))?;
    Ok(is_empty)
}

fn open(
    posix: &Posix,
    call: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, NotOpened> {
    if posix.no_atime.load(Ordering::Relaxed) {
        match uninterrupted(|| call(DIRECTORY | OFlags::NOATIME)) {
            // Only the owner may use O_NOATIME: open(2).
            Err(Errno::PERM) => posix.no_atime.store(false, Ordering::Relaxed),
            answer => return counted(answer),
        }
    }
    counted(uninterrupted(|| call(DIRECTORY)))
}

/// Counts the close that follows each successful open.
fn counted(answer: Result<OwnedFd, Errno>) -> Result<OwnedFd, NotOpened> {
    if answer.is_ok() {
        tally::count();
    }
    answer.map_err(NotOpened::from)
}

/// Whether the kernel has openat2 and allows it.
///
/// Linux has it since 5.6. Some containers forbid system calls that they do not know, with an
/// error of their choice; without a filter this call needs no right.
pub(crate) fn has_openat2() -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, c"/", flags, Mode::empty(), ResolveFlags::NO_XDEV).is_ok()
}

/// Whether a directory holds a valid `CACHEDIR.TAG`.
pub(crate) fn is_cache_directory(fd: BorrowedFd<'_>) -> bool {
    let tag =
        open_file(|flags| uninterrupted(|| openat(fd, c"CACHEDIR.TAG", flags, Mode::empty())));
    tag.ok()
        .and_then(|tag| read_start(tag, CACHE_TAG.len()))
        .is_some_and(|start| start == CACHE_TAG)
}

/// Whether a directory has an entry `.git`, as the top of a repository has: a directory, or
/// a file in a worktree and a submodule.
pub(crate) fn holds_repository(dir: BorrowedFd<'_>, posix: &Posix) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open_listed(dir, c".git", flags, posix).is_ok()
}

/// Opens an entry that the directory may not have.
fn open_listed(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    posix: &Posix,
) -> Result<OwnedFd, Errno> {
    // autofs would request a mount for any name that it does not list.
    let within = match posix.has_openat2 {
        true => uninterrupted(|| openat2(dir, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)),
        false => Err(Errno::XDEV),
    };
    match within {
        Err(Errno::XDEV) if !posix.is_autofs(dir) => {
            uninterrupted(|| openat(dir, name, flags, Mode::empty()))
        }
        answer => answer,
    }
}

/// The `.gitignore` of a directory, if it has one. A directory or a link of this name is
/// none, as in git.
pub(crate) fn read_gitignore(
    dir: BorrowedFd<'_>,
    posix: &Posix,
) -> Result<Option<Vec<u8>>, Failure> {
    let file = open_file(|flags| open_listed(dir, c".gitignore", flags, posix));
    let file = match file {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    match text_file::read_start_of_regular(file.as_fd(), GITIGNORE_MAX + 1)? {
        Some(text) => Ok(Some(text)),
        None => {
            let found = by_descriptor(file.as_fd(), StatxFlags::TYPE)?;
            match FileType::of_mode(found.stx_mode) {
                FileType::Directory => Ok(None),
                _ => Err(Failure::NOT_REGULAR),
            }
        }
    }
}

/// Opens a file that the caller has yet to check for its type.
fn open_file(call: impl Fn(OFlags) -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    // O_NONBLOCK: a FIFO of this name must not block the scan.
    call(OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK)
}

fn read_start(fd: OwnedFd, max: usize) -> Option<Vec<u8>> {
    text_file::read_start_of_regular(fd.as_fd(), max).ok()?
}
