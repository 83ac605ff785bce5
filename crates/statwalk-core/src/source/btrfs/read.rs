// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads one directory for a worker: its entries, and the inodes that they name.
//!
//! What changed since the file system was synced is in the trees in part, and in
//! part still in memory. A directory that is known to have changed is the
//! kernel's to read, and so is an entry whose inode changed or is gone; of what
//! changed and does not show it, the trees have the state of a moment since the
//! scan began.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use statwalk_sys::btrfs::{Key, SEARCH_ARGUMENT_BYTES};

use super::attributes::attributes;
use super::mounted::Mounted;
use super::windows::{Trouble, Windows, inode_key};
use crate::decode::btrfs::dir_item::{DirItem, dir_items};
use crate::decode::btrfs::inode_item::InodeItem;
use crate::decode::btrfs::kind::{DIR_INDEX, INODE_ITEM};
use crate::decode::btrfs::search_items::search_items;
use crate::decode::name::is_entry_name;
use crate::entry::{Attributes, FileId, FileType};
use crate::listing::contents::Contents;
use crate::listing::context::Terms;
use crate::listing::in_place::{Delivery, Doubtful, End, InPlaceDir};
use crate::listing::names::Names;
use crate::listing::outlet::Outlet;
use crate::listing::{Lister, WITHHELD_MAX};

/// `BTRFS_FT_ENCRYPTED`, include/uapi/linux/btrfs_tree.h.
const ENCRYPTED: u8 = 0x80;

/// How near the inodes of a directory's entries must lie to each other to be read
/// by one search: about as many as a window holds.
const NEAR: u64 = 128;

/// From how many such entries on a window pays: it costs as much as so many
/// searches for one inode.
const WINDOW_PAYS: usize = 8;

/// What a search for the entries of a directory alone brings.
const INDEX_BYTES: usize = SEARCH_ARGUMENT_BYTES + (16 << 10);

/// What the longest entry takes in an answer: its header, itself, its name.
const ENTRY_BYTES_MAX: usize = 32 + 30 + 255;

/// A directory of a subvolume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) tree: u64,
    pub(crate) id: FileId,
}

/// Buffers that serve one directory after the other.
#[derive(Default)]
pub(crate) struct Buffers {
    windows: Windows,
    index: Vec<u8>,
    found: Vec<FoundEntry>,
    names: Vec<u8>,
    doubtful: Doubtful,
    path: Vec<u8>,
}

/// An entry whose inode is still to be looked at.
struct FoundEntry {
    inode: u64,
    name_offset: u32,
    name_bytes: u16,
    kind: FileType,
}

/// How far a directory was read.
enum Piece {
    /// To its end.
    Whole,
    /// Until there is as much as is withheld.
    Full,
    /// Until something that only the kernel can tell.
    ByKernel,
    Cancelled,
}

/// One reading of one directory.
struct Pass<'a> {
    mounted: &'a Mounted,
    terms: &'a Terms,
    node: Node,
    names: Names<'a>,
    contents: Contents,
    buffers: Buffers,
    /// Where its entries go on; `None` at the end.
    next: Option<Key>,
    /// Something that only the kernel can tell was met.
    is_kernels: bool,
}

impl Lister {
    /// Reads a directory. Answers false where the kernel must be asked instead;
    /// then nothing of it was delivered.
    pub(crate) fn read_from_tree(
        &mut self,
        mounted: &Mounted,
        node: Node,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> bool {
        let end = self.read_node(mounted, node, dir, out);
        let counter = match end {
            End::Delivered => &mounted.counts.dirs,
            End::ByKernel => &mounted.counts.dirs_by_kernel,
            End::Cancelled => return true,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        matches!(end, End::Delivered)
    }

    fn read_node(
        &mut self,
        mounted: &Mounted,
        node: Node,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> End {
        let terms = Arc::clone(&self.terms);
        let is_kernels = mounted.mount_points.lie_in(node.id)
            || !terms.roots.roots_in(node.id).is_empty()
            || dir.place.leads_through(node.id, dir.mount.id);
        if is_kernels {
            return End::ByKernel;
        }
        let mut buffers = std::mem::take(&mut self.in_place.btrfs);
        let found = match terms.wanted.need_stat() {
            true => buffers.directory(mounted, node, &terms),
            // Names and types are in the entries.
            false => Some(Attributes::of_type(FileType::Directory)),
        };
        let Some(found) = found else {
            self.in_place.btrfs = buffers;
            return End::ByKernel;
        };
        if dir.depth >= terms.max_depth {
            self.in_place.btrfs = buffers;
            self.at_limit(dir.place, dir.root, dir.depth, &found, out);
            return End::Delivered;
        }
        let open_dir = dir.begin(self, node.id, node.tree, found, out);
        let path = std::mem::take(&mut buffers.path);
        let mut contents = std::mem::take(&mut self.contents);
        contents.clear();
        let mut pass = Pass {
            mounted,
            terms: &terms,
            node,
            names: Names::new(&terms, &open_dir, path),
            contents,
            buffers,
            next: Some(index_key(node.id.ino, 0)),
            is_kernels: false,
        };
        let mut delivery = Delivery::of(dir, false);
        let end = loop {
            let piece = pass.read_piece(out);
            let may_ask = !delivery.has_begun();
            match piece {
                Piece::Cancelled => break End::Cancelled,
                Piece::ByKernel if may_ask => break End::ByKernel,
                // A file that decides about the others may come when some are delivered.
                Piece::Full if may_ask && terms.exclusions.read_files() => break End::ByKernel,
                // They come in pieces from the kernel, and need not all wait at once.
                Piece::Full if may_ask && pass.contents.subdir_offsets.len() > WITHHELD_MAX / 2 => {
                    break End::ByKernel;
                }
                _ => {}
            }
            let doubtful = std::mem::take(&mut pass.buffers.doubtful);
            let is_sound = self.stat_doubtful(&doubtful, &open_dir, &mut pass.contents);
            let count = &mounted.counts.entries_by_kernel;
            count.fetch_add(doubtful.len() as u64, Ordering::Relaxed);
            pass.buffers.doubtful = doubtful;
            pass.buffers.doubtful.clear();
            if !is_sound && may_ask {
                break End::ByKernel;
            }
            if !delivery.add(self, dir, &open_dir, &pass.contents, &[], out) {
                break End::Delivered;
            }
            match piece {
                Piece::Full if is_sound => pass.contents.clear(),
                Piece::Whole if is_sound => break End::Delivered,
                // Too late to ask the kernel: a part of it was delivered.
                _ => {
                    out.changed(&open_dir.view());
                    break End::Delivered;
                }
            }
        };
        let Pass {
            names,
            contents,
            mut buffers,
            ..
        } = pass;
        buffers.path = names.end();
        buffers.doubtful.clear();
        (self.in_place.btrfs, self.contents) = (buffers, contents);
        end
    }
}

impl Buffers {
    /// The attributes of a directory; absent where it is the kernel's to read.
    fn directory(&mut self, mounted: &Mounted, node: Node, terms: &Terms) -> Option<Attributes> {
        let inode = node.id.ino;
        let key = inode_key(inode);
        let window = match self.windows.holding(mounted, node.tree, key).is_some() {
            true => self.windows.holding(mounted, node.tree, key)?,
            false => self.windows.read(mounted, node.tree, key).ok()?,
        };
        let item = InodeItem::parse(window.inode_item(inode)?).ok()?;
        let found = attributes(&item, terms.wanted, node.id, mounted.sector_bytes);
        let is_known = found.kind == FileType::Directory && item.transid <= mounted.generation;
        is_known.then_some(found)
    }
}

impl Pass<'_> {
    /// Reads on, up to as much as is withheld.
    fn read_piece(&mut self, out: &impl Outlet) -> Piece {
        self.buffers.found.clear();
        self.buffers.names.clear();
        let read = match self.terms.wanted.need_stat() {
            true => self.read_entries_and_more(out),
            false => self.read_entries_alone(out),
        };
        if out.cancelled() {
            return Piece::Cancelled;
        }
        if read.is_err() || self.is_kernels || self.look_at_inodes().is_err() {
            return Piece::ByKernel;
        }
        match self.next {
            Some(_) => Piece::Full,
            None => Piece::Whole,
        }
    }

    fn is_full(&self) -> bool {
        let waiting = self.buffers.found.len() + self.buffers.doubtful.len();
        self.contents.entry_count() + waiting > WITHHELD_MAX
    }

    /// Takes entries from windows, which hold what lies beside them as well.
    fn read_entries_and_more(&mut self, out: &impl Outlet) -> Result<(), Trouble> {
        let (tree, inode) = (self.node.tree, self.node.id.ino);
        while let Some(from) = self.next {
            if self.is_kernels || self.is_full() || out.cancelled() {
                return Ok(());
            }
            let mut windows = std::mem::take(&mut self.buffers.windows);
            let held = windows.holding(self.mounted, tree, from).is_some();
            let window = match held {
                true => windows
                    .holding(self.mounted, tree, from)
                    .ok_or(Trouble::Unread),
                false => windows.read(self.mounted, tree, from),
            };
            let last = window.map(|window| {
                for item in window.entries_of(inode) {
                    if item.key >= from {
                        self.take_entries(item.bytes);
                    }
                }
                window.last()
            });
            self.buffers.windows = windows;
            let last = last?;
            let is_last = last >= index_key(inode, u64::MAX);
            self.next = last.next().filter(|_| !is_last);
        }
        Ok(())
    }

    /// Searches for the entries of the directory and nothing else.
    fn read_entries_alone(&mut self, out: &impl Outlet) -> Result<(), Trouble> {
        let inode = self.node.id.ino;
        while let Some(from) = self.next {
            if self.is_kernels || self.is_full() || out.cancelled() {
                return Ok(());
            }
            let mut index = std::mem::take(&mut self.buffers.index);
            index.resize(INDEX_BYTES, 0);
            let to = index_key(inode, u64::MAX);
            let found = self.mounted.search(self.node.tree, from, to, &mut index);
            let read = found.map_err(|_| Trouble::Unread).and_then(|found| {
                let mut items = search_items(found.bytes, found.item_count);
                let mut last = None;
                for item in items.by_ref() {
                    let item = item.map_err(|_| Trouble::Unread)?;
                    self.take_entries(item.bytes);
                    last = Some(item.key);
                }
                // With room left for any entry, it was not the room that ended it.
                let is_last = found.bytes.len() - items.offset() >= ENTRY_BYTES_MAX;
                Ok(last.and_then(Key::next).filter(|_| !is_last))
            });
            self.buffers.index = index;
            self.next = read?;
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
        // New entries reach the tree before those go that they replace
        // (btrfs_commit_inode_delayed_items, fs/btrfs/delayed-inode.c of Linux 6.18),
        // and the directory's inode last: a name could come twice.
        let is_new = entry.transid > self.mounted.generation;
        let is_odd = kind == FileType::Unknown || !is_entry_name(name);
        if is_new || is_odd || self.names.decide_by_content(name) {
            self.is_kernels = true;
            return;
        }
        if self.names.leave_out(name, kind) {
            self.contents.excluded += 1;
            return;
        }
        let (terms, contents) = (self.terms, &mut self.contents);
        match kind {
            FileType::Directory => {
                // A subvolume begins there: the kernel opens it.
                let is_here = entry.location.kind == INODE_ITEM;
                contents.push_subdir(name, if is_here { entry.location.objectid } else { 0 });
            }
            FileType::Symlink if terms.follows => contents.push_link(name),
            _ if terms.types_only => contents.batch.push_listed(&[], kind, false),
            _ if !terms.wanted.need_stat() => contents.batch.push_listed(name, kind, false),
            _ => {
                let names = &mut self.buffers.names;
                self.buffers.found.push(FoundEntry {
                    inode: entry.location.objectid,
                    // Bounded by WITHHELD_MAX names of 255 bytes and a window more.
                    name_offset: names.len() as u32,
                    name_bytes: name.len() as u16,
                    kind,
                });
                names.extend_from_slice(name);
            }
        }
    }

    /// Looks at the inodes of the entries that were found, in the order of their
    /// numbers, which is that of the tree.
    fn look_at_inodes(&mut self) -> Result<(), Trouble> {
        let mut found = std::mem::take(&mut self.buffers.found);
        let mut windows = std::mem::take(&mut self.buffers.windows);
        if !found.is_sorted_by_key(|entry| entry.inode) {
            radsort::sort_by_key(&mut found, |entry| entry.inode);
        }
        let tree = self.node.tree;
        let mut outcome = Ok(());
        for (index, entry) in found.iter().enumerate() {
            let key = inode_key(entry.inode);
            let item = if let Some(window) = windows.holding(self.mounted, tree, key) {
                Ok(window.inode_item(entry.inode))
            } else {
                let beyond = found.get(index + WINDOW_PAYS - 1);
                let is_dense = beyond.is_some_and(|other| other.inode - entry.inode <= NEAR)
                    || windows.end_before(tree, entry.inode);
                match is_dense {
                    true => windows
                        .read(self.mounted, tree, key)
                        .map(|window| window.inode_item(entry.inode)),
                    false => windows.single(self.mounted, tree, entry.inode),
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
        self.buffers.found = found;
        self.buffers.windows = windows;
        outcome
    }

    #[inline]
    fn take_inode(&mut self, entry: &FoundEntry, item: Option<&InodeItem>) {
        let start = entry.name_offset as usize;
        let name = &self.buffers.names[start..start + usize::from(entry.name_bytes)];
        if let Some(item) = item
            && item.transid <= self.mounted.generation
        {
            let id = FileId {
                dev: self.node.id.dev,
                ino: entry.inode,
            };
            let found = attributes(item, self.terms.wanted, id, self.mounted.sector_bytes);
            if found.kind == entry.kind {
                return self.contents.batch.push_stated(name, &found);
            }
        }
        // Without its number, because another inode can have its name by now.
        self.buffers.doubtful.push(name, entry.kind, 0);
    }
}

/// Where the entries of a directory begin, or an entry of it lies.
pub(super) fn index_key(directory: u64, offset: u64) -> Key {
    Key {
        objectid: directory,
        kind: DIR_INDEX,
        offset,
    }
}
