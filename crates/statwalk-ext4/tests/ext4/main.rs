// SPDX-License-Identifier: MIT OR Apache-2.0

//! The reader of ext2, ext3 and ext4 against the kernel, against debugfs, and
//! against images that nobody would make.
//!
//! It reads bytes and no mounts, so it is tested without a scan. One program;
//! `cargo test -p statwalk-ext4 --test ext4 variants::` runs the tests of one module.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say why"
)]

mod harness;

mod variants;

mod unmountable;

mod doctored;

mod orphans;

mod own_blocks;

mod refused;

mod hostile;

mod examples;
