// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items below a directory in groups: by category, ending, owner, age or size.

use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_view::{age_bucket, size_bucket};

use crate::data::{Data, Item, ItemId, Kind};
use crate::filter::Bytes;
use crate::names::Names;

/// The property by which items make groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// The content that the name promises.
    Category,
    /// The ending of the name.
    Ending,
    /// The owner.
    Owner,
    /// The age of the last modification.
    Age,
    /// The length.
    Size,
}

/// One group of items.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Directories themselves.
    Directories,
    /// Everything that is neither a directory nor a regular file.
    Others,
    /// Files of a category, by its name.
    Category(&'static str),
    /// Files without an ending.
    NoEnding,
    /// Files whose names end with a point and this, in small letters.
    Ending(Vec<u8>),
    /// Items of this user.
    Owner(u32),
    /// Items whose owner is not known.
    UnknownOwner,
    /// Items of an age, by the place in the table of ages.
    Age(usize),
    /// Items whose modification is not known, or lies in the future.
    NoAge,
    /// Files of a length, by the place in the table of sizes.
    Size(usize),
}

/// A group with its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The group.
    pub group: Group,
    /// The names that belong to it.
    pub entries: u64,
    /// Their space on disk, in bytes.
    pub allocated_bytes: u128,
    /// Their length, in bytes.
    pub apparent_bytes: u128,
    /// The newest modification, in nanoseconds since 1970; absent where it is unknown.
    pub newest_ns: Option<i64>,
}

impl Tally {
    /// One of the two sizes.
    #[must_use]
    pub fn bytes(&self, bytes: Bytes) -> u128 {
        match bytes {
            Bytes::Disk => self.allocated_bytes,
            Bytes::Apparent => self.apparent_bytes,
        }
    }

    pub(crate) fn add(&mut self, more: &Tally) {
        self.entries += more.entries;
        self.allocated_bytes += more.allocated_bytes;
        self.apparent_bytes += more.apparent_bytes;
        self.newest_ns = self.newest_ns.max(more.newest_ns);
    }
}

const SECOND_NS: u128 = 1_000_000_000;

/// The group that an item belongs to.
pub(crate) fn group_of(item: &Item<'_>, by: By, now_ns: i64, names: Names) -> Group {
    match (by, item.kind) {
        (By::Owner, _) => item.uid.map_or(Group::UnknownOwner, Group::Owner),
        (By::Category | By::Ending | By::Size | By::Age, Kind::Directory) => Group::Directories,
        (By::Category | By::Ending | By::Size, Kind::Link | Kind::Other | Kind::Rest) => {
            Group::Others
        }
        (By::Category, Kind::File) => Group::Category((names.category)(&item.name)),
        (By::Ending, Kind::File) => match (names.ending)(&item.name) {
            ending if ending.is_empty() => Group::NoEnding,
            ending => Group::Ending(ending),
        },
        (By::Size, Kind::File) => Group::Size(size_bucket(item.apparent_bytes)),
        (By::Age, _) => match item.newest_ns.and_then(|ns| age_s(ns, now_ns)) {
            None => Group::NoAge,
            Some(age_s) => Group::Age(age_bucket(age_s)),
        },
    }
}

/// The whole seconds since a time; absent where it is in the future.
fn age_s(time_ns: i64, now_ns: i64) -> Option<u64> {
    let age_ns = u128::try_from(i128::from(now_ns) - i128::from(time_ns)).ok()?;
    u64::try_from(age_ns / SECOND_NS).ok()
}

/// The groups of everything below a directory. Absent where `stop` asked to end.
///
/// A directory counts with its own bytes: those of its subtree without those of its
/// items. The directory itself belongs to the answer too, so that the sums of all groups
/// are the sums of the directory.
pub(crate) fn tally(
    data: &dyn Data,
    dir: ItemId,
    by: By,
    now_ns: i64,
    names: Names,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Tally>> {
    let mut groups: HashMap<Group, Tally> = HashMap::new();
    let mut add = |group: Group, part: &Part| {
        let tally = groups.entry(group).or_insert_with_key(|group| Tally {
            group: group.clone(),
            entries: 0,
            allocated_bytes: 0,
            apparent_bytes: 0,
            newest_ns: None,
        });
        tally.entries += part.entries;
        tally.allocated_bytes += part.allocated_bytes;
        tally.apparent_bytes += part.apparent_bytes;
        tally.newest_ns = tally.newest_ns.max(part.newest_ns);
    };
    let root = data.item(dir)?;
    if root.kind != Kind::Directory {
        let group = group_of(&root, by, now_ns, names);
        add(group, &Part::of(&root));
        return Some(groups.into_values().collect());
    }
    // A directory is finished when one comes that has another parent, so each is taken
    // whole by itself.
    let mut waiting = vec![(dir, root)];
    let mut seen = 0_u32;
    let mut stopped = false;
    while let Some((dir, item)) = waiting.pop() {
        let mut own = Part::of(&item);
        data.children(dir, &mut |id, child| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(4096) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            own.take_away(&child);
            match child.kind {
                Kind::Directory => waiting.push((id, owned(child))),
                _ => add(group_of(&child, by, now_ns, names), &Part::of(&child)),
            }
            ControlFlow::Continue(())
        });
        if stopped || stop() {
            return None;
        }
        own.newest_ns = None;
        add(group_of(&item, by, now_ns, names), &own);
    }
    let groups = groups.into_values();
    // Under a filter, directories count as nothing themselves.
    let is_something = |tally: &Tally| tally.entries > 0 || tally.allocated_bytes > 0;
    Some(groups.filter(is_something).collect())
}

fn owned(item: Item<'_>) -> Item<'static> {
    Item {
        name: item.name.into_owned().into(),
        ..item
    }
}

/// The share of an item in a sum.
struct Part {
    entries: u64,
    allocated_bytes: u128,
    apparent_bytes: u128,
    newest_ns: Option<i64>,
}

impl Part {
    /// The bytes of an inode count under one of its names.
    fn of(item: &Item<'_>) -> Part {
        let counts = !item.notes.counts_elsewhere;
        Part {
            entries: item.entries,
            allocated_bytes: if counts { item.allocated_bytes } else { 0 },
            apparent_bytes: if counts { item.apparent_bytes } else { 0 },
            newest_ns: item.newest_ns,
        }
    }

    /// Sums of a scan that goes on can be those of different moments.
    fn take_away(&mut self, item: &Item<'_>) {
        let part = Part::of(item);
        self.entries = self.entries.saturating_sub(part.entries);
        self.allocated_bytes = self.allocated_bytes.saturating_sub(part.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_sub(part.apparent_bytes);
    }
}
