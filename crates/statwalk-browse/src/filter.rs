// SPDX-License-Identifier: MIT OR Apache-2.0

//! The choice of rows, and their order.

use statwalk_group::{GroupKey, Grouping};
use statwalk_view::{Figures, Kind, NamePattern, SizeFilter};

use crate::data::Item;
use crate::tally::group_of;

/// Which of the two sizes is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bytes {
    /// The space on disk.
    #[default]
    Disk,
    /// The length of files.
    Apparent,
}

impl Bytes {
    /// The chosen size of an item.
    #[must_use]
    pub fn of(self, item: &Item<'_>) -> u128 {
        match self {
            Bytes::Disk => item.allocated_bytes,
            Bytes::Apparent => item.apparent_bytes,
        }
    }

    /// The chosen size of sums.
    #[must_use]
    pub fn of_sums(self, sums: &Figures) -> u128 {
        match self {
            Bytes::Disk => sums.allocated_bytes,
            Bytes::Apparent => sums.apparent_bytes,
        }
    }
}

/// The column that orders the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The size, largest first.
    #[default]
    Size,
    /// The name.
    Name,
    /// The entries, most first.
    Entries,
    /// The newest change, newest first.
    Newest,
    /// The owner.
    Owner,
}

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub key: SortKey,
    /// Whether the last comes first.
    pub is_reversed: bool,
    /// Whether directories come before everything else.
    pub dirs_first: bool,
}

/// The items that count.
///
/// A directory counts with those of its subtree that pass. Everything passes an empty
/// filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The size.
    pub size: Option<SizeFilter>,
    /// The modification is at this moment or later, in nanoseconds since 1970.
    pub changed_from_ns: Option<i64>,
    /// The modification is before this moment.
    pub changed_before_ns: Option<i64>,
    /// The owner.
    pub uid: Option<u32>,
    /// The groups that the item belongs to, one of each partition at most.
    pub groups: Vec<(Grouping, GroupKey)>,
    /// The end of the name.
    pub name_end: Option<NamePattern>,
    /// The pattern that the name matches.
    pub name: Option<NamePattern>,
}

impl Filter {
    /// Whether everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Whether an item that is no directory passes. `now_ns` is the moment that ages count
    /// from.
    #[must_use]
    pub fn passes(&self, item: &Item<'_>, now_ns: i64) -> bool {
        let changed_ns = item.newest_ns;
        let from = |ns: i64| changed_ns.is_some_and(|changed| changed >= ns);
        let before = |ns: i64| changed_ns.is_some_and(|changed| changed < ns);
        let bytes = item.apparent_bytes;
        self.size.is_none_or(|size| match size {
            SizeFilter::AtLeast(least) => bytes >= least.into(),
            SizeFilter::AtMost(most) => bytes <= most.into(),
            SizeFilter::Exactly(wanted) => bytes == wanted.into(),
        }) && self.changed_from_ns.is_none_or(from)
            && self.changed_before_ns.is_none_or(before)
            && self.uid.is_none_or(|uid| item.uid == Some(uid))
            && (self.name_end.as_ref()).is_none_or(|end| end.fits(&item.name))
            && (self.name.as_ref()).is_none_or(|name| name.fits(&item.name))
            && (self.groups.iter()).all(|(by, group)| group_of(item, *by, now_ns) == *group)
    }

    /// Lets only one group of a partition pass.
    pub fn only(&mut self, by: Grouping, group: GroupKey) {
        self.groups.retain(|(known, _)| *known != by);
        self.groups.push((by, group));
    }
}

/// Whether an item belongs to those that `e` hides: hidden names, and what the scan
/// left out.
pub(crate) fn is_hidden(item: &Item<'_>) -> bool {
    let is_rest = item.kind == Kind::Rest;
    !is_rest && (item.name.starts_with(b".") || item.notes.is_excluded)
}
