// SPDX-License-Identifier: MIT OR Apache-2.0

//! A tree in memory as a source: for tests of sinks, and for scans that were stored.
//!
//! It answers as a kernel does, and makes no system call.

mod handle;
mod tree;

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, Fields, FileId, FileType};
use crate::failure::Failure;
use crate::listing::change_stamp::ChangeStamp;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, EntryStat, More, NotOpened, Way};
pub(crate) use handle::MemoryHandle;
pub use tree::{MemoryEntry, MemoryTree, MemoryTreeError};

/// The entries of one call of a listing.
const LISTED_AT_ONCE: usize = 256;

/// The most links that a path may lead through, as in Linux (path_resolution(7)).
const LINKS_MAX: u32 = 40;

/// A tree in memory, as the lister sees it.
pub(crate) struct Memory {
    tree: MemoryTree,
    /// Held by each directory that is open.
    open: Arc<()>,
}

/// An entry of the tree.
#[derive(Clone, Copy)]
pub(crate) struct MemoryStat(Attributes);

impl Memory {
    pub(crate) fn new(tree: MemoryTree) -> Memory {
        Memory {
            tree,
            open: Arc::default(),
        }
    }

    /// How many directories are open.
    #[cfg(test)]
    pub(crate) fn open_directories(&self) -> usize {
        Arc::strong_count(&self.open) - 1
    }

    /// The names in a directory and their nodes, in the order of the listing.
    pub(crate) fn children_of(&self, node: usize) -> &[(CString, usize)] {
        &self.tree.nodes[node].children
    }

    pub(crate) fn attributes_of(&self, node: usize) -> &Attributes {
        &self.tree.nodes[node].attributes
    }

    fn node_at(&self, from: usize, path: &[u8]) -> Result<usize, Failure> {
        self.tree.find(from, path).ok_or(Failure::NOT_FOUND)
    }

    fn entry(&self, dir: &DirHandle, name: &CStr) -> Result<usize, Failure> {
        self.node_at(MemoryHandle::of(dir)?.node, name.to_bytes())
    }

    fn stat(&self, node: usize) -> MemoryStat {
        MemoryStat(*self.attributes_of(node))
    }

    /// The target of the links that begin at an entry.
    fn target(&self, mut node: usize) -> Result<usize, Failure> {
        for _ in 0..LINKS_MAX {
            let link = &self.tree.nodes[node];
            if link.attributes.kind != FileType::Symlink {
                return Ok(node);
            }
            let from = match link.target.first() {
                Some(b'/') => 0,
                _ => link.parent,
            };
            node = self.node_at(from, &link.target)?;
        }
        Err(Failure::LOOP)
    }

    fn open(&self, node: Result<usize, Failure>) -> Result<DirHandle, NotOpened> {
        let node = node?;
        match self.tree.is_directory(node) {
            true => Ok(MemoryHandle::open(node, &self.open)),
            false => Err(NotOpened::NotADirectory(Failure::NOT_A_DIRECTORY)),
        }
    }

    fn find_directory(&self, node: Result<usize, Failure>) -> Result<DirHandle, Failure> {
        match node? {
            node if self.tree.is_directory(node) => Ok(MemoryHandle::open(node, &self.open)),
            _ => Err(Failure::NOT_A_DIRECTORY),
        }
    }
}

impl DirectorySource for Memory {
    type Stat = MemoryStat;
    type StatError = Failure;

    fn account(&self) -> Account {
        Account {
            name: "memory",
            generation: None,
            why: Vec::new(),
        }
    }

    fn open_root(&self, path: &CStr) -> Result<DirHandle, NotOpened> {
        self.open(self.node_at(0, path.to_bytes()))
    }

    fn open_child(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        self.open(self.entry(parent, name))
    }

    fn open_across(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        self.open_child(parent, name)
    }

    fn open_through_links(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        self.open(self.entry(parent, name).and_then(|node| self.target(node)))
    }

    fn duplicate(&self, dir: &DirHandle) -> Result<DirHandle, Failure> {
        Ok(MemoryHandle::open(MemoryHandle::of(dir)?.node, &self.open))
    }

    fn find_root(&self, path: &CStr) -> Result<DirHandle, Failure> {
        self.find_directory(self.node_at(0, path.to_bytes()))
    }

    fn find(&self, from: &DirHandle, path: &[u8], way: Way) -> Result<DirHandle, Failure> {
        let node = self.node_at(MemoryHandle::of(from)?.node, path);
        match way {
            Way::ThroughLink => self.find_directory(node.and_then(|node| self.target(node))),
            Way::Within | Way::Across => self.find_directory(node),
        }
    }

    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Failure> {
        let up = |node: usize, _| self.tree.nodes[node].parent;
        let node = (0..levels).fold(MemoryHandle::of(from)?.node, up);
        Ok(MemoryHandle::open(node, &self.open))
    }

    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<MemoryStat, Failure> {
        Ok(self.stat(self.entry(dir, name)?))
    }

    fn stat_path(&self, path: &CStr) -> Result<MemoryStat, Failure> {
        Ok(self.stat(self.node_at(0, path.to_bytes())?))
    }

    fn stat_root(&self, path: &CStr) -> Result<MemoryStat, Failure> {
        self.stat_path(path)
    }

    fn stat_directory(&self, dir: &DirHandle) -> Result<MemoryStat, Failure> {
        Ok(self.stat(MemoryHandle::of(dir)?.node))
    }

    fn stat_subdirectory(&self, dir: &DirHandle, name: &CStr) -> Result<MemoryStat, Failure> {
        self.stat_entry(dir, name)
    }

    fn recognise(&self, dir: &DirHandle, name: &CStr) -> Result<MemoryStat, Failure> {
        self.stat_entry(dir, name)
    }

    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<MemoryStat, Failure> {
        let from = match dir {
            Some(dir) => MemoryHandle::of(dir)?.node,
            None => 0,
        };
        let target = self.target(self.node_at(from, name.to_bytes())?)?;
        Ok(self.stat(target))
    }

    fn identity(&self, dir: &DirHandle) -> Result<FileId, Failure> {
        Ok(self.stat(MemoryHandle::of(dir)?.node).id())
    }

    fn has_no_inside(&self, dir: &DirHandle, name: &CStr) -> bool {
        let target = self.entry(dir, name).and_then(|node| self.target(node));
        target.is_ok_and(|node| !self.tree.is_directory(node))
    }

    fn list(
        &self,
        dir: &DirHandle,
        _buffer: &mut [u8],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Failure> {
        let dir = MemoryHandle::of(dir)?;
        let position = dir.position() as usize;
        let rest = self
            .children_of(dir.node)
            .get(position..)
            .unwrap_or_default();
        for (name, node) in rest.iter().take(LISTED_AT_ONCE) {
            let stat = self.stat(*node);
            let attributes = stat.attributes(Fields::ALL);
            into.add_with(name, attributes.id.ino, &attributes, names);
        }
        dir.set_position((position + rest.len().min(LISTED_AT_ONCE)) as u64);
        Ok(match rest.is_empty() {
            true => More::End,
            false => More::Entries,
        })
    }

    fn listed_fields(&self) -> Fields {
        Fields::ALL
    }

    fn position(&self, dir: &DirHandle) -> Result<u64, Failure> {
        Ok(MemoryHandle::of(dir)?.position())
    }

    fn seek(&self, dir: &DirHandle, position: u64) -> Result<(), Failure> {
        MemoryHandle::of(dir)?.set_position(position);
        Ok(())
    }

    fn links_count_subdirs(&self, _dir: &DirHandle) -> bool {
        true
    }

    /// A tree in memory does not change during a scan: no time is too new.
    fn now_s(&self) -> i64 {
        i64::MAX
    }
}

impl EntryStat for MemoryStat {
    fn kind(&self) -> FileType {
        self.0.kind
    }

    fn id(&self) -> FileId {
        self.0.id
    }

    fn mount(&self) -> u64 {
        0
    }

    fn has_mount_id(&self) -> bool {
        true
    }

    fn is_idle_automount(&self) -> bool {
        false
    }

    fn size_bytes(&self) -> u64 {
        self.0.size_bytes
    }

    fn links(&self) -> u32 {
        self.0.links
    }

    fn change_stamp(&self) -> ChangeStamp {
        ChangeStamp {
            mtime: (self.0.mtime_ns, 0),
            ctime: (self.0.ctime_ns, 0),
            links: self.0.links,
            size_bytes: self.0.size_bytes,
        }
    }

    fn attributes(&self, wanted: Fields) -> Attributes {
        let mut attributes = self.0;
        // Of the times it keeps this one, which nanoseconds may not hold.
        let odd = match attributes.odd_s(0) {
            None => Fields::NONE,
            Some(_) => Fields::MTIME,
        };
        attributes.valid = wanted.without(Fields::BTIME | odd) | Fields::TYPE;
        attributes
    }
}
