// SPDX-License-Identifier: MIT OR Apache-2.0

//! The accounts of real file systems against what deleting frees, and against other
//! programs.
//!
//! One program, so that it is linked once; each module is about one subject.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say why"
)]

mod changes;
mod extents;
mod space;

use std::time::{Duration, Instant};

/// Waits, a minute at most, until something is so.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Bytes as text, for messages.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
