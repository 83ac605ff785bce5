// SPDX-License-Identifier: MIT OR Apache-2.0

//! The result of a removal.

use crate::failure::Failures;
use crate::journal::JournalReport;
use crate::trash_can::Trashed;

/// How far an item is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left at its path, or it lies in the trash.
    Removed,
    /// Some entries below it are gone, and it is still there.
    Partly,
    /// It was not touched.
    Untouched,
}

/// The result for one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOutcome {
    /// The item.
    pub path: Vec<u8>,
    /// How far it is gone.
    pub end: End,
    /// Removed entries, the item included. An item in the trash is one.
    pub entry_count: u64,
    /// Allocated bytes of removed inodes that had no other link; nothing in the trash.
    pub freed_bytes: u64,
    /// Its place in the trash, for [`crate::restore`].
    pub trashed: Option<Trashed>,
}

/// The result of a removal. Its failures are data: it goes on after each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The items, in the order of the removal. After a stop, the rest is `Untouched`.
    pub items: Vec<ItemOutcome>,
    /// Removed entries of all items.
    pub entry_count: u64,
    /// Freed bytes of all items.
    pub freed_bytes: u64,
    /// Entries that are still there, with the reasons.
    pub failures: Failures,
    /// Whether [`crate::Monitor::stop`] was called.
    pub is_stopped: bool,
    /// The lines of the journal that came late or never.
    pub journal: JournalReport,
}
