// SPDX-License-Identifier: MIT OR Apache-2.0

//! Single entries and groups of them in JSON: the answers of `top`, `stats`
//! and `find`.

use serde::Serialize;
use statwalk_core::{Attributes, GroupKey, SizeHistogram, Tally, Time, TopOf};
use statwalk_view::json_path;

use super::seconds_and_rest;
use super::tree_rows::NodeJson;
use crate::answer::owner_names::Owners;
use crate::flags::FieldName;
use crate::output::found_fields::{device, permissions, rdev};

/// The answer of `top`: the largest first.
#[derive(Serialize)]
pub(crate) struct TopAnswer<'a> {
    pub(crate) top: Vec<&'a TopJson>,
    /// Only where those are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rebuildable: Option<RebuildableJson>,
}

/// The sums of all directories that a program makes again, listed or not.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct RebuildableJson {
    pub(crate) dirs: u64,
    pub(crate) apparent_bytes: u128,
    pub(crate) allocated_bytes: u128,
}

/// A large file, or a large directory in the form that it has in `tree`.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum TopJson {
    File(FileJson),
    Directory(NodeJson),
}

/// An entry with the attributes of files.
#[derive(Serialize)]
pub(crate) struct FileJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(rename = "type")]
    kind: char,
    #[serde(skip_serializing_if = "Option::is_none")]
    apparent_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<u32>,
}

impl FileJson {
    pub(crate) fn new(path: &[u8], attributes: &Attributes) -> FileJson {
        let (path, path_b64) = json_path(path);
        let (mtime_s, mtime_ns) = seconds_and_rest(attributes.mtime_ns());
        FileJson {
            path,
            path_b64,
            kind: attributes.kind.letter(),
            apparent_bytes: attributes.size_bytes(),
            allocated_bytes: attributes.allocated_bytes(),
            mtime_s,
            mtime_ns,
            links: attributes.links(),
        }
    }
}

impl From<&TopOf> for TopJson {
    fn from(large: &TopOf) -> TopJson {
        TopJson::File(FileJson::new(&large.path, &large.attributes))
    }
}

/// The answer of `stats`.
#[derive(Serialize)]
pub(crate) struct GroupsAnswer {
    pub(crate) by: Vec<&'static str>,
    pub(crate) groups: Vec<GroupJson>,
}

/// A group: the properties that its entries share, and their sums.
///
/// The group of entries whose property is unknown has no such field.
#[derive(Default, Serialize)]
pub(crate) struct GroupJson {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<char>,
    /// Of regular files; empty where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<String>,
    /// Of regular files.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Modified at most so long ago, and longer than the limit before. Without
    /// an end where it is the last, and absent for times in the future.
    #[serde(skip_serializing_if = "Option::is_none")]
    age_max_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<&'static str>,
    /// Of this size and up to but not of the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_min_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_max_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    entries: u64,
    apparent_bytes: u128,
    allocated_bytes: u128,
    /// Absent where the group has no regular file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_sizes: Option<FileSizesJson>,
}

/// The sizes of files.
#[derive(Serialize)]
pub(crate) struct FileSizesJson {
    files: u64,
    median_bytes: Option<u64>,
    p90_bytes: Option<u64>,
    p99_bytes: Option<u64>,
    largest_bytes: Option<u64>,
}

impl FileSizesJson {
    fn new(sizes: &SizeHistogram) -> FileSizesJson {
        FileSizesJson {
            files: sizes.file_count(),
            median_bytes: sizes.percentile(50),
            p90_bytes: sizes.percentile(90),
            p99_bytes: sizes.percentile(99),
            largest_bytes: sizes.largest_bytes(),
        }
    }
}

impl GroupJson {
    pub(crate) fn new<'a>(
        keys: impl IntoIterator<Item = &'a GroupKey>,
        tally: &Tally,
        sizes: Option<&SizeHistogram>,
        owners: &impl Owners,
    ) -> GroupJson {
        let sizes = sizes.filter(|sizes| sizes.file_count() > 0);
        let mut group = GroupJson {
            file_sizes: sizes.map(FileSizesJson::new),
            entries: tally.entries,
            apparent_bytes: tally.apparent_bytes,
            allocated_bytes: tally.allocated_bytes,
            ..GroupJson::default()
        };
        for key in keys {
            group.add(key, owners);
        }
        group
    }

    fn add(&mut self, key: &GroupKey, owners: &impl Owners) {
        let group = self;
        let text = |name: Option<Vec<u8>>| name.map(|name| json_path(&name).0);
        match key {
            GroupKey::Kind(kind) => group.kind = Some(kind.letter()),
            GroupKey::Extension(extension) => {
                group.kind = Some('f');
                group.extension = text(Some(extension.clone()));
            }
            GroupKey::Category(category) => {
                group.kind = Some('f');
                group.category = Some(category.name());
            }
            GroupKey::Owner(uid) => {
                group.uid = Some(*uid);
                group.user = text(owners.user(*uid));
            }
            GroupKey::Group(gid) => {
                group.gid = Some(*gid);
                group.group = text(owners.group(*gid));
            }
            GroupKey::ModifiedWithin(None) => group.age = Some("future"),
            GroupKey::ModifiedWithin(Some(u64::MAX)) => group.age = Some("oldest"),
            GroupKey::ModifiedWithin(limit) => group.age_max_s = *limit,
            GroupKey::SizeBelowPower(power) => {
                group.size_min_bytes = Some(size_min(*power));
                group.size_max_bytes = Some(size_max(*power));
            }
            GroupKey::Depth(depth) => group.depth = Some(*depth),
            _ => {}
        }
    }
}

/// The smallest size of a group of sizes below a power of two.
pub(crate) fn size_min(power: u32) -> u64 {
    match power {
        0 => 0,
        power => 1 << (power - 1),
    }
}

/// The largest size of a group of sizes below a power of two.
pub(crate) fn size_max(power: u32) -> u64 {
    u64::MAX.checked_shr(64 - power).unwrap_or(0)
}

/// An entry that `find` found: its path, its type, and the attributes that the user
/// names, or else those that the filters read.
#[derive(Default, Serialize)]
pub(crate) struct FoundJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(rename = "type")]
    kind: char,
    #[serde(skip_serializing_if = "Option::is_none")]
    apparent_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocated_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inode: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    atime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    atime_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ctime_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    btime_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    btime_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rdev: Option<String>,
}

/// The attributes that filters read.
const OF_FILTERS: [FieldName; 4] = [
    FieldName::Size,
    FieldName::Mtime,
    FieldName::Uid,
    FieldName::Gid,
];

impl FoundJson {
    /// The entry with these attributes; without any name, with those that filters read.
    pub(crate) fn new(
        path: &[u8],
        attributes: &Attributes,
        names: &[FieldName],
        owners: &impl Owners,
    ) -> FoundJson {
        let (path, path_b64) = json_path(path);
        let mut found = FoundJson {
            path,
            path_b64,
            kind: attributes.kind.letter(),
            ..FoundJson::default()
        };
        let names = if names.is_empty() { &OF_FILTERS } else { names };
        for name in names {
            found.add(*name, attributes, owners);
        }
        found
    }

    fn add(&mut self, name: FieldName, attributes: &Attributes, owners: &impl Owners) {
        let text = |name: Option<Vec<u8>>| name.map(|name| json_path(&name).0);
        match name {
            // Each row has it. `all` stands for the others.
            FieldName::Type | FieldName::All => {}
            FieldName::Size => self.apparent_bytes = attributes.size_bytes(),
            FieldName::Allocated => self.allocated_bytes = attributes.allocated_bytes(),
            FieldName::Links => self.links = attributes.links(),
            FieldName::Inode => self.inode = attributes.id().map(|id| id.ino()),
            FieldName::Device => self.device = attributes.id().map(|id| device(id.dev())),
            FieldName::Mtime => {
                (self.mtime_s, self.mtime_ns) = seconds_and_rest(attributes.mtime_ns());
            }
            FieldName::Atime => {
                (self.atime_s, self.atime_ns) =
                    seconds_and_rest(attributes.time_ns(Time::Accessed));
            }
            FieldName::Ctime => {
                (self.ctime_s, self.ctime_ns) = seconds_and_rest(attributes.time_ns(Time::Changed));
            }
            FieldName::Btime => {
                (self.btime_s, self.btime_ns) = seconds_and_rest(attributes.time_ns(Time::Born));
            }
            FieldName::Owner => {
                self.uid = attributes.uid();
                self.user = text(attributes.uid().and_then(|uid| owners.user(uid)));
            }
            FieldName::Group => {
                self.gid = attributes.gid();
                self.group = text(attributes.gid().and_then(|gid| owners.group(gid)));
            }
            FieldName::Uid => self.uid = attributes.uid(),
            FieldName::Gid => self.gid = attributes.gid(),
            FieldName::Mode => self.mode = attributes.mode().map(permissions),
            FieldName::Rdev => self.rdev = rdev(attributes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_sizes_meet_and_do_not_overlap() {
        assert_eq!((size_min(0), size_max(0)), (0, 0));
        assert_eq!((size_min(1), size_max(1)), (1, 1));
        assert_eq!((size_min(13), size_max(13)), (4096, 8191));
        assert_eq!(size_max(64), u64::MAX);
        for power in 1..=64 {
            assert_eq!(size_max(power - 1) + 1, size_min(power));
        }
    }
}
