// SPDX-License-Identifier: MIT OR Apache-2.0

//! The few system interfaces that statwalk needs and rustix does not offer.
//!
//! This is the only crate of the engine that may contain `unsafe` code. Each file wraps
//! one interface of the C library or the kernel and gives it a safe signature.
//! Everything else goes through [`rustix`].
//!
//! It decides nothing: no retries, no fallbacks, no policy.

#![allow(
    unsafe_code,
    reason = "calls into the C library; every block says why it is sound"
)]

pub mod c_strings;

#[cfg(target_os = "linux")]
pub use linux::*;

/// The interfaces of Linux. The other files are there on every system.
#[cfg(target_os = "linux")]
#[path = "."]
mod linux {
    pub mod abort;
    pub mod address_space;
    pub mod allocator;
    pub mod block_device;
    pub mod btrfs;
    pub mod capabilities;
    pub mod device_map;
    pub mod directory_records;
    pub mod entry_point;
    pub mod fiemap;
    #[cfg(target_env = "gnu")]
    pub mod first_stack;
    pub mod fnmatch;
    pub mod fsmap;
    pub mod io_priority;
    pub mod kernel_file_systems;
    pub mod link_counts;
    pub mod memory_info;
    pub mod mount_overlaps;
    pub mod mount_table;
    pub mod resource_limit;
    pub mod secure_execution;
    pub mod signal_action;
    pub mod statx;
    pub mod thread_clock;
    pub mod uname;
    pub mod user;
    pub mod xfs;
}
