// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest entries.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::first_names::path_order;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::{Batch, EntryRef};
use crate::directory::Directory;
use crate::entry::{Attributes, Fields, FileId};

/// By what entries are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Largest {
    /// The space they take.
    Allocated,
    /// `st_size`.
    Apparent,
}

/// A test that an entry must pass.
type Filter = std::sync::Arc<dyn Fn(&Directory<'_>, &EntryRef<'_>) -> bool + Send + Sync>;

/// Keeps the largest entries that are not directories.
///
/// An inode with several names is listed once, by the first of them in path
/// order. Entries of equal size are in path order.
///
/// ```
/// use statwalk::{Largest, Scan, Top};
/// let top = Scan::new(".").run(&Top::new(20, Largest::Allocated))?.output;
/// assert!(top.len() <= 20);
/// # Ok::<(), statwalk::Error>(())
/// ```
#[derive(Clone)]
pub struct Top {
    count: usize,
    by: Largest,
    filter: Option<Filter>,
    filter_fields: Fields,
}

impl Top {
    /// Keeps `count` entries.
    #[must_use]
    pub fn new(count: usize, by: Largest) -> Top {
        Top {
            count,
            by,
            filter: None,
            filter_fields: Fields::NONE,
        }
    }

    /// Keeps only entries that pass a test, which needs the given fields.
    #[must_use]
    pub fn filter(
        mut self,
        fields: Fields,
        test: impl Fn(&Directory<'_>, &EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Top {
        self.filter = Some(std::sync::Arc::new(test));
        self.filter_fields = fields;
        self
    }
}

/// One of the largest.
#[derive(Clone, Debug)]
pub struct TopOf {
    /// The path, beginning with its root as the caller gave it.
    pub path: Vec<u8>,
    /// What is known about it.
    pub attributes: Attributes,
    behind_link: bool,
    root: usize,
    size_bytes: u64,
    linked: Option<FileId>,
}

impl TopOf {
    /// Larger comes first, then what was reached without following links, then
    /// roots in their order, then paths in theirs.
    fn order(&self, other: &TopOf) -> Ordering {
        (other.size_bytes.cmp(&self.size_bytes))
            .then(self.behind_link.cmp(&other.behind_link))
            .then(self.root.cmp(&other.root))
            .then_with(|| path_order(&self.path, &other.path))
    }
}

/// What one worker found large.
pub struct TopState {
    top: Top,
    context: Context,
    kept: Vec<TopOf>,
    /// Inodes with several names among them.
    linked: BTreeMap<FileId, usize>,
    /// What an entry must reach to be among the largest so far.
    bar: u64,
}

impl Sink for Top {
    type State = TopState;
    type Output = Vec<TopOf>;

    fn fields(&self) -> Fields {
        let own = Fields::NAME
            | Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::MTIME
            | Fields::LINKS
            | Fields::ID;
        own | self.filter_fields
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TopState> {
        (0..count)
            .map(|_| TopState {
                top: self.clone(),
                context: context.clone(),
                kept: Vec::new(),
                linked: BTreeMap::new(),
                bar: 0,
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TopState>) -> Vec<TopOf> {
        let mut all = TopState {
            top: self.clone(),
            context: context.clone(),
            kept: Vec::new(),
            linked: BTreeMap::new(),
            bar: 0,
        };
        for state in states {
            for entry in state.kept {
                all.offer(entry);
            }
        }
        all.shrink();
        all.kept
    }
}

impl TopState {
    fn size(&self, batch: &Batch, index: usize) -> u64 {
        match self.top.by {
            Largest::Allocated => batch.allocated_bytes()[index],
            Largest::Apparent => batch.size_bytes()[index],
        }
    }

    fn offer(&mut self, entry: TopOf) {
        if let Some(id) = entry.linked {
            if let Some(&index) = self.linked.get(&id) {
                if entry.order(&self.kept[index]) == Ordering::Less {
                    self.kept[index] = entry;
                }
                return;
            }
            self.linked.insert(id, self.kept.len());
        }
        self.kept.push(entry);
        // Twice the number, so that sorting is rare.
        if self.kept.len() >= 2 * self.top.count.max(512) {
            self.shrink();
        }
    }

    /// Drops all but the largest.
    fn shrink(&mut self) {
        self.kept.sort_unstable_by(TopOf::order);
        self.kept.truncate(self.top.count);
        if self.kept.len() == self.top.count {
            self.bar = self.kept.last().map_or(u64::MAX, |entry| entry.size_bytes);
        }
        self.linked = (self.kept.iter().enumerate())
            .filter_map(|(index, entry)| Some((entry.linked?, index)))
            .collect();
    }
}

impl Collect for TopState {
    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        for index in 0..batch.len() {
            if !batch.known()[index] || self.size(batch, index) < self.bar {
                continue;
            }
            let entry = batch.entry(index);
            if let Some(filter) = &self.top.filter
                && !filter(directory, &entry)
            {
                continue;
            }
            let links = batch.links()[index];
            self.offer(TopOf {
                path: directory.entry_path(entry.name),
                behind_link: self.context.follows && directory.is_behind_link(),
                root: directory.root(),
                size_bytes: self.size(batch, index),
                linked: if may_repeat(&self.context, links) {
                    entry.attributes.id()
                } else {
                    None
                },
                attributes: entry.attributes,
            });
        }
        ControlFlow::Continue(())
    }
}
