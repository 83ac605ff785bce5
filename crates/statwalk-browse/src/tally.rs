// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items below a directory in groups: by category, ending, owner, age or size.

use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_view::{age_bucket, size_bucket};

use crate::counted::Counted;
use crate::data::{Data, Item, ItemId, Kind};
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
pub struct GroupTally {
    /// The group.
    pub group: Group,
    /// The sums of its items.
    pub sums: Counted,
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
) -> Option<Vec<GroupTally>> {
    let mut groups: HashMap<Group, Counted> = HashMap::new();
    let mut add = |group, sums: &Counted| groups.entry(group).or_default().add(sums);
    let root = data.item(dir)?;
    if root.kind != Kind::Directory {
        let group = group_of(&root, by, now_ns, names);
        let sums = Counted::of(&root);
        return Some(vec![GroupTally { group, sums }]);
    }
    // A directory is finished when one comes that has another parent, so each is taken
    // whole by itself.
    let mut waiting = vec![(dir, root)];
    let mut seen = 0_u32;
    let mut stopped = false;
    while let Some((dir, item)) = waiting.pop() {
        let mut own = Counted::of(&item);
        data.children(dir, &mut |id, child| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(4096) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            own.take_away(&Counted::of(&child));
            match child.kind {
                Kind::Directory => waiting.push((id, owned(child))),
                _ => add(group_of(&child, by, now_ns, names), &Counted::of(&child)),
            }
            ControlFlow::Continue(())
        });
        if stopped || stop() {
            return None;
        }
        own.newest_ns = None;
        add(group_of(&item, by, now_ns, names), &own);
    }
    // Under a filter, directories count as nothing themselves.
    groups.retain(|_, sums| sums.entries > 0 || sums.allocated_bytes > 0);
    let tallies = groups.into_iter();
    Some(
        tallies
            .map(|(group, sums)| GroupTally { group, sums })
            .collect(),
    )
}

fn owned(item: Item<'_>) -> Item<'static> {
    Item {
        name: item.name.into_owned().into(),
        ..item
    }
}
