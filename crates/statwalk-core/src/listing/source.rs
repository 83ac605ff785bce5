// SPDX-License-Identifier: MIT OR Apache-2.0

//! The interface from a lister to a platform: the questions about directories.
//!
//! A source asks the system and returns its answer. It decides nothing: the lister
//! chooses the questions, repeats them, and uses the answers.

use std::collections::HashSet;
use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::change_stamp::ChangeStamp;
use super::in_place::InPlace;
use super::listed::{KeptNames, Listed};
use super::options::Shown;
use super::stacked::{DoubleWays, Layers, Stacked};
use statwalk_format::Generation;

use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::reason::Reason;
use crate::time::Time;

/// A source of directories and attributes: the kernel by its system calls, or a tree in
/// memory.
///
/// An open directory is a [`DirHandle`] of the same source. A name is that of one entry,
/// unless the argument is called a path. The page "write a source" is in
/// `source/memory/mod.rs`.
///
/// All methods return the system's error, of the kind that it means to the core.
pub(crate) trait DirectorySource: Send + Sync + 'static {
    /// The attributes and the identity of an entry.
    type Stat: EntryStat;

    /// The system's own error, for the two questions that are asked about every entry.
    ///
    /// The lister makes a [`Failure`] of it where there is one. To translate each answer
    /// on its way would copy its attributes: 5 % more instructions for a tree.
    type StatError: Copy + Into<Failure>;

    /// The source's lines of the plan, when the scan is done.
    fn account(&self) -> Account;

    // --- to open a directory ---

    /// Opens a root, by a path of the caller.
    fn open_root(&self, path: &CStr) -> Result<DirHandle, NotOpened> {
        Ok(self.find_root(path)?)
    }

    /// Opens a subdirectory on the same mount, and follows no link; `.` is the directory
    /// itself.
    fn open_child(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        Ok(self.find(parent, name.to_bytes(), Way::Within)?)
    }

    /// Opens a subdirectory, with the file system that is mounted on it.
    fn open_across(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        self.open_child(parent, name)
    }

    /// Opens the target of a symbolic link.
    fn open_through_links(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        Ok(self.find(parent, name.to_bytes(), Way::ThroughLink)?)
    }

    /// Another handle of the same directory.
    fn duplicate(&self, dir: &DirHandle) -> Result<DirHandle, Failure> {
        self.find_above(dir, 0)
    }

    // --- to find a directory again that had to be closed ---

    /// Finds a root again, as the start of [`find`](Self::find).
    fn find_root(&self, path: &CStr) -> Result<DirHandle, Failure>;

    /// Finds a directory again by the path from another one.
    fn find(&self, from: &DirHandle, path: &[u8], way: Way) -> Result<DirHandle, Failure>;

    /// Finds the directory that lies so many levels above another one.
    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Failure>;

    // --- stats ---

    /// Stats an entry, and never the target of a link.
    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<Self::Stat, Self::StatError>;

    /// As [`stat_entry`](Self::stat_entry), by the whole path.
    fn stat_path(&self, path: &CStr) -> Result<Self::Stat, Self::StatError>;

    /// As [`stat_subdirectory`](Self::stat_subdirectory), by a path of the caller.
    fn stat_root(&self, path: &CStr) -> Result<Self::Stat, Failure> {
        self.stat_path(path).map_err(Into::into)
    }

    /// Stats an open directory.
    fn stat_directory(&self, dir: &DirHandle) -> Result<Self::Stat, Failure>;

    /// Stats an entry with its identity and mount, besides the wanted fields.
    fn stat_subdirectory(&self, dir: &DirHandle, name: &CStr) -> Result<Self::Stat, Failure> {
        self.stat_entry(dir, name).map_err(Into::into)
    }

    /// Finds out mount and device number of an entry, and nothing else.
    ///
    /// Where a file system is mounted on it, that one is not asked: it may be dead, or shut
    /// out this user.
    fn recognise(&self, dir: &DirHandle, name: &CStr) -> Result<Self::Stat, Failure> {
        self.stat_subdirectory(dir, name)
    }

    /// Stats the target of a symbolic link; with `None` the name is a path of the caller.
    /// By itself no link leads anywhere.
    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<Self::Stat, Failure> {
        match dir {
            Some(dir) => self.stat_subdirectory(dir, name),
            None => self.stat_root(name),
        }
    }

    /// The path of the directory from which relative paths of the caller lead. Empty where
    /// that is the working directory of the process.
    fn working_directory(&self) -> PathBuf {
        PathBuf::new()
    }

    /// The identity of an open directory.
    fn identity(&self, dir: &DirHandle) -> Result<FileId, Failure> {
        Ok(self.stat_directory(dir)?.id())
    }

    // --- listings ---

    /// Adds the next entries of an open directory, as many as fit into the buffer.
    fn list(
        &self,
        dir: &DirHandle,
        buffer: &mut [u8],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Failure>;

    /// The fields that a listing brings with each entry, by [`Listed::add_with`]. The
    /// lister stats entries for others alone.
    fn listed_fields(&self) -> Fields {
        Fields::NONE
    }

    /// The position at which the listing of an open directory goes on.
    fn position(&self, dir: &DirHandle) -> Result<u64, Failure> {
        let position = dir.position().ok_or(Failure::BAD_HANDLE)?;
        Ok(position.load(Ordering::Relaxed))
    }

    /// Goes on at an earlier [`position`](Self::position); 0 is the start.
    fn seek(&self, dir: &DirHandle, position: u64) -> Result<(), Failure> {
        let own = dir.position().ok_or(Failure::BAD_HANDLE)?;
        own.store(position, Ordering::Relaxed);
        Ok(())
    }

    // --- facts and hints, which most sources do not have ---

    /// The number of entries that the roots have in all, where the source knows it.
    fn entries_expected(&self) -> Option<u64> {
        None
    }

    /// The size of a worker's buffer.
    fn buffer_bytes(&self) -> usize {
        0
    }

    /// The size of a worker's buffer in a large directory that needs no stats.
    fn large_buffer_bytes(&self) -> usize {
        self.buffer_bytes()
    }

    /// Whether a stat of `name/.` shows that an entry is no directory.
    fn has_no_inside(&self, _dir: &DirHandle, _name: &CStr) -> bool {
        false
    }

    /// Whether to open an entry of this directory could trigger a mount.
    fn mounts_on_demand(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// The name of the kernel file system that a directory belongs to, if it does.
    fn kernel_file_system(&self, _dir: &DirHandle) -> Option<&'static str> {
        None
    }

    /// Whether a server, in user space or on a network, gives the names and times of a
    /// directory. They can be at odds there.
    fn is_served(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// Whether the link count of a directory is two more than it has subdirectories.
    fn links_count_subdirs(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// Seconds since 1970, by the clock of the file times. Asked only where link counts
    /// count subdirectories.
    fn now_s(&self) -> i64 {
        i64::MIN
    }

    /// Whether a directory is tagged as a cache.
    fn is_cache_directory(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// The patterns that a directory holds, if it has any. At most one byte more comes than
    /// [`GITIGNORE_MAX`](crate::exclusion::GITIGNORE_MAX).
    fn read_gitignore(&self, _dir: &DirHandle) -> Result<Option<Vec<u8>>, Failure> {
        Ok(None)
    }

    /// Whether a directory is the top of a git repository.
    fn holds_repository(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// Whether two mounts of one device have two numbers.
    fn tells_mounts_apart(&self) -> bool {
        true
    }

    /// The ways by which the scan can count a file twice.
    fn double_ways(&self) -> DoubleWays {
        DoubleWays::default()
    }

    /// The files that are mounted, by themselves, from the file systems of these mounts.
    fn mounted_files(&self, _mounts: &HashSet<u64>) -> HashSet<FileId> {
        HashSet::new()
    }

    /// Whether a mount shows the files of other directories.
    fn stacked(&self, _mount: u64) -> Option<Stacked> {
        None
    }

    /// The layers of such a mount, whose topmost directory is open.
    fn layers_of(&self, _dir: &DirHandle, _mount: u64) -> Layers {
        Layers::Unknown
    }

    // --- file systems that are read in place ---

    /// A reader of the mount's file system. `None` if there is none.
    ///
    /// The worker has read `dirs` directories; `size_bytes` is the size of its next one,
    /// 0 if unknown.
    ///
    /// An error says that the decision is still open: ask again later.
    fn in_place(
        &self,
        _mount: u64,
        _dirs: u32,
        _size_bytes: u64,
    ) -> Result<Option<Box<dyn InPlace>>, NotYet> {
        Ok(None)
    }

    /// Whether a directory of this size is worth a search for such a reader.
    fn is_worth_in_place(&self, _size_bytes: u64) -> bool {
        false
    }

    /// The number that stands for the mount of an image. Absent if the root is none.
    fn image(&self, _root: u32) -> Option<u64> {
        None
    }
}

/// An entry, as its source knows it.
pub(crate) trait EntryStat: Sized {
    fn kind(&self) -> FileType;
    fn id(&self) -> FileId;
    /// The number of its mount.
    fn mount(&self) -> u64 {
        0
    }
    /// It as its mount shows it.
    fn shown(&self) -> Shown {
        Shown {
            mount: self.mount(),
            dev: Some(self.id().dev),
        }
    }
    /// Whether that is a mount id, and not the number of a device.
    fn has_mount_id(&self) -> bool {
        true
    }
    /// Whether it shows by itself that a kernel file system has it, and no server.
    fn is_surely_local(&self) -> bool {
        false
    }
    /// Whether it is an automount point on which nothing is mounted yet.
    fn is_idle_automount(&self) -> bool {
        false
    }
    fn size_bytes(&self) -> u64;
    fn links(&self) -> u32;
    /// The attributes that change with a directory.
    fn change_stamp(&self) -> ChangeStamp;
    fn attributes(&self, wanted: Fields) -> Attributes;
}

/// The answer of a source that keeps attributes.
#[derive(Clone, Copy)]
pub(crate) struct KeptStat(pub(crate) Attributes);

impl EntryStat for KeptStat {
    fn kind(&self) -> FileType {
        self.0.kind
    }

    fn id(&self) -> FileId {
        self.0.id
    }

    fn size_bytes(&self) -> u64 {
        self.0.size_bytes
    }

    fn links(&self) -> u32 {
        self.0.links
    }

    fn change_stamp(&self) -> ChangeStamp {
        ChangeStamp {
            mtime: (self.0.times_ns[Time::Modified.index()], 0),
            ctime: (self.0.times_ns[Time::Changed.index()], 0),
            links: self.0.links,
            size_bytes: self.0.size_bytes,
        }
    }

    fn attributes(&self, wanted: Fields) -> Attributes {
        self.0.narrowed(wanted)
    }
}

/// A source's lines of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The name of the source that read the most directories.
    pub(crate) name: &'static str,
    /// The generation of the btrfs that was read in place, if there was one.
    pub(crate) generation: Option<Generation>,
    pub(crate) why: Vec<Reason>,
}

impl Account {
    /// The lines of a source that has nothing to say but its name.
    pub(crate) fn named(name: &'static str) -> Account {
        Account {
            name,
            generation: None,
            why: Vec::new(),
        }
    }
}

/// Whether a listing has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Entries,
    End,
}

impl More {
    /// Whether a listing goes on that has brought so many entries.
    pub(crate) fn after(entries: usize) -> More {
        match entries {
            0 => More::End,
            _ => More::Entries,
        }
    }
}

/// The kind of path to a directory that is found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It crosses no mount and follows no link.
    Within,
    /// A mount begins at its end.
    Across,
    /// It follows a link.
    ThroughLink,
}

/// The decision whether to read a mount in place is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotYet;

/// The reason why a directory was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// No entry has this name.
    Gone(Failure),
    /// The entry is no directory, or its path is a circle of links.
    NotADirectory(Failure),
    /// A file system is mounted on it.
    OtherMount,
    /// To open it would trigger a mount.
    Automount,
    /// Any other error.
    Refused(Failure),
}

impl From<Failure> for NotOpened {
    fn from(failure: Failure) -> NotOpened {
        match failure {
            Failure::NotFound(_) => NotOpened::Gone(failure),
            // For a link, O_NOFOLLOW gives ELOOP, and with O_DIRECTORY ENOTDIR.
            Failure::NotADirectory(_) | Failure::Loop(_) => NotOpened::NotADirectory(failure),
            Failure::OtherDevice(_) => NotOpened::OtherMount,
            Failure::NameTooLong(_) | Failure::NotRegular(_) | Failure::Other(_) => {
                NotOpened::Refused(failure)
            }
        }
    }
}
