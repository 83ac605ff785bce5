// SPDX-License-Identifier: MIT OR Apache-2.0

//! Stats one entry, as a scan does: with statx, and with fstatat where statx is refused.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, makedev, statx};
use rustix::io::Errno;
use rustix::path::Arg;
use statwalk_sys::statx::{by_fstatat, is_refused};
pub(crate) use statwalk_sys::statx::{has_mount_id, mount_id};

/// How often [`uninterrupted`] repeats a call.
///
/// The limit exists because a file system in user space can return EINTR forever.
const INTERRUPTIONS_MAX: u32 = 100;

/// Repeats a call that a signal interrupts, up to [`INTERRUPTIONS_MAX`] times.
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut tries = 0;
    loop {
        match call() {
            Err(Errno::INTR) if tries < INTERRUPTIONS_MAX => tries += 1,
            answer => return answer,
        }
    }
}

/// Stats the target of a path, and triggers an automount there.
pub(crate) fn by_path(path: &Path, flags: AtFlags, mask: StatxFlags) -> Result<Statx, Errno> {
    path.into_with_c_str(|path| believed(CWD, path, flags, mask))
}

/// Stats an open descriptor.
pub(crate) fn by_descriptor(fd: impl AsFd) -> Result<Statx, Errno> {
    let mask = StatxFlags::TYPE | StatxFlags::INO;
    believed(fd.as_fd(), c"", AtFlags::EMPTY_PATH, mask)
}

/// EOVERFLOW if the mask has blocks and their bytes do not fit in 64 bits: a file system in
/// user space can claim that.
fn believed(
    dir: BorrowedFd<'_>,
    path: &CStr,
    flags: AtFlags,
    mask: StatxFlags,
) -> Result<Statx, Errno> {
    let found = uninterrupted(|| match statx(dir, path, flags, mask) {
        Err(Errno::NOSYS) if is_refused() => by_fstatat(dir, path, flags),
        answer => answer,
    })?;
    let has_blocks = mask.contains(StatxFlags::BLOCKS);
    match has_blocks && found.stx_blocks > u64::MAX / 512 {
        true => Err(Errno::OVERFLOW),
        false => Ok(found),
    }
}

/// `st_dev` of the entry.
pub(crate) fn device(stat: &Statx) -> u64 {
    makedev(stat.stx_dev_major, stat.stx_dev_minor)
}
