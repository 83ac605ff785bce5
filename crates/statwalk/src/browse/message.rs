// SPDX-License-Identifier: MIT OR Apache-2.0

//! News from other threads for the one with the terminal.

use std::sync::Arc;

use statwalk_browse::{Data, Event, Filter, Proposal};

use super::desk::Ticket;
use super::numbers::{Newer, Reading};
use super::removal::Proposed;
use super::trash_desk::Trail;
use super::undo::Undone;

/// News from another thread for the one with the terminal.
pub(crate) enum Message {
    Event(Event),
    /// The numbers at the end of a scan, and whether it was stopped.
    Scanned(u64, Arc<dyn Data>, bool),
    /// A directory was read again, after the change with this number.
    Refreshed(Reading, Newer),
    /// An answer that counts while no other question came.
    OfTheLast(Ticket, Box<Message>),
    /// The numbers of items that pass.
    Filtered(Filter, Arc<dyn Data>),
    /// The result of a survey.
    Surveyed(Result<Box<(Proposal, Proposed)>, String>),
    /// The end of a removal, and the trails to the trashes that have its items.
    Removed(Box<statwalk_remove::Outcome>, Vec<(Vec<u8>, Option<Trail>)>),
    /// The end of an undo.
    Undone(Box<Undone>),
}
