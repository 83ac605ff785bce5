// SPDX-License-Identifier: MIT OR Apache-2.0

//! Processors, open files and address space that the process may use.

use rustix::process::{Resource, getrlimit};

#[cfg(test)]
use crate::simulation::world;

/// Descriptors that are left to the rest of the process.
const DESCRIPTORS_SPARED: usize = 8;
/// How much of a limited address space there must be for each worker, so that
/// stacks take a sixteenth of it and what is found has room.
const BYTES_FOR_EACH_WORKER: u64 = 4 << 20;
/// A limit of open files from which on they need not be counted: the usual one.
const PLENTY: usize = 1024;

/// How many processors the process may run on.
pub(crate) fn processors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.processors();
    }
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or(1, |set| (set.count() as usize).max(1))
}

/// How many of them control groups grant it. To find out takes as long as scanning a
/// small directory.
pub(crate) fn granted_processors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.processors();
    }
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many files the scan may open.
pub(crate) fn free_descriptors() -> usize {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.free_descriptors();
    }
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
