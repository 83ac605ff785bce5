// SPDX-License-Identifier: MIT OR Apache-2.0

//! What files have on the device, and who else has it.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use statwalk_sys::btrfs::{ExtentRef, ExtentRefs, Key, SearchKey, fs_info};
use statwalk_sys::fiemap::FileExtent;

use super::mounted::{Mounted, SEARCH_BYTES};
use crate::decode::Malformed;
use crate::decode::btrfs::extent_data::{Extent, ExtentData, Place};
use crate::decode::btrfs::extent_item::ExtentItem;
use crate::decode::btrfs::kind::{EXTENT_DATA, EXTENT_ITEM, EXTENT_TREE, ROOT_ITEM, ROOT_TREE};
use crate::decode::btrfs::root_item::RootItem;
use crate::decode::btrfs::search_items::{SearchItem, search_items};
use crate::source::volumes::mounted_btrfs;
use crate::statx;

/// How many items are asked for where what is wanted may lie far apart. Each time
/// the next lies near, four times as many are.
const ITEMS_FIRST: u32 = 32;

/// What still counts as near: so many objects cost less than another search.
const NEAR: u64 = 64;

/// How many files that have an extent are asked for at first.
const REFS_FIRST: usize = 100;

/// A btrfs whose extents are looked at.
pub(crate) struct ExtentReader {
    mounted: Mounted,
    fsid: [u8; 16],
}

/// A subvolume of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subvolume {
    /// The number of its tree.
    pub(crate) tree: u64,
    /// What was written later is in no snapshot.
    last_snapshot: u64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// In the tree, taking so many bytes.
    Inline { bytes: u64 },
    /// On the device.
    OnDevice(Part),
}

/// A part of a file on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Where the extent lies that it belongs to.
    pub(crate) address: u64,
    /// How much the whole extent takes on the device.
    pub(crate) disk_bytes: u64,
    /// How much that is without compression.
    pub(crate) plain_bytes: u64,
    /// How much of the file this part is.
    pub(crate) length_bytes: u64,
    /// `BTRFS_COMPRESS_NONE` is 0, then zlib, lzo, zstd.
    pub(crate) compression: u8,
    /// Whether the item that says so may be part of a snapshot too, or changed since
    /// the file system was synced: that all users of its extent are known says nothing.
    pub(crate) is_doubtful: bool,
}

/// Opens a directory, or a file that is a root, if it still has this `st_dev` and
/// lies on a btrfs.
pub(crate) fn open_btrfs(path: &[u8], dev: u64) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let path = Path::new(OsStr::from_bytes(path));
    let fd = openat(CWD, path, flags, Mode::empty())?;
    let found = statx::by_descriptor(fd.as_fd(), statx::IDENTITY)?;
    if statx::file_id(&found).dev != dev {
        return Err(io::Error::other("it is another one than before"));
    }
    Ok(fs_info(fd.as_fd()).is_ok().then_some(fd))
}

impl ExtentReader {
    /// Syncs the file system that a file lies on.
    ///
    /// # Errors
    ///
    /// Why its trees cannot be searched.
    pub(crate) fn new(fd: &OwnedFd) -> io::Result<ExtentReader> {
        let found = statx::by_descriptor(fd.as_fd(), statx::IDENTITY)?;
        let fsid = fs_info(fd.as_fd())?.fsid;
        let (mounted, _) = mounted_btrfs(statx::mount_id(&found))?;
        Ok(ExtentReader { mounted, fsid })
    }

    /// Whether a file lies on it.
    pub(crate) fn holds(&self, fd: &OwnedFd) -> bool {
        fs_info(fd.as_fd()).is_ok_and(|info| info.fsid == self.fsid)
    }

    /// The last transaction before it was looked at.
    pub(crate) fn generation(&self) -> u64 {
        self.mounted.generation
    }

    /// The subvolume that a file lies in.
    pub(crate) fn subvolume(&self, fd: &OwnedFd) -> io::Result<Subvolume> {
        let tree = statwalk_sys::btrfs::tree_id(fd.as_fd())?;
        let mut last_snapshot = None;
        self.each(ROOT_TREE, ROOT_ITEM, &[tree], |_, item| {
            last_snapshot = Some(RootItem::parse(item.bytes)?.last_snapshot);
            Ok(())
        })?;
        let last_snapshot = last_snapshot.ok_or_else(|| io::Error::other("it was deleted"))?;
        Ok(Subvolume {
            tree,
            last_snapshot,
        })
    }

    /// Calls for each part of some inodes, given in the order of their numbers,
    /// with the index of the inode. Holes are left out.
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
                    // Not the leaf's: a balance writes it anew, and it stays shared.
                    let is_doubtful = data.generation <= subvolume.last_snapshot
                        || item.transid > self.mounted.generation;
                    take(index, Piece::OnDevice(part(&data, &extent, is_doubtful)));
                }
                Place::Regular(_) | Place::Preallocated(_) => {}
            }
            Ok(())
        })
    }

    /// How many items of trees use each of some extents, given in the order of
    /// their addresses. Absent for what is no extent.
    pub(crate) fn user_counts(&self, addresses: &[u64]) -> io::Result<Vec<Option<u64>>> {
        let mut counts = vec![None; addresses.len()];
        self.each(EXTENT_TREE, EXTENT_ITEM, addresses, |index, item| {
            counts[index] = Some(ExtentItem::parse(item.bytes)?.refs);
            Ok(())
        })?;
        Ok(counts)
    }

    /// Asks for each of some extents of a file, given by their addresses and sizes in
    /// order, whether others have it too. A clone within the file is taken for another.
    /// Absent for what the file does not have any more, and where its parts disagree.
    ///
    /// The kernel stops at the first other user (`btrfs_is_data_extent_shared`,
    /// fs/btrfs/backref.c), so that this costs the same with one snapshot and with a
    /// thousand. `proceed` is called between the questions about a file with many, and
    /// ends them by an error, which is returned.
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
        let asked = self
            .mounted
            .file_extents(subvolume.tree, inode, found, go_on);
        match (stopped, asked) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => Ok(shared_among(extents, found)),
            // Whoever may not open files by their numbers is told nothing.
            (None, Err(_)) => Ok(vec![None; extents.len()]),
        }
    }

    /// Whether all files that have something of an extent pass a test; absent where
    /// the extent is gone. Of more than [`ExtentRefs::ROOM_MAX`] one is taken to fail:
    /// rather too little is told to be freed than too much.
    pub(crate) fn all_users(
        &self,
        address: u64,
        refs: &mut ExtentRefs,
        mut test: impl FnMut(ExtentRef) -> bool,
    ) -> io::Result<Option<bool>> {
        let mut room = REFS_FIRST;
        loop {
            match self.mounted.extent_refs(address, room, refs) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
            // One is enough, and naming all takes long.
            if !refs.iter().all(&mut test) {
                return Ok(Some(false));
            }
            if refs.missed == 0 {
                // Nobody is left where a subvolume is being deleted.
                return Ok(refs.iter().next().map(|_| true));
            }
            if room == ExtentRefs::ROOM_MAX {
                return Ok(Some(false));
            }
            // Others can be added meanwhile.
            room = (room + refs.missed as usize)
                .saturating_mul(2)
                .min(ExtentRefs::ROOM_MAX);
        }
    }

    /// Calls for each item of one kind that belongs to one of some objects, given
    /// in their order, with the index of the object.
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
            let found = self.mounted.search_for(&key, &mut buffer)?;
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
            // Past the last item of an object there may be more of it.
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

/// What the parts of a file tell of extents; absent where they disagree.
fn shared_among(extents: &[(u64, u64)], parts: &[FileExtent]) -> Vec<Option<bool>> {
    let mut told: Vec<(Option<bool>, bool)> = vec![(None, true); extents.len()];
    // What waits to be written, or lies in the tree, has the address 0.
    for part in parts.iter().filter(|part| part.address > 0) {
        // Of what is compressed only the beginning says which extent it is of.
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
        // What a part of an extent without compression says is a bound.
        plain_bytes: match data.compression {
            0 => extent.disk_num_bytes,
            _ => data.ram_bytes,
        },
        length_bytes: extent.num_bytes,
        compression: data.compression,
        is_doubtful,
    }
}

pub(super) fn damaged(malformed: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, malformed.to_string())
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
