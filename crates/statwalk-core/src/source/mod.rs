// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sources of entries and attributes that every system has.
//!
//! A source answers the questions of a lister. It does not choose the next directory:
//! orders do. It decides no policy: the options of the scan do.

pub(crate) mod choice;
pub(crate) mod memory;

#[cfg(test)]
mod tests;
