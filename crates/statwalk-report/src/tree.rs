// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree as a report needs to see it.

use std::borrow::Cow;
use std::ops::BitOr;

use statwalk_view::Tree;

use crate::tally::Tally;

/// The category or ending of a node that has none of the listed.
pub const NONE: u8 = u8::MAX;

/// The owner of a node whose owner is not known.
pub const NO_OWNER: u32 = u32::MAX;

/// A tree of sizes and names, from which the nodes of a page are chosen.
///
/// [`Tree::children`] has the files, too, and a node of [`Kind::Itself`] for the bytes of a
/// directory itself, with the name `""`: so the children of a directory sum to it.
/// The names of roots are whole paths.
pub trait SizedTree: Tree<Node: Send + Sync> + Sync {
    /// Calls `each` with the children of a node, each with its bytes on disk. An iterator
    /// over several kinds of children took a tenth of the time after a scan more.
    fn for_each_child(&self, node: Self::Node, mut each: impl FnMut(u128, Self::Node)) {
        (self.children(node)).for_each(|child| each(self.allocated_bytes(child), child));
    }
}

/// A tree whose nodes have groups, too: a page can be made of it.
pub trait ReportTree: SizedTree {
    /// Returns the properties of a node. The owner and the category of a directory are those
    /// with most bytes below it, by [`most`](crate::most).
    fn facts(&self, node: Self::Node) -> Facts;

    /// Adds the bytes of a node and of all that is below it. A page asks for each child
    /// without a place in it, where other children of the same directory have one.
    fn add_to(&self, tally: &mut Tally, node: Self::Node) {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if self.is_dir(node) {
                self.for_each_child(node, |_, child| waiting.push(child));
            } else {
                let facts = self.facts(node);
                tally.add_entry(facts.category, facts.owner, self.allocated_bytes(node));
            }
        }
    }

    /// Returns the ending that a redacted name of a file keeps, without the dot; empty where
    /// there is none. It says the format of the file, and is no name that a user chose.
    fn ending(&self, node: Self::Node) -> Cow<'_, [u8]>;
}

/// The properties of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The kind of entry.
    pub kind: Kind,
    /// Its flags.
    pub flags: Flags,
    /// The index of its owner in [`Answer::owners`](crate::Answer::owners), or [`NO_OWNER`].
    pub owner: u32,
    /// The index of its category in [`Answer::categories`](crate::Answer::categories), or
    /// [`NONE`].
    pub category: u8,
    /// The index of its ending in [`Answer::endings`](crate::Answer::endings), or [`NONE`].
    pub ending: u8,
}

/// The kind of a node, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A directory.
    Directory = 0,
    /// A regular file.
    File = 1,
    /// A symbolic link.
    Link = 2,
    /// Anything else.
    Other = 3,
    /// The entries of a directory that are not in the file, summed.
    Rest = 4,
    /// The bytes of a directory itself.
    Itself = 5,
    /// All roots together.
    Roots = 7,
}

/// The flags of a node, in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Something below was not read: the sums are a lower bound.
    pub const INCOMPLETE: Flags = Flags(1);
    /// It could not be read itself.
    pub const UNREADABLE: Flags = Flags(2);
    /// A pattern or a rule left it out.
    pub const EXCLUDED: Flags = Flags(4);
    /// It is another file system, which was not entered.
    pub const CROSSING: Flags = Flags(8);
    /// Its bytes count under another name.
    pub const EXTRA_NAME: Flags = Flags(16);

    /// Returns the bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
