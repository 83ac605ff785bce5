// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests that need the private parts of the crate.

#![allow(
    clippy::unwrap_used,
    reason = "clippy takes helpers of tests for code of the product"
)]

mod made_up;
