// SPDX-License-Identifier: MIT OR Apache-2.0

//! How much address space a process may have (`ulimit -v`).

/// The limit, `RLIMIT_AS` of getrlimit(2); absent where there is none, or it is unknown.
#[must_use]
pub fn limit_bytes() -> Option<u64> {
    crate::resource_limit::address_space().ok()?.current
}

/// Has the C library's allocator take little of it: one arena for all threads, and
/// not one each, of which each reserves 64 MiB. Threads then wait for one another.
///
/// `M_ARENA_MAX`, mallopt(3).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn use_sparingly() {
    // SAFETY: mallopt takes two integers, and may be called at any time.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}
