// SPDX-License-Identifier: MIT OR Apache-2.0

//! The portable source: any mounted file system, no privileges, blocking system
//! calls on the calling thread.
//!
//! For each directory: open, statx, getdents64 until empty, one statx for each
//! entry that is not a directory, statx, close. With only types wanted it stats
//! nothing.

mod find;
pub(super) mod list;
pub(crate) mod open;
pub(crate) mod probe;
pub(crate) mod stat;
mod working_directory;

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, SeekFrom, Statx, StatxFlags, seek};
use rustix::io::Errno as KernelErrno;
use rustix::time::{ClockId, clock_gettime};
use statwalk_sys::{kernel_file_systems, link_counts, user};

use crate::calls::{BUFFER_BYTES, Calls, Freshness, LARGE_BUFFER_BYTES};
use crate::dir_handle::DirHandle;
use crate::entry::FileId;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::linux::mounts::{Mount, Mounts};
use crate::linux::volumes::{VolumeTable, is_worth_in_place};
use crate::linux::{stacked, statx};
use crate::listing::in_place::InPlace;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, More, NotOpened, NotYet, Way};
use crate::listing::stacked::{DoubleMounts, DoubleWays, Layers, Stacked};
use crate::tally;
pub(crate) use working_directory::WorkingDirectory;

/// The kernel, by its system calls.
pub(crate) struct Posix {
    calls: Calls,
    /// The flags of each stat of an entry or an open directory.
    flags: AtFlags,
    mask: StatxFlags,
    directory_mask: StatxFlags,
    /// Whether a root can be a link to a directory.
    follows: bool,
    /// Whether the kernel has openat2 (Linux 5.6).
    has_openat2: bool,
    /// Whether statx gives mount ids (Linux 5.8).
    has_mount_ids: bool,
    /// Whether to open with `O_NOATIME`; false after the first refusal.
    no_atime: AtomicBool,
    root_paths: Vec<Arc<CStr>>,
    working_directory: WorkingDirectory,
    /// The roots that exist, without links. Absent where the kernel does not tell.
    real_roots: OnceLock<Option<Vec<Vec<u8>>>>,
    /// The file systems that are read in place.
    pub(crate) volumes: VolumeTable,
}

/// The options of [`Posix`].
pub(crate) struct PosixOptions {
    pub(crate) wanted: Fields,
    pub(crate) calls: Calls,
    pub(crate) follows: bool,
    pub(crate) has_openat2: bool,
    pub(crate) has_mount_ids: bool,
    pub(crate) root_paths: Vec<Arc<CStr>>,
    pub(crate) working_directory: WorkingDirectory,
    pub(crate) volumes: VolumeTable,
}

impl Posix {
    pub(crate) fn new(options: PosixOptions) -> Posix {
        Posix {
            flags: match options.calls.freshness {
                Freshness::AsStat => AtFlags::empty(),
                Freshness::DontSync => AtFlags::STATX_DONT_SYNC,
            },
            mask: statx::mask(options.wanted),
            directory_mask: statx::directory_mask(options.wanted),
            calls: options.calls,
            follows: options.follows,
            has_openat2: options.has_openat2,
            has_mount_ids: options.has_mount_ids,
            // The kernel refuses it to others for files they do not own: open(2).
            no_atime: AtomicBool::new(user::effective() == Ok(0)),
            working_directory: options.working_directory,
            root_paths: options.root_paths,
            real_roots: OnceLock::new(),
            volumes: options.volumes,
        }
    }

    /// The directory from which relative roots lead.
    pub(crate) fn here(&self) -> BorrowedFd<'_> {
        self.working_directory.as_fd()
    }

    fn real_roots(&self) -> Option<&[Vec<u8>]> {
        let roots = || probe::real_paths(self.here(), &self.root_paths).ok();
        self.real_roots.get_or_init(roots).as_deref()
    }

    /// The mount of a number, among the mounts that it was found in.
    fn find_mount(&self, mount: u64) -> (Arc<Mounts>, Option<Mount>) {
        let find = |mounts: &Mounts| match self.has_mount_ids {
            true => mounts.find(mount).cloned(),
            // A device number stands for the mount then.
            false => {
                let mut all = mounts.all.iter();
                all.find(|other| {
                    stacked::kind(other).is_some() && other.device_number() == Some(mount)
                })
                .cloned()
            }
        };
        let known = self.volumes.known_mounts();
        match find(&known) {
            None if self.has_mount_ids || known.all.is_empty() => {
                let mounts = self.volumes.mounts();
                let found = find(&mounts);
                (mounts, found)
            }
            found => (known, found),
        }
    }
}

/// The descriptor of an open directory.
#[inline]
fn fd(dir: &DirHandle) -> Result<BorrowedFd<'_>, KernelErrno> {
    dir.fd().ok_or(KernelErrno::BADF)
}

impl DirectorySource for Posix {
    type Stat = Statx;
    type StatError = KernelErrno;

    fn account(&self) -> Account {
        let (name, why) = self.volumes.reasons();
        Account {
            name,
            generation: self.volumes.generation(),
            why,
        }
    }

    fn open_root(&self, path: &CStr) -> Result<DirHandle, NotOpened> {
        open::root(path, self).map(DirHandle::from)
    }

    fn open_child(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        open::child(fd(parent)?, name, self).map(DirHandle::from)
    }

    fn open_across(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        open::across(fd(parent)?, name, self).map(DirHandle::from)
    }

    fn open_through_links(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        open::through_links(fd(parent)?, name, self).map(DirHandle::from)
    }

    fn duplicate(&self, dir: &DirHandle) -> Result<DirHandle, Failure> {
        find::duplicate(fd(dir)?)
    }

    fn find_root(&self, path: &CStr) -> Result<DirHandle, Failure> {
        find::root(self.here(), path, self.follows)
    }

    fn find(&self, from: &DirHandle, path: &[u8], way: Way) -> Result<DirHandle, Failure> {
        find::below(fd(from)?, path, way, self.has_openat2)
    }

    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Failure> {
        find::above(fd(from)?, levels)
    }

    #[inline(always)]
    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<Statx, KernelErrno> {
        statx::by_name_with(fd(dir)?, name, self.flags, self.mask)
    }

    fn stat_path(&self, path: &CStr) -> Result<Statx, KernelErrno> {
        statx::by_name_with(self.here(), path, self.flags, self.mask)
    }

    fn stat_root(&self, path: &CStr) -> Result<Statx, Failure> {
        Ok(statx::by_name(self.here(), path, self.directory_mask)?)
    }

    fn stat_directory(&self, dir: &DirHandle) -> Result<Statx, Failure> {
        Ok(statx::by_descriptor_with(
            fd(dir)?,
            self.flags,
            self.directory_mask,
        )?)
    }

    fn stat_subdirectory(&self, dir: &DirHandle, name: &CStr) -> Result<Statx, Failure> {
        Ok(statx::by_name(fd(dir)?, name, self.directory_mask)?)
    }

    fn recognise(&self, dir: &DirHandle, name: &CStr) -> Result<Statx, Failure> {
        // The kernel knows them by itself. With this flag it asks no server for the
        // rest: `nfs_getattr`, fs/nfs/inode.c, and `fuse_update_get_attr`, fs/fuse/dir.c.
        // With any bit in the mask, FUSE shuts out other users: `fuse_getattr`, same file.
        let flags = self.flags | AtFlags::STATX_DONT_SYNC;
        let found = statx::by_name_with(fd(dir)?, name, flags, StatxFlags::empty())?;
        if statx::has_mount_id(&found) || !self.has_mount_ids {
            return Ok(found);
        }
        // Another kernel may fill in only what it is asked for.
        let mask = self.directory_mask & (statx::IDENTITY | StatxFlags::MNT_ID);
        Ok(statx::by_name_with(fd(dir)?, name, flags, mask)?)
    }

    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<Statx, Failure> {
        let dir = match dir {
            Some(dir) => fd(dir)?,
            None => self.here(),
        };
        Ok(statx::through_links(dir, name, self.directory_mask)?)
    }

    fn working_directory(&self) -> PathBuf {
        self.working_directory.path()
    }

    fn identity(&self, dir: &DirHandle) -> Result<FileId, Failure> {
        let found = statx::by_descriptor(fd(dir)?, statx::IDENTITY)?;
        Ok(statx::file_id(&found))
    }

    fn has_no_inside(&self, dir: &DirHandle, name: &CStr) -> bool {
        // The kernel returns ENOTDIR if the name before the dot is no directory.
        let inside = [name.to_bytes(), b"/.\0"].concat();
        let inside = CStr::from_bytes_with_nul(&inside).expect("a name has no NUL");
        let found =
            fd(dir).and_then(|fd| statx::by_name_with(fd, inside, self.flags, StatxFlags::TYPE));
        matches!(found, Err(KernelErrno::NOTDIR))
    }

    fn list(
        &self,
        dir: &DirHandle,
        buffer: &mut [u8],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Failure> {
        let types = self.calls.types;
        Ok(match names {
            KeptNames::All => list::list::<true>(fd(dir)?, buffer, types, into)?,
            KeptNames::OfDirectories => list::list::<false>(fd(dir)?, buffer, types, into)?,
        })
    }

    fn position(&self, dir: &DirHandle) -> Result<u64, Failure> {
        tally::count();
        Ok(seek(fd(dir)?, SeekFrom::Current(0))?)
    }

    fn seek(&self, dir: &DirHandle, position: u64) -> Result<(), Failure> {
        tally::count();
        seek(fd(dir)?, SeekFrom::Start(position))?;
        Ok(())
    }

    fn entries_expected(&self) -> Option<u64> {
        self.volumes.used_inodes_of_images(self.root_paths.len())
    }

    fn buffer_bytes(&self) -> usize {
        self.calls.buffer_bytes.unwrap_or(BUFFER_BYTES)
    }

    fn large_buffer_bytes(&self) -> usize {
        self.calls.buffer_bytes.unwrap_or(LARGE_BUFFER_BYTES)
    }

    fn mounts_on_demand(&self, dir: &DirHandle) -> bool {
        fd(dir).is_ok_and(|fd| self.is_autofs(fd))
    }

    fn kernel_file_system(&self, dir: &DirHandle) -> Option<&'static str> {
        kernel_file_systems::name(self.file_system(dir.fd()?)?)
    }

    fn is_served(&self, dir: &DirHandle) -> bool {
        fd(dir).is_ok_and(|fd| open::is_served(self.file_system(fd)))
    }

    fn links_count_subdirs(&self, dir: &DirHandle) -> bool {
        let magic = dir.fd().and_then(|fd| self.file_system(fd));
        link_counts::are_of_subdirectories(magic.unwrap_or(0))
    }

    fn is_cache_directory(&self, dir: &DirHandle) -> bool {
        fd(dir).is_ok_and(open::is_cache_directory)
    }

    fn holds_repository(&self, dir: &DirHandle) -> bool {
        dir.fd().is_some_and(|fd| open::holds_repository(fd, self))
    }

    fn read_gitignore(&self, dir: &DirHandle) -> Result<Option<Vec<u8>>, Failure> {
        match dir.fd() {
            Some(fd) => open::read_gitignore(fd, self),
            None => Ok(None),
        }
    }

    fn now_s(&self) -> i64 {
        clock_gettime(ClockId::RealtimeCoarse).tv_sec
    }

    fn tells_mounts_apart(&self) -> bool {
        self.has_mount_ids
    }

    fn double_ways(&self) -> DoubleWays {
        let mounts = self.volumes.mounts();
        let Some(roots) = self.real_roots() else {
            return DoubleWays {
                mounts: DoubleMounts::Unknown,
                ..DoubleWays::default()
            };
        };
        DoubleWays {
            mounts: probe::mounts_reached_twice(roots, &mounts, self.has_mount_ids),
            layers: stacked::layers_below(&mounts, roots),
        }
    }

    fn mounted_files(&self, mounts: &HashSet<u64>) -> HashSet<FileId> {
        match self.has_mount_ids {
            true => probe::mounted_files(mounts, &self.volumes.mounts()),
            false => HashSet::new(),
        }
    }

    fn stacked(&self, mount: u64) -> Option<Stacked> {
        stacked::kind(&self.find_mount(mount).1?)
    }

    fn layers_of(&self, dir: &DirHandle, mount: u64) -> Layers {
        match (self.find_mount(mount), fd(dir), self.real_roots()) {
            ((mounts, Some(mount)), Ok(dir), Some(roots)) => {
                stacked::layers_of(&mount, dir, &mounts, roots)
            }
            _ => Layers::Unknown,
        }
    }

    fn in_place(
        &self,
        mount: u64,
        dirs: u32,
        size_bytes: u64,
    ) -> Result<Option<Box<dyn InPlace>>, NotYet> {
        self.volumes.of_mount(mount, dirs, size_bytes)
    }

    fn is_worth_in_place(&self, size_bytes: u64) -> bool {
        is_worth_in_place(size_bytes)
    }

    fn image(&self, root: u32) -> Option<u64> {
        self.volumes.image(root)
    }
}
