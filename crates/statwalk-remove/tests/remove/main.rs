// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removals on real trees.

#![allow(
    clippy::unwrap_used,
    reason = "clippy takes helpers of tests for code of the product"
)]

mod by_name;
mod contents;
mod harness;
mod journal;
mod mounts;
mod overlay;
mod races;
mod scanned;
mod survey;
mod trash;
mod ways;
