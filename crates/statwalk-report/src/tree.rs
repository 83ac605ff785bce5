// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree as a report needs to see it.

use std::borrow::Cow;

use statwalk_view::{Figures, Kind, Notes, Tree};

use crate::tally::Tally;

/// The category or ending of a node that has none of the listed.
pub const NONE: u8 = u8::MAX;

/// The owner of a node whose owner is not known.
pub const NO_OWNER: u32 = u32::MAX;

/// A tree whose nodes have groups, too: a page can be made of it.
///
/// The children of a directory have the files, too, and a node of [`Kind::Itself`] for the
/// bytes of a directory itself, with the name `""`: so they sum to it. The names of roots are
/// whole paths.
pub trait ReportTree: Tree {
    /// Returns the groups of a node. The owner and the category of a directory are those
    /// with most bytes below it, by [`most`](crate::most).
    fn groups(&self, node: Self::Node) -> Groups;

    /// Adds the bytes of a node and of all that is below it. A page asks for each child
    /// without a place in it, where other children of the same directory have one.
    fn add_to(&self, tally: &mut Tally, node: Self::Node) {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if self.is_dir(node) {
                self.for_each_child(node, |_, child| waiting.push(child));
            } else {
                let groups = self.groups(node);
                tally.add_entry(groups.category, groups.owner, self.allocated_bytes(node));
            }
        }
    }

    /// Returns the ending that a redacted name of a file keeps, without the dot; empty where
    /// there is none. It says the format of the file, and is no name that a user chose.
    fn ending(&self, node: Self::Node) -> Cow<'_, [u8]>;
}

/// The places of a node among the groups of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The index of its owner in [`Answer::owners`](crate::Answer::owners), or [`NO_OWNER`].
    pub owner: u32,
    /// The index of its category in [`Answer::categories`](crate::Answer::categories), or
    /// [`NONE`].
    pub category: u8,
    /// The index of its ending in [`Answer::endings`](crate::Answer::endings), or [`NONE`].
    pub ending: u8,
}

impl Groups {
    /// Those of a node that is in no group.
    pub const NONE: Groups = Groups {
        owner: NO_OWNER,
        category: NONE,
        ending: NONE,
    };
}

/// The number of a kind in the file.
pub(crate) fn number_of(kind: Kind) -> u8 {
    match kind {
        Kind::Directory => 0,
        Kind::File => 1,
        Kind::Link => 2,
        Kind::Other => 3,
        Kind::Rest => 4,
        Kind::Itself => 5,
        Kind::Roots => 7,
    }
}

/// The flags of a node in the file, in bits from the lowest.
pub(crate) fn flags_of(figures: &Figures, notes: &Notes) -> u8 {
    let flags = [
        figures.incomplete,
        notes.is_unreadable,
        notes.is_excluded,
        notes.is_mount,
        notes.counts_elsewhere,
    ];
    (0..)
        .zip(flags)
        .map(|(bit, flag)| u8::from(flag) << bit)
        .sum()
}
