// SPDX-License-Identifier: MIT OR Apache-2.0

//! The questions that a platform must answer so that its trees can be listed.
//!
//! A source asks the system and gives its answer. It decides nothing: what is asked,
//! how often, and what becomes of the answer is for the lister to say.

use std::collections::HashSet;
use std::ffi::CStr;
use std::mem::MaybeUninit;

use super::in_place::InPlace;
use super::listed::{KeptNames, Listed};
use crate::entry::{Attributes, Fields, FileId, FileType};
use crate::error::SystemErrno as Errno;
use crate::handle::DirHandle;

/// Where directories and attributes come from: the kernel by its system calls, or a
/// tree in memory.
///
/// A directory that is open is a [`DirHandle`] of the same source. Names are those of
/// one entry, unless the argument is called a path.
///
/// # Errors
///
/// All methods give the system's answer. Not found is [`Errno::NOENT`].
pub(crate) trait DirectorySource: Send + Sync + 'static {
    /// The attributes and the identity of an entry.
    type Stat: EntryStat;

    /// The source's lines of the plan, when the scan is done.
    fn account(&self) -> Account;

    /// Opens a root, by a path of the caller.
    fn open_root(&self, path: &CStr) -> Result<DirHandle, NotOpened>;

    /// Opens a subdirectory that lies on the same mount, and never what a link leads to;
    /// `.` is the directory itself.
    fn open_child(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened>;

    /// Opens a subdirectory, whatever is mounted on it.
    fn open_across(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened>;

    /// Opens the target of a symbolic link.
    fn open_through_links(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened>;

    /// Another handle of the same directory.
    fn duplicate(&self, dir: &DirHandle) -> Result<DirHandle, Errno>;

    /// Finds a root again, to go on from there.
    fn find_root(&self, path: &CStr) -> Result<DirHandle, Errno>;

    /// Finds a directory again by the path from another one.
    fn find(&self, from: &DirHandle, path: &[u8], way: Way) -> Result<DirHandle, Errno>;

    /// Finds the directory that lies so many levels above another one.
    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Errno>;

    /// Stats an entry, and never the target of a link.
    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<Self::Stat, Errno>;

    /// As [`stat_entry`](Self::stat_entry), by the whole path.
    fn stat_path(&self, path: &CStr) -> Result<Self::Stat, Errno>;

    /// As [`stat_subdirectory`](Self::stat_subdirectory), by a path of the caller.
    fn stat_root(&self, path: &CStr) -> Result<Self::Stat, Errno>;

    /// Stats an open directory.
    fn stat_directory(&self, dir: &DirHandle) -> Result<Self::Stat, Errno>;

    /// Stats an entry with its identity and mount, besides the wanted fields.
    fn stat_subdirectory(&self, dir: &DirHandle, name: &CStr) -> Result<Self::Stat, Errno>;

    /// Stats the target of a symbolic link; with `None` the name is a path of the caller.
    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<Self::Stat, Errno>;

    /// The identity of an open directory.
    fn identity(&self, dir: &DirHandle) -> Result<FileId, Errno>;

    /// The identity of an entry.
    fn identity_of_entry(&self, dir: &DirHandle, name: &CStr) -> Result<FileId, Errno>;

    /// Whether a stat of what would be inside says that an entry is no directory.
    fn has_no_inside(&self, dir: &DirHandle, name: &CStr) -> bool;

    /// Adds the next entries of an open directory, as many as fit into the buffer.
    fn list(
        &self,
        dir: &DirHandle,
        buffer: &mut [MaybeUninit<u8>],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Errno>;

    /// Where the listing of an open directory goes on.
    fn position(&self, dir: &DirHandle) -> Result<u64, Errno>;

    /// Goes on at a position that was given before; 0 is the beginning.
    fn seek(&self, dir: &DirHandle, position: u64) -> Result<(), Errno>;

    /// How large the buffer of a worker is.
    fn buffer_bytes(&self) -> usize {
        0
    }

    /// Whether opening an entry of this directory could mount something.
    fn mounts_on_demand(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// The name of the kernel file system that a directory belongs to, if it does.
    fn kernel_file_system(&self, _dir: &DirHandle) -> Option<&'static str> {
        None
    }

    /// Whether the link count of a directory is two more than it has subdirectories.
    fn links_count_subdirs(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// Whether a directory is tagged as a cache.
    fn is_cache_directory(&self, _dir: &DirHandle) -> bool {
        false
    }

    /// The patterns that a directory holds, if it has any.
    fn read_gitignore(&self, _dir: &DirHandle) -> Option<Vec<u8>> {
        None
    }

    /// Seconds since 1970, by the clock of the file times.
    fn now_s(&self) -> i64;

    /// The mounts whose directories can be reached by two ways.
    fn mounts_reached_twice(&self) -> HashSet<u64> {
        HashSet::new()
    }

    /// A reader of the mount's file system, for a worker that has done so many
    /// directories and is at one of this size (0 where the size is not known).
    ///
    /// # Errors
    ///
    /// It is not known yet, and to be asked again.
    fn in_place(
        &self,
        _mount: u64,
        _dirs: u32,
        _size_bytes: u64,
    ) -> Result<Option<Box<dyn InPlace>>, NotYet> {
        Ok(None)
    }

    /// From which size on a directory is worth a look for that by itself.
    fn is_worth_in_place(&self, _size_bytes: u64) -> bool {
        false
    }

    /// The number of the mount that stands for an image, where a root is one.
    fn image(&self, _root: u32) -> Option<u64> {
        None
    }
}

/// An entry, as its source knows it.
pub(crate) trait EntryStat: Sized {
    fn kind(&self) -> FileType;
    fn id(&self) -> FileId;
    /// The mount that it lies in.
    fn mount(&self) -> u64;
    /// Whether mounts have numbers of their own, and not those of their devices.
    fn has_mount_id(&self) -> bool;
    /// Whether something would be mounted here if it were opened.
    fn is_idle_automount(&self) -> bool;
    fn size_bytes(&self) -> u64;
    fn links(&self) -> u32;
    /// The state that changes when the directory does.
    fn change_stamp(&self) -> ChangeStamp;
    fn attributes(&self, wanted: Fields) -> Attributes;
}

/// The state of a directory that must stay the same while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeStamp {
    pub(crate) mtime: (i64, u32),
    pub(crate) ctime: (i64, u32),
    pub(crate) links: u32,
    pub(crate) size_bytes: u64,
}

/// A source's lines of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Its name, or that of the one which read most in place of it.
    pub(crate) name: &'static str,
    /// The generation of the btrfs that was read in place.
    pub(crate) generation: Option<u64>,
    pub(crate) why: Vec<String>,
}

/// Whether a listing has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Entries,
    End,
}

/// The kind of way to a directory that is found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// No mount begins on it, and no link is followed.
    Within,
    /// A mount begins where it ends.
    Across,
    /// A link is followed.
    ThroughLink,
}

/// A file system that may be read in place is still being looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotYet;

/// Why a directory was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// Nothing has this name.
    Gone(Errno),
    /// Something else has this name, or the way to it goes in circles.
    NotADirectory(Errno),
    /// Something is mounted on it.
    OtherMount,
    /// Something would be mounted on it if it were opened.
    Automount,
    /// Any other answer.
    Refused(Errno),
}

impl From<Errno> for NotOpened {
    fn from(errno: Errno) -> NotOpened {
        match errno {
            Errno::NOENT => NotOpened::Gone(errno),
            // O_NOFOLLOW answers ELOOP for a link, with O_DIRECTORY ENOTDIR.
            Errno::NOTDIR | Errno::LOOP => NotOpened::NotADirectory(errno),
            Errno::XDEV => NotOpened::OtherMount,
            _ => NotOpened::Refused(errno),
        }
    }
}
