// SPDX-License-Identifier: MIT OR Apache-2.0

//! How many files the program may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows as many open files as the system allows us to allow.
///
/// The soft limit is low for the sake of programs that use select(2). A scan
/// keeps directories open for their subdirectories, and reopens them by name
/// where it may not.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        // Refused, the scan makes do with what there is.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}
