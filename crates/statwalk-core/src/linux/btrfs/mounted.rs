// SPDX-License-Identifier: MIT OR Apache-2.0

//! A mounted btrfs: syncs it, searches its trees, and knows their generation.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::Statx;
use statwalk_btrfs::Key;
use statwalk_format::{Generation, Uuid};
use statwalk_sys::btrfs::{self, SEARCH_ARGUMENT_BYTES, SearchKey, fs_info, tree_search};

use super::reader::Reader;
use crate::linux::mount_points::MountPoints;
use crate::linux::mount_view::{self, MountView};
use crate::linux::mounts;
use crate::linux::privilege;
use crate::linux::statx;
use crate::linux::sync::{SyncLimits, sync};
use crate::linux::volume::{Counts, Volume};
use crate::listing::in_place::InPlace;
use crate::lock::lock;
use crate::reason::{NotInPlace, Reason};
use crate::source::choice::{Source, SyncPolicy};
use crate::tally;

/// The buffer of one search: some 150 inodes.
///
/// 16 to 64 KiB are fastest; above 64 KiB every item fits.
pub(super) const SEARCH_BYTES: usize = SEARCH_ARGUMENT_BYTES + (66 << 10);

/// A mounted btrfs whose trees can be searched.
pub(crate) struct Mounted {
    /// Its topmost directory: the descriptor for searches.
    top: OwnedFd,
    name: String,
    pub(super) sector_bytes: u32,
    /// The last transaction before the scan. Items of later ones have changed since.
    pub(crate) generation: u64,
    uuid: Uuid,
    sync_time: Duration,
    /// The trees of its subvolumes, by their `st_dev`.
    trees: Mutex<Vec<(u64, u64)>>,
    pub(crate) mount_points: MountPoints,
    pub(super) counts: Counts,
    searches: AtomicU64,
}

impl Mounted {
    /// Syncs the file system of a mount, after a first search of its trees.
    pub(crate) fn of_mount(
        view: &MountView<'_>,
        limits: SyncLimits,
    ) -> Result<Mounted, NotInPlace> {
        let point = &view.point;
        limits.check(point)?;
        let top = view.top.as_fd();
        let described = |what: &str, error: std::io::Error| {
            let needs = "root, with CAP_SYS_ADMIN";
            privilege::refused(&format!("{point}: {what}"), &error, needs)
        };
        let first = SearchKey {
            items_max: 1,
            ..SearchKey::whole(0)
        };
        let mut buffer = [0; SEARCH_ARGUMENT_BYTES + 4096];
        tree_search(top, &first, &mut buffer)
            .map_err(|error| described("its trees cannot be searched", error))?;
        let sync_time = sync(top, point)?;
        let generation = btrfs::commit(top).map_err(|error| described("its commit", error))?;
        let info = fs_info(top).map_err(|error| described("its sizes", error))?;
        let top = view.top.try_clone();
        Ok(Mounted {
            top: top.map_err(|error| described("its top", error))?,
            name: point.clone(),
            sector_bytes: info.sector_bytes,
            generation,
            uuid: Uuid(info.fsid),
            sync_time,
            trees: Mutex::default(),
            mount_points: MountPoints::on(view.mount.id, view.table),
            counts: Counts::default(),
            searches: AtomicU64::new(0),
        })
    }

    /// The tree of an open directory's subvolume; `dev` is the directory's `st_dev`.
    ///
    /// Absent if the kernel does not name it.
    pub(crate) fn tree_of(&self, dev: u64, fd: BorrowedFd<'_>) -> Option<u64> {
        let trees = || lock(&self.trees);
        if let Some(&(_, tree)) = trees().iter().find(|(known, _)| *known == dev) {
            return Some(tree);
        }
        tally::count();
        let tree = btrfs::tree_id(fd).ok()?;
        trees().push((dev, tree));
        Some(tree)
    }

    fn now(&self) -> Generation {
        Generation {
            uuid: Some(self.uuid),
            number: self.generation,
        }
    }

    /// Searches a tree between two keys, until the buffer is full.
    pub(super) fn search<'b>(
        &self,
        tree_id: u64,
        first: Key,
        last: Key,
        buffer: &'b mut [u8],
    ) -> io::Result<btrfs::Found<'b>> {
        let key = SearchKey {
            first,
            last,
            ..SearchKey::whole(tree_id)
        };
        tally::count();
        self.searches.fetch_add(1, Ordering::Relaxed);
        tree_search(self.top.as_fd(), &key, buffer)
    }
}

impl Volume for Mounted {
    fn source(&self) -> Source {
        Source::Btrfs
    }

    fn reader(self: Arc<Self>) -> Box<dyn InPlace> {
        Box::new(Reader::new(&self))
    }

    fn dirs(&self) -> u64 {
        self.counts.now()[0]
    }

    fn reasons(&self) -> Vec<Reason> {
        let [dirs, dirs_by_kernel, entries_by_kernel] = self.counts.now();
        vec![
            Reason::BtrfsInPlace {
                mount: self.name.clone(),
                dirs,
                searches: self.searches.load(Ordering::Relaxed),
                dirs_by_kernel,
                entries_by_kernel,
            },
            Reason::Synced {
                mount: self.name.clone(),
                time: self.sync_time,
                generation: self.generation,
            },
        ]
    }

    fn generation(&self) -> Option<Generation> {
        Some(self.now())
    }
}

/// Opens the btrfs that holds an entry, synced: its topmost directory, and its generation.
pub(crate) fn open_mounted(found: &Statx) -> io::Result<(OwnedFd, Generation)> {
    if let Some(objection) = privilege::objection(true) {
        return Err(objection.into());
    }
    if !statx::has_mount_id(found) {
        return Err(mount_view::no_mount_id().into());
    }
    let id = statx::mount_id(found);
    let table = mounts::read()?;
    let Some(mount) = table.iter().find(|mount| mount.id == id) else {
        return Err(mount_view::no_mount().into());
    };
    if mount.file_system != "btrfs" {
        let file_system = &mount.file_system;
        let text = format!("it lies on {file_system}; only a btrfs keeps its changes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let limits = SyncLimits {
        policy: SyncPolicy::Allowed,
        unwritten_kib_max: None,
    };
    let opened = MountView::of(mount, &table).and_then(|view| Mounted::of_mount(&view, limits))?;
    let generation = opened.now();
    Ok((opened.top, generation))
}
