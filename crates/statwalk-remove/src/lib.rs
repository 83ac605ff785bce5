// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removes what a user has confirmed, and nothing else.
//!
//! | Step | Use |
//! |---|---|
//! | the roots of a scan | [`Root`], resolved once |
//! | a mark | [`Lookout`] finds an item by the way that the scan knows: a [`Sighting`] |
//! | a confirmed mark | [`Item`]: an absolute path and the [`Identity`] that the user sees |
//! | marks within marks | [`fold()`] |
//! | may it go at all? | [`refusal()`] on the facts of [`Surroundings`] |
//! | the numbers of the dialog | [`survey()`], which also meets mounts, foreign owners and unreadable directories |
//! | a trash that works | [`Trash::try_for`], which tries it |
//! | how firmly to ask | [`degree()`] and [`word_to_type`] |
//! | the act | [`Removal`], on a thread of its own, watched through [`Monitor`] |
//! | the record | [`Journal`], a line before each item, and one after |
//! | undo | [`restore`], for items in the trash |
//!
//! # Guarantees
//!
//! - A removal works by descriptor, never by path. It follows no link and enters no mount.
//! - It compares device, inode, type and modification time of an item with the
//!   confirmed ones at the moment of acting. If one differs, the item stays.
//! - An entry is removed only from a directory that the removal has reached from the item
//!   by names. Before each buffer of names, the directory must still lie in its parent.
//! - `unlinkat` and all renames stand in `door.rs` alone.
//!
//! # Limits
//!
//! - Entries that appear in a subdirectory of an item after the confirmation are removed
//!   too: they lie in the marked directory. A new entry directly in the item changes the
//!   item's modification time, so the item stays.
//! - Linux has no call that removes a name only if it leads to a given inode. So an item
//!   gets a name that no other process knows, `.statwalk-` with 16 digits, before it is
//!   compared for the last time and goes. A process that is killed between the two leaves
//!   that name. Below an item, and where the file system cannot rename so, another process
//!   can put another file under a name between comparison and removal. Then that file goes:
//!   it stood in a marked directory, or under a marked name.
//! - Where inode numbers move, [`Removal::by_name`] removes without them: the README has the
//!   conditions.
//! - A process can move a directory out of the item while the removal reads it. The entries
//!   of the buffer at hand, and those of directories below, can still be removed.
//!   Such a process needs the right to write the moved directory itself.
//!
//! The crate reads no environment, installs no handlers and prints nothing.

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod identity;
mod item;
mod path;

mod root;
mod sighting;
mod way;

mod fold;
mod mount_index;
mod refusal;
mod surroundings;

mod degree;
mod failure;
mod monitor;
mod sums;

mod births;
mod descent;
mod listing;
mod opening;
mod owner_mode;
mod recognition;
mod seen;
mod sharing;

mod door;

mod survey;

mod journal;
mod now;
mod trusted_way;

mod trash_can;
mod trash_info;

mod outcome;
mod removal;
mod tree;

pub use degree::{Degree, Why, degree, word_to_type};
pub use failure::{Cause, FAILURES_LISTED_MAX, Failure, Failures, Operation};
pub use fold::fold;
pub use identity::{EntryType, Identity};
pub use item::Item;
pub use journal::{Journal, JournalReport};
pub use monitor::Monitor;
pub use now::Now;
pub use outcome::{End, ItemOutcome, Outcome};
pub use refusal::{Refusal, refusal};
pub use removal::{Manner, Removal, Running};
pub use root::Root;
pub use sighting::{Freshness, Reading, Sighting};
pub use sums::{Newest, Sums};
pub use surroundings::Surroundings;
pub use survey::{ItemRefusal, Survey, survey};
pub use trash_can::{Restored, Trash, TrashPlace, Trashed, restore};
pub use way::{Known, Lookout, Step};
