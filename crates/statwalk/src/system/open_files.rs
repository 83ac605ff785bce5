// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many files the program may open, and room for them.

use rustix::process::{Resource, Rlimit, setrlimit};
use statwalk_sys::resource_limit;

/// The descriptors that have a place in the table from the beginning, if so many are allowed.
const PLACES: u64 = 4096;

/// Allows as many open files as the system allows us to allow, and makes room for them.
///
/// The soft limit is low for the sake of programs that use select(2). A scan
/// keeps directories open for their subdirectories, and reopens them by name
/// where it may not.
pub(crate) fn raise_limit() {
    // Where it is unknown, the scan makes do with the usual one.
    let Ok(limit) = resource_limit::open_files() else {
        return;
    };
    let mut allowed = limit.current;
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        // Refused, the scan makes do with what there is.
        if setrlimit(Resource::Nofile, raised).is_ok() {
            allowed = limit.maximum;
        }
    }
    make_room(allowed.unwrap_or(PLACES));
}

/// Makes room in the kernel's table of descriptors, before there are threads.
///
/// The table doubles when it is full, and while threads share it the kernel then waits until
/// no processor reads the old one: `expand_fdtable` and `synchronize_rcu`, fs/file.c, Linux
/// 6.18. That takes milliseconds each time.
fn make_room(allowed: u64) {
    let last = allowed.min(PLACES).saturating_sub(1);
    if let Ok(last) = i32::try_from(last) {
        // The descriptor goes at once, and its place stays. Refused, the table grows later.
        let _ = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), last);
    }
}
