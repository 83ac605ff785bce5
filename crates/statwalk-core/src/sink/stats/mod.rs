// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and sums by type, category, owner, group, age, size or depth.

mod groups;
mod key;
mod links;
mod sample;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use foldhash::fast::RandomState;

pub use key::{GroupKey, Grouping};

use self::groups::Groups;
use self::key::Keys;
use self::links::{Brought, Links};
use self::sample::Sample;
use super::entry_filter::EntryFilter;
use super::first_names::LinkName;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::{Batch, EntryRef};
use crate::directory::Directory;
use crate::entry::{Fields, FileId};

/// The sums of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Names.
    pub entries: u64,
    /// `st_size` of regular files and symbolic links, in bytes.
    pub apparent_bytes: u128,
    /// The space taken, in bytes.
    pub allocated_bytes: u128,
}

impl Tally {
    #[inline]
    fn add(&mut self, other: Tally) {
        self.entries += other.entries;
        self.apparent_bytes += other.apparent_bytes;
        self.allocated_bytes += other.allocated_bytes;
    }

    #[inline]
    fn add_bytes(&mut self, apparent_bytes: u64, allocated_bytes: u64) {
        self.apparent_bytes += u128::from(apparent_bytes);
        self.allocated_bytes += u128::from(allocated_bytes);
    }
}

/// A group of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsGroup {
    /// A key for each grouping, in their order.
    pub keys: Vec<GroupKey>,
    /// The sums.
    pub tally: Tally,
}

/// Groups entries, with counts and sums for each group.
///
/// A hard-linked inode brings its bytes to the group of its first name in path
/// order; every name is counted.
///
/// ```
/// use statwalk_core::{Grouping, Scan, Stats};
/// let groups = Scan::new(".").run(&Stats::by(Grouping::Size))?.output;
/// assert!(groups.iter().all(|group| group.tally.entries > 0));
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Stats {
    grouping: Grouping,
    second: Option<Grouping>,
    filter: EntryFilter,
}

impl Stats {
    /// Groups all entries.
    #[must_use]
    pub fn by(grouping: Grouping) -> Stats {
        Stats {
            grouping,
            second: None,
            filter: EntryFilter::default(),
        }
    }

    /// Divides each group by a second grouping.
    ///
    /// ```
    /// use statwalk_core::{Grouping, Scan, Stats};
    /// let stats = Stats::by(Grouping::Owner).and_by(Grouping::Age);
    /// let groups = Scan::new(".").run(&stats)?.output;
    /// assert!(groups.iter().all(|group| group.keys.len() == 2));
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn and_by(mut self, second: Grouping) -> Stats {
        self.second = Some(second);
        self
    }

    /// Groups only entries that pass a test, which needs the given fields.
    #[must_use]
    pub fn filter(
        mut self,
        fields: Fields,
        test: impl Fn(&Directory<'_>, &EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Stats {
        self.filter = EntryFilter::new(fields, test);
        self
    }
}

/// The groups that one worker saw.
pub struct StatsState {
    filter: EntryFilter,
    context: Context,
    groups: Groups,
    links: Arc<Links>,
    /// The numbers in [`Links`] of the groups that have any, by their own number.
    link_groups: Vec<Option<u32>>,
}

impl Sink for Stats {
    type State = StatsState;
    /// The groups, in the order of their keys.
    type Output = Vec<StatsGroup>;

    fn fields(&self) -> Fields {
        let common = Fields::NAME
            | Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::LINKS
            | Fields::ID
            | self.filter.fields();
        let second = self.second.map_or(Fields::NONE, Grouping::fields);
        common | self.grouping.fields() | second
    }

    fn states(&self, context: &Context, count: usize) -> Vec<StatsState> {
        let links = Arc::new(Links::new(context));
        (0..count)
            .map(|_| StatsState {
                filter: self.filter.clone(),
                context: context.clone(),
                groups: Groups::new(self.grouping, self.second, context.now_ns),
                links: Arc::clone(&links),
                link_groups: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, _: &Context, states: Vec<StatsState>) -> Vec<StatsGroup> {
        let mut merged: HashMap<Keys, Tally, RandomState> = HashMap::default();
        for state in &states {
            for (keys, tally) in state.groups.all() {
                merged.entry(keys).or_default().add(tally);
            }
        }
        if let Some(state) = states.first() {
            state.links.each(|keys, brought| {
                let tally = merged.entry(keys).or_default();
                tally.add_bytes(brought.apparent_bytes, brought.allocated_bytes);
            });
        }
        let group = |((first, second), tally): (Keys, Tally)| StatsGroup {
            keys: [Some(first), second]
                .into_iter()
                .flatten()
                .map(GroupKey::from)
                .collect(),
            tally,
        };
        let mut groups: Vec<_> = merged.into_iter().map(group).collect();
        groups.sort_unstable_by(|a, b| a.keys.cmp(&b.keys));
        groups
    }
}

impl StatsState {
    /// Adds an entry that may have other names; `linked` is its inode if it has.
    #[inline]
    fn add(&mut self, directory: &Directory<'_>, sample: &Sample<'_>, linked: Option<FileId>) {
        let group = self.groups.number(sample);
        let tally = self.groups.tally(group);
        tally.entries += 1;
        match linked {
            None => {
                let (apparent_bytes, allocated_bytes) = sample.bytes();
                tally.add_bytes(apparent_bytes, allocated_bytes);
            }
            Some(id) => self.offer(id, directory, sample, group),
        }
    }

    fn offer(&mut self, id: FileId, directory: &Directory<'_>, sample: &Sample<'_>, group: usize) {
        let (apparent_bytes, allocated_bytes) = sample.bytes();
        let share = Brought {
            apparent_bytes,
            allocated_bytes,
            group: self.link_group(group),
        };
        let name = LinkName {
            directory,
            behind_link: self.context.follows && directory.is_behind_link(),
            name: sample.name,
        };
        self.links.offer(&self.context, id, name, share);
    }

    /// The number that a group of this worker has for all workers.
    fn link_group(&mut self, group: usize) -> u32 {
        if self.link_groups.len() <= group {
            self.link_groups.resize(group + 1, None);
        }
        *self.link_groups[group].get_or_insert_with(|| self.links.number(self.groups.keys(group)))
    }
}

impl Collect for StatsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if self.filter.passes_directory(directory) {
            self.add(directory, &Sample::of_directory(directory), None);
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        let depth = directory.entry_depth();
        for index in 0..batch.len() {
            if !self.filter.passes(directory, || batch.entry(index)) {
                continue;
            }
            let is_linked = batch.known()[index] && may_repeat(&self.context, batch.links()[index]);
            let linked = is_linked.then(|| batch.id(index));
            self.add(directory, &Sample::of(batch, index, depth), linked);
        }
        ControlFlow::Continue(())
    }
}
