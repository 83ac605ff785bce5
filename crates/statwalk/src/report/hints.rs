// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries that are worth a look: a few lines, of which half is for tidying up.

use std::cmp::Reverse;

use statwalk_core::{Node, TopOf};
use statwalk_report::{Failed, Hint, HintKind, Rebuildable, Sums};
use statwalk_view::rebuildable::Rule;
use statwalk_view::share;

use super::tree::Reported;
use crate::output::rows::roots;
use crate::output::scanned_tree::bytes;

/// How many lines there are of each kind.
const OLD_MAX: usize = 3;
const NEW_MAX: usize = 3;
const REBUILDABLE_MAX: usize = 2;
const UNREADABLE_MAX: usize = 2;
/// How many directories that can be made again have a name in the report.
const LISTED_MAX: usize = 100;

const DAY_NS: i64 = 24 * 3_600 * 1_000_000_000;
const YEAR_NS: i64 = 365 * DAY_NS;
const OLD_NS: i64 = 2 * YEAR_NS;
const NEW_NS: i64 = 7 * DAY_NS;

/// The smallest part of all bytes that is worth a look.
const SHARE_MIN: u128 = 1_000;
/// The smallest part of all bytes that is news.
const NEW_SHARE_MIN: u128 = 100;

/// The entries of a scan from which hints are taken.
pub(super) struct Hints<'h, 'a> {
    pub(super) tree: &'h Reported<'a, ()>,
    pub(super) largest: &'h [TopOf],
    pub(super) rebuildable: Vec<(Node<'a>, &'static Rule)>,
    pub(super) errors: &'h [Failed],
    /// All bytes.
    pub(super) whole: u128,
    pub(super) now_ns: i64,
}

impl<'a> Hints<'_, 'a> {
    /// The lines, and all that a program makes again.
    pub(super) fn all(mut self) -> (Vec<Hint>, Rebuildable) {
        let mut hints = self.old();
        hints.extend(self.new_giants());
        let rebuildable = self.rebuildable();
        let is_worth = |hint: &&Hint| {
            hint.allocated_bytes
                .is_some_and(|bytes| self.is_worth(bytes))
        };
        let again = rebuildable.largest.iter().filter(is_worth);
        hints.extend(again.take(REBUILDABLE_MAX).cloned());
        hints.extend(self.errors.iter().take(UNREADABLE_MAX).map(|failed| Hint {
            kind: HintKind::Unreadable,
            path: failed.path.clone(),
            allocated_bytes: None,
            note: format!("cannot {}: {}", failed.operation, failed.cause),
        }));
        (hints, rebuildable)
    }

    fn is_worth(&self, bytes: u128) -> bool {
        bytes > 0 && bytes.saturating_mul(SHARE_MIN) >= self.whole
    }

    /// The largest files and directories without a modification for two years. Of an old
    /// directory within another, the outer counts.
    fn old(&self) -> Vec<Hint> {
        let is_old = |newest: Option<i64>| {
            newest.is_some_and(|newest| self.now_ns.saturating_sub(newest) >= OLD_NS)
        };
        let is_old_directory = |node: &Node<'_>| {
            // Of a root it says nothing that the head of the report does not.
            node.parent().is_some() && !node.is_incomplete() && is_old(node.newest_mtime_ns())
        };
        let mut found: Vec<(u128, i64, Vec<u8>)> = Vec::new();
        let mut old: Vec<Node<'a>> = Vec::new();
        let mut waiting: Vec<Node<'a>> = roots(self.tree.tree).map(|(_, root)| root).collect();
        while let Some(directory) = waiting.pop() {
            match is_old_directory(&directory) {
                true => old.push(directory),
                false => waiting.extend(directory.children()),
            }
        }
        old.sort_by_key(|node| Reverse(bytes(node).0));
        old.truncate(OLD_MAX);
        found.extend(old.into_iter().filter_map(|node| {
            let newest = node.newest_mtime_ns()?;
            Some((bytes(&node).0, newest, self.tree.path_of_node(&node)))
        }));
        for file in self.largest {
            let newest = file.attributes.mtime_ns().filter(|&ns| is_old(Some(ns)));
            let mut above = (file.dir_id).and_then(|id| self.tree.tree.directory(id));
            let mut is_within = false;
            while let Some(directory) = above {
                is_within |= is_old_directory(&directory);
                above = directory.parent();
            }
            if let Some(newest) = newest.filter(|_| !is_within) {
                let bytes = file.attributes.allocated_bytes().unwrap_or(0).into();
                found.push((bytes, newest, self.tree.path_of(file)));
            }
        }
        found.sort_by(|a, b| (b.0.cmp(&a.0)).then_with(|| a.2.cmp(&b.2)));
        let worth = found
            .into_iter()
            .filter(|(bytes, _, _)| self.is_worth(*bytes));
        let hints = worth.take(OLD_MAX).map(|(bytes, newest, path)| Hint {
            kind: HintKind::Old,
            path,
            allocated_bytes: Some(bytes),
            note: format!(
                "not modified for {} years",
                self.now_ns.saturating_sub(newest) / YEAR_NS
            ),
        });
        hints.collect()
    }

    fn new_giants(&self) -> Vec<Hint> {
        let is_new = |file: &&TopOf| {
            let age_ns = file
                .attributes
                .mtime_ns()
                .map(|ns| self.now_ns.saturating_sub(ns));
            let bytes = u128::from(file.attributes.allocated_bytes().unwrap_or(0));
            let is_giant = bytes > 0 && bytes.saturating_mul(NEW_SHARE_MIN) >= self.whole;
            is_giant && age_ns.is_some_and(|age_ns| (0..=NEW_NS).contains(&age_ns))
        };
        let hints = self.largest.iter().filter(is_new).take(NEW_MAX);
        let hints = hints.map(|file| {
            let bytes = u128::from(file.attributes.allocated_bytes().unwrap_or(0));
            Hint {
                kind: HintKind::New,
                path: self.tree.path_of(file),
                allocated_bytes: Some(bytes),
                note: format!(
                    "modified within 7 days, {} of all",
                    share(bytes, self.whole).trim_start()
                ),
            }
        });
        hints.collect()
    }

    fn rebuildable(&mut self) -> Rebuildable {
        let mut all = std::mem::take(&mut self.rebuildable);
        all.sort_by_key(|(node, _)| Reverse(bytes(node).0));
        let mut sums = Sums::default();
        for (node, _) in &all {
            let (allocated_bytes, apparent_bytes) = bytes(node);
            sums.add(Sums {
                allocated_bytes,
                apparent_bytes,
                entries: 1,
                newest_s: None,
            });
        }
        let largest = all.iter().take(LISTED_MAX).map(|(node, rule)| Hint {
            kind: HintKind::Rebuildable,
            path: self.tree.path_of_node(node),
            allocated_bytes: Some(bytes(node).0),
            note: format!("{} makes it again", rule.rebuilt_by),
        });
        Rebuildable {
            sums,
            largest: largest.collect(),
        }
    }
}
