// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items below a directory in groups: by category, ending, owner, age or size.

use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_group::{Facts, FileType, GroupKey, Grouping};
use statwalk_view::{Figures, Kind};

use crate::data::{Data, Item, ItemId};

/// A group with its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTally {
    /// The group.
    pub group: GroupKey,
    /// The sums of its items.
    pub sums: Figures,
}

/// The group that an item belongs to; of ages and sizes, the class.
pub(crate) fn group_of(item: &Item<'_>, by: Grouping, now_ns: i64) -> GroupKey {
    let kind = match item.kind {
        Kind::Directory => FileType::Directory,
        Kind::File => FileType::File,
        _ => FileType::Unknown,
    };
    // The numbers of a directory are those of its items, and few look for the size of a link.
    let is_apart = match by {
        Grouping::Owner => false,
        Grouping::Age => kind.is_dir(),
        _ => !kind.is_file(),
    };
    if is_apart {
        return GroupKey::Kind(kind);
    }
    let facts = Facts {
        name: &item.name,
        kind,
        depth: 0,
        size_bytes: u64::try_from(item.apparent_bytes).ok(),
        mtime_ns: item.newest_ns,
        uid: item.uid,
        gid: None,
    };
    by.key(&facts, now_ns).class()
}

/// The groups of everything below a directory. Absent where `stop` asked to end.
///
/// A directory counts with its own bytes: those of its subtree without those of its
/// items. The directory itself belongs to the answer too, so that the sums of all groups
/// are the sums of the directory.
pub(crate) fn tally(
    data: &dyn Data,
    dir: ItemId,
    by: Grouping,
    now_ns: i64,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<GroupTally>> {
    let mut groups: HashMap<GroupKey, Figures> = HashMap::new();
    let mut add = |group, sums: &Figures| groups.entry(group).or_default().add(sums);
    let root = data.item(dir)?;
    if root.kind != Kind::Directory {
        let group = group_of(&root, by, now_ns);
        let sums = root.counted();
        return Some(vec![GroupTally { group, sums }]);
    }
    // A directory is finished when one comes that has another parent, so each is taken
    // whole by itself.
    let mut waiting = vec![(dir, root)];
    let mut seen = 0_u32;
    let mut stopped = false;
    while let Some((dir, item)) = waiting.pop() {
        let mut own = item.counted();
        data.children(dir, &mut |id, child| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(4096) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            own.take_away(&child.counted());
            match child.kind {
                Kind::Directory => waiting.push((id, owned(child))),
                _ => add(group_of(&child, by, now_ns), &child.counted()),
            }
            ControlFlow::Continue(())
        });
        if stopped || stop() {
            return None;
        }
        own.newest_mtime_ns = None;
        add(group_of(&item, by, now_ns), &own);
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
