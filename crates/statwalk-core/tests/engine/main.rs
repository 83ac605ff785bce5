// SPDX-License-Identifier: MIT OR Apache-2.0

//! The engine against everything it has to agree with: the oracle, models,
//! other programs, and file systems that misbehave.
//!
//! One program, so that it is linked once; each module is about one subject.
//! `cargo test -p statwalk-core --test engine oracle::` runs those of one.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and children print what they measured"
)]

mod harness;

mod absent;
mod debug;
mod entries;
mod example;
mod gather;
mod hostile_rows;
mod in_memory;
mod inodes_and_times;
mod live;
mod oracle;
mod panics;
mod prefer;
mod random_trees;
mod replay;
mod roots;
mod rows;
mod sink_options;
mod sorted;

mod automounts;
mod churn;
mod circles;
mod devices;
mod mounts;
mod overlays;
mod read_ahead;
mod subvolumes;
mod unwritten;

mod changing_tree;
mod failing_sinks;
mod faults;
mod latency;
mod link_memory;
mod niceness;
mod seeks;

mod cut_off;
mod descriptors;
mod dropped;
mod large_directory;
mod large_untyped;
mod largest;
mod memory;
mod stops;

mod calls;
mod depth_limit;
mod tricks;

mod du_find;
mod exclusions;
mod flags;
mod follow;
