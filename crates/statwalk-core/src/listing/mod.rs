// SPDX-License-Identifier: MIT OR Apache-2.0

//! The core: how a directory is found, opened, listed, verified and delivered.
//!
//! A [`Lister`] does one [`Job`] at a time for its worker. It decides what is asked
//! of a source and what becomes of the answer. Which directory is next is for the
//! order to say; how a directory is read, for a source.

pub(crate) mod context;
pub(crate) mod job;
mod lister;
pub(crate) mod outlet;

mod expand;
mod read;
pub(crate) mod shared;

pub(crate) mod contents;
pub(crate) mod listed;
pub(crate) mod open_dir;
mod unknown;
mod unlisted;
mod vanished;

mod reopen;
pub(crate) mod source;

pub(crate) mod in_place;
pub(crate) mod names;
mod read_in_place;
pub(crate) mod suspicion;

pub(crate) use job::Job;
pub(crate) use lister::{Lister, REREADS_MAX, WITHHELD_MAX};
