// SPDX-License-Identifier: MIT OR Apache-2.0

//! The properties by which entries are grouped: their spelling, and their arithmetic.
//!
//! Everything here is a pure function of its arguments. The engine, the browser and the
//! report fill the same [`Grouper`], from a scan or from a tree.

#![forbid(unsafe_code)]

mod category;
mod class;
mod endings;
mod extension;
mod grouper;
mod key;
mod numbered;
mod size_histogram;

pub use category::Category;
pub use endings::Endings;
pub use extension::Extension;
pub use grouper::Grouper;
pub use key::{Facts, GroupKey, Grouping};
pub use numbered::Numbered;
pub use size_histogram::SizeHistogram;
pub use statwalk_format::FileType;
