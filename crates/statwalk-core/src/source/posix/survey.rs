// SPDX-License-Identifier: MIT OR Apache-2.0

//! What must be known before a scan begins: what the kernel can do, how many
//! files may be opened, and where mounts and roots can lead to one directory twice.

use std::collections::HashSet;
use std::ffi::{CStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use rustix::fs::{CWD, StatxFlags};
use rustix::process::{Resource, getrlimit};

use super::stat;
use crate::mounts::{self, Mount};

pub(crate) use super::open::has_openat2;

/// Descriptors that are left to the rest of the process.
const DESCRIPTORS_SPARED: usize = 8;
/// How much of a limited address space there must be for each worker, so that
/// stacks take a sixteenth of it and what is found has room.
const BYTES_FOR_EACH_WORKER: u64 = 4 << 20;
/// A limit of open files from which on they need not be counted: the usual one.
const PLENTY: usize = 1024;

/// Whether statx gives mount ids, which it does since Linux 5.8.
pub(crate) fn has_mount_ids() -> bool {
    stat::by_name(CWD, c"/", StatxFlags::MNT_ID)
        .is_ok_and(|found| found.stx_mask & StatxFlags::MNT_ID.bits() != 0)
}

/// How many processors the process may run on.
pub(crate) fn processors() -> usize {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or(1, |set| (set.count() as usize).max(1))
}

/// How many files the scan may open.
pub(crate) fn free_descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(1 << 20);
    // Counting costs as much as scanning a small directory, so where there is
    // plenty, a guess will do.
    let open = match limit >= PLENTY {
        true => PLENTY / 4,
        false => std::fs::read_dir("/proc/self/fd").map_or(16, Iterator::count),
    };
    limit.saturating_sub(open + DESCRIPTORS_SPARED)
}

/// For how many workers there is address space, where that is limited.
pub(crate) fn workers_with_room() -> usize {
    let limit = statwalk_sys::address_space::limit_bytes();
    limit.map_or(usize::MAX, |bytes| {
        (bytes / BYTES_FOR_EACH_WORKER).max(1) as usize
    })
}

/// The mounts whose directories the scan can reach by two ways, as
/// [`stat::mount_id`] names them.
pub(crate) fn mounts_reached_twice(roots: &[Arc<CStr>], has_mount_ids: bool) -> HashSet<u64> {
    let Ok(table) = mounts::read() else {
        return HashSet::new();
    };
    let real: Vec<Vec<u8>> = roots
        .iter()
        .filter_map(|root| std::fs::canonicalize(OsString::from_vec(root.to_bytes().to_vec())).ok())
        .map(|path| path.into_os_string().into_vec())
        .collect();
    let twice = mounts::reached_twice(&table, &real);
    let twice = twice.into_iter();
    match has_mount_ids {
        true => twice.map(|mount| mount.id).collect(),
        false => twice.filter_map(Mount::device_number).collect(),
    }
}
