// SPDX-License-Identifier: MIT OR Apache-2.0

//! The program as its users meet it: started, read, interrupted.
//!
//! Reference programs are GNU du and find, run on the same trees.

#![allow(
    clippy::unwrap_used,
    reason = "the helpers of tests may panic as tests may"
)]

mod bad_input;
mod bench;
mod browse;
mod browse_end;
mod browse_keys;
mod browse_numbers;
mod browse_report;
mod browse_search;
#[cfg(feature = "snapshot")]
mod browse_snapshot;
mod browse_trash;
mod completion;
mod df;
mod documented;
mod du;
mod ending;
mod fields;
mod filters;
mod habits;
mod help;
mod json;
mod limits;
mod name_patterns;
mod odd_places;
mod old_kernels;
mod pairs;
mod picture;
mod progress;
mod rebuildable;
mod refused_calls;
mod report;
mod rows;
mod run;
#[cfg(feature = "snapshot")]
mod scheduled;
mod schema;
mod signals;
#[cfg(feature = "snapshot")]
mod snapshot;
mod sources;
#[cfg(feature = "snapshot")]
mod stored;
mod torn_rows;
