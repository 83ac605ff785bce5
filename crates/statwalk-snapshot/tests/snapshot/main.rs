// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of snapshots of real trees, through the public API.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on panics, and so do its helpers"
)]

mod common;
mod engines;
mod extremes;
mod failing_disk;
mod round_trip;
mod spilled;
mod write;
