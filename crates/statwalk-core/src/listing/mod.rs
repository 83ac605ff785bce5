// SPDX-License-Identifier: MIT OR Apache-2.0

//! The core: how a directory is found, opened, listed, verified and delivered.
//!
//! A [`Lister`] does one [`Job`] at a time for its worker. It decides which questions
//! a source must answer, and uses the answers. An order chooses the next directory; a
//! source reads it.

pub(crate) mod backlog;
pub(crate) mod context;
pub(crate) mod events;
pub(crate) mod job;
mod lister;
pub(crate) mod outlet;
pub(crate) mod pace;

mod expand;
mod read;
mod read_layers;
pub(crate) mod shared;

mod attributes;
pub(crate) mod contents;
mod delivery;
pub(crate) mod finished;
mod link_stop;
pub(crate) mod listed;
pub(crate) mod open_dir;
pub(crate) mod options;
mod subdir_search;
mod unknown;
mod unlisted;
mod vanished;

pub(crate) mod change_stamp;
mod reopen;
mod repeats;
mod seen_names;
pub(crate) mod source;
pub(crate) mod stacked;

pub(crate) mod in_place;
pub(crate) mod names;
mod read_in_place;
pub(crate) mod suspicion;

pub(crate) use job::{Fate, Job};
pub(crate) use lister::{Lister, REREADS_MAX};
pub(crate) use options::{NAMES_MAX, WITHHELD_MAX};
