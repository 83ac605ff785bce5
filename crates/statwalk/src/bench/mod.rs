// SPDX-License-Identifier: MIT OR Apache-2.0

//! Measuring the ways to scan a tree, for `statwalk bench`.
//!
//! [`settings`] says what there is to try, [`measurement`] tries it, and
//! [`conditions`] says on what.

pub(crate) mod conditions;
pub(crate) mod measurement;
pub(crate) mod settings;
