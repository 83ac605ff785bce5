// SPDX-License-Identifier: MIT OR Apache-2.0

//! The groups of a grouping, numbered as they come.

use crate::category::Category;
use crate::endings::Endings;
use crate::extension::{Ending, Extension};
use crate::key::{Facts, GroupKey, Grouping};
use crate::numbered::Numbered;
use statwalk_format::FileType;

/// The groups of a grouping, numbered as they come.
///
/// ```
/// use statwalk_group::{Facts, FileType, GroupKey, Grouper, Grouping};
/// let mut grouper = Grouper::new(Grouping::Owner, 0);
/// let facts = |uid| Facts {
///     name: b"x",
///     kind: FileType::File,
///     depth: 1,
///     size_bytes: None,
///     mtime_ns: None,
///     uid,
///     gid: None,
/// };
/// let numbers = [Some(7), None, Some(7)].map(|uid| grouper.number(&facts(uid)));
/// assert_eq!(numbers, [0, 1, 0]);
/// assert_eq!(grouper.keys(), [GroupKey::Owner(7), GroupKey::Unknown]);
/// ```
#[derive(Clone, Debug)]
pub struct Grouper {
    grouping: Grouping,
    now_ns: i64,
    keys: Numbered<GroupKey>,
    /// The groups of files with some endings.
    endings: Endings<usize>,
}

impl Grouper {
    /// Has no group yet. Ages count from `now_ns`.
    #[must_use]
    pub fn new(grouping: Grouping, now_ns: i64) -> Grouper {
        Grouper {
            grouping,
            now_ns,
            keys: Numbered::default(),
            endings: Endings::default(),
        }
    }

    /// The keys of all groups, by number.
    #[must_use]
    pub fn keys(&self) -> &[GroupKey] {
        self.keys.all()
    }

    /// The number of the group of an entry.
    #[inline(always)]
    pub fn number(&mut self, facts: &Facts<'_>) -> usize {
        match (self.grouping, facts.kind) {
            (Grouping::Type | Grouping::Category, FileType::File) => {
                self.number_by_name(facts.name)
            }
            _ => self.number_of(self.grouping.key(facts, self.now_ns)),
        }
    }

    /// The number of a group.
    #[inline]
    pub fn number_of(&mut self, key: GroupKey) -> usize {
        self.keys.number(key)
    }

    /// The number of the key that files of this name have.
    #[inline]
    fn number_by_name(&mut self, name: &[u8]) -> usize {
        let ending = Ending::of(name);
        if let Some(number) = self.endings.get(ending) {
            return number;
        }
        let last = Extension::last_of(name);
        let number = self.number_of(self.key_by_name(name, last));
        self.endings.keep(ending, last, number);
        number
    }

    /// The key of a file by its name, whose last extension is known.
    #[inline(never)]
    fn key_by_name(&self, name: &[u8], last: Extension) -> GroupKey {
        match self.grouping {
            Grouping::Category => GroupKey::Category(Category::and_extension(name, last).0),
            _ => GroupKey::Extension(Extension::with_last(name, last)),
        }
    }
}
