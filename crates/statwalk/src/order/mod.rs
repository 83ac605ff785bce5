// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which directory is listed next, and by whom.
//!
//! An order drives a source and never names a file system.

pub(crate) mod parallel;
mod parking;
mod sync;
