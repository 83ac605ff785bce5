// SPDX-License-Identifier: MIT OR Apache-2.0

//! Single entries and groups of them in JSON: parts of the answers of `top`, `stats`,
//! `changes` and `find`.

use serde::ser::SerializeMap;
use statwalk_core::{Attributes, FileType, GroupKey, SizeHistogram, Tally};
use statwalk_view::json_path;

use super::object::{Fields, Json, Object};
use crate::answer::owner_names::{OwnerNames, Owners};
use crate::flags::FieldName;
use crate::output::attribute_table::{Value, field_and_keys, value};

/// An entry: its path, its type, and some of its attributes.
pub(crate) struct EntryJson<'a, O> {
    pub(crate) path: &'a [u8],
    pub(crate) attributes: &'a Attributes,
    /// In the order of their keys. The type is none of them: each entry has it.
    pub(crate) names: &'a [FieldName],
    pub(crate) owners: O,
}

impl<'a> EntryJson<'a, OwnerNames> {
    /// A file of a list.
    pub(crate) fn of_file(path: &'a [u8], attributes: &'a Attributes) -> EntryJson<'a, OwnerNames> {
        EntryJson {
            path,
            attributes,
            names: &[
                FieldName::Size,
                FieldName::Allocated,
                FieldName::Mtime,
                FieldName::Links,
            ],
            owners: OwnerNames::default(),
        }
    }
}

impl<O: Owners> Fields for EntryJson<'_, O> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", self.path);
        object.field("type", self.attributes.kind.letter());
        for name in self.names {
            let Some(value) = value(*name, self.attributes) else {
                continue;
            };
            let (_, keys) = field_and_keys(*name);
            match value {
                Value::Bytes(bytes) => object.field(keys[0], bytes),
                Value::Time(ns) => object.time(keys, Some(ns)),
                Value::Number(number) => object.field(keys[0], number),
                Value::User(uid) => {
                    object.field(keys[0], uid);
                    object.known(keys[1], self.owners.user(uid).map(utf8));
                }
                Value::Group(gid) => {
                    object.field(keys[0], gid);
                    object.known(keys[1], self.owners.group(gid).map(utf8));
                }
                Value::Text(text) => object.field(keys[0], text),
            }
        }
    }
}

/// A name as text alone: the number stands beside it.
fn utf8(name: impl AsRef<[u8]>) -> String {
    json_path(name.as_ref()).0
}

/// The sums of all directories that a program makes again, listed or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rebuildable {
    pub(crate) dirs: u64,
    pub(crate) apparent_bytes: u128,
    pub(crate) allocated_bytes: u128,
}

impl Fields for Rebuildable {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("dirs", self.dirs);
        object.field("apparent_bytes", self.apparent_bytes);
        object.field("allocated_bytes", self.allocated_bytes);
    }
}

/// A group: the properties that its entries share, and their sums.
pub(crate) struct GroupJson<'a, O> {
    pub(crate) keys: Vec<&'a GroupKey>,
    pub(crate) tally: &'a Tally,
    pub(crate) sizes: Option<&'a SizeHistogram>,
    pub(crate) owners: &'a O,
}

/// The group of entries whose property is unknown has no field for it.
impl<O: Owners> Fields for GroupJson<'_, O> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let kind = self.keys.iter().find_map(|key| match key {
            GroupKey::Kind(kind) => Some(*kind),
            GroupKey::Extension(_) | GroupKey::Category(_) => Some(FileType::File),
            _ => None,
        });
        object.known("type", kind.map(FileType::letter));
        // Their own order is that of the fields.
        let mut keys = self.keys.clone();
        keys.sort();
        for key in keys {
            write_key(key, self.owners, object);
        }
        object.field("entries", self.tally.entries);
        object.field("apparent_bytes", self.tally.apparent_bytes);
        object.field("allocated_bytes", self.tally.allocated_bytes);
        let sizes = self.sizes.filter(|sizes| sizes.file_count() > 0);
        object.known("file_sizes", sizes.map(Json));
    }
}

fn write_key(key: &GroupKey, owners: &impl Owners, object: &mut Object<impl SerializeMap>) {
    match key {
        GroupKey::Extension(extension) => object.field("extension", utf8(extension.to_vec())),
        GroupKey::Category(category) => object.field("category", category.name()),
        GroupKey::Owner(uid) => {
            object.field("uid", uid);
            object.known("user", owners.user(*uid).map(utf8));
        }
        GroupKey::Group(gid) => {
            object.field("gid", gid);
            object.known("group", owners.group(*gid).map(utf8));
        }
        // Modified at most so long ago, and longer than the limit before.
        GroupKey::ModifiedWithin(limit) => match limit {
            None => object.field("age", "future"),
            Some(u64::MAX) => object.field("age", "oldest"),
            Some(limit_s) => object.field("age_max_s", limit_s),
        },
        GroupKey::SizeBelowPower(power) => {
            object.field("size_min_bytes", size_min(*power));
            object.field("size_max_bytes", size_max(*power));
        }
        GroupKey::Depth(depth) => object.field("depth", depth),
        _ => {}
    }
}

impl Fields for SizeHistogram {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("files", self.file_count());
        object.field("median_bytes", self.percentile(50));
        object.field("p90_bytes", self.percentile(90));
        object.field("p99_bytes", self.percentile(99));
        object.field("largest_bytes", self.largest_bytes());
    }
}

/// The smallest size of a group of sizes below a power of two.
fn size_min(power: u32) -> u64 {
    match power {
        0 => 0,
        power => 1 << (power - 1),
    }
}

/// The largest size of a group of sizes below a power of two.
fn size_max(power: u32) -> u64 {
    u64::MAX.checked_shr(64 - power).unwrap_or(0)
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
