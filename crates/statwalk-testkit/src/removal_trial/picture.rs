// SPDX-License-Identifier: MIT OR Apache-2.0

//! A picture of a part of the disk: each path, with its inode and its type.
//!
//! An inode is a number and the file system that it is in.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An inode as the picture has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thing {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Directory,
    File,
    Link,
    Other,
}

/// Device and inode, as lines of the journal have them.
pub(super) type Id = (u64, u64);

impl Thing {
    pub(super) fn id(&self) -> Id {
        (self.device, self.inode)
    }

    /// The thing at a path now; absent where there is none.
    pub(super) fn at(path: &Path) -> Option<Thing> {
        let metadata = fs::symlink_metadata(path).ok()?;
        let kind = metadata.file_type();
        Some(Thing {
            device: metadata.dev(),
            inode: metadata.ino(),
            kind: if kind.is_dir() {
                Kind::Directory
            } else if kind.is_symlink() {
                Kind::Link
            } else if kind.is_file() {
                Kind::File
            } else {
                Kind::Other
            },
        })
    }
}

/// Everything below a directory, the directory included.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    pub(super) things: BTreeMap<PathBuf, Thing>,
}

impl Picture {
    pub(super) fn of(root: &Path) -> Picture {
        let mut picture = Picture::default();
        picture.add(root);
        picture
    }

    /// Adds everything below another directory.
    pub(super) fn add(&mut self, root: &Path) {
        self.add_view(root, root);
    }

    /// The same, with other paths: `point` stands in the place of `root`.
    pub(super) fn add_view(&mut self, root: &Path, point: &Path) {
        let mut waiting = vec![root.to_owned()];
        while let Some(path) = waiting.pop() {
            let Some(thing) = Thing::at(&path) else {
                continue;
            };
            if thing.kind == Kind::Directory {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(entries.map(|entry| entry.path()));
            }
            let path = match path.strip_prefix(root) {
                Ok(below) if !below.as_os_str().is_empty() => point.join(below),
                _ => point.to_owned(),
            };
            self.things.insert(path, thing);
        }
    }

    /// The paths of an inode.
    pub(super) fn paths_of(&self, id: Id) -> impl Iterator<Item = &Path> {
        let things = self.things.iter();
        things
            .filter(move |(_, thing)| thing.id() == id)
            .map(|(path, _)| path.as_path())
    }

    pub(super) fn ids(&self) -> BTreeSet<Id> {
        self.things.values().map(Thing::id).collect()
    }

    /// Whether no directory is there at two paths.
    pub(super) fn has_directories_once(&self) -> bool {
        let all = self.things.values();
        let all = all.filter(|thing| thing.kind == Kind::Directory);
        let mut known = BTreeSet::new();
        all.map(Thing::id).all(|id| known.insert(id))
    }

    /// The number of paths of each inode.
    pub(super) fn links(&self) -> BTreeMap<Thing, u64> {
        let mut links = BTreeMap::new();
        for thing in self.things.values() {
            *links.entry(*thing).or_insert(0) += 1;
        }
        links
    }
}
