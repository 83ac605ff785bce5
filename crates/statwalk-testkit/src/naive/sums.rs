// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decides which entry of each inode counts its bytes, and adds everything up.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::report::{NaiveEntry, NaiveReport, RootReport, Subtree};
use crate::model::{EntryType, Totals, path_order};

/// (st_dev, st_ino)
pub(super) type FileId = (u64, u64);

/// An entry, with its facts for the sums.
pub(super) struct Found {
    pub(super) entry: NaiveEntry,
    /// The directory entry that holds it, as an index into the list of these.
    pub(super) parent: Option<usize>,
    /// Absent if stat failed.
    pub(super) id: Option<FileId>,
    /// This very entry is a link that was followed.
    pub(super) is_followed_link: bool,
}

/// Makes the report.
///
/// `all` are in the order in which they were found: without links first, in path
/// order; then the targets of followed links. The first of an inode counts its bytes.
/// `roots` have the walk's own counts (crossings, excluded and vanished entries).
pub(super) fn sum_up(
    mut all: Vec<Found>,
    mut roots: Vec<RootReport>,
    count_links: bool,
) -> NaiveReport {
    let mut seen = HashSet::new();
    for found in &mut all {
        if let (Some(id), None) = (found.id, found.entry.not_entered) {
            found.entry.counted = seen.insert(id) || count_links;
        }
    }

    let soon = SystemTime::now() + Duration::from_secs(3600);
    let soon = soon.duration_since(UNIX_EPOCH);
    let latest_ns = soon.map_or(0, |time| time.as_nanos() as i64);
    let mut named = HashSet::new();
    let mut subtrees: HashMap<usize, Subtree> = HashMap::new();
    for (index, found) in all.iter().enumerate() {
        let entry = &found.entry;
        let mut totals = Totals::default();
        totals.count_name(entry.entry_type);
        let mut allocated_bytes = 0;
        if let Some(attributes) = entry.attributes.filter(|_| entry.counted) {
            totals.count_bytes(entry.entry_type, attributes.size_bytes);
            allocated_bytes = u128::from(attributes.blocks) * 512;
        }
        let is_directory = entry.entry_type == EntryType::Directory;
        if !is_directory
            && !found.is_followed_link
            && entry.not_entered.is_none()
            && found.id.is_some_and(|id| !named.insert(id))
        {
            totals.extra_hard_links = 1;
        }
        let counts = &mut roots[entry.root].counts;
        counts.add_totals(totals);
        counts.allocated_bytes += allocated_bytes;
        counts.unreadable += u64::from(entry.error.is_some());

        let mtime_ns = entry
            .attributes
            .filter(|_| !is_directory && entry.not_entered.is_none())
            .and_then(|attributes| attributes.mtime_ns)
            .filter(|&ns| ns <= latest_ns);
        let mut above = if is_directory {
            Some(index)
        } else {
            found.parent
        };
        while let Some(directory) = above {
            let sums = subtrees.entry(directory).or_default();
            sums.apparent_bytes += totals.apparent_bytes;
            sums.allocated_bytes += allocated_bytes;
            sums.entries += totals.entries;
            sums.files += totals.files;
            sums.dirs += totals.dirs;
            sums.newest_mtime_ns = sums.newest_mtime_ns.max(mtime_ns);
            above = all[directory].parent;
        }
    }

    let subtrees = subtrees
        .into_iter()
        .map(|(index, sums)| (all[index].entry.path.clone(), sums))
        .collect();
    let mut entries: Vec<_> = all.into_iter().map(|found| found.entry).collect();
    entries.sort_by(compare_places);
    NaiveReport {
        roots,
        entries,
        subtrees,
    }
}

fn compare_places(a: &NaiveEntry, b: &NaiveEntry) -> Ordering {
    let by_root = a.root.cmp(&b.root);
    by_root.then_with(|| path_order(&a.path, &b.path))
}
