// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of a scan: a picture of the disk in one HTML file, or the same numbers as
//! Markdown.
//!
//! Everything here is a function of its arguments: it reads no file, asks no clock and
//! opens nothing. The same [`Answer`] and the same tree give the same bytes.
//! [`html()`] puts a viewer, the numbers and the [`Choice`] of nodes into one page that
//! loads nothing. [`markdown()`] is for a ticket or a mail.

#![forbid(unsafe_code)]

mod answer;
mod tree;

mod detail;
mod limit;
mod outline;
mod tally;

mod block;
mod column;
mod deflate;
mod full;
mod gist;
mod redaction;
mod stripe;
mod threads;

mod html;
mod markdown;
mod meta;
mod plain;

#[cfg(test)]
mod tests;

pub use answer::{
    AgeGroup, Answer, Category, Directory, Ending, Failed, Hint, HintKind, Large, Owner, Part,
    Rebuildable, SizeGroup, Space, Sums, Totals,
};
pub use detail::{Choice, Detail};
pub use html::{Page, html};
pub use markdown::markdown;
pub use redaction::Names;
pub use tally::{Tally, most};
pub use tree::{Groups, NO_OWNER, NONE, ReportTree};
