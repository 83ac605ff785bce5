// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads one directory for a worker: its entries, and the inodes that they name.
//!
//! Of the changes since the sync, some have reached the trees and others are still in
//! memory. The kernel reads a directory that shows a change, and stats an entry whose
//! inode changed or is gone. For a change that no item shows yet, the trees have the
//! state of a moment since the scan began.

use std::ffi::CStr;
use std::sync::Arc;

use statwalk_btrfs::Key;
use statwalk_btrfs::dir_item::{DirItem, dir_items};
use statwalk_btrfs::inode_item::InodeItem;
use statwalk_btrfs::kind::{DIR_INDEX, INODE_ITEM};
use statwalk_btrfs::search_items::search_items;
use statwalk_sys::btrfs::SEARCH_ARGUMENT_BYTES;

use super::attributes::attributes;
use super::mounted::Mounted;
use super::windows::{Trouble, Windows, inode_key};
use crate::dir_handle::DirHandle;
use crate::directory::Dir;
use crate::entry::{Attributes, FileId, FileType};
use crate::listing::WITHHELD_MAX;
use crate::listing::contents::Contents;
use crate::listing::in_place::{
    Begun, Child, Counted, InPlace, InPlaceDir, Node, Piece, StatLater,
};
use crate::listing::names::Names;
use crate::listing::open_dir::OpenDir;
use crate::listing::options::ScanOptions;
use statwalk_format::is_entry_name;

/// `BTRFS_FT_ENCRYPTED`, include/uapi/linux/btrfs_tree.h.
const ENCRYPTED: u8 = 0x80;

/// Inode numbers within this distance share one search: about as many as a window holds.
const NEAR: u64 = 128;

/// So many near entries are worth a window: it costs as much as so many searches for
/// one inode.
const WINDOW_PAYS: usize = 8;

/// The buffer of a search for the entries of a directory, without their inodes.
const INDEX_BYTES: usize = SEARCH_ARGUMENT_BYTES + (16 << 10);

/// The longest entry in a result: its header, the item, the name.
const ENTRY_BYTES_MAX: usize = 32 + 30 + 255;

/// Reads the directories of a btrfs for one worker.
pub(crate) struct Reader {
    mounted: Arc<Mounted>,
    windows: Windows,
    index: Vec<u8>,
    found: Vec<FoundEntry>,
    names: Vec<u8>,
    path: Vec<u8>,
    node: Node,
    /// The key of the directory's next entries. Absent at its end.
    next: Option<Key>,
}

/// An entry whose inode has yet to be read.
struct FoundEntry {
    inode: u64,
    name_offset: u32,
    name_bytes: u16,
    kind: FileType,
}

/// One reading of one directory, or of a piece of a large one.
struct Pass<'a> {
    reader: &'a mut Reader,
    options: &'a ScanOptions,
    names: Names<'a>,
    contents: &'a mut Contents,
    stat_later: &'a mut StatLater,
    /// Whether only the kernel can read the directory.
    is_kernels: bool,
}

impl Reader {
    pub(crate) fn new(mounted: &Arc<Mounted>) -> Reader {
        Reader {
            mounted: Arc::clone(mounted),
            windows: Windows::default(),
            index: Vec::new(),
            found: Vec::new(),
            names: Vec::new(),
            path: Vec::new(),
            node: node(FileId { dev: 0, ino: 0 }, 0),
            next: None,
        }
    }

    /// The attributes of a directory. Absent if the kernel must read it.
    fn directory(&mut self, node: Node, options: &ScanOptions) -> Option<Attributes> {
        let (mounted, inode) = (&*self.mounted, node.id.ino);
        let key = inode_key(inode);
        let window = match self.windows.holding(mounted, node.mark, key).is_some() {
            true => self.windows.holding(mounted, node.mark, key)?,
            false => self.windows.read(mounted, node.mark, key).ok()?,
        };
        let item = InodeItem::parse(window.inode_item(inode)?).ok()?;
        let found = attributes(&item, options.wanted, node.id, mounted.sector_bytes);
        let is_known = found.kind == FileType::Directory && item.transid <= mounted.generation;
        is_known.then_some(found)
    }
}

impl InPlace for Reader {
    fn child(&self, parent: &Dir, name: &CStr, ino: u64) -> Child {
        // Without the number of a tree, `ino` comes from the kernel's listing. There it
        // is that of a tree itself if a subvolume begins at the entry.
        if ino == 0 || parent.mark == 0 {
            return Child::OnceOpened;
        }
        match parent.identity.get() {
            Some(identity) if !self.mounted.mount_points.have_name(name) => {
                let dev = identity.dev;
                let id = FileId { dev, ino };
                Child::Here(node(id, parent.mark))
            }
            _ => Child::ByKernel,
        }
    }

    fn opened(&self, dir: &DirHandle, id: FileId) -> Option<Node> {
        let tree = self.mounted.tree_of(id.dev, dir.fd()?)?;
        Some(node(id, tree))
    }

    fn begin(
        &mut self,
        node: Node,
        dir: &InPlaceDir<'_>,
        options: &ScanOptions,
        _is_cancelled: &dyn Fn() -> bool,
    ) -> Begun {
        let is_kernels = self.mounted.mount_points.lie_in(node.id)
            || options.roots.roots_in(node.id).is_some()
            || dir.place.leads_through(node.id, dir.mount.id);
        if is_kernels {
            return Begun::AskKernel;
        }
        self.node = node;
        self.next = Some(index_key(node.id.ino, 0));
        let found = match options.wanted.need_stat() {
            true => self.directory(node, options),
            // The entries have names and types; no attribute is wanted.
            false => Some(Attributes::of_type(FileType::Directory)),
        };
        found.map_or(Begun::AskKernel, Begun::Directory)
    }

    fn read(
        &mut self,
        dir: &OpenDir,
        options: &ScanOptions,
        contents: &mut Contents,
        stat_later: &mut StatLater,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Piece {
        let path = std::mem::take(&mut self.path);
        let mut pass = Pass {
            reader: self,
            options,
            names: Names::new(options, dir, path),
            contents,
            stat_later,
            is_kernels: false,
        };
        let piece = pass.read(is_cancelled);
        self.path = pass.names.end();
        piece
    }

    /// Always true: each entry shows its own changes.
    fn held_still(&mut self) -> bool {
        true
    }

    fn count(&self, what: Counted) {
        self.mounted.counts.note(what);
    }
}

impl Pass<'_> {
    /// Reads on, up to as many entries as the lister withholds.
    fn read(&mut self, is_cancelled: &dyn Fn() -> bool) -> Piece {
        self.reader.found.clear();
        self.reader.names.clear();
        let read = match self.options.wanted.need_stat() {
            true => self.read_entries_and_more(is_cancelled),
            false => self.read_entries_alone(is_cancelled),
        };
        if is_cancelled() {
            return Piece::Cancelled;
        }
        if read.is_err() || self.is_kernels || self.look_at_inodes().is_err() {
            return Piece::AskKernel;
        }
        match self.reader.next {
            Some(_) => Piece::Full,
            None => Piece::Whole,
        }
    }

    fn is_full(&self) -> bool {
        let waiting = self.reader.found.len() + self.stat_later.len();
        self.contents.entry_count() + waiting > WITHHELD_MAX
    }

    /// Reads entries from windows, which hold their inodes as well.
    fn read_entries_and_more(&mut self, is_cancelled: &dyn Fn() -> bool) -> Result<(), Trouble> {
        let (tree, inode) = (self.reader.node.mark, self.reader.node.id.ino);
        while let Some(from) = self.reader.next {
            if self.is_kernels || self.is_full() || is_cancelled() {
                return Ok(());
            }
            let mut windows = std::mem::take(&mut self.reader.windows);
            let held = windows.holding(&self.reader.mounted, tree, from).is_some();
            let window = match held {
                true => windows
                    .holding(&self.reader.mounted, tree, from)
                    .ok_or(Trouble::Unread),
                false => windows.read(&self.reader.mounted, tree, from),
            };
            let last = window.map(|window| {
                for item in window.entries_of(inode) {
                    if item.key >= from {
                        self.take_entries(item.bytes);
                    }
                }
                window.last()
            });
            self.reader.windows = windows;
            let last = last?;
            let is_last = last >= index_key(inode, u64::MAX);
            self.reader.next = last.next().filter(|_| !is_last);
        }
        Ok(())
    }

    /// Reads entries by searches for nothing else.
    fn read_entries_alone(&mut self, is_cancelled: &dyn Fn() -> bool) -> Result<(), Trouble> {
        let inode = self.reader.node.id.ino;
        while let Some(from) = self.reader.next {
            if self.is_kernels || self.is_full() || is_cancelled() {
                return Ok(());
            }
            let mut index = std::mem::take(&mut self.reader.index);
            index.resize(INDEX_BYTES, 0);
            let to = index_key(inode, u64::MAX);
            let found = self
                .reader
                .mounted
                .search(self.reader.node.mark, from, to, &mut index);
            let read = found.map_err(|_| Trouble::Unread).and_then(|found| {
                let mut items = search_items(found.bytes, found.item_count);
                let mut last = None;
                for item in items.by_ref() {
                    let item = item.map_err(|_| Trouble::Unread)?;
                    self.take_entries(item.bytes);
                    last = Some(item.key);
                }
                // The search ended for want of room only if no entry would fit.
                let is_last = found.bytes.len() - items.offset() >= ENTRY_BYTES_MAX;
                Ok(last.and_then(Key::next).filter(|_| !is_last))
            });
            self.reader.index = index;
            self.reader.next = read?;
        }
        Ok(())
    }

    /// Takes the entries in one item.
    fn take_entries(&mut self, bytes: &[u8]) {
        for entry in dir_items(bytes) {
            match entry {
                Ok(entry) if entry.file_type & ENCRYPTED == 0 => self.take_entry(&entry),
                _ => self.is_kernels = true,
            }
        }
    }

    #[inline]
    fn take_entry(&mut self, entry: &DirItem<'_>) {
        let name = entry.name;
        let kind = FileType::of_directory_entry(entry.file_type);
        // A commit writes new entries first, then removes old ones, and writes the
        // directory's inode last (btrfs_commit_inode_delayed_items,
        // fs/btrfs/delayed-inode.c of Linux 6.18): a name could come twice.
        let is_new = entry.transid > self.reader.mounted.generation;
        let is_odd = kind == FileType::Unknown || !is_entry_name(name);
        if is_new || is_odd || self.names.decide_about_others(name) {
            self.is_kernels = true;
            return;
        }
        if self.names.leave_out(name, kind) {
            self.contents.excluded += 1;
            return;
        }
        let (options, contents) = (self.options, &mut *self.contents);
        match kind {
            FileType::Directory => {
                // Another kind of location is a subvolume: the kernel opens it.
                let is_here = entry.location.kind == INODE_ITEM;
                contents.push_subdir(name, if is_here { entry.location.objectid } else { 0 });
            }
            FileType::Symlink if options.follows => contents.push_link(name),
            _ if options.shortcuts.types_only => contents.batch.push_listed(&[], kind, false),
            _ if !options.wanted.need_stat() => contents.batch.push_listed(name, kind, false),
            _ => {
                let names = &mut self.reader.names;
                self.reader.found.push(FoundEntry {
                    inode: entry.location.objectid,
                    // Fits: there are at most WITHHELD_MAX names and one window.
                    name_offset: names.len() as u32,
                    name_bytes: name.len() as u16,
                    kind,
                });
                names.extend_from_slice(name);
            }
        }
    }

    /// Reads the inodes of the entries in the order of their numbers: the order of the
    /// tree.
    fn look_at_inodes(&mut self) -> Result<(), Trouble> {
        let mut found = std::mem::take(&mut self.reader.found);
        let mut windows = std::mem::take(&mut self.reader.windows);
        if !found.is_sorted_by_key(|entry| entry.inode) {
            radsort::sort_by_key(&mut found, |entry| entry.inode);
        }
        let tree = self.reader.node.mark;
        let mut outcome = Ok(());
        for (index, entry) in found.iter().enumerate() {
            let key = inode_key(entry.inode);
            let item = if let Some(window) = windows.holding(&self.reader.mounted, tree, key) {
                Ok(window.inode_item(entry.inode))
            } else {
                let beyond = found.get(index + WINDOW_PAYS - 1);
                let is_dense = beyond.is_some_and(|other| other.inode - entry.inode <= NEAR)
                    || windows.end_before(tree, entry.inode);
                match is_dense {
                    true => windows
                        .read(&self.reader.mounted, tree, key)
                        .map(|window| window.inode_item(entry.inode)),
                    false => windows.single(&self.reader.mounted, tree, entry.inode),
                }
            };
            match item {
                Ok(item) => {
                    let item = item.and_then(|item| InodeItem::parse(item).ok());
                    self.take_inode(entry, item.as_ref());
                }
                Err(trouble) => {
                    outcome = Err(trouble);
                    break;
                }
            }
        }
        found.clear();
        self.reader.found = found;
        self.reader.windows = windows;
        outcome
    }

    #[inline]
    fn take_inode(&mut self, entry: &FoundEntry, item: Option<&InodeItem>) {
        let start = entry.name_offset as usize;
        let name = &self.reader.names[start..start + usize::from(entry.name_bytes)];
        if let Some(item) = item
            && item.transid <= self.reader.mounted.generation
        {
            let id = FileId {
                dev: self.reader.node.id.dev,
                ino: entry.inode,
            };
            let found = attributes(
                item,
                self.options.wanted,
                id,
                self.reader.mounted.sector_bytes,
            );
            if found.kind == entry.kind {
                return self.contents.batch.push_stated(name, &found);
            }
        }
        // Without the number: another inode can have the name by now.
        self.stat_later.push(name, entry.kind, 0);
    }
}

/// A directory, marked with the tree of its subvolume: inode numbers are those of a tree.
fn node(id: FileId, tree: u64) -> Node {
    Node { id, mark: tree }
}

/// The key of a directory's entry; offset 0 is before the first.
pub(super) fn index_key(directory: u64, offset: u64) -> Key {
    Key {
        objectid: directory,
        kind: DIR_INDEX,
        offset,
    }
}
