// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser of statwalk: a state, the events that change it, and its screens.
//!
//! Nothing here has I/O, threads or clocks. A shell gives events and the time, does what
//! [`Browser::update`] asks for, and shows what [`Browser::draw`] draws. Questions that
//! can take long are a [`Query`]: the shell lets [`answer()`] work on another thread, and
//! brings the answer as an event.
//!
//! Numbers come through [`Data`], which need not be a tree in memory.

#![forbid(unsafe_code)]

mod actions;
mod answer;
mod browser;
#[cfg(test)]
mod browser_tests;
mod columns;
mod data;
mod dialog;
mod disk;
mod draw;
mod edited;
mod event;
mod filter;
mod filtered;
mod findings;
mod input;
mod keys;
mod known_answers;
mod list;
mod marks;
mod message;
mod mounts;
mod prompt;
mod ranking;
mod rebuildable;
#[cfg(test)]
mod rebuildable_tests;
mod recount;
#[cfg(test)]
mod recount_tests;
mod removal;
#[cfg(test)]
mod removal_tests;
mod report;
mod search;
#[cfg(test)]
mod search_tests;
mod space;
mod tally;
#[cfg(test)]
mod trial;
mod view;
mod way;

pub use answer::{Answer, answer};
pub use browser::{Browser, Options, OwnerNames};
pub use data::{Data, Entry, Fault, Inode, Item, ItemId};
pub use disk::Disk;
pub use draw::Cursor;
pub use edited::Edited;
pub use event::{Details, Effect, Event, Key, Mouse, ScanState};
pub use filter::{Bytes, Filter, Sort, SortKey};
pub use filtered::Filtered;
pub use keys::{Action, KeyError, Keymap};
pub use list::Query;
pub use mounts::{Mount, MountSpace, MountWish, Mounts};
pub use removal::{Manner, Proposal, RemovalReport, RemovalState};
pub use report::ReportState;
pub use tally::GroupTally;
pub use way::{child, item_at};
