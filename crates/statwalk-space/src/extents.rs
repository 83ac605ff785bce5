// SPDX-License-Identifier: MIT OR Apache-2.0

//! The extents of files on the device, and the other files that share them.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use statwalk_btrfs::extent_data::{Extent, ExtentData, Place};
use statwalk_btrfs::extent_item::ExtentItem;
use statwalk_btrfs::kind::{EXTENT_DATA, EXTENT_ITEM, EXTENT_TREE, ROOT_ITEM, ROOT_TREE};
use statwalk_btrfs::root_item::RootItem;
use statwalk_btrfs::search_items::{SearchItem, search_items};
use statwalk_btrfs::{Key, Malformed};
use statwalk_sys::btrfs::{ExtentRef, ExtentRefs, SearchKey, fs_info};
use statwalk_sys::fiemap::FileExtent;

use crate::stat;
use crate::trees::{SEARCH_BYTES, Trees, damaged};

/// The items of a search if the next object may lie far away. Each time it lies near,
/// the next search takes four times as many.
const ITEMS_FIRST: u32 = 32;

/// Objects up to this distance are near: to read past them costs less than a search.
const NEAR: u64 = 64;

/// The users of an extent that the first call asks for.
const REFS_FIRST: usize = 100;

/// Reads the extents of one btrfs.
pub(crate) struct ExtentReader {
    trees: Trees,
    fsid: [u8; 16],
}

/// A subvolume of the file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subvolume {
    /// The number of its tree.
    pub(crate) tree: u64,
    /// The transaction of its last snapshot. No snapshot has items of later ones.
    last_snapshot: u64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// In the tree, with its length in bytes.
    Inline { bytes: u64 },
    /// On the device.
    OnDevice(Part),
}

/// A part of a file on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The logical address of its extent.
    pub(crate) address: u64,
    /// The size of the whole extent on the device.
    pub(crate) disk_bytes: u64,
    /// The size of the whole extent without compression.
    pub(crate) plain_bytes: u64,
    /// The length of this part in the file.
    pub(crate) length_bytes: u64,
    /// `BTRFS_COMPRESS_NONE` is 0, then zlib, lzo, zstd.
    pub(crate) compression: u8,
    /// Whether a snapshot may share the item, or the item changed since the sync. Then
    /// a count of the extent's users proves nothing.
    pub(crate) is_doubtful: bool,
}

/// Opens a directory, or a root that is a file. Absent if it does not lie on a btrfs.
///
/// It is an error if its `st_dev` is no longer `dev`.
pub(crate) fn open_btrfs(path: &[u8], dev: u64) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let path = Path::new(OsStr::from_bytes(path));
    let fd = openat(CWD, path, flags, Mode::empty())?;
    if stat::device(&stat::by_descriptor(&fd)?) != dev {
        return Err(io::Error::other(
            "the subvolume was replaced during the scan",
        ));
    }
    match fs_info(fd.as_fd()) {
        Ok(_) => Ok(Some(fd)),
        // A filter of system calls says nothing of the file system.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Err(_) => Ok(None),
    }
}

impl ExtentReader {
    /// Syncs the file system of an open file.
    pub(crate) fn new(fd: &OwnedFd) -> io::Result<ExtentReader> {
        let fsid = fs_info(fd.as_fd())?.fsid;
        let trees = Trees::holding(fd.as_fd())?;
        Ok(ExtentReader { trees, fsid })
    }

    /// Whether an open file lies on this file system.
    pub(crate) fn holds(&self, fd: &OwnedFd) -> bool {
        fs_info(fd.as_fd()).is_ok_and(|info| info.fsid == self.fsid)
    }

    /// The last transaction before the search.
    pub(crate) fn generation(&self) -> u64 {
        self.trees.generation.number
    }

    /// The trees of all subvolumes and snapshots of the file system.
    pub(crate) fn subvolume_trees(&self) -> io::Result<Vec<u64>> {
        Ok(self.trees.subvolumes()?.into_keys().collect())
    }

    /// The subvolume of an open file.
    pub(crate) fn subvolume(&self, fd: &OwnedFd) -> io::Result<Subvolume> {
        let tree = statwalk_sys::btrfs::tree_id(fd.as_fd())?;
        let mut last_snapshot = None;
        self.each(ROOT_TREE, ROOT_ITEM, &[tree], |_, item| {
            last_snapshot = Some(RootItem::parse(item.bytes)?.last_snapshot);
            Ok(())
        })?;
        let last_snapshot = last_snapshot
            .ok_or_else(|| io::Error::other("the subvolume was deleted during the scan"))?;
        Ok(Subvolume {
            tree,
            last_snapshot,
        })
    }

    /// Calls `take` for each part of some inodes, with the index of the inode.
    ///
    /// `inodes` must be sorted. Holes are left out.
    pub(crate) fn pieces(
        &self,
        subvolume: Subvolume,
        inodes: &[u64],
        mut take: impl FnMut(usize, Piece),
    ) -> io::Result<()> {
        self.each(subvolume.tree, EXTENT_DATA, inodes, |index, item| {
            let data = ExtentData::parse(item.bytes)?;
            match data.place {
                Place::Inline(bytes) => {
                    let bytes = bytes.len() as u64;
                    take(index, Piece::Inline { bytes });
                }
                Place::Regular(extent) | Place::Preallocated(extent) if !extent.is_hole() => {
                    // The generation of the item, not of its leaf: a balance writes the
                    // leaf anew, and the extent stays shared.
                    let is_doubtful = data.generation <= subvolume.last_snapshot
                        || item.transid > self.trees.generation.number;
                    take(index, Piece::OnDevice(part(&data, &extent, is_doubtful)));
                }
                Place::Regular(_) | Place::Preallocated(_) => {}
            }
            Ok(())
        })
    }

    /// The number of tree items that use each extent.
    ///
    /// `addresses` must be sorted. Absent for an address that has no extent.
    pub(crate) fn user_counts(&self, addresses: &[u64]) -> io::Result<Vec<Option<u64>>> {
        let mut counts = vec![None; addresses.len()];
        self.each(EXTENT_TREE, EXTENT_ITEM, addresses, |index, item| {
            counts[index] = Some(ExtentItem::parse(item.bytes)?.refs);
            Ok(())
        })?;
        Ok(counts)
    }

    /// Asks the kernel whether other files share the extents of a file.
    ///
    /// `extents` are addresses and sizes, sorted by address. A clone within the file
    /// counts as another file. Absent for an extent that the file no longer has, and
    /// where its parts disagree.
    ///
    /// The kernel stops at the first other user (`btrfs_is_data_extent_shared`,
    /// fs/btrfs/backref.c). So the cost does not grow with the number of snapshots.
    /// `proceed` runs between the questions about a file with many extents. Its error
    /// ends them.
    pub(crate) fn are_shared(
        &self,
        subvolume: Subvolume,
        inode: u64,
        extents: &[(u64, u64)],
        found: &mut Vec<FileExtent>,
        mut proceed: impl FnMut() -> io::Result<()>,
    ) -> io::Result<Vec<Option<bool>>> {
        found.clear();
        let mut stopped = None;
        let go_on = || match proceed() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                stopped = Some(error);
                ControlFlow::Break(())
            }
        };
        let asked = (self.trees).file_extents(subvolume.tree, inode, found, go_on);
        match (stopped, asked) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(shared_among(extents, found)),
            // Without the right to open files by number, all answers are absent.
            (None, Err(_)) => Ok(vec![None; extents.len()]),
        }
    }

    /// Whether all users of an extent pass a test. Absent if the extent is gone.
    ///
    /// False with more users than [`ExtentRefs::ROOM_MAX`]: the reported freed space
    /// may be too small, and never too large.
    pub(crate) fn all_users(
        &self,
        address: u64,
        refs: &mut ExtentRefs,
        mut test: impl FnMut(ExtentRef) -> bool,
    ) -> io::Result<Option<bool>> {
        let mut room = REFS_FIRST;
        loop {
            match self.trees.extent_refs(address, room, refs) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
            // One failure is enough, and the kernel needs long to name all users.
            if !refs.iter().all(&mut test) {
                return Ok(Some(false));
            }
            if refs.missed == 0 {
                // An extent can have no user left while a subvolume is being deleted.
                return Ok(refs.iter().next().map(|_| true));
            }
            if room == ExtentRefs::ROOM_MAX {
                return Ok(Some(false));
            }
            // Twice as many, because other processes can add users meanwhile.
            room = (room + refs.missed as usize)
                .saturating_mul(2)
                .min(ExtentRefs::ROOM_MAX);
        }
    }

    /// Calls `take` for each item of one kind of some objects, with the index of the
    /// object. `objects` must be sorted.
    fn each(
        &self,
        tree: u64,
        kind: u8,
        objects: &[u64],
        mut take: impl FnMut(usize, &SearchItem<'_>) -> Result<(), Malformed>,
    ) -> io::Result<()> {
        let begin = |objectid| Key {
            objectid,
            kind,
            offset: 0,
        };
        let Some((&first, &last)) = objects.first().zip(objects.last()) else {
            return Ok(());
        };
        let mut key = SearchKey {
            first: begin(first),
            last: Key {
                offset: u64::MAX,
                ..begin(last)
            },
            items_max: ITEMS_FIRST,
            ..SearchKey::whole(tree)
        };
        let mut buffer = vec![0; SEARCH_BYTES];
        let mut index = 0;
        loop {
            let found = self.trees.search(&key, &mut buffer)?;
            let mut end = None;
            for item in search_items(found.bytes, found.item_count) {
                let item = item.map_err(damaged)?;
                end = Some(item.key);
                while objects.get(index).is_some_and(|&o| o < item.key.objectid) {
                    index += 1;
                }
                if item.key.kind == kind && objects.get(index) == Some(&item.key.objectid) {
                    take(index, &item).map_err(damaged)?;
                }
            }
            let Some(end) = end else { return Ok(()) };
            // The last item's object may have more items, unless their kinds are later.
            let done = end.kind > kind;
            while objects
                .get(index)
                .is_some_and(|&o| o < end.objectid || (done && o == end.objectid))
            {
                index += 1;
            }
            let (Some(next), Some(&object)) = (end.next(), objects.get(index)) else {
                return Ok(());
            };
            key.first = next.max(begin(object));
            key.items_max = match object - end.objectid {
                0..=NEAR => key.items_max.saturating_mul(4),
                _ => ITEMS_FIRST,
            };
        }
    }
}

/// Whether extents are shared, by the parts of a file. Absent if its parts disagree.
fn shared_among(extents: &[(u64, u64)], parts: &[FileExtent]) -> Vec<Option<bool>> {
    let mut told: Vec<(Option<bool>, bool)> = vec![(None, true); extents.len()];
    // Unwritten parts, and parts in the tree, have the address 0.
    for part in parts.iter().filter(|part| part.address > 0) {
        // For a compressed part, only the address shows its extent, and not the length.
        let length = if part.is_encoded {
            1
        } else {
            part.length_bytes
        };
        let end = part.address.saturating_add(length);
        let ends_before =
            |&(address, bytes): &(u64, u64)| address.saturating_add(bytes) <= part.address;
        let first = extents.partition_point(ends_before);
        let of_part = extents[first..]
            .iter()
            .take_while(|&&(address, _)| address < end);
        let count = of_part.count();
        for (shared, agree) in &mut told[first..first + count] {
            *agree &= shared.is_none_or(|shared| shared == part.is_shared);
            *shared = Some(part.is_shared);
        }
    }
    let clear = told
        .into_iter()
        .map(|(shared, agree)| shared.filter(|_| agree));
    clear.collect()
}

fn part(data: &ExtentData<'_>, extent: &Extent, is_doubtful: bool) -> Part {
    Part {
        address: extent.disk_bytenr,
        disk_bytes: extent.disk_num_bytes,
        // Without compression, `ram_bytes` is only a bound.
        plain_bytes: match data.compression {
            0 => extent.disk_num_bytes,
            _ => data.ram_bytes,
        },
        length_bytes: extent.num_bytes,
        compression: data.compression,
        is_doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_has_twice_is_told_if_both_agree() {
        let part = |address, length_bytes, is_encoded, is_shared| FileExtent {
            offset: 0,
            address,
            length_bytes,
            is_encoded,
            is_shared,
        };
        let extents = [(100, 50), (150, 10), (160, 10), (200, 10), (300, 10)];
        let parts = [
            // The end of one, all of another, the beginning of a third.
            part(120, 45, false, false),
            // Taken by its length it would reach into the next.
            part(200, 200, true, true),
            part(165, 5, false, true),
            part(90, 10, false, true),
            // Not written yet.
            part(0, 1000, false, false),
        ];
        let expected = [Some(false), Some(false), None, Some(true), None];
        assert_eq!(shared_among(&extents, &parts), expected);
        assert_eq!(shared_among(&extents, &[]), [None; 5]);
        assert!(shared_among(&[], &parts).is_empty());
    }
}
