// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounts that show the files of other directories: overlays, and unions in user space.
//!
//! A scan that reads the directories and such a mount counts the files twice. The mount
//! table names the layers of an overlay by the paths at the time of the mount, as the
//! process saw them that mounted it. So a path alone proves nothing.
//!
//! Attributes of an overlay: `ovl_getattr`, fs/overlayfs/inode.c of Linux 6.18.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, Statx, StatxFlags, openat, readlinkat};
use statwalk_sys::directory_records::DirectoryRecords;

use super::posix::list;
use crate::entry::FileId;
use crate::linux::mounts::{Mount, Mounts, ancestors, is_within};
use crate::linux::statx::{self, uninterrupted};
use crate::listing::stacked::{Layers, Stacked};
use crate::tally;

/// Up to how many names of an overlay are looked up in its layers. They are evidence, and
/// no number of them is a proof.
const NAMES_MAX: usize = 256;

/// The types of file systems in user space that show files of several other directories. The
/// table does not name these.
const UNIONS: [&str; 5] = [
    "fuse.fuse-overlayfs",
    "fuse.mergerfs",
    "fuse.mhddfs",
    "fuse.unionfs",
    "fuse.unionfs-fuse",
];

/// Whether a mount shows the files of other directories.
pub(crate) fn kind(mount: &Mount) -> Option<Stacked> {
    match mount.file_system.as_str() {
        "overlay" => Some(Stacked::Overlay),
        name if UNIONS.contains(&name) => Some(Stacked::Union),
        _ if source_of_program(mount).is_some() => Some(Stacked::Union),
        _ => None,
    }
}

/// The source of a file system in user space, if it is a path, as that of bindfs.
fn source_of_program(mount: &Mount) -> Option<&[u8]> {
    let name = mount.file_system.as_str();
    let is_program = name == "fuse" || name.starts_with("fuse.");
    (is_program && mount.source.first() == Some(&b'/')).then_some(&mount.source)
}

/// The directories that the overlays below the roots show. An overlay is missing if one of
/// its layers is not found.
pub(crate) fn layers_below(mounts: &Mounts, roots: &[Vec<u8>]) -> HashSet<FileId> {
    let is_overlay = |mount: &&Mount| kind(mount) == Some(Stacked::Overlay);
    let mut found = HashSet::new();
    let mut overlays = mounts.all.iter().filter(is_overlay).peekable();
    if overlays.peek().is_none() {
        return found;
    }
    let roots: HashSet<&[u8]> = roots.iter().map(Vec::as_slice).collect();
    let is_below =
        |mount: &&Mount| ancestors(&mount.point).any(|directory| roots.contains(directory));
    // Overlays share their lower layers.
    let mut known: HashMap<Vec<u8>, Option<FileId>> = HashMap::new();
    for overlay in overlays.filter(is_below) {
        let Some(paths) = overlay.overlay_layers() else {
            continue;
        };
        let mut identity = |path: Vec<u8>| {
            let look = |path: &Vec<u8>| {
                let path = CString::new(path.as_slice()).ok()?;
                let found = statx::through_links(CWD, &path, statx::IDENTITY).ok()?;
                Some(statx::file_id(&found))
            };
            *(known.entry(path)).or_insert_with_key(look)
        };
        let layers: Option<Vec<FileId>> = paths.into_iter().map(&mut identity).collect();
        found.extend(layers.into_iter().flatten());
    }
    found
}

/// A layer of an overlay, as its path leads to it now.
struct Layer {
    dir: OwnedFd,
    stat: Statx,
    /// Its path without links.
    path: Vec<u8>,
}

/// The layers of a mount, if the mount shows what lies in them now.
///
/// `roots` are the paths of the roots without links. `dir` is the topmost directory of the
/// mount.
pub(crate) fn layers_of(
    mount: &Mount,
    dir: BorrowedFd<'_>,
    mounts: &Mounts,
    roots: &[Vec<u8>],
) -> Layers {
    let layers = match (kind(mount), source_of_program(mount)) {
        (Some(Stacked::Overlay), _) => open_layers(mount),
        (_, Some(source)) => match open(source.to_vec()) {
            Some(layer) => Some(vec![layer]),
            // An image, or a name that means nothing to the kernel.
            None => return Layers::Elsewhere,
        },
        (_, None) => None,
    };
    let Some(layers) = layers else {
        return Layers::Unknown;
    };
    if layers
        .iter()
        .all(|layer| is_elsewhere(layer, mounts, roots))
    {
        return Layers::Elsewhere;
    }
    let is_covered = |layer: &Layer| has_mounts_in(layer, mounts);
    if kind(mount) != Some(Stacked::Overlay)
        || !shows(dir, &layers, &mount.root)
        || layers.iter().any(is_covered)
    {
        return Layers::Unknown;
    }
    let ids = layers.iter().map(|layer| statx::file_id(&layer.stat));
    Layers::Known(ids.collect())
}

/// Whether mounts cover something in a layer, by any way to it: an overlay shows what they
/// cover.
fn has_mounts_in(layer: &Layer, mounts: &Mounts) -> bool {
    let is_below = |path: &[u8], directory: &[u8]| path != directory && is_within(path, directory);
    let Some(own) = mounts.find(statx::mount_id(&layer.stat)) else {
        let mut all = mounts.all.iter();
        return all.any(|mount| is_below(&mount.point, &layer.path));
    };
    let Some(region) = own.shows_at(&layer.path) else {
        return true;
    };
    mounts.all.iter().any(|mount| {
        let holder = mounts.find(mount.parent);
        let holder = holder.filter(|holder| holder.device == own.device);
        let covered = holder.and_then(|holder| holder.shows_at(&mount.point));
        covered.is_some_and(|covered| is_below(&covered, &region))
    })
}

/// Whether a layer lies outside of the scanned trees, and no other mount shows it there.
fn is_elsewhere(layer: &Layer, mounts: &Mounts, roots: &[Vec<u8>]) -> bool {
    let Some(own) = mounts.find(statx::mount_id(&layer.stat)) else {
        return false;
    };
    let meets = |path: &[u8], root: &[u8]| is_within(path, root) || is_within(root, path);
    let is_scanned = |mount: &Mount| roots.iter().any(|root| meets(&mount.point, root));
    !roots.is_empty()
        && !roots.iter().any(|root| meets(&layer.path, root))
        && !(mounts.all.iter())
            .any(|mount| mount.device == own.device && mount.id != own.id && is_scanned(mount))
}

fn open_layers(mount: &Mount) -> Option<Vec<Layer>> {
    mount.overlay_layers()?.into_iter().map(open).collect()
}

fn open(path: Vec<u8>) -> Option<Layer> {
    if path.first() != Some(&b'/') {
        return None;
    }
    let path = CString::new(path).ok()?;
    let dir = open_path(CWD, &path, OFlags::empty())?;
    let stat =
        statx::by_descriptor(dir.as_fd(), StatxFlags::BASIC_STATS | StatxFlags::MNT_ID).ok()?;
    let link = format!("/proc/self/fd/{}", dir.as_raw_fd());
    tally::count();
    let path = readlinkat(CWD, link, Vec::with_capacity(4097)).ok()?;
    let path = path.into_bytes();
    Some(Layer { dir, stat, path })
}

fn open_path(from: BorrowedFd<'_>, path: &CString, flags: OFlags) -> Option<OwnedFd> {
    let flags = flags | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    tally::count();
    uninterrupted(|| openat(from, path, flags, Mode::empty())).ok()
}

/// Whether an overlay shows the directory `root` of these layers.
///
/// The paths can lead elsewhere here than where it was mounted. But an overlay shows the
/// mode, the owners and the times of the uppermost directory, and no name that is in none
/// of them.
fn shows(overlay: BorrowedFd<'_>, layers: &[Layer], root: &[u8]) -> bool {
    let inside = match root {
        b"/" => Some(c".".to_owned()),
        root => CString::new(root.strip_prefix(b"/").unwrap_or(root)).ok(),
    };
    let Some(inside) = inside else { return false };
    let dirs = layers
        .iter()
        .filter_map(|layer| open_path(layer.dir.as_fd(), &inside, OFlags::NOFOLLOW));
    let dirs: Vec<OwnedFd> = dirs.collect();
    let mask = StatxFlags::BASIC_STATS;
    let look = |dir: BorrowedFd<'_>| {
        let found = statx::by_descriptor(dir, mask).ok()?;
        let changed = (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec);
        Some((found.stx_mode, found.stx_uid, found.stx_gid, changed))
    };
    let shown = look(overlay);
    let is_same = dirs.first().is_some_and(|top| look(top.as_fd()) == shown);
    is_same && shown.is_some() && has_names_of(overlay, &dirs) == Some(true)
}

/// Whether each of the first names in an overlay is in one of its layers.
fn has_names_of(overlay: BorrowedFd<'_>, dirs: &[OwnedFd]) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    tally::count();
    let open = uninterrupted(|| openat(overlay, c".", flags, Mode::empty())).ok()?;
    let mut buffer = [0; 8 << 10];
    let mut count = 0;
    loop {
        let length = list::read(open.as_fd(), &mut buffer).ok()?;
        if length == 0 {
            return Some(true);
        }
        for record in DirectoryRecords::of(&buffer[..length]) {
            if record.is_dot_or_dot_dot() {
                continue;
            }
            if count == NAMES_MAX {
                return Some(true);
            }
            count += 1;
            let name = record.name();
            let has = |dir: &OwnedFd| statx::by_name(dir.as_fd(), name, StatxFlags::TYPE).is_ok();
            if !dirs.iter().any(has) {
                return Some(false);
            }
        }
    }
}
