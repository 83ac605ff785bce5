// SPDX-License-Identifier: MIT OR Apache-2.0

//! A tree in memory as a source: for tests of sinks, and for scans that were stored.
//!
//! It answers as a kernel does, and makes no system call.
//!
//! # Write a source
//!
//! A source answers the questions of a lister about directories. This one is an example
//! with nothing beside the answers; `listing/source.rs` has all questions of
//! `DirectorySource` in groups, and most have an answer by themselves. These remain:
//!
//! 1. **The stat** (`Stat`, `StatError`). `KeptStat` and `Failure` do where attributes
//!    are at hand. Device and number of a `FileId` must be equal exactly where two names
//!    are one inode, and the number is not 0. `Attributes::valid` has the fields that are
//!    known: an absent one is never zero. The times and links of a directory must change
//!    with its entries, if they can.
//! 2. **The handle.** A type of the source's own for an open directory: `DirHandle::of`
//!    takes it, and `own` looks into it. The handle of another source is
//!    `Failure::BAD_HANDLE`. Each handle has a position of its own in the listing, which
//!    begins at 0; `position` and `seek` read and set it.
//! 3. **`find_root`, `find`, `find_above`** open a directory: by a path as the caller
//!    wrote it, by a path or a name from another directory, or some levels above one. A
//!    path may begin with slashes, and have several in a row; `.` is the directory
//!    itself. The answer is `Failure::NOT_A_DIRECTORY` for another entry, and
//!    `Failure::NOT_FOUND` for none. The lister decides on these kinds. A source without
//!    links has no `Way::ThroughLink`: a link is no directory.
//! 4. **`stat_entry`, `stat_path`, `stat_directory`** stat a name, a path, and an open
//!    directory. Only `stat_target` follows a link.
//! 5. **`list`** adds some entries with each call, without `.` and `..`, and moves the
//!    position. `More::after` says whether it goes on: it ends when it has added none.
//!    Names have no slash and no NUL. An entry of `FileType::Unknown` makes the lister
//!    ask. A listing that has attributes adds them by `add_with`, and `listed_fields`
//!    says which: then no entry is asked about for these.
//! 6. **`account`** names the source for the plan.
//!
//! The lister repeats, verifies, orders and follows. A source decides none of that, keeps
//! no cache, and is asked by several threads at once. `Scan::start_on` scans it:
//! `Scan::run_in_memory` is how a caller comes to this one, and `native.rs` of a system's
//! room how one comes to that of a system. `cargo xtask tidy` has a row for each source.
//! `source/tests` has a second example, of a tar archive.

mod handle;
mod tree;

use std::ffi::{CStr, CString};
use std::sync::Arc;

use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, FileType};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, KeptStat, More, Way};
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

    fn stat(&self, node: usize) -> KeptStat {
        KeptStat(*self.attributes_of(node))
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

    fn find_directory(&self, node: Result<usize, Failure>) -> Result<DirHandle, Failure> {
        match node? {
            node if self.tree.is_directory(node) => Ok(MemoryHandle::open(node, &self.open)),
            _ => Err(Failure::NOT_A_DIRECTORY),
        }
    }
}

impl DirectorySource for Memory {
    type Stat = KeptStat;
    type StatError = Failure;

    fn account(&self) -> Account {
        Account::named("memory")
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

    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<KeptStat, Failure> {
        Ok(self.stat(self.entry(dir, name)?))
    }

    fn stat_path(&self, path: &CStr) -> Result<KeptStat, Failure> {
        Ok(self.stat(self.node_at(0, path.to_bytes())?))
    }

    fn stat_directory(&self, dir: &DirHandle) -> Result<KeptStat, Failure> {
        Ok(self.stat(MemoryHandle::of(dir)?.node))
    }

    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<KeptStat, Failure> {
        let from = match dir {
            Some(dir) => MemoryHandle::of(dir)?.node,
            None => 0,
        };
        let target = self.target(self.node_at(from, name.to_bytes())?)?;
        Ok(self.stat(target))
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
        let children = self.children_of(MemoryHandle::of(dir)?.node);
        let position = self.position(dir)? as usize;
        let listed = children.iter().skip(position).take(LISTED_AT_ONCE);
        let count = listed.len();
        for (name, node) in listed {
            let attributes = self.attributes_of(*node);
            into.add_with(name, attributes.id.ino, attributes, names);
        }
        self.seek(dir, (position + count) as u64)?;
        Ok(More::after(count))
    }

    fn listed_fields(&self) -> Fields {
        Fields::ALL
    }

    fn links_count_subdirs(&self, _dir: &DirHandle) -> bool {
        true
    }

    /// A tree in memory does not change during a scan: no time is too new.
    fn now_s(&self) -> i64 {
        i64::MAX
    }
}
