// SPDX-License-Identifier: MIT OR Apache-2.0

//! Processors, open files and address space, as Linux grants them to a process.

/// Descriptors that are left to the rest of the process.
const DESCRIPTORS_SPARED: usize = 8;
/// A limit of open files from which on they need not be counted: the usual one.
const PLENTY: usize = 1024;

/// How many processors the process may run on.
pub(crate) fn processors() -> usize {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or(1, |set| (set.count() as usize).max(1))
}

/// How many files the scan may open.
pub(crate) fn free_descriptors() -> usize {
    let limit = match statwalk_sys::resource_limit::open_files() {
        Ok(limit) => limit.current.unwrap_or(u64::MAX),
        // Refused. A scan makes do with few, and the usual limit is no lower.
        Err(_) => PLENTY as u64,
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(1 << 20);
    // Counting costs as much as scanning a small directory, so where there is
    // plenty, a guess will do.
    let open = match limit >= PLENTY {
        true => PLENTY / 4,
        false => std::fs::read_dir("/proc/self/fd").map_or(16, Iterator::count),
    };
    limit.saturating_sub(open + DESCRIPTORS_SPARED)
}

/// The limit of the address space, if there is one.
pub(crate) fn address_space_bytes() -> Option<u64> {
    statwalk_sys::address_space::limit_bytes()
}
