// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and sums by type, owner, group, age, size or depth.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use foldhash::fast::RandomState;

use super::entry_filter::EntryFilter;
use super::extension::{Ending, Extension, Parts};
use super::first_names::{FirstNames, Kept, LinkName};
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::{Batch, EntryRef};
use crate::directory::Directory;
use crate::entry::{Fields, FileId, FileType};
use crate::lock::lock;

/// By what entries are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grouping {
    /// The type, and for regular files the extension.
    Type,
    /// The owner.
    Owner,
    /// The group.
    Group,
    /// The time since the last modification.
    Age,
    /// `st_size`, by powers of two.
    Size,
    /// The distance from the root.
    Depth,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GroupKey {
    /// Anything but a regular file, by its type.
    Kind(FileType),
    /// Regular files by the extension, in lower case; empty where there is none.
    ///
    /// It has two parts, as in `tar.gz`, where a tar, log, sql, json, csv, cpio or ko is
    /// compressed. The numbers of shared libraries (`libc.so.6`) and rotated logs
    /// (`auth.log.1`) do not count.
    Extension(Vec<u8>),
    /// A user id.
    Owner(u32),
    /// A group id.
    Group(u32),
    /// Modified at most this many seconds ago, and longer ago than the next
    /// smaller limit; `None` for times in the future, however far.
    ModifiedWithin(Option<u64>),
    /// `st_size` below two to this power, and not below half of it; 0 for empty.
    SizeBelowPower(u32),
    /// The distance from the root.
    Depth(u32),
    /// Entries whose attributes could not be read.
    Unknown,
}

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

/// The limits of [`GroupKey::ModifiedWithin`], in seconds: hour, day, week,
/// 30 days, 90 days, half a year, then years.
const AGE_LIMITS_S: [u64; 11] = [
    3_600,
    86_400,
    7 * 86_400,
    30 * 86_400,
    90 * 86_400,
    182 * 86_400,
    365 * 86_400,
    2 * 365 * 86_400,
    5 * 365 * 86_400,
    10 * 365 * 86_400,
    u64::MAX,
];

/// Groups entries, with counts and sums for each group.
///
/// A hard-linked inode brings its bytes to the group of its first name in path
/// order; every name is counted.
///
/// ```
/// use statwalk_core::{Grouping, Scan, Stats};
/// let groups = Scan::new(".").run(&Stats::by(Grouping::Size))?.output;
/// assert!(groups.iter().all(|(_, tally)| tally.entries > 0));
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Stats {
    grouping: Grouping,
    filter: EntryFilter,
}

impl Stats {
    /// Groups all entries.
    #[must_use]
    pub fn by(grouping: Grouping) -> Stats {
        Stats {
            grouping,
            filter: EntryFilter::default(),
        }
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

/// A [`GroupKey`] that can be copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Kind(FileType),
    Extension(Extension),
    Owner(u32),
    Group(u32),
    ModifiedWithin(Option<u64>),
    SizeBelowPower(u32),
    Depth(u32),
    Unknown,
}

impl From<Key> for GroupKey {
    fn from(key: Key) -> GroupKey {
        match key {
            Key::Kind(kind) => GroupKey::Kind(kind),
            Key::Extension(extension) => GroupKey::Extension(extension.to_vec()),
            Key::Owner(uid) => GroupKey::Owner(uid),
            Key::Group(gid) => GroupKey::Group(gid),
            Key::ModifiedWithin(limit_s) => GroupKey::ModifiedWithin(limit_s),
            Key::SizeBelowPower(power) => GroupKey::SizeBelowPower(power),
            Key::Depth(depth) => GroupKey::Depth(depth),
            Key::Unknown => GroupKey::Unknown,
        }
    }
}

/// How many endings of names are remembered, as a power of two.
const ENDINGS_POWER: u32 = 6;

/// Tallies by key.
struct Groups {
    tallies: Vec<(Key, Tally)>,
    indexes: HashMap<Key, usize, RandomState>,
    /// The one that was asked for last: neighbours are often alike.
    last: usize,
    /// Where files of some endings belong.
    endings: [(Ending, usize); 1 << ENDINGS_POWER],
}

impl Groups {
    fn new() -> Groups {
        Groups {
            tallies: Vec::new(),
            indexes: HashMap::default(),
            last: 0,
            endings: [(Ending::NONE, 0); 1 << ENDINGS_POWER],
        }
    }

    /// Where a group is.
    #[inline]
    fn index(&mut self, key: Key) -> usize {
        let is_last = |(last, _): &(Key, Tally)| *last == key;
        if !self.tallies.get(self.last).is_some_and(is_last) {
            let next = self.tallies.len();
            self.last = *self.indexes.entry(key).or_insert(next);
            if self.last == next {
                self.tallies.push((key, Tally::default()));
            }
        }
        self.last
    }

    /// Where the group is that files of this name belong to.
    #[inline]
    fn index_of_extension(&mut self, name: &[u8]) -> usize {
        let Some(ending) = Ending::of(name) else {
            return self.index(Key::Extension(Extension::of(name)));
        };
        let slot = ending.slot(ENDINGS_POWER);
        let (known, index) = self.endings[slot];
        if known == ending {
            return index;
        }
        let last = Extension::last_of(name);
        if last.needs_the_one_before() {
            let extension = Parts::with_last(name, last).extension();
            return self.index(Key::Extension(extension));
        }
        let index = self.index(Key::Extension(last));
        self.endings[slot] = (ending, index);
        index
    }

    fn tally(&mut self, key: Key) -> &mut Tally {
        let index = self.index(key);
        &mut self.tallies[index].1
    }
}

/// The facts that decide the group of an entry, and its share there; a fact that could
/// not be read is absent.
struct Sample<'a> {
    name: &'a [u8],
    depth: u32,
    kind: FileType,
    size_bytes: Option<u64>,
    allocated_bytes: Option<u64>,
    /// With what stands for times that do not fit; they compare as those would.
    mtime_ns: Option<i64>,
    uid: Option<u32>,
    gid: Option<u32>,
}

impl Sample<'_> {
    /// Entry `index` of a batch, without the columns that no group looks at.
    #[inline]
    fn of(batch: &Batch, index: usize, depth: u32) -> Sample<'_> {
        fn read<T: Copy>(column: &[T], index: usize, known: bool) -> Option<T> {
            column.get(index).copied().filter(|_| known)
        }
        let known = batch.known()[index];
        Sample {
            name: batch.name(index),
            depth,
            kind: batch.kinds()[index],
            size_bytes: read(batch.size_bytes(), index, known),
            allocated_bytes: read(batch.allocated_bytes(), index, known),
            mtime_ns: read(batch.mtime_ns(), index, known),
            uid: read(batch.uids(), index, known),
            gid: read(batch.gids(), index, known),
        }
    }

    /// The group; by type, that of anything but a regular file.
    #[inline]
    fn key(&self, grouping: Grouping, now_ns: i64) -> Key {
        let known = match grouping {
            Grouping::Type => Some(Key::Kind(self.kind)),
            Grouping::Owner => self.uid.map(Key::Owner),
            Grouping::Group => self.gid.map(Key::Group),
            Grouping::Age => self
                .mtime_ns
                .map(|mtime_ns| Key::ModifiedWithin(age_limit(now_ns, mtime_ns))),
            Grouping::Size => self
                .size_bytes
                .map(|size_bytes| Key::SizeBelowPower(64 - size_bytes.leading_zeros())),
            Grouping::Depth => Some(Key::Depth(self.depth)),
        };
        known.unwrap_or(Key::Unknown)
    }

    /// The share of its inode: apparent and allocated bytes.
    #[inline]
    fn bytes(&self) -> (u64, u64) {
        let has_content = matches!(self.kind, FileType::File | FileType::Symlink);
        let apparent_bytes = self.size_bytes.filter(|_| has_content);
        (
            apparent_bytes.unwrap_or(0),
            self.allocated_bytes.unwrap_or(0),
        )
    }
}

/// The groups that one worker saw.
pub struct StatsState {
    stats: Stats,
    context: Context,
    groups: Groups,
    links: Arc<Links>,
    /// The numbers in [`Links::keys`] of the groups that have any, by their index.
    link_groups: Vec<Option<u32>>,
}

/// The shares of inodes with several names; for all workers.
struct Links {
    firsts: FirstNames<Brought>,
    /// The groups that they belong to.
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    keys: Vec<Key>,
    numbers: HashMap<Key, u32, RandomState>,
}

/// The share of an inode, and its group.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Brought {
    apparent_bytes: u64,
    allocated_bytes: u64,
    group: u32,
}

impl Kept for Brought {
    const NOTHING: Brought = Brought {
        apparent_bytes: 0,
        allocated_bytes: 0,
        group: 0,
    };
}

impl Links {
    fn new(context: &Context) -> Links {
        Links {
            firsts: FirstNames::new(context),
            keys: Mutex::default(),
        }
    }

    /// The number of a group.
    fn number(&self, key: Key) -> u32 {
        let mut keys = lock(&self.keys);
        let Keys { keys, numbers } = &mut *keys;
        *numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }
}

impl Sink for Stats {
    type State = StatsState;
    /// The groups, by key.
    type Output = Vec<(GroupKey, Tally)>;

    fn fields(&self) -> Fields {
        let common = Fields::NAME
            | Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::LINKS
            | Fields::ID
            | self.filter.fields();
        match self.grouping {
            Grouping::Owner | Grouping::Group => common | Fields::OWNER,
            Grouping::Age => common | Fields::MTIME,
            Grouping::Type | Grouping::Size | Grouping::Depth => common,
        }
    }

    fn states(&self, context: &Context, count: usize) -> Vec<StatsState> {
        let links = Arc::new(Links::new(context));
        (0..count)
            .map(|_| StatsState {
                stats: self.clone(),
                context: context.clone(),
                groups: Groups::new(),
                links: Arc::clone(&links),
                link_groups: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, _: &Context, states: Vec<StatsState>) -> Vec<(GroupKey, Tally)> {
        let mut groups = Groups::new();
        let links = states.first().map(|state| Arc::clone(&state.links));
        for state in states {
            for (key, tally) in state.groups.tallies {
                groups.tally(key).add(tally);
            }
        }
        if let Some(links) = links {
            let keys = lock(&links.keys);
            links.firsts.each(|_, brought| {
                let key = keys.keys[brought.group as usize];
                let (apparent, allocated) = (brought.apparent_bytes, brought.allocated_bytes);
                groups.tally(key).add_bytes(apparent, allocated);
            });
        }
        let groups = groups.tallies.into_iter();
        let mut groups: Vec<_> = groups.map(|(key, tally)| (key.into(), tally)).collect();
        groups.sort_unstable_by(|a: &(GroupKey, Tally), b| a.0.cmp(&b.0));
        groups
    }
}

impl StatsState {
    /// Adds an entry that may have other names; `linked` is its inode if it has.
    #[inline]
    fn add(&mut self, directory: &Directory<'_>, sample: &Sample<'_>, linked: Option<FileId>) {
        let grouping = self.stats.grouping;
        let index = match (grouping, sample.kind) {
            (Grouping::Type, FileType::File) => self.groups.index_of_extension(sample.name),
            _ => {
                let key = sample.key(grouping, self.context.now_ns);
                self.groups.index(key)
            }
        };
        let tally = &mut self.groups.tallies[index].1;
        tally.entries += 1;
        match linked {
            None => {
                let (apparent_bytes, allocated_bytes) = sample.bytes();
                tally.add_bytes(apparent_bytes, allocated_bytes);
            }
            Some(id) => self.offer(id, directory, sample, index),
        }
    }

    fn offer(&mut self, id: FileId, directory: &Directory<'_>, sample: &Sample<'_>, index: usize) {
        let (apparent_bytes, allocated_bytes) = sample.bytes();
        let value = Brought {
            apparent_bytes,
            allocated_bytes,
            group: self.link_group(index),
        };
        let name = LinkName {
            directory,
            behind_link: self.context.follows && directory.is_behind_link(),
            name: sample.name,
        };
        let number = self.context.inodes.number(id);
        self.links.firsts.offer(number, name, value);
    }

    /// The number that the group at `index` has for all workers.
    fn link_group(&mut self, index: usize) -> u32 {
        if self.link_groups.len() <= index {
            self.link_groups.resize(index + 1, None);
        }
        *self.link_groups[index].get_or_insert_with(|| {
            let key = self.groups.tallies[index].0;
            self.links.number(key)
        })
    }
}

impl Collect for StatsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if self.stats.filter.passes_directory(directory) {
            let attributes = directory.attributes();
            let sample = Sample {
                name: directory.name(),
                depth: directory.depth(),
                kind: attributes.kind,
                size_bytes: attributes.size_bytes(),
                allocated_bytes: attributes.allocated_bytes(),
                mtime_ns: attributes.clamped_mtime_ns(),
                uid: attributes.uid(),
                gid: attributes.gid(),
            };
            self.add(directory, &sample, None);
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        let depth = directory.entry_depth();
        for index in 0..batch.len() {
            if !self.stats.filter.passes(directory, || batch.entry(index)) {
                continue;
            }
            let is_linked = batch.known()[index] && may_repeat(&self.context, batch.links()[index]);
            let linked = is_linked.then(|| batch.id(index));
            self.add(directory, &Sample::of(batch, index, depth), linked);
        }
        ControlFlow::Continue(())
    }
}

/// The limit of [`AGE_LIMITS_S`] that a time is within; `None` for the future.
fn age_limit(now_ns: i64, mtime_ns: i64) -> Option<u64> {
    let age_ns = u64::try_from(i128::from(now_ns) - i128::from(mtime_ns)).ok()?;
    let age_s = age_ns / 1_000_000_000;
    AGE_LIMITS_S.into_iter().find(|&limit| age_s <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{TOO_EARLY, TOO_LATE};

    #[test]
    fn ages_fall_into_their_limits() {
        let second = 1_000_000_000;
        let check = |age_s: i64, limit| {
            assert_eq!(age_limit(0, -age_s * second), limit);
        };
        check(0, Some(3_600));
        check(3_600, Some(3_600));
        check(3_601, Some(86_400));
        check(-1, None);
        check(4_000_000_000, Some(u64::MAX));
        let now_ns = 1_800_000_000 * second;
        assert_eq!(age_limit(now_ns, TOO_LATE), None);
        assert_eq!(age_limit(now_ns, TOO_EARLY), Some(u64::MAX));
    }
}
