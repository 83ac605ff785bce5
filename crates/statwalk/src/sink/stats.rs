// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and sums by type, owner, group, age, size or depth.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::first_names::FirstNames;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::{Batch, EntryRef};
use crate::directory::{DirState, Directory, join};
use crate::entry::{Attributes, Fields, FileId, FileType};

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
    Extension(Vec<u8>),
    /// A user id.
    Owner(u32),
    /// A group id.
    Group(u32),
    /// Modified at most this many seconds ago, and longer ago than the next
    /// smaller limit; `None` for times in the future.
    ModifiedWithin(Option<u64>),
    /// `st_size` below two to this power, and not below half of it; 0 for empty.
    SizeBelowPower(u32),
    /// The distance from the root.
    Depth(u32),
    /// Entries whose attributes could not be read.
    Unknown,
}

/// What a group amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Names.
    pub entries: u64,
    /// `st_size` of regular files and symbolic links, in bytes.
    pub apparent_bytes: u64,
    /// The space taken, in bytes.
    pub allocated_bytes: u64,
}

impl Tally {
    fn add_bytes(&mut self, attributes: &Attributes) {
        let allocated_bytes = attributes.allocated_bytes().unwrap_or(0);
        self.allocated_bytes = self.allocated_bytes.saturating_add(allocated_bytes);
        if matches!(attributes.kind, FileType::File | FileType::Symlink) {
            let size_bytes = attributes.size_bytes().unwrap_or(0);
            self.apparent_bytes = self.apparent_bytes.saturating_add(size_bytes);
        }
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

/// A test that an entry must pass.
type Filter = Arc<dyn Fn(&Directory<'_>, &EntryRef<'_>) -> bool + Send + Sync>;

/// Groups entries, with counts and sums for each group.
///
/// A hard-linked inode brings its bytes to the group of its first name in path
/// order; every name is counted.
///
/// ```
/// use statwalk::{Grouping, Scan, Stats};
/// let groups = Scan::new(".").run(&Stats::by(Grouping::Size))?.output;
/// assert!(groups.iter().all(|(_, tally)| tally.entries > 0));
/// # Ok::<(), statwalk::Error>(())
/// ```
#[derive(Clone)]
pub struct Stats {
    grouping: Grouping,
    filter: Option<Filter>,
    filter_fields: Fields,
}

impl Stats {
    /// Groups all entries.
    #[must_use]
    pub fn by(grouping: Grouping) -> Stats {
        Stats {
            grouping,
            filter: None,
            filter_fields: Fields::NONE,
        }
    }

    /// Groups only entries that pass a test, which needs the given fields.
    #[must_use]
    pub fn filter(
        mut self,
        fields: Fields,
        test: impl Fn(&Directory<'_>, &EntryRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Stats {
        self.filter = Some(Arc::new(test));
        self.filter_fields = fields;
        self
    }
}

/// The groups that one worker saw.
pub struct StatsState {
    stats: Stats,
    context: Context,
    groups: HashMap<GroupKey, Tally, RandomState>,
    links: FirstNames<(GroupKey, Attributes)>,
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
            | self.filter_fields;
        match self.grouping {
            Grouping::Owner | Grouping::Group => common | Fields::OWNER,
            Grouping::Age => common | Fields::MTIME,
            Grouping::Type | Grouping::Size | Grouping::Depth => common,
        }
    }

    fn states(&self, context: &Context, count: usize) -> Vec<StatsState> {
        (0..count)
            .map(|_| StatsState {
                stats: self.clone(),
                context: context.clone(),
                groups: HashMap::default(),
                links: FirstNames::new(),
            })
            .collect()
    }

    fn merge(&self, _: &Context, states: Vec<StatsState>) -> Vec<(GroupKey, Tally)> {
        let mut groups: HashMap<GroupKey, Tally, RandomState> = HashMap::default();
        let mut links = FirstNames::new();
        for state in states {
            for (key, tally) in state.groups {
                let sum = groups.entry(key).or_default();
                sum.entries += tally.entries;
                sum.apparent_bytes = sum.apparent_bytes.saturating_add(tally.apparent_bytes);
                sum.allocated_bytes = sum.allocated_bytes.saturating_add(tally.allocated_bytes);
            }
            links.absorb(state.links);
        }
        for (key, attributes) in links.into_values() {
            groups.entry(key).or_default().add_bytes(&attributes);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        groups
    }
}

impl StatsState {
    fn key(&self, name: &[u8], depth: u32, attributes: &Attributes) -> GroupKey {
        let known = match self.stats.grouping {
            Grouping::Type if attributes.kind != FileType::File => {
                Some(GroupKey::Kind(attributes.kind))
            }
            Grouping::Type => Some(GroupKey::Extension(extension(name))),
            Grouping::Owner => attributes.uid().map(GroupKey::Owner),
            Grouping::Group => attributes.gid().map(GroupKey::Group),
            Grouping::Age => attributes
                .mtime_ns()
                .map(|mtime_ns| age_group(self.context.now_ns, mtime_ns)),
            Grouping::Size => attributes
                .size_bytes()
                .map(|size_bytes| GroupKey::SizeBelowPower(64 - size_bytes.leading_zeros())),
            Grouping::Depth => Some(GroupKey::Depth(depth)),
        };
        known.unwrap_or(GroupKey::Unknown)
    }

    fn add(&mut self, directory: &Directory<'_>, depth: u32, entry: &EntryRef<'_>, path: bool) {
        if let Some(filter) = &self.stats.filter
            && !filter(directory, entry)
        {
            return;
        }
        let key = self.key(entry.name, depth, &entry.attributes);
        let linked = match (entry.attributes.links(), entry.attributes.id()) {
            (Some(links), Some(id)) if path && may_repeat(&self.context, links) => Some(id),
            _ => None,
        };
        let tally = self.groups.entry(key.clone()).or_default();
        tally.entries += 1;
        match linked {
            None => tally.add_bytes(&entry.attributes),
            Some(id) => self.offer(id, directory, entry, key),
        }
    }

    fn offer(
        &mut self,
        id: FileId,
        directory: &Directory<'_>,
        entry: &EntryRef<'_>,
        key: GroupKey,
    ) {
        let path = join(directory.path(), entry.name);
        let value = (key, entry.attributes);
        let behind_link = self.context.follows && directory.is_behind_link();
        self.links
            .offer(id, behind_link, directory.root(), path, value);
    }
}

impl Collect for StatsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if directory.state() != DirState::Argument {
            let entry = EntryRef {
                name: directory.name(),
                attributes: *directory.attributes(),
            };
            self.add(directory, directory.depth(), &entry, false);
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        let depth = match directory.state() {
            DirState::Argument => 0,
            _ => directory.depth() + 1,
        };
        for entry in batch.iter() {
            self.add(directory, depth, &entry, true);
        }
        ControlFlow::Continue(())
    }
}

/// What follows the last dot of a name, in lower case.
///
/// A leading dot does not begin an extension, and neither does a dot before
/// more than 16 bytes or anything but letters, digits and `_ - +`.
fn extension(name: &[u8]) -> Vec<u8> {
    // The name of a root is a path.
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let start = name.iter().rposition(|&byte| byte == b'.');
    match start {
        Some(at) if at > 0 && name.len() - at <= 17 => {
            let extension = &name[at + 1..];
            let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte);
            if extension.iter().all(plain) {
                extension.to_ascii_lowercase()
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

fn age_group(now_ns: i64, mtime_ns: i64) -> GroupKey {
    let Ok(age_ns) = u64::try_from(i128::from(now_ns) - i128::from(mtime_ns)) else {
        return GroupKey::ModifiedWithin(None);
    };
    let age_s = age_ns / 1_000_000_000;
    let limit = AGE_LIMITS_S.into_iter().find(|&limit| age_s <= limit);
    GroupKey::ModifiedWithin(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_what_people_call_so() {
        for (name, expected) in [
            ("a.TXT", "txt"),
            (".bashrc", ""),
            (".config.json", "json"),
            ("archive.tar.gz", "gz"),
            ("no", ""),
            ("ends.", ""),
            ("a.b c", ""),
            ("lib.so", "so"),
            ("dir.d/.bashrc", ""),
            ("dir.d/a.c", "c"),
        ] {
            assert_eq!(extension(name.as_bytes()), expected.as_bytes(), "{name}");
        }
    }

    #[test]
    fn ages_fall_into_their_limits() {
        let second = 1_000_000_000;
        let check = |age_s: i64, limit| {
            assert_eq!(
                age_group(0, -age_s * second),
                GroupKey::ModifiedWithin(limit)
            );
        };
        check(0, Some(3_600));
        check(3_600, Some(3_600));
        check(3_601, Some(86_400));
        check(-1, None);
        check(4_000_000_000, Some(u64::MAX));
    }
}
