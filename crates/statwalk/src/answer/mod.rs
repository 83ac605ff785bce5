// SPDX-License-Identifier: MIT OR Apache-2.0

//! The values from which an answer is printed.
//!
//! They outlive the scan, and nothing in them asks the machine again: neither its clock, its
//! accounts, its terminal, its environment nor its file systems. So an answer can be printed
//! later or elsewhere, and gives the same bytes.

pub(crate) mod about;
pub(crate) mod filter_texts;
pub(crate) mod largest_files;
mod of_scan;
pub(crate) mod origin;
pub(crate) mod owner_names;
pub(crate) mod plan_text;
pub(crate) mod record;
