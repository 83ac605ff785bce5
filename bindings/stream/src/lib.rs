// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries and tables of a scan, as all bindings give them to their languages.
//!
//! The borders of the languages have no logic of their own. A [`Request`] says what to
//! read. [`Walk`] gives entries one after another, [`Tables`] gives columns, [`arrow`]
//! gives these columns to other programs without a copy, and [`Summary`] answers at its end.
//! [`ReadAhead`] gives directories in the order in which a caller enters them.
//!
//! A panic of a worker is a [`Failure`] here, and so is the use of a scan in the child
//! of a fork, where its workers do not exist.

mod column_name;
mod errors;
mod failure;
mod feed;
mod gaps;
mod options;
mod read_ahead;
mod request;
mod summary;
mod tables;
mod walk;

pub mod arrow;

#[cfg(test)]
mod tests;

pub use column_name::in_camel_case;
pub use errors::{ERRORS, ErrorRule, Unknown};
pub use failure::Failure;
pub use feed::Step;
pub use gaps::Gaps;
pub use options::{Language, OPTIONS, OptionKind, ScanOption, number_refused};
pub use read_ahead::{Part, ReadAhead};
pub use request::{PATH, Request, pattern_refused};
pub use summary::Summary;
pub use tables::{Paths, Prefixes, Table, Tables};
pub use walk::{Entry, Walk};
