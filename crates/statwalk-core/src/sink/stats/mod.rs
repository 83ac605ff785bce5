// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and sums by type, category, owner, group, age, size or depth.

mod groups;
mod links;
mod sample;

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use foldhash::fast::RandomState;
use statwalk_group::{GroupKey, Grouping, SizeHistogram};

use self::groups::{Groups, Keys};
use self::links::{Brought, Links};
use self::sample::Sample;
use super::entry_filter::{EntryFilter, with_filter};
use super::first_names::LinkName;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::FileId;
use crate::fields::Fields;

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
    /// The sizes of its regular files; absent without [`Stats::with_size_histograms`].
    ///
    /// As with the sums, an inode with several names counts once, in the group of its first
    /// name. With [`LinkPolicy::Each`](crate::LinkPolicy::Each) every name counts.
    pub sizes: Option<SizeHistogram>,
}

/// Groups entries, with counts and sums for each group.
///
/// A hard-linked inode brings its bytes to the group of its first name in path
/// order; every name is counted.
///
/// ```
/// use statwalk_core::{Grouping, Scan, Stats};
/// let outcome = Scan::new(".").run(&Stats::new(Grouping::Size))?;
/// let groups = outcome.output;
/// assert!(groups.iter().all(|group| group.tally.entries > 0));
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stats {
    grouping: Grouping,
    second: Option<Grouping>,
    histograms: Histograms,
    filter: EntryFilter,
}

/// Whether the sizes of files are counted for percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Histograms {
    None,
    OfEachGroup,
}

impl Stats {
    /// Groups all entries.
    #[must_use]
    pub fn new(grouping: Grouping) -> Stats {
        Stats {
            grouping,
            second: None,
            histograms: Histograms::None,
            filter: EntryFilter::default(),
        }
    }

    /// Divides each group by a second grouping.
    ///
    /// ```
    /// use statwalk_core::{Grouping, Scan, Stats};
    /// let stats = Stats::new(Grouping::Owner).with_subgroups(Grouping::Age);
    /// let outcome = Scan::new(".").run(&stats)?;
    /// let groups = outcome.output;
    /// assert!(groups.iter().all(|group| group.keys.len() == 2));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_subgroups(mut self, second: Grouping) -> Stats {
        self.second = Some(second);
        self
    }

    /// Counts the sizes of the files of each group, from which percentiles are read.
    ///
    /// ```
    /// use statwalk_core::{Grouping, Scan, Stats};
    /// let stats = Stats::new(Grouping::Category).with_size_histograms();
    /// let outcome = Scan::new(".").run(&stats)?;
    /// for group in outcome.output {
    ///     let median = group.sizes.and_then(|sizes| sizes.percentile(50));
    ///     println!("{:?}: {median:?}", group.keys);
    /// }
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_size_histograms(mut self) -> Stats {
        self.histograms = Histograms::OfEachGroup;
        self
    }
}

with_filter!(Stats "Groups");

/// The fields that a grouping needs besides those of the sums.
fn fields_of(grouping: Grouping) -> Fields {
    match grouping {
        Grouping::Owner | Grouping::Group => Fields::OWNER,
        Grouping::Age => Fields::MTIME,
        _ => Fields::NONE,
    }
}

/// The groups that one worker saw.
pub struct StatsState {
    histograms: Histograms,
    filter: EntryFilter,
    context: Context,
    groups: Groups,
    links: Arc<Links>,
    /// The numbers in [`Links`] of the groups that have any, by their own number.
    link_groups: Vec<Option<u32>>,
}

impl fmt::Debug for StatsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatsState")
            .field("group_count", &self.groups.all().count())
            .finish_non_exhaustive()
    }
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
        let second = self.second.map_or(Fields::NONE, fields_of);
        common | fields_of(self.grouping) | second
    }

    fn states(&self, context: &Context, count: usize) -> Vec<StatsState> {
        let links = Arc::new(Links::new(context));
        (0..count)
            .map(|_| StatsState {
                histograms: self.histograms,
                filter: self.filter.clone(),
                context: context.clone(),
                groups: Groups::new(self.grouping, self.second, context.now_ns),
                links: Arc::clone(&links),
                link_groups: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, _: &Context, states: Vec<StatsState>) -> Vec<StatsGroup> {
        let mut merged: HashMap<Keys, (Tally, SizeHistogram), RandomState> = HashMap::default();
        for state in &states {
            for (keys, tally, sizes) in state.groups.all() {
                let (sum, all_sizes) = merged.entry(keys).or_default();
                sum.add(tally);
                if let Some(sizes) = sizes {
                    all_sizes.merge(sizes);
                }
            }
        }
        if let Some(state) = states.first() {
            state.links.each(|keys, brought| {
                let (sum, sizes) = merged.entry(keys).or_default();
                sum.add_bytes(brought.apparent_bytes, brought.allocated_bytes);
                if let Some(size_bytes) = brought.file_size_bytes() {
                    sizes.add(size_bytes);
                }
            });
        }
        let wanted = self.histograms == Histograms::OfEachGroup;
        let group = |((first, second), (tally, sizes)): (Keys, _)| StatsGroup {
            keys: [Some(first), second].into_iter().flatten().collect(),
            tally,
            sizes: wanted.then_some(sizes),
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
                if self.histograms == Histograms::OfEachGroup {
                    self.add_size(sample, group);
                }
            }
            Some(id) => self.offer(id, directory, sample, group),
        }
    }

    fn add_size(&mut self, sample: &Sample<'_>, group: usize) {
        if let Some(size_bytes) = sample.file_size_bytes() {
            self.groups.add_size(group, size_bytes);
        }
    }

    fn offer(&mut self, id: FileId, directory: &Directory<'_>, sample: &Sample<'_>, group: usize) {
        let share = Brought::new(sample, self.link_group(group));
        let name = LinkName {
            directory,
            behind_link: self.context.follows && directory.is_behind_link(),
            name: sample.facts.name,
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

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let depth = origin.entry_depth();
        for index in 0..batch.len() {
            if !self
                .filter
                .passes(origin.directory(), || batch.entry(index))
            {
                continue;
            }
            let is_linked = batch.known()[index] && may_repeat(&self.context, batch, index);
            let linked = is_linked.then(|| batch.id(index));
            self.add(origin.0, &Sample::of(batch, index, depth), linked);
        }
        ControlFlow::Continue(())
    }
}
