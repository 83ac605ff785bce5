// SPDX-License-Identifier: MIT OR Apache-2.0

//! The content of a report: a scan, and the answer of which `statwalk-report` makes a file.

mod answer;
mod file_name;
mod group_sums;
mod hints;
mod space;
mod survey;
mod tallies;
mod tree;

pub(crate) use self::answer::{Scan, answer};
pub(crate) use self::file_name::name_of as file_name_of;
pub(crate) use self::space::spaces;
