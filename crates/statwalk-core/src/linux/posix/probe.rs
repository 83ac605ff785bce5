// SPDX-License-Identifier: MIT OR Apache-2.0

//! Probes the kernel before a scan: its features, and the mounts that lead to one
//! directory twice.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, StatxFlags, openat, readlinkat};
use rustix::io::Errno;
use statwalk_sys::statx::{is_fstatat_refused, is_refused};

use crate::entry::{FileId, FileType};
use crate::linux::mounts::{self, Mount, Mounts, RootMount};
use crate::linux::statx;
use crate::listing::source::EntryStat;
use crate::listing::stacked::DoubleMounts;

pub(crate) use super::open::has_openat2;

/// The call that stats entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatCall {
    /// statx with mount ids: Linux 5.8 or newer.
    WithMountIds,
    /// statx: Linux 4.11 or newer.
    Statx,
    /// fstatat: older ones, and filters of system calls that refuse statx.
    Fstatat,
    /// Neither is allowed.
    None,
}

/// Finds out which call stats entries.
pub(crate) fn stat_call() -> StatCall {
    // The probe must not depend on the right to stat `/`.
    match statx::by_name(CWD, c"/", StatxFlags::MNT_ID) {
        Ok(found) if statx::has_mount_id(&found) => StatCall::WithMountIds,
        _ if !is_refused() => StatCall::Statx,
        _ if !is_fstatat_refused() => StatCall::Fstatat,
        _ => StatCall::None,
    }
}

/// The mounts whose directories the scan can reach by two ways, by the roots without links.
///
/// The numbers are those of [`statx::mount_id`].
pub(crate) fn mounts_reached_twice(
    real: &[Vec<u8>],
    mounts: &Mounts,
    has_mount_ids: bool,
) -> DoubleMounts {
    if !mounts.is_known {
        return DoubleMounts::Unknown;
    }
    let look = |index: usize| {
        let path = CString::new(real[index].as_slice()).ok()?;
        let known = statx::IDENTITY | StatxFlags::MNT_ID;
        let found = statx::by_name(CWD, &path, known).ok()?;
        has_mount_ids.then(|| RootMount {
            id: statx::mount_id(&found),
            device: statx::file_id(&found).dev,
        })
    };
    let twice = mounts::reached_twice(mounts, real, look).into_iter();
    DoubleMounts::Known(match has_mount_ids {
        true => twice.collect(),
        false => (twice.filter_map(|id| mounts.find(id)))
            .filter_map(Mount::device_number)
            .collect(),
    })
}

/// The files that are mounted from the file systems of some mounts.
pub(super) fn mounted_files(from: &HashSet<u64>, mounts: &Mounts) -> HashSet<FileId> {
    let devices = from.iter().filter_map(|&id| mounts.find(id));
    let devices: HashSet<&str> = devices.map(|mount| &*mount.device).collect();
    // The others show a file system as a whole.
    let parts = mounts.all.iter().filter(|mount| mount.root != b"/");
    let found = parts.filter(|mount| devices.contains(&*mount.device));
    let stat = |mount: &Mount| {
        let point = CString::new(mount.point.as_slice()).ok()?;
        let found = statx::by_name(CWD, &point, statx::IDENTITY).ok()?;
        (found.kind() != FileType::Directory).then(|| statx::file_id(&found))
    };
    found.filter_map(stat).collect()
}

/// The paths of the roots that exist, without links. Relative ones lead from a directory.
pub(crate) fn real_paths(from: BorrowedFd<'_>, roots: &[Arc<CStr>]) -> Result<Vec<Vec<u8>>, Errno> {
    roots
        .iter()
        .filter_map(|root| real_path(from, root))
        .collect()
}

/// The path of a root without links.
///
/// The kernel knows the path of an open file. realpath(3) reads a link for each name of it,
/// and each read walks from the top. Roots within each other take cubic time so.
///
/// Absent where the root cannot be opened: then it cannot be scanned either.
fn real_path(from: BorrowedFd<'_>, root: &CStr) -> Option<Result<Vec<u8>, Errno>> {
    let open = openat(from, root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let link = format!("/proc/self/fd/{}", open.as_raw_fd());
    // Large enough for any path that the kernel tells, so one call does.
    let path = readlinkat(CWD, link, Vec::with_capacity(4097));
    Some(path.map(CString::into_bytes))
}
