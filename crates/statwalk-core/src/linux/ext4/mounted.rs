// SPDX-License-Identifier: MIT OR Apache-2.0

//! An ext4 volume and the limits of trust in it: its mount, data that the kernel has
//! not written yet, and the mount points on its directories.

use std::ffi::CStr;
use std::io;
use std::iter;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{fstatvfs, makedev};
use statwalk_ext4::{DirectoryScratch, Inode, ReadError, Refusal, Volume};

use super::attributes::nanoseconds;
use super::device::Device;
use super::read_ahead::ReadAhead;
use super::reader::Reader;
use crate::entry::{FileId, FileType};
use crate::error::Errno;
use crate::inode_set::InodeSet;
use crate::linux::mount_points::MountPoints;
use crate::linux::mount_view::MountView;
use crate::linux::privilege;
use crate::linux::sync::{SyncLimits, sync};
use crate::linux::volume::{Counts, Volume as ReadVolume};
use crate::listing::in_place::{InPlace, InPlaceDir};
use crate::reason::{NotInPlace, Obstacle, Reason};
use crate::source::choice::Source;

/// Files that changed within this time before the scan are stat'ed.
///
/// The kernel sets the time of a write at its begin. So a write that was under way at the
/// sync can end after it.
const UNDER_WAY_NS: i64 = 2_000_000_000;
/// Two ticks of the kernel's clock for file times: it can be 10 ms late at 100 Hz.
const TICK_NS: i64 = 20_000_000;

/// A volume that can be read in place of the kernel.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(super) volume: Volume<Device>,
    /// The `st_dev` of its entries.
    pub(super) dev: u64,
    /// The device's or the image's path.
    pub(super) name: String,
    /// Whether it is an image: the kernel has not mounted it and cannot be asked.
    pub(super) is_image: bool,
    /// The kernel reads directories that changed since then. Absent for an image.
    changed_ns: Option<i64>,
    /// The kernel stats files that changed since then. Absent for an image.
    fresh_ns: Option<i64>,
    /// The time that the sync took. Absent if there was nothing to sync.
    sync_time: Option<Duration>,
    pub(crate) mount_points: MountPoints,
    pub(super) counts: Counts,
    pub(super) read_ahead: ReadAhead,
    /// Directories whose `..` names a directory that does not list them.
    misplaced: InodeSet,
}

/// The reason why an image cannot be read.
#[derive(Debug)]
pub(crate) enum NoImage {
    Unopened(io::Error),
    /// The reason as a sentence.
    Refused(String),
}

impl Mounted {
    /// Opens the volume of a mount, and syncs it if it can be written to.
    ///
    /// Afterwards the device has each file as it was at the sync or later: `docs/sources/ext4.md`.
    /// That does not depend on any clock. `now_ns` only chooses the files and directories
    /// about which the kernel knows more.
    pub(crate) fn of_mount(
        view: &MountView<'_>,
        now_ns: i64,
        limits: SyncLimits,
    ) -> Result<Mounted, NotInPlace> {
        let is_read_only = view.mount.is_read_only_file_system();
        if !is_read_only {
            limits.check(&view.point)?;
        }
        let (volume, name) = open_volume(&view.mount.device, view.top.as_fd(), &view.point)?;
        if view.mount.file_system == "ext2" && !sysfs_directory(&name).exists() {
            return Err(unreadable(format!(
                "{name}: the driver ext2 keeps directories and inodes elsewhere"
            )));
        }
        // ext4_iget: the kernel ignores the upper halves of owners.
        if view.mount.has_option("nouid32") || volume.superblock().has_short_owners() {
            let text = format!("{} shows owners of 16 bits: nouid32", view.point);
            return Err(Obstacle::Mount.because(text));
        }
        let sync_time = match is_read_only {
            true => None,
            false => Some(sync(view.top.as_fd(), &view.point)?),
        };
        // After an error the kernel can hold data that it will never write.
        if volume.superblock().has_errors() || (is_read_only && has_pending_blocks(&name)) {
            return Err(unreadable(format!(
                "{name} has had errors, so data may never be written to it"
            )));
        }
        Ok(Mounted {
            volume,
            dev: makedev(view.top_stat.stx_dev_major, view.top_stat.stx_dev_minor),
            is_image: false,
            changed_ns: Some(now_ns - TICK_NS),
            // If a read-only file system becomes writable during the scan, `TICK_NS` still
            // covers the changes.
            fresh_ns: Some(match is_read_only {
                true => now_ns - TICK_NS,
                false => now_ns - UNDER_WAY_NS,
            }),
            sync_time,
            name,
            mount_points: MountPoints::on(view.mount.id, view.table),
            counts: Counts::default(),
            read_ahead: ReadAhead::default(),
            misplaced: InodeSet::new(),
        })
    }

    /// Opens an image or an unmounted device.
    pub(crate) fn of_image(
        here: BorrowedFd<'_>,
        path: &CStr,
        number: u64,
    ) -> Result<Mounted, NoImage> {
        let device = Device::open_image(here, path).map_err(NoImage::Unopened)?;
        let volume = Volume::open(device).map_err(|refusal| NoImage::Refused(reason(refusal)))?;
        Ok(Mounted {
            volume,
            dev: number,
            name: path.to_string_lossy().into_owned(),
            is_image: true,
            changed_ns: None,
            fresh_ns: None,
            sync_time: None,
            mount_points: MountPoints::default(),
            counts: Counts::default(),
            read_ahead: ReadAhead::default(),
            misplaced: InodeSet::new(),
        })
    }

    /// Whether a directory can be read here.
    ///
    /// The kernel reads it if it changed since the scan began or holds a mount point.
    pub(super) fn is_readable(&self, inode: &Inode) -> bool {
        inode.kind() == FileType::Directory
            && !inode.is_free()
            && self.changed_ns.is_none_or(|since_ns| {
                nanoseconds(inode.ctime()) < since_ns
                    && !self.mount_points.lie_in(self.id_of(inode))
            })
    }

    /// Whether size and blocks of a file can have changed since the sync.
    ///
    /// The kernel allocates space only when it writes data back (ext4_da_write_end and
    /// ext4_writepages, fs/ext4/inode.c of Linux 6.18).
    pub(super) fn is_fresh(&self, inode: &Inode) -> bool {
        let is_since = |since_ns| nanoseconds(inode.ctime()) >= since_ns;
        inode.kind() == FileType::File && self.fresh_ns.is_some_and(is_since)
    }

    pub(super) fn id_of(&self, inode: &Inode) -> FileId {
        FileId {
            dev: self.dev,
            ino: u64::from(inode.number()),
        }
    }

    /// The inode number of a directory's parent. Absent if it is unknown or lies on
    /// another volume.
    pub(super) fn listing_parent(&self, dir: &InPlaceDir<'_>) -> Option<u32> {
        let parent = dir.place.parent().filter(|_| !dir.followed)?;
        let id = parent.identity.get()?;
        let is_here = parent.mount.id == dir.mount.id && id.dev == self.dev;
        u32::try_from(id.ino).ok().filter(|_| is_here)
    }

    /// Whether a directory has a right name besides the one by which it was listed.
    ///
    /// Its `..` names its right parent. If that directory does not list it, the first
    /// name that a worker met counts as right: `misplaced` remembers such directories.
    pub(crate) fn is_double(&self, number: u32, dir: &InPlaceDir<'_>) -> bool {
        let mut scratch = DirectoryScratch::new();
        let (Some(listing), Some(own)) = (
            self.listing_parent(dir),
            self.volume.parent_of(number, &mut scratch),
        ) else {
            return false;
        };
        if listing == own {
            return false;
        }
        let id = FileId {
            dev: self.dev,
            ino: u64::from(number),
        };
        self.volume.lists(own, number, &mut scratch) || !self.misplaced.insert(id)
    }

    /// Whether a directory's inode is unchanged.
    pub(super) fn held_still(&self, before: &Inode) -> bool {
        let state = |inode: &Inode| {
            let times = (inode.ctime(), inode.mtime());
            (times, inode.size_bytes(), inode.links(), inode.generation())
        };
        self.is_image
            || self
                .volume
                .inode(before.number())
                .is_ok_and(|after| !after.is_free() && state(&after) == state(before))
    }
}

impl ReadVolume for Mounted {
    fn source(&self) -> Source {
        Source::Ext4
    }

    fn reader(self: Arc<Self>) -> Box<dyn InPlace> {
        Box::new(Reader::new(&self))
    }

    fn dirs(&self) -> u64 {
        self.counts.now()[0]
    }

    fn reasons(&self) -> Vec<Reason> {
        let [dirs, dirs_by_kernel, files_by_kernel] = self.counts.now();
        let name = || self.name.clone();
        if !self.is_image {
            let in_place = Reason::Ext4InPlace {
                device: name(),
                dirs,
                dirs_by_kernel,
                files_by_kernel,
            };
            let synced = self.sync_time.map(|time| Reason::Ext4Synced {
                device: name(),
                time,
            });
            return iter::once(in_place)
                .chain(synced)
                .chain(self.read_ahead.reason(&self.name))
                .collect();
        }
        let image = name();
        let mut reasons = vec![Reason::ImageInPlace { image, dirs }];
        if self.volume.superblock().needs_recovery() {
            reasons.push(Reason::JournalNotReplayed { image: name() });
        }
        if self.volume.is_cut() {
            reasons.push(Reason::CutImage { image: name() });
        }
        reasons
    }

    /// As the superblock of an image has it.
    fn used_inodes(&self) -> Option<u64> {
        let superblock = self.volume.superblock();
        let free = superblock.free_inodes_count;
        Some(superblock.inodes_count.saturating_sub(free).into())
    }
}

/// Opens the volume on the device of a mount, and returns its path. `number` is that of
/// the device, and `top` the topmost directory of the mount, which `point` shows.
pub(in crate::linux) fn open_volume(
    number: &str,
    top: BorrowedFd<'_>,
    point: &str,
) -> Result<(Volume<Device>, String), NotInPlace> {
    let (device, name) = Device::open(number).map_err(|(path, error)| {
        let needs = "root, or the right to read the device";
        privilege::refused(&format!("cannot read {}", path.display()), &error, needs)
    })?;
    let name = name.display().to_string();
    let volume = Volume::open_mounted(device)
        .map_err(|refusal| unreadable(format!("{name}: {}", reason(refusal))))?;
    let unknown = volume.superblock().unknown_read_only_features();
    if unknown != 0 {
        return Err(unreadable(format!(
            "{name}: unknown features for reading: {unknown:#x}"
        )));
    }
    let shown = fstatvfs(top).map_err(|errno| unreadable(format!("{point}: {errno}")))?;
    if shown.f_fsid != volume.superblock().fsid() {
        let text = format!("{name} is not what is mounted at {point}");
        return Err(Obstacle::Mount.because(text));
    }
    Ok((volume, name))
}

pub(super) fn unreadable(text: String) -> NotInPlace {
    Obstacle::Unreadable.because(text)
}

/// The text of a refusal, with the system's words for an error number.
fn reason(refusal: Refusal) -> String {
    match refusal {
        Refusal::Unreadable(ReadError::Failed { errno }) => {
            format!("superblock: {}", Errno(errno))
        }
        _ => refusal.to_string(),
    }
}

/// Whether a mounted file system has blocks that are still to be allocated:
/// Documentation/ABI/testing/sysfs-fs-ext4.
///
/// "None" does not prove that all sizes are written: an append into allocated space is
/// not counted.
fn has_pending_blocks(device: &str) -> bool {
    let path = sysfs_directory(device).join("delayed_allocation_blocks");
    std::fs::read_to_string(path).is_ok_and(|text| text.trim() != "0")
}

/// The directory of a mounted file system that the driver ext4 reads:
/// `ext4_register_sysfs`, fs/ext4/sysfs.c.
fn sysfs_directory(device: &str) -> PathBuf {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    // A name with a slash has an exclamation mark there: kobject_set_name_vargs.
    Path::new("/sys/fs/ext4").join(name.replace('/', "!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_words_of_the_system() {
        let failed = ReadError::Failed { errno: 5 };
        let text = reason(Refusal::Unreadable(failed));
        assert_eq!(text, "superblock: input/output error");
        let text = reason(Refusal::TooManyGroups(7));
        assert_eq!(text, "too many block groups: 7");
    }

    #[test]
    fn the_driver_s_directory_has_the_name_of_the_device() {
        let check = |device, expected: &str| {
            let found = sysfs_directory(device);
            assert_eq!(found, Path::new("/sys/fs/ext4").join(expected));
        };
        check("/dev/dm-0", "dm-0");
        check("/dev/cciss/c0d0p1", "cciss!c0d0p1");
    }
}
