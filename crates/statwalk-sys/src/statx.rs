// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer of statx(2), and what it is where a process may not call it.
//!
//! Linux has statx since 4.11. Older filters of system calls refuse it, as that of Docker
//! before 18.04 did with EPERM. rustix notices that at the first call. From then on it
//! returns ENOSYS without a call.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, major, makedev, minor, statat, statx};
use rustix::io::Errno;

/// The flags of statx that fstatat knows, too. It never triggers an automount.
const KNOWN: AtFlags = AtFlags::SYMLINK_NOFOLLOW
    .union(AtFlags::NO_AUTOMOUNT)
    .union(AtFlags::EMPTY_PATH);

/// Whether this process may not call statx, or its kernel lacks it.
///
/// An error of a file system is no refusal: one in user space can return ENOSYS.
///
/// ```
/// assert!(!statwalk_sys::statx::is_refused());
/// ```
#[must_use]
pub fn is_refused() -> bool {
    // An empty path fails with ENOENT, and no file system is asked.
    statx(CWD, c"", AtFlags::empty(), StatxFlags::TYPE).err() == Some(Errno::NOSYS)
}

/// Whether this process may not call fstatat.
///
/// ```
/// assert!(!statwalk_sys::statx::is_fstatat_refused());
/// ```
#[must_use]
pub fn is_fstatat_refused() -> bool {
    statat(CWD, c"", AtFlags::empty()).err() != Some(Errno::NOENT)
}

/// Stats an entry with fstatat, and returns the answer in the form of statx.
///
/// It lacks the mount id, the time of birth and all attributes: `stx_mask` has
/// `STATX_BASIC_STATS` alone, as on a kernel of Linux 4.11.
///
/// # Errors
///
/// The kernel's error.
///
/// ```
/// use rustix::fs::{AtFlags, CWD};
///
/// let found = statwalk_sys::statx::by_fstatat(CWD, c"/", AtFlags::empty())?;
/// assert_eq!(found.stx_mode & 0o170_000, 0o040_000);
/// # Ok::<(), rustix::io::Errno>(())
/// ```
pub fn by_fstatat(dir: BorrowedFd<'_>, path: &CStr, flags: AtFlags) -> Result<Statx, Errno> {
    let stat = statat(dir, path, flags & KNOWN)?;
    let mut found = blank();
    found.stx_mask = StatxFlags::BASIC_STATS.bits();
    // The types of these fields differ by architecture.
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "as above"
    )]
    {
        found.stx_blksize = stat.st_blksize as u32;
        found.stx_nlink = u32::try_from(stat.st_nlink).unwrap_or(u32::MAX);
        found.stx_uid = stat.st_uid;
        found.stx_gid = stat.st_gid;
        // The upper bits of a mode are zero.
        found.stx_mode = stat.st_mode as u16;
        found.stx_ino = stat.st_ino as u64;
        found.stx_size = stat.st_size as u64;
        found.stx_blocks = stat.st_blocks as u64;
        found.stx_atime.tv_sec = stat.st_atime as i64;
        found.stx_atime.tv_nsec = stat.st_atime_nsec as u32;
        found.stx_mtime.tv_sec = stat.st_mtime as i64;
        found.stx_mtime.tv_nsec = stat.st_mtime_nsec as u32;
        found.stx_ctime.tv_sec = stat.st_ctime as i64;
        found.stx_ctime.tv_nsec = stat.st_ctime_nsec as u32;
        found.stx_dev_major = major(stat.st_dev);
        found.stx_dev_minor = minor(stat.st_dev);
        found.stx_rdev_major = major(stat.st_rdev);
        found.stx_rdev_minor = minor(stat.st_rdev);
    }
    Ok(found)
}

/// The id of the entry's mount; before Linux 5.8 the device number stands for it.
#[inline]
#[must_use]
pub fn mount_id(stat: &Statx) -> u64 {
    match has_mount_id(stat) {
        true => stat.stx_mnt_id,
        false => makedev(stat.stx_dev_major, stat.stx_dev_minor),
    }
}

/// Whether the answer has a mount id: Linux 5.8 or newer.
#[inline]
#[must_use]
pub fn has_mount_id(stat: &Statx) -> bool {
    stat.stx_mask & StatxFlags::MNT_ID.bits() != 0
}

/// A `struct statx` of zeros, which rustix lets nobody else make.
fn blank() -> Statx {
    // SAFETY: it has the layout of the kernel's `struct statx`: integers, and flags of
    // integers. All of them may be zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_answers_of_both_calls_agree() {
        let scratch = statwalk_testkit::Scratch::new().unwrap();
        let file = scratch.path().join("file");
        std::fs::write(&file, "x".repeat(10_000)).unwrap();
        let open = std::fs::File::open(&file).unwrap();
        let path = std::ffi::CString::new(file.into_os_string().into_encoded_bytes()).unwrap();
        for (dir, path, flags) in [
            (CWD, path.as_c_str(), AtFlags::SYMLINK_NOFOLLOW),
            (open.as_fd(), c"", AtFlags::EMPTY_PATH),
            (CWD, c"/dev/null", AtFlags::empty()),
            (
                CWD,
                c"/proc/self",
                AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC,
            ),
        ] {
            let mut ours = by_fstatat(dir, path, flags).unwrap();
            let mut theirs = statx(dir, path, flags, StatxFlags::BASIC_STATS).unwrap();
            // What it lacks. `/proc` is always young.
            let blank = blank();
            for found in [&mut ours, &mut theirs] {
                found.stx_mask &= StatxFlags::BASIC_STATS.bits();
                found.stx_attributes = blank.stx_attributes;
                found.stx_attributes_mask = blank.stx_attributes_mask;
                found.stx_btime = blank.stx_btime;
                found.stx_mnt_id = 0;
                found.stx_dio_mem_align = 0;
                found.stx_dio_offset_align = 0;
                found.stx_dio_read_offset_align = 0;
                found.stx_subvol = 0;
            }
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{path:?}");
        }
        let missing = by_fstatat(CWD, c"/nonexistent", AtFlags::empty());
        assert_eq!(missing.err(), Some(Errno::NOENT));
        assert!(!is_refused() && !is_fstatat_refused());
    }
}
