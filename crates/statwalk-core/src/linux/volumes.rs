// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file systems that a scan reads in place, and the reasons against others.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use rustix::fs::StatxFlags;
use statwalk_format::Generation;

use crate::entry::FileType;
use crate::exclusion::Exclusions;
use crate::linux::btrfs::mounted::Mounted as Btrfs;
use crate::linux::ext4::mounted::{Mounted as Ext4, NoImage};
use crate::linux::mount_view::{self, MountView};
use crate::linux::mounts::{Mount, MountTable, Mounts};
use crate::linux::privilege;
use crate::linux::statx;
use crate::linux::sync::SyncLimits;
use crate::linux::volume::Volume;
use crate::listing::in_place::InPlace;
use crate::listing::source::NotYet;
use crate::lock::lock;
use crate::reason::{NotInPlace, Obstacle, Reason};
use crate::source::choice::{Source, SyncPolicy};

/// The directories that a worker reads before it looks for a device.
///
/// To find and open a device costs as much as to read some fifty directories.
const DIRS_BEFORE: u32 = 64;

/// The size of a single directory that is worth one of those: it has some 30 entries.
const DIR_BYTES: u64 = 1024;

/// The directories that a worker reads before it syncs an ext4.
///
/// With nothing to write, a sync takes up to 4 ms on a solid-state disk: as much as to
/// read some 200 directories that are in memory.
const DIRS_BEFORE_EXT4_SYNC: u32 = 256;

/// The directories that a worker reads before it syncs a btrfs.
///
/// A sync costs as much as to read some thousand directories.
const DIRS_BEFORE_BTRFS_SYNC: u32 = 1024;

/// The unwritten data, for each directory that a worker has read, up to which it syncs a
/// file system that nobody asked it to sync. So the sync takes no longer than the scan
/// has taken: 256 MiB after 16,000 directories.
const UNWRITTEN_KIB_PER_DIR: u64 = 16;

/// The bit of numbers that stand for images. No mount and no device has it.
const IMAGE: u64 = 1 << 63;

/// The volumes of one scan.
pub(crate) struct VolumeTable {
    choice: Source,
    syncing: SyncPolicy,
    /// The reason to read no mount in place. Absent if there is none.
    objection: Option<NotInPlace>,
    now_ns: i64,
    mounts: MountTable,
    /// The reason why this process may read no device. Absent if there is none.
    lack: OnceLock<Option<NotInPlace>>,
    known: Mutex<KnownMounts>,
}

/// The mounts that workers have met, in this order.
#[derive(Default)]
struct KnownMounts {
    all: Vec<(u64, Known)>,
    numbers: HashMap<u64, usize>,
}

impl KnownMounts {
    fn get(&self, id: u64) -> Option<&Known> {
        self.numbers.get(&id).map(|&number| &self.all[number].1)
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Known> {
        let number = self.numbers.get(&id)?;
        Some(&mut self.all[*number].1)
    }

    fn push(&mut self, id: u64, state: Known) {
        self.numbers.insert(id, self.all.len());
        self.all.push((id, state));
    }
}

/// The state of a mount in the table.
enum Known {
    /// To open it does not pay before a worker has read so many directories. The reason
    /// is there where the number follows from the data that wait to be written.
    After(u32, Option<NotInPlace>),
    /// A worker is opening it.
    Opening,
    Open(Arc<dyn Volume>),
    /// It is left to the kernel, for this reason.
    Refused(NotInPlace),
}

impl VolumeTable {
    /// Makes an empty table. `objection` is the reason to read no mount in place.
    pub(crate) fn new(
        choice: Source,
        syncing: SyncPolicy,
        objection: Option<NotInPlace>,
        now_ns: i64,
    ) -> VolumeTable {
        VolumeTable {
            choice,
            syncing,
            objection,
            now_ns,
            mounts: MountTable::default(),
            lack: OnceLock::new(),
            known: Mutex::default(),
        }
    }

    /// A reader of a mount's file system. `None` if the mount is left to the kernel.
    ///
    /// The worker has read `dirs` directories; `size_bytes` is the size of its next
    /// one, 0 if unknown.
    ///
    /// An error says that the decision is still open: ask again later.
    pub(crate) fn of_mount(
        &self,
        id: u64,
        dirs: u32,
        size_bytes: u64,
    ) -> Result<Option<Box<dyn InPlace>>, NotYet> {
        let dirs = dirs.max(dirs_worth(size_bytes));
        let is_early = self.choice == Source::Auto && dirs < DIRS_BEFORE;
        if self.choice == Source::Posix || is_early {
            return Err(NotYet);
        }
        {
            let mut known = self.lock();
            match known.get_mut(id) {
                None => known.push(id, Known::Opening),
                Some(Known::After(begin, _)) if dirs < *begin => return Err(NotYet),
                Some(state @ Known::After(..)) => *state = Known::Opening,
                Some(Known::Opening) => return Err(NotYet),
                Some(Known::Open(volume)) => return Ok(Some(Arc::clone(volume).reader())),
                Some(Known::Refused(_)) => return Ok(None),
            }
        }
        // Without the lock: a sync can take long, and other workers go on meanwhile.
        let found = self.open(id, dirs);
        let answer = match &found {
            Known::Open(volume) => Ok(Some(Arc::clone(volume).reader())),
            Known::Refused(_) => Ok(None),
            Known::After(..) | Known::Opening => Err(NotYet),
        };
        let mut known = self.lock();
        if let Some(state) = known.get_mut(id) {
            *state = found;
        }
        answer
    }

    fn open(&self, id: u64, dirs: u32) -> Known {
        if let Some(objection) = &self.objection {
            return Known::Refused(objection.clone());
        }
        if let Some(lack) = self.lack() {
            return Known::Refused(lack.clone());
        }
        let mounts = self.mounts.look(true);
        if !mounts.is_known {
            return Known::Refused(mount_view::no_table());
        }
        let Some(mount) = mounts.find(id) else {
            return Known::Refused(mount_view::no_mount());
        };
        let table = &mounts.all;
        let wants = |source| self.choice == Source::Auto || self.choice == source;
        let begin = match mount.file_system.as_str() {
            "btrfs" => DIRS_BEFORE_BTRFS_SYNC,
            "ext2" | "ext3" | "ext4" if !mount.is_read_only_file_system() => DIRS_BEFORE_EXT4_SYNC,
            _ => 0,
        };
        let is_asked_for = self.choice != Source::Auto;
        if !is_asked_for && self.syncing == SyncPolicy::Allowed && dirs < begin {
            return Known::After(begin, None);
        }
        let limits = SyncLimits {
            policy: self.syncing,
            unwritten_kib_max: (!is_asked_for).then(|| u64::from(dirs) * UNWRITTEN_KIB_PER_DIR),
        };
        let opened = match mount.file_system.as_str() {
            "ext2" | "ext3" | "ext4" if wants(Source::Ext4) => MountView::of(mount, table)
                .and_then(|view| Ext4::of_mount(&view, self.now_ns, limits))
                .map(|mounted| -> Arc<dyn Volume> { Arc::new(mounted) }),
            "btrfs" if wants(Source::Btrfs) => MountView::of(mount, table)
                .and_then(|view| Btrfs::of_mount(&view, limits))
                .map(|mounted| -> Arc<dyn Volume> { Arc::new(mounted) }),
            _ => Err(self.other_type(mount)),
        };
        match opened {
            Ok(volume) => Known::Open(volume),
            // A longer scan may wait longer, and the data may have been written by then.
            Err(reason) if reason.obstacle == Obstacle::Unwritten => {
                Known::After(dirs.saturating_mul(2), Some(reason))
            }
            Err(reason) => Known::Refused(reason),
        }
    }

    /// The mounts, before any of them is opened.
    pub(crate) fn mounts(&self) -> Arc<Mounts> {
        self.mounts.look(self.choice != Source::Posix)
    }

    /// The mounts as they were when somebody asked last.
    pub(crate) fn known_mounts(&self) -> Arc<Mounts> {
        self.mounts.known()
    }

    /// The reason why this process may read no device. Absent if there is none.
    fn lack(&self) -> Option<&NotInPlace> {
        let lack = (self.lack).get_or_init(|| privilege::objection(self.choice != Source::Auto));
        lack.as_ref()
    }

    /// The reason why the wanted source does not read a mount of another type.
    fn other_type(&self, mount: &Mount) -> NotInPlace {
        let point = String::from_utf8_lossy(&mount.point);
        let found = &mount.file_system;
        let needs = match self.choice {
            Source::Ext4 => "ext2, ext3 or ext4",
            Source::Btrfs => "btrfs",
            Source::Auto | Source::Posix => {
                return Obstacle::OtherType.because(format!("{point} is {found}"));
            }
        };
        let source = self.choice.name();
        Obstacle::OtherType.because(format!(
            "the file system at {point} is {found}; the source {source} needs {needs}"
        ))
    }

    /// Makes sure that the chosen source can read a root: opens the root as an image,
    /// or the file system of its mount. A relative path leads from `here`.
    pub(crate) fn require(
        &self,
        here: BorrowedFd<'_>,
        root: u32,
        path: &CStr,
        follows: bool,
        exclusions: &Exclusions,
    ) -> io::Result<()> {
        if matches!(self.choice, Source::Auto | Source::Posix) {
            return Ok(());
        }
        let found = match follows {
            true => statx::through_links(here, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
            false => statx::by_name(here, path, StatxFlags::TYPE | StatxFlags::MNT_ID),
        };
        // The scan reports a missing root.
        let Ok(found) = found else {
            return Ok(());
        };
        if FileType::of_mode(found.stx_mode) == FileType::Directory {
            let id = statx::mount_id(&found);
            return match self.of_mount(id, u32::MAX, 0) {
                Ok(Some(_)) => Ok(()),
                _ => Err(self.reason(id).into()),
            };
        }
        if self.choice != Source::Ext4 {
            return Ok(());
        }
        if let Some(objection) = privilege::objection_to_images() {
            return Err(objection.into());
        }
        // The source reads directories and inodes of an image, and no file data.
        if follows {
            return Err(refusal("links in an image cannot be followed"));
        }
        if exclusions.read_files() {
            return Err(refusal(
                "files in an image cannot be read, .gitignore and CACHEDIR.TAG neither",
            ));
        }
        let id = IMAGE | u64::from(root);
        let mounted = Ext4::of_image(here, path, id).map_err(|reason| match reason {
            NoImage::Unopened(error) => error,
            NoImage::Refused(sentence) => refusal(&sentence),
        })?;
        self.lock().push(id, Known::Open(Arc::new(mounted)));
        Ok(())
    }

    /// The reason why a mount is left to the kernel.
    fn reason(&self, id: u64) -> NotInPlace {
        let known = self.lock();
        match known.get(id) {
            Some(Known::Refused(reason)) => reason.clone(),
            _ => Obstacle::Unreadable.because("it cannot be opened"),
        }
    }

    /// The number of a root that is an image. Absent for other roots.
    pub(crate) fn image(&self, root: u32) -> Option<u64> {
        if self.choice != Source::Ext4 {
            return None;
        }
        let id = IMAGE | u64::from(root);
        let known = self.lock();
        match known.get(id) {
            Some(Known::Open(_)) => Some(id),
            _ => None,
        }
    }

    /// The number of inodes in use of all roots, if each of them is an image.
    pub(crate) fn used_inodes_of_images(&self, root_count: usize) -> Option<u64> {
        if self.choice != Source::Ext4 {
            return None;
        }
        let known = self.lock();
        let images = known.all.iter().filter(|(id, _)| id & IMAGE != 0);
        let used = images.filter_map(|(_, known)| match known {
            Known::Open(volume) => volume.used_inodes(),
            _ => None,
        });
        let used: Vec<u64> = used.collect();
        (used.len() == root_count).then(|| used.iter().sum())
    }

    /// The generation of the first file system that was read in place and has one.
    pub(crate) fn generation(&self) -> Option<Generation> {
        self.lock().all.iter().find_map(|(_, known)| match known {
            Known::Open(volume) => volume.generation(),
            _ => None,
        })
    }

    /// The name of the source that read the most directories in place, and the lines
    /// of the plan. The name is `posix` if no source read any.
    pub(crate) fn reasons(&self) -> (&'static str, Vec<Reason>) {
        let mut most = (Source::Posix, 0);
        let mut why = Vec::new();
        for (_, known) in &self.lock().all {
            let (source, dirs, reasons) = match known {
                Known::Open(volume) => (volume.source(), volume.dirs(), volume.reasons()),
                Known::Refused(reason) | Known::After(_, Some(reason)) => {
                    why.push(Reason::NotInPlace(reason.clone()));
                    continue;
                }
                Known::After(_, None) | Known::Opening => continue,
            };
            why.extend(reasons);
            if most.0 == Source::Posix || dirs > most.1 {
                most = (source, dirs);
            }
        }
        (most.0.name(), why)
    }

    fn lock(&self) -> MutexGuard<'_, KnownMounts> {
        lock(&self.known)
    }
}

/// The number of directories whose reading costs as much as that of one of this size.
pub(crate) fn dirs_worth(size_bytes: u64) -> u32 {
    u32::try_from(size_bytes / DIR_BYTES).unwrap_or(u32::MAX)
}

/// Whether one directory of this size is worth a look at the device.
pub(crate) fn is_worth_in_place(size_bytes: u64) -> bool {
    dirs_worth(size_bytes) >= DIRS_BEFORE
}

fn refusal(sentence: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.to_owned())
}
