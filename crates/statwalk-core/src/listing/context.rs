// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a scan asks of the source, decided once, before the first directory.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::calls::{Calls, Detail, Freshness};
use crate::directory::{MountMark, Place};
use crate::entry::{Fields, FileId};
use crate::exclusion::{Exclusions, IgnoreRules};
use crate::handle::DescriptorBudget;
use crate::inode_set::InodeSet;
use crate::source::in_place::volume_table::VolumeTable;
use crate::source::posix::{open, stat, survey};

/// The terms of one scan, shared by its workers.
pub(crate) struct Terms {
    pub(crate) wanted: Fields,
    /// Whether nothing but the types of entries matters, so that only the names
    /// of directories must be kept.
    pub(crate) types_only: bool,
    /// Whether not even types matter but those of directories, so that the
    /// tricks of `unknown` apply.
    pub(super) shape_only: bool,
    pub(super) calls: Calls,
    /// The flags of every stat of an entry or of a directory that is read.
    flags: AtFlags,
    pub(crate) mask: StatxFlags,
    pub(crate) directory_mask: StatxFlags,
    /// Whether other file systems are entered.
    pub(crate) enters_mounts: bool,
    pub(crate) enters_kernel_file_systems: bool,
    pub(crate) follows: bool,
    pub(crate) exclusions: Exclusions,
    /// Directories of this depth are not listed.
    pub(crate) max_depth: u32,
    /// Whether openat2 (Linux 5.6) answers.
    pub(crate) has_openat2: bool,
    /// Whether statx gives mount ids (Linux 5.8).
    has_mount_ids: bool,
    /// Whether to ask for `O_NOATIME`; false from the first refusal on.
    pub(crate) no_atime: AtomicBool,
    pub(crate) budget: Arc<DescriptorBudget>,
    /// Mounts whose directories can be reached by two ways, once it was asked.
    reached_twice: OnceLock<HashSet<u64>>,
    root_paths: Vec<Arc<CStr>>,
    pub(crate) roots: RootTable,
    /// Directories that were seen, where one can be reached by two ways.
    pub(crate) visited: InodeSet,
    /// What can be read without the kernel.
    pub(crate) volumes: VolumeTable,
}

/// What the terms of a scan are made of.
pub(crate) struct TermsOptions {
    pub(crate) wanted: Fields,
    pub(crate) calls: Calls,
    pub(crate) enters_mounts: bool,
    pub(crate) enters_kernel_file_systems: bool,
    pub(crate) follows: bool,
    pub(crate) exclusions: Exclusions,
    pub(crate) max_depth: u32,
    pub(crate) has_openat2: bool,
    pub(crate) has_mount_ids: bool,
    pub(crate) open_dirs_max: usize,
    pub(crate) root_paths: Vec<Arc<CStr>>,
    pub(crate) roots: RootTable,
    pub(crate) volumes: VolumeTable,
}

/// Where roots stand in each other's trees.
///
/// With a single root it is empty and costs nothing.
#[derive(Default)]
pub(crate) struct RootTable {
    /// Roots that are directories, each with the mount that it lies in.
    pub(crate) directories: HashMap<FileId, (u32, u64)>,
    /// Roots that are no directories, by their parent directory.
    pub(crate) others: HashMap<FileId, Vec<(Vec<u8>, u32)>>,
    /// Roots that an earlier root has reached.
    pub(crate) reached: Vec<AtomicBool>,
}

/// What the table says about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Nobody was here.
    First,
    /// It was listed already, in this tree: a second mount, or a loop.
    Again,
    /// It belongs to an earlier root.
    EarlierRoot,
}

impl RootTable {
    fn visit_directory(&self, id: FileId, mount: u64, root: u32, depth: u32) -> Visit {
        match self.directories.get(&id) {
            Some(&(other, there)) if other < root && there == mount => Visit::EarlierRoot,
            // It stands here too, by another mount.
            Some(&(other, _)) if other < root => Visit::Again,
            Some(&(other, _)) if other == root && depth > 0 => Visit::Again,
            Some(&(other, _)) if other > root => {
                self.reached[other as usize].store(true, Ordering::Relaxed);
                Visit::First
            }
            _ => Visit::First,
        }
    }

    /// The roots among the entries of a directory.
    pub(crate) fn roots_in(&self, id: FileId) -> &[(Vec<u8>, u32)] {
        self.others.get(&id).map_or(&[], Vec::as_slice)
    }

    /// What to do with an entry that is named like a root.
    pub(crate) fn visit_other(&self, named: &[(Vec<u8>, u32)], name: &[u8], root: u32) -> Visit {
        match named.iter().find(|(other, _)| other == name) {
            Some(&(_, other)) if other < root => Visit::EarlierRoot,
            Some(&(_, other)) => {
                self.reached[other as usize].store(true, Ordering::Relaxed);
                Visit::First
            }
            None => Visit::First,
        }
    }
}

impl Terms {
    pub(crate) fn new(options: TermsOptions) -> Terms {
        let listing_only = !options.wanted.need_stat()
            && !options.exclusions.need_paths()
            && !options.exclusions.leaves_out_caches()
            && !options.follows
            && options.roots.others.is_empty();
        let all = match options.calls.detail {
            Detail::Smallest => StatxFlags::empty(),
            Detail::Full => StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID,
        };
        Terms {
            types_only: listing_only && !options.wanted.contains(Fields::NAME),
            shape_only: listing_only && !options.wanted.contains(Fields::TYPE),
            flags: match options.calls.freshness {
                Freshness::AsStat => AtFlags::empty(),
                Freshness::DontSync => AtFlags::STATX_DONT_SYNC,
            },
            mask: stat::mask(options.wanted) | all,
            directory_mask: stat::directory_mask(options.wanted) | all,
            calls: options.calls,
            wanted: options.wanted,
            enters_mounts: options.enters_mounts,
            enters_kernel_file_systems: options.enters_kernel_file_systems,
            follows: options.follows,
            exclusions: options.exclusions,
            max_depth: options.max_depth,
            has_openat2: options.has_openat2,
            has_mount_ids: options.has_mount_ids,
            // Others would be refused for what they do not own: open(2).
            no_atime: AtomicBool::new(geteuid().is_root()),
            budget: DescriptorBudget::new(options.open_dirs_max),
            reached_twice: OnceLock::new(),
            root_paths: options.root_paths,
            roots: options.roots,
            visited: InodeSet::new(),
            volumes: options.volumes,
        }
    }

    /// Stats an entry of an open directory.
    #[inline]
    pub(crate) fn stat_entry(&self, fd: BorrowedFd<'_>, name: &CStr) -> Result<Statx, Errno> {
        self.stat_entry_as(fd, name, self.mask)
    }

    /// Stats an entry of an open directory with a mask of one's own.
    #[inline]
    pub(super) fn stat_entry_as(
        &self,
        fd: BorrowedFd<'_>,
        name: &CStr,
        mask: StatxFlags,
    ) -> Result<Statx, Errno> {
        stat::by_name_with(fd, name, self.flags, mask)
    }

    /// Stats a directory that is read.
    pub(super) fn stat_directory(&self, fd: BorrowedFd<'_>) -> Result<Statx, Errno> {
        stat::by_descriptor_with(fd, self.flags, self.directory_mask)
    }

    /// Whether the directories of a mount can be reached by another way.
    ///
    /// The mount table is read when this is asked for the first time, so that
    /// a small directory does not pay for it.
    pub(super) fn is_reached_twice(&self, mount: u64) -> bool {
        let mounts = self.reached_twice.get_or_init(|| {
            // Where links are followed every directory is remembered anyway.
            if self.enters_mounts && !self.follows {
                survey::mounts_reached_twice(&self.root_paths, self.has_mount_ids)
            } else {
                HashSet::new()
            }
        });
        mounts.contains(&mount)
    }

    /// Whether directories had to be remembered, because a file system is
    /// mounted twice below a root.
    pub(crate) fn met_double_mounts(&self) -> bool {
        self.reached_twice
            .get()
            .is_some_and(|mounts| !mounts.is_empty())
    }

    /// Whether a directory within a mount must be stat'ed.
    pub(super) fn stats_directories(&self, shared: bool) -> bool {
        self.wanted.need_stat() || shared || self.follows || !self.roots.reached.is_empty()
    }

    /// Notes a visit to a directory.
    pub(crate) fn visit(&self, id: FileId, mount: MountMark, root: u32, depth: u32) -> Visit {
        let visit = self.roots.visit_directory(id, mount.id, root, depth);
        if visit == Visit::First && (mount.shared || self.follows) && !self.visited.insert(id) {
            return Visit::Again;
        }
        visit
    }

    /// The `.gitignore` rules that apply in a directory which has none of its own.
    pub(crate) fn rules_above(&self, place: &Place) -> Option<Arc<IgnoreRules>> {
        if !self.exclusions.reads_gitignore() {
            return None;
        }
        match place {
            Place::Root(path) => IgnoreRules::above_root(path.to_bytes()),
            Place::Child(parent, _) => parent.ignore.clone(),
        }
    }

    /// The `.gitignore` rules for the entries of a directory.
    pub(super) fn ignore_rules(
        &self,
        place: &Place,
        fd: BorrowedFd<'_>,
    ) -> Option<Arc<IgnoreRules>> {
        let above = self.rules_above(place)?;
        Some(match open::read_gitignore(fd, self) {
            Some(text) => above.with(place, &text),
            None => above,
        })
    }
}
