// SPDX-License-Identifier: MIT OR Apache-2.0

//! A worker, as its lister sees it.

pub(crate) use super::backlog::{Backlog, Gathering};
pub(crate) use super::events::{Events, ListedBy, Note};
pub(crate) use super::pace::{Pace, Tick};

/// A worker, as its lister sees it. A function that needs a part of it names the part.
pub(crate) trait Outlet: Backlog + Pace + Events {}

impl<T: Backlog + Pace + Events> Outlet for T {}
