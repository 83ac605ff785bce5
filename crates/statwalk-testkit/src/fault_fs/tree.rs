// SPDX-License-Identifier: MIT OR Apache-2.0

//! The virtual tree behind a [`FaultFs`](super::FaultFs): a [`Model`] and the
//! generated names in its directories, found by name and by inode number.
//!
//! It knows nothing of faults.
//!
//! Inode numbers are stable. The nodes of the model count up from 1 (the root),
//! generated names from 2³². The names by which a directory grows have a bit of their
//! own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use super::run::{Letter, Run};
use crate::model::{EntryType, Model, NodeId, NodeKind, Timestamp, Totals};

/// The root's inode number, `FUSE_ROOT_ID` in include/uapi/linux/fuse.h.
pub(super) const ROOT: u64 = 1;
/// The first inode number of a generated name; those below are named entries.
pub(super) const RUNS_FROM: u64 = 1 << 32;
/// Marks the names by which a directory grows: `GROWN | dir << 28 | index`.
const GROWN: u64 = 1 << 61;
const GROWN_INDEX_BITS: u32 = 28;
const DIRECTORY_SIZE_BYTES: u64 = 4096;

/// One entry, as `stat` would describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) ino: u64,
    pub(super) entry_type: EntryType,
    pub(super) size_bytes: u64,
    pub(super) allocated_bytes: u128,
    pub(super) nlink: u32,
    pub(super) permissions: Option<u32>,
    pub(super) mtime: Option<Timestamp>,
    /// Major and minor number of a device node.
    pub(super) device: (u32, u32),
}

impl Object {
    /// An entry with nothing in it; of a file, the content is written.
    pub(super) fn empty(ino: u64, entry_type: EntryType, size_bytes: u64) -> Object {
        let is_directory = entry_type == EntryType::Directory;
        let size_bytes = if is_directory {
            DIRECTORY_SIZE_BYTES
        } else {
            size_bytes
        };
        let has_blocks = matches!(entry_type, EntryType::Directory | EntryType::File);
        Object {
            ino,
            entry_type,
            size_bytes,
            allocated_bytes: if has_blocks {
                u128::from(size_bytes).next_multiple_of(512)
            } else {
                0
            },
            nlink: if is_directory { 2 } else { 1 },
            permissions: None,
            mtime: None,
            device: (0, 0),
        }
    }
}

/// One name of a listing.
pub(super) struct Listed<'a> {
    pub(super) name: Cow<'a, [u8]>,
    pub(super) ino: u64,
    pub(super) entry_type: EntryType,
}

/// The tree of a [`FaultFs`](super::FaultFs).
#[derive(Clone, Debug)]
pub(super) struct Tree {
    model: Model,
    /// The node of inode number `i` is at `i - 1`.
    ids: Vec<NodeId>,
    /// Of every directory of the model, by inode number.
    dirs: HashMap<u64, Dir>,
    /// Names of an inode, where it has several.
    links: HashMap<NodeId, u32>,
    /// `st_blocks` of nodes that claim others than they have.
    claims: HashMap<NodeId, u64>,
    /// Ordered by `first_ino`, for finding the run of an inode number.
    runs: Vec<Run>,
    next_run_ino: u64,
    /// The contents of the files that can be read.
    contents: HashMap<u64, Vec<u8>>,
}

#[derive(Clone, Debug, Default)]
struct Dir {
    /// In the order of the listing; a hard link by a number of its own.
    entries: Vec<u64>,
    by_name: HashMap<Vec<u8>, u64>,
    runs: Vec<Run>,
    subdir_count: u64,
}

impl Tree {
    pub(super) fn new() -> Tree {
        Tree {
            model: Model::new(),
            ids: vec![Model::ROOT],
            dirs: HashMap::from([(ROOT, Dir::default())]),
            links: HashMap::new(),
            claims: HashMap::new(),
            runs: Vec::new(),
            next_run_ino: RUNS_FROM,
            contents: HashMap::new(),
        }
    }

    /// The directory at `path`, made with its parents where missing.
    pub(super) fn make_dir(&mut self, path: &Path) -> u64 {
        names(path).fold(ROOT, |at, name| match self.dir(at).by_name.get(name) {
            Some(&ino) => ino,
            None => self.insert(at, name, NodeKind::Directory),
        })
    }

    /// Adds an entry at `path`, and its parents.
    pub(super) fn add(&mut self, path: &Path, kind: NodeKind) -> u64 {
        let parent = self.make_dir(path.parent().unwrap_or(Path::new("")));
        let name = names(path).last().expect("the root is there already");
        self.insert(parent, name, kind)
    }

    /// Adds a file that can be read at `path`, and its parents.
    pub(super) fn add_text(&mut self, path: &Path, text: Vec<u8>) {
        let ino = self.add(path, NodeKind::file(text.len() as u64));
        self.contents.insert(ino, text);
    }

    /// The contents of a file, if it can be read.
    pub(super) fn content(&self, ino: u64) -> Option<&[u8]> {
        self.contents.get(&ino).map(Vec::as_slice)
    }

    /// Lets the entry at `path` claim to have blocks.
    pub(super) fn claim_blocks(&mut self, path: &Path, blocks: u64) {
        let ino = self.find(path).expect("the entry was added before");
        self.claims.insert(self.id(self.inode(ino)), blocks);
    }

    /// Adds all entries of a model below the directory at `path`.
    pub(super) fn add_model(&mut self, path: &Path, model: &Model) {
        let root = self.make_dir(path);
        let mut inserted = HashMap::from([(Model::ROOT, root)]);
        for (id, node) in model.nodes() {
            if id != Model::ROOT {
                let kind = match &node.kind {
                    NodeKind::HardLink { to } => NodeKind::HardLink {
                        to: self.id(inserted[to]),
                    },
                    kind => kind.clone(),
                };
                inserted.insert(id, self.insert(inserted[&node.parent], &node.name, kind));
            }
            let own = self.id(inserted[&id]);
            if let Some(mode) = node.mode {
                self.model.set_mode(own, mode);
            }
            if let Some(mtime) = node.mtime {
                self.model.set_mtime(own, mtime);
            }
        }
    }

    /// Adds `count` generated names to the directory at `path`.
    pub(super) fn add_run(&mut self, path: &Path, letter: Letter, count: u64, size_bytes: u64) {
        let entry_type = if letter == Letter::Dirs {
            EntryType::Directory
        } else {
            EntryType::File
        };
        let (parent, first_ino) = (self.make_dir(path), self.next_run_ino);
        self.push_run(Run {
            parent,
            letter,
            entry_type,
            size_bytes,
            count,
            first_ino,
        });
    }

    /// Adds generated names without end to the directory at `path`.
    pub(super) fn add_endless_run(&mut self, path: &Path, entry_type: EntryType) {
        let parent = self.make_dir(path);
        self.push_run(Run::endless(parent, entry_type, self.next_run_ino));
    }

    /// The totals, without the entries that only faults add.
    pub(super) fn expected(&self) -> Totals {
        let mut totals = self.model.totals();
        for run in self.runs.iter().filter(|run| !run.is_endless()) {
            totals.entries += run.count;
            if run.entry_type == EntryType::Directory {
                totals.dirs += run.count;
            } else {
                totals.files += run.count;
                let bytes = u128::from(run.count) * u128::from(run.size_bytes);
                totals.file_size_bytes += bytes;
                totals.apparent_bytes += bytes;
            }
        }
        totals
    }

    /// 512 × `st_blocks` over every inode, without those that only faults add.
    pub(super) fn allocated_bytes(&self) -> u128 {
        let own_inodes = self.ids.iter().filter(|id| self.model.inode(**id) == **id);
        let named: u128 = own_inodes
            .map(|id| self.named(*id, 0).allocated_bytes)
            .sum();
        let in_runs = self.runs.iter().filter(|run| !run.is_endless()).map(|run| {
            let object = Object::empty(0, run.entry_type, run.size_bytes);
            u128::from(run.count) * object.allocated_bytes
        });
        named + in_runs.sum::<u128>()
    }

    pub(super) fn find(&self, path: &Path) -> Option<u64> {
        names(path).try_fold(ROOT, |at, name| self.lookup(at, name))
    }

    /// The inode number behind a name.
    pub(super) fn lookup(&self, parent: u64, name: &[u8]) -> Option<u64> {
        let dir = self.dirs.get(&parent)?;
        if let Some(&ino) = dir.by_name.get(name) {
            return Some(ino);
        }
        match Letter::parse(name)? {
            (Letter::Grown, index) => {
                (index < 1 << GROWN_INDEX_BITS).then(|| grown_ino(parent, index))
            }
            (letter, index) => {
                let run = dir.runs.iter().find(|run| run.letter == letter)?;
                (index < run.count).then(|| run.first_ino + index)
            }
        }
    }

    pub(super) fn object(&self, ino: u64) -> Option<Object> {
        if ino & GROWN != 0 {
            return Some(Object::empty(ino, EntryType::File, 0));
        }
        if ino >= RUNS_FROM {
            let run = self.run_of(ino)?;
            return Some(Object::empty(ino, run.entry_type, run.size_bytes));
        }
        let id = *self.ids.get(usize::try_from(ino).ok()?.checked_sub(1)?)?;
        let mut object = self.named(id, ino);
        if let Some(dir) = self.dirs.get(&ino) {
            // 1 says "not known", as on btrfs.
            object.nlink = u32::try_from(2 + dir.subdir_count).unwrap_or(1);
        }
        Some(object)
    }

    /// The directory that holds an entry. Of an inode with several names, that
    /// of its first.
    pub(super) fn parent(&self, ino: u64) -> u64 {
        if ino & GROWN != 0 {
            (ino & !GROWN) >> GROWN_INDEX_BITS
        } else if ino >= RUNS_FROM {
            self.run_of(ino).map_or(ROOT, |run| run.parent)
        } else {
            let parent = self.model.node(self.id(ino)).parent;
            // The nodes of a model are numbered in its order.
            self.ids
                .binary_search(&parent)
                .map_or(ROOT, |at| at as u64 + 1)
        }
    }

    /// The target of a symbolic link.
    pub(super) fn target(&self, ino: u64) -> Option<&[u8]> {
        let id = *self.ids.get(usize::try_from(ino).ok()?.checked_sub(1)?)?;
        match &self.model.node(id).kind {
            NodeKind::Symlink { target } => Some(target),
            _ => None,
        }
    }

    /// The `index`-th name of a directory that has grown by `grown` names.
    pub(super) fn entry(&self, dir: u64, index: u64, grown: u64) -> Option<Listed<'_>> {
        // The directories of a run are empty.
        let node = self.dirs.get(&dir)?;
        if let Some(&listed) = node.entries.get(usize::try_from(index).ok()?) {
            let id = self.id(listed);
            let name = self.model.node(id).name.as_slice().into();
            return Some(Listed {
                name,
                ino: self.inode(listed),
                entry_type: self.model.entry_type(id),
            });
        }
        let mut index = index - node.entries.len() as u64;
        if index < grown {
            let name = Letter::Grown.name(index).into();
            return Some(Listed {
                name,
                ino: grown_ino(dir, index),
                entry_type: EntryType::File,
            });
        }
        index -= grown;
        // An endless directory comes last, or the scan would never see the others.
        for endless in [false, true] {
            for run in node.runs.iter().filter(|run| run.is_endless() == endless) {
                if index < run.count {
                    let name = run.letter.name(index).into();
                    let (ino, entry_type) = (run.first_ino + index, run.entry_type);
                    return Some(Listed {
                        name,
                        ino,
                        entry_type,
                    });
                }
                index -= run.count;
            }
        }
        None
    }

    fn insert(&mut self, parent: u64, name: &[u8], kind: NodeKind) -> u64 {
        let is_directory = kind == NodeKind::Directory;
        let added = self.model.add(self.id(parent), name, kind);
        let id = added.unwrap_or_else(|refused| {
            panic!(
                "the tree cannot have the entry {}: {refused:?}",
                name.escape_ascii()
            )
        });
        let inode = self.model.inode(id);
        if inode != id {
            *self.links.entry(inode).or_insert(1) += 1;
        }
        self.ids.push(id);
        let ino = self.ids.len() as u64;
        let shared = self.inode(ino);
        let dir = self
            .dirs
            .get_mut(&parent)
            .expect("the model checked the parent");
        dir.entries.push(ino);
        dir.by_name.insert(name.to_vec(), shared);
        if is_directory {
            dir.subdir_count += 1;
            self.dirs.insert(ino, Dir::default());
        }
        ino
    }

    fn push_run(&mut self, run: Run) {
        self.next_run_ino += run.count;
        assert!(self.next_run_ino < GROWN, "too many generated names");
        let dir = self
            .dirs
            .get_mut(&run.parent)
            .expect("the run's directory was made before");
        let clash = dir.runs.iter().any(|other| other.letter == run.letter);
        assert!(
            !clash,
            "a directory has generated names of one kind only once"
        );
        dir.runs.push(run);
        if run.entry_type == EntryType::Directory {
            dir.subdir_count += run.count;
        }
        self.runs.push(run);
    }

    /// A node as `stat` describes it, but for the links of a directory.
    fn named(&self, id: NodeId, ino: u64) -> Object {
        let node = self.model.node(id);
        let mut object = Object::empty(ino, self.model.entry_type(id), self.model.size_bytes(id));
        object.permissions = node.mode;
        object.mtime = node.mtime;
        if let Some(&links) = self.links.get(&id) {
            object.nlink = links;
        }
        match node.kind {
            NodeKind::File { data_bytes, .. } => {
                object.allocated_bytes = u128::from(data_bytes).next_multiple_of(512);
            }
            NodeKind::CharDevice { major, minor } | NodeKind::BlockDevice { major, minor } => {
                object.device = (major, minor);
            }
            _ => {}
        }
        if let Some(&blocks) = self.claims.get(&id) {
            object.allocated_bytes = u128::from(blocks) * 512;
        }
        object
    }

    fn id(&self, ino: u64) -> NodeId {
        self.ids[ino as usize - 1]
    }

    /// The number that all names of an inode share: that of the first.
    fn inode(&self, ino: u64) -> u64 {
        let inode = self.model.inode(self.id(ino));
        // The nodes of a model are numbered in its order.
        self.ids
            .binary_search(&inode)
            .map_or(ino, |at| at as u64 + 1)
    }

    fn dir(&self, ino: u64) -> &Dir {
        self.dirs
            .get(&ino)
            .expect("a path passes through directories only")
    }

    fn run_of(&self, ino: u64) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.first_ino <= ino);
        let run = self.runs.get(after.checked_sub(1)?)?;
        (ino - run.first_ino < run.count).then_some(run)
    }
}

fn grown_ino(dir: u64, index: u64) -> u64 {
    GROWN | dir << GROWN_INDEX_BITS | index
}

fn names(path: &Path) -> impl Iterator<Item = &[u8]> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.as_bytes()),
        Component::CurDir | Component::RootDir => None,
        Component::ParentDir | Component::Prefix(_) => panic!("`..` in a path of the tree"),
    })
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
