// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which inodes have data, and in which directories they have their names: what a
//! second look, at that data, begins with.

use std::fmt;
use std::ops::ControlFlow;

use statwalk_core::{
    Batch, Collect, Context, DirState, Directory, Fields, FileId, FileType, Origin, Sink,
};

use crate::path::join;

/// Keeps all directories, and of each regular file that has blocks its number.
///
/// ```
/// use statwalk_core::Scan;
/// use statwalk_space::btrfs::Inodes;
/// let outcome = Scan::new(".").run(&Inodes::new())?;
/// let table = outcome.output;
/// assert!(table.dir_count() > 0);
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Inodes;

/// The inodes that one worker found.
pub struct InodesState {
    dirs: Vec<Found>,
    names: Vec<u8>,
    files: Vec<FileAt>,
    /// The roots that are no directories, by their numbers, with what is kept of each.
    root_files: Vec<(usize, Option<FileAt>)>,
}

impl fmt::Debug for InodesState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InodesState")
            .field("dir_count", &self.dirs.len())
            .field("file_count", &self.files.len())
            .field("root_file_count", &self.root_files.len())
            .finish_non_exhaustive()
    }
}

/// A directory, as it was found.
struct Found {
    id: usize,
    parent: Option<usize>,
    root: u32,
    /// Absent for a root that is no directory.
    state: Option<DirState>,
    dev: Option<u64>,
    name_start: usize,
    name_end: usize,
}

/// A name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileAt {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// The index of its directory; until the states are merged, the number that
    /// the scan gave it.
    pub(crate) dir: u32,
    /// How many names its inode has.
    pub(crate) links: u32,
}

impl FileAt {
    pub(crate) fn is_same_inode(&self, other: &FileAt) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

/// The inodes that [`Inodes`] kept.
#[derive(Default)]
pub struct InodeTable {
    /// Each before what lies below it, siblings by their names.
    pub(crate) dirs: Vec<DirAt>,
    names: Vec<u8>,
    /// Sorted, so that the names of an inode follow each other.
    pub(crate) files: Vec<FileAt>,
    /// Whether links were followed.
    pub(crate) follows: bool,
}

/// A directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirAt {
    /// Absent for a root.
    pub(crate) parent: Option<u32>,
    /// Where what lies below it ends.
    pub(crate) end: u32,
    pub(crate) depth: u32,
    /// Absent for a root that is no directory.
    pub(crate) state: Option<DirState>,
    /// Its `st_dev`, where that is known.
    pub(crate) dev: Option<u64>,
    name_start: usize,
    name_end: usize,
}

impl fmt::Debug for InodeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InodeTable")
            .field("dir_count", &self.dirs.len())
            .field("file_count", &self.files.len())
            .field("follows", &self.follows)
            .finish_non_exhaustive()
    }
}

impl InodeTable {
    /// How many directories were found.
    #[must_use]
    pub fn dir_count(&self) -> usize {
        self.dirs.len()
    }

    /// The path of a directory, beginning with the root as the caller gave it.
    pub(crate) fn path(&self, index: u32) -> Vec<u8> {
        let mut chain = vec![index];
        let mut at = index;
        while let Some(parent) = self.dirs[at as usize].parent {
            chain.push(parent);
            at = parent;
        }
        let names = chain.iter().rev().map(|&index| self.name(index));
        names.fold(Vec::new(), join)
    }

    /// The name of a directory; for a root its path.
    pub(crate) fn name(&self, index: u32) -> &[u8] {
        let dir = &self.dirs[index as usize];
        &self.names[dir.name_start..dir.name_end]
    }
}

impl Inodes {
    /// Keeps them of all roots.
    #[must_use]
    pub fn new() -> Inodes {
        Inodes
    }
}

impl Sink for Inodes {
    type State = InodesState;
    type Output = InodeTable;

    fn fields(&self) -> Fields {
        Fields::TYPE | Fields::ALLOCATED | Fields::LINKS | Fields::ID
    }

    fn states(&self, _: &Context, count: usize) -> Vec<InodesState> {
        let state = || InodesState {
            dirs: Vec::new(),
            names: Vec::new(),
            files: Vec::new(),
            root_files: Vec::new(),
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, context: &Context, states: Vec<InodesState>) -> InodeTable {
        let mut table = InodeTable {
            follows: context.follows,
            ..InodeTable::default()
        };
        let (mut found, mut root_files) = (Vec::new(), Vec::new());
        for state in states {
            let start = table.names.len();
            table.names.extend(state.names);
            table.files.extend(state.files);
            root_files.extend(state.root_files);
            found.extend(state.dirs.into_iter().map(|dir| Found {
                name_start: dir.name_start + start,
                name_end: dir.name_end + start,
                ..dir
            }));
        }
        // Each is a place of its own, beside those of the directories.
        let first = found.iter().map(|dir| dir.id + 1).max().unwrap_or(0);
        for (id, (root, file)) in (first..).zip(root_files) {
            let name_start = table.names.len();
            table.names.extend_from_slice(&context.roots[root]);
            found.push(Found {
                id,
                parent: None,
                root: root as u32,
                state: None,
                dev: None,
                name_start,
                name_end: table.names.len(),
            });
            let dir = id as u32;
            (table.files).extend(file.map(|file| FileAt { dir, ..file }));
        }
        let index_of = table.place(&found);
        // After an interruption the directory of a file can be missing.
        table.files.retain_mut(|file| {
            let dir = index_of.get(file.dir as usize).copied();
            file.dir = dir.unwrap_or(NOWHERE);
            file.dir != NOWHERE
        });
        table.files.sort_unstable();
        table
    }
}

/// No directory.
const NOWHERE: u32 = u32::MAX;

impl InodeTable {
    /// Puts directories in their order, and returns where each number went.
    fn place(&mut self, found: &[Found]) -> Vec<u32> {
        let ids = found.iter().map(|dir| dir.id + 1).max().unwrap_or(0);
        let mut at = vec![NOWHERE; ids];
        for (position, dir) in found.iter().enumerate() {
            at[dir.id] = position as u32;
        }
        // A parent that never came, as after an interruption: what lies below it is
        // a root then, so that nothing is lost.
        let parent_of = |dir: &Found| dir.parent.map(|id| at[id]).filter(|&at| at != NOWHERE);
        let mut order: Vec<u32> = (0..found.len() as u32).collect();
        order.sort_unstable_by_key(|&position| {
            let dir = &found[position as usize];
            let name = &self.names[dir.name_start..dir.name_end];
            (parent_of(dir).unwrap_or(NOWHERE), dir.root, name)
        });
        let parents: Vec<u32> = order
            .iter()
            .map(|&position| parent_of(&found[position as usize]).unwrap_or(NOWHERE))
            .collect();
        let children = |parent: u32| {
            let start = parents.partition_point(|&known| known < parent);
            let end = parents.partition_point(|&known| known <= parent);
            order[start..end].iter().rev()
        };

        let mut index_of = vec![NOWHERE; ids];
        let mut waiting: Vec<(u32, Option<u32>)> =
            children(NOWHERE).map(|&root| (root, None)).collect();
        self.dirs.reserve(found.len());
        while let Some((position, parent)) = waiting.pop() {
            let index = self.dirs.len() as u32;
            let dir = &found[position as usize];
            index_of[dir.id] = index;
            let depth = parent.map_or(0, |parent: u32| self.dirs[parent as usize].depth + 1);
            self.dirs.push(DirAt {
                parent,
                end: index + 1,
                depth,
                state: dir.state,
                dev: dir.dev,
                name_start: dir.name_start,
                name_end: dir.name_end,
            });
            waiting.extend(children(position).map(|&child| (child, Some(index))));
        }
        for index in (0..self.dirs.len()).rev() {
            if let Some(parent) = self.dirs[index].parent {
                let end = self.dirs[index].end;
                let parent = &mut self.dirs[parent as usize];
                parent.end = parent.end.max(end);
            }
        }
        index_of
    }
}

impl Collect for InodesState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let name_start = self.names.len();
        self.names.extend_from_slice(directory.name());
        self.dirs.push(Found {
            id: directory.id().index(),
            parent: directory.parent().map(|id| id.index()),
            root: directory.root() as u32,
            state: Some(directory.state()),
            dev: directory.attributes().id().map(FileId::dev),
            name_start,
            name_end: self.names.len(),
        });
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let kept = |&index: &usize| {
            let is_file = batch.kinds()[index] == FileType::File && batch.known()[index];
            is_file && batch.allocated_bytes()[index] > 0
        };
        let file_at = |dir| {
            move |index: usize| FileAt {
                dev: batch.devs()[index],
                ino: batch.inos()[index],
                dir,
                links: batch.links()[index],
            }
        };
        let mut files = (0..batch.len()).filter(kept);
        match origin.directory() {
            Some(directory) => {
                let dir = directory.id().index() as u32;
                self.files.extend(files.map(file_at(dir)));
            }
            None => {
                let file = files.next().map(file_at(NOWHERE));
                self.root_files.push((origin.root(), file));
            }
        }
        ControlFlow::Continue(())
    }
}
