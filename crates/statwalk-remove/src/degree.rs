// SPDX-License-Identifier: MIT OR Apache-2.0

//! How firmly a user must confirm a removal.

use std::fmt;

use statwalk_view::{Charset, escape, grouped};

use crate::item::Item;
use crate::removal::Manner;
use crate::sums::Sums;

/// Up to so many entries a `y` suffices.
const ENTRIES_MAX: u64 = 1_000;

/// Up to so many allocated bytes a `y` suffices.
const BYTES_MAX: u64 = 10 << 30;

/// The kind of confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Degree {
    /// The key `y` suffices.
    Key,
    /// The user types [`word_to_type`], for these reasons.
    Typed(Vec<Why>),
}

/// A reason for the typed confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// Nothing undoes the removal.
    Permanent,
    /// More than 1,000 entries.
    Entries,
    /// More than 10 GiB.
    Bytes,
    /// Entries of other owners.
    ForeignOwner,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Permanent => f.write_str("nothing undoes it"),
            Why::Entries => write!(f, "more than {} entries", grouped(ENTRIES_MAX)),
            Why::Bytes => write!(f, "more than {} GiB", BYTES_MAX >> 30),
            Why::ForeignOwner => f.write_str("entries of other owners"),
        }
    }
}

/// Chooses the confirmation for what a survey has met.
///
/// # Examples
///
/// ```
/// use statwalk_remove::{Degree, Manner, Sums, Trash, Why, degree};
///
/// let trash = Manner::Trash(Trash::new("/home/kim/.local/share/Trash"));
/// let few = Sums { entry_count: 1_000, ..Sums::default() };
/// let many = Sums { entry_count: 1_001, ..Sums::default() };
/// assert_eq!(degree(&few, &trash), Degree::Key);
/// assert_eq!(degree(&many, &trash), Degree::Typed(vec![Why::Entries]));
/// assert_eq!(degree(&few, &Manner::Permanent), Degree::Typed(vec![Why::Permanent]));
/// ```
#[must_use]
pub fn degree(sums: &Sums, manner: &Manner) -> Degree {
    let reasons = [
        (matches!(manner, Manner::Permanent), Why::Permanent),
        (sums.entry_count > ENTRIES_MAX, Why::Entries),
        (
            sums.allocated_bytes.max(sums.apparent_bytes) > BYTES_MAX,
            Why::Bytes,
        ),
        (sums.foreign_count > 0, Why::ForeignOwner),
    ];
    let holding: Vec<Why> = (reasons.into_iter())
        .filter_map(|(holds, why)| holds.then_some(why))
        .collect();
    match holding.is_empty() {
        true => Degree::Key,
        false => Degree::Typed(holding),
    }
}

/// The text to type: the escaped name of a single item, or `7 items`.
///
/// A name with control characters is typed as it is shown, with its escapes.
#[must_use]
pub fn word_to_type(items: &[Item]) -> String {
    match items {
        [item] => escape(item.name(), Charset::Unicode).into_owned(),
        _ => format!("{} items", items.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{EntryType, Identity};
    use crate::trash_can::Trash;

    #[test]
    fn each_limit_asks_for_a_typed_name() {
        let check = |change: fn(&mut Sums), expected: &[Why]| {
            let mut sums = Sums::default();
            change(&mut sums);
            let expected = match expected {
                [] => Degree::Key,
                some => Degree::Typed(some.to_vec()),
            };
            assert_eq!(degree(&sums, &Manner::Trash(Trash::new("/t"))), expected);
        };
        check(|_| (), &[]);
        check(|sums| sums.entry_count = 1_000, &[]);
        check(|sums| sums.entry_count = 1_001, &[Why::Entries]);
        check(|sums| sums.allocated_bytes = 10 << 30, &[]);
        check(|sums| sums.allocated_bytes = (10 << 30) + 1, &[Why::Bytes]);
        check(|sums| sums.apparent_bytes = (10 << 30) + 1, &[Why::Bytes]);
        check(|sums| sums.foreign_count = 1, &[Why::ForeignOwner]);
    }

    #[test]
    fn reasons_name_their_limits() {
        assert_eq!(Why::Entries.to_string(), "more than 1,000 entries");
        assert_eq!(Why::Bytes.to_string(), "more than 10 GiB");
    }

    #[test]
    fn the_word_is_a_name_that_can_be_typed() {
        let identity = Identity {
            device: 1,
            inode: 1,
            entry_type: EntryType::File,
            mtime_s: 0,
            mtime_ns: 0,
        };
        let item = |path: &[u8]| Item::new(path, identity);
        assert_eq!(word_to_type(&[item(b"/a/run\n1")]), r"run\n1");
        assert_eq!(word_to_type(&[item(b"/a"), item(b"/b")]), "2 items");
    }
}
