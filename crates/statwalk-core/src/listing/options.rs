// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of a scan, fixed before the first directory.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::source::DirectorySource;
use crate::calls::Calls;
use crate::directory::{DirFilter, Place, Subdirectory};
use crate::entry::FileId;
use crate::exclusion::{Exclusions, IgnoreRules, NotRead};
use crate::fields::Fields;

/// The most entries of a directory that a worker withholds until it has verified the
/// directory.
pub(crate) const WITHHELD_MAX: usize = 64 * 1024;

/// The most names of a directory that are remembered where a server gives them: 17 MiB, the
/// last size of the table before 34 MiB. A listing without end must not take all memory.
pub(crate) const NAMES_MAX: usize = (1 << 20) / 8 * 7;

/// The entries of one part where calls wait.
///
/// Their stats take longer than a hand-over. Larger parts would let a directory end
/// later, and its subdirectories begin later.
pub(super) const PART_MIN: usize = 4;

/// The mounts below a root that a scan enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnteredMounts {
    All,
    /// Those whose topmost entry has the device number of the directory that holds it,
    /// as for `du -x`. So a directory that is mounted onto itself is read.
    OfSameDevice,
    None,
}

/// An entry, or the directory that holds it, as its mount shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) mount: u64,
    /// Its device number. Absent where nobody knows it.
    pub(crate) dev: Option<u64>,
}

/// The options of a scan, fixed before the first directory.
pub(crate) struct ScanOptions {
    pub(crate) wanted: Fields,
    pub(crate) calls: Calls,
    pub(crate) mounts: EnteredMounts,
    pub(crate) enters_kernel_file_systems: bool,
    pub(crate) follows: bool,
    pub(crate) exclusions: Exclusions,
    /// The subdirectories that are listed at all.
    pub(crate) dir_filter: Option<DirFilter>,
    /// Whether a root within another tree is left to itself, because the scan goes on there
    /// where the other tree ends.
    pub(crate) roots_apart: bool,
    /// The depth from which on directories are not listed.
    pub(crate) max_depth: u32,
    /// Up to how many entries of a directory are withheld until it has been verified
    /// that it held still. A source that reads in place has a bound of its own.
    pub(crate) withheld_max: usize,
    /// Up to how many names of a directory are remembered where a server gives them.
    pub(crate) names_max: usize,
    pub(crate) roots: RootTable,
    pub(crate) shortcuts: Shortcuts,
}

/// Shortcuts that the wanted result allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcuts {
    /// Whether only the types of entries matter. Then only names of directories are kept.
    pub(crate) types_only: bool,
    /// Whether only directories matter. Then the tricks of `unknown.rs` apply.
    pub(super) shape_only: bool,
}

/// The roots that lie in each other's trees.
///
/// With a single root it is empty and costs nothing.
#[derive(Default)]
pub(crate) struct RootTable {
    /// Roots that are directories, each with its mount.
    pub(crate) directories: HashMap<FileId, (u32, u64)>,
    /// Roots that are no directories, by their parent directory.
    pub(crate) others: HashMap<FileId, NamedRoots>,
    /// Files that are mounted by themselves: a root can show one that another shows, too.
    pub(crate) mounted_files: Option<Arc<HashSet<FileId>>>,
    /// Whether an earlier root is the same.
    pub(crate) repeat: Vec<bool>,
    /// Whether a root was something else than a directory when the scan began.
    pub(super) no_directory: Vec<bool>,
}

/// The roots among the entries of one directory: their numbers and the mount of the
/// directory, by name.
///
/// A shell gives thousands of names for `*`, so nobody may search them one by one.
pub(crate) type NamedRoots = HashMap<Vec<u8>, (u32, u64)>;

impl RootTable {
    /// Whether a root was something else than a directory when the scan began: to open
    /// it would fail.
    pub(super) fn was_no_directory(&self, root: u32) -> bool {
        self.no_directory.get(root as usize).is_some_and(|&is| is)
    }

    /// The roots among the entries of a directory.
    pub(crate) fn roots_in(&self, id: FileId) -> Option<&NamedRoots> {
        self.others.get(&id)
    }
}

impl Shortcuts {
    pub(crate) fn of(
        wanted: Fields,
        exclusions: &Exclusions,
        follows: bool,
        roots: &RootTable,
    ) -> Shortcuts {
        let listing_is_enough = !wanted.need_stat()
            && !exclusions.need_paths()
            && !exclusions.leaves_out_caches()
            && !follows
            && roots.others.is_empty();
        Shortcuts {
            types_only: listing_is_enough && !wanted.contains(Fields::NAME),
            shape_only: listing_is_enough && !wanted.contains(Fields::TYPE),
        }
    }
}

impl ScanOptions {
    /// Whether the caller refuses a subdirectory.
    #[inline]
    pub(super) fn refuses(&self, place: &Place, root: u32, depth: u32) -> bool {
        let filter = self.dir_filter.as_ref();
        filter.is_some_and(|filter| !filter.passes(&Subdirectory::new(place, root, depth)))
    }

    /// Whether the scan leaves out entries where mounts begin.
    #[inline]
    pub(super) fn leaves_some_out(&self) -> bool {
        self.mounts != EnteredMounts::All
    }

    /// Whether the scan leaves out an entry, because a mount begins there.
    #[inline]
    pub(super) fn leaves_out(&self, entry: Shown, holder: Shown) -> bool {
        let is_other_device = || entry.dev.is_none() || entry.dev != holder.dev;
        match self.mounts {
            EnteredMounts::All => false,
            EnteredMounts::OfSameDevice => entry.mount != holder.mount && is_other_device(),
            EnteredMounts::None => entry.mount != holder.mount,
        }
    }

    /// The `.gitignore` rules that apply in a directory which has none of its own, and the
    /// files that could not be read.
    pub(crate) fn rules_above(
        &self,
        place: &Place,
        source: &impl DirectorySource,
    ) -> (Option<Arc<IgnoreRules>>, Vec<NotRead>) {
        if !self.exclusions.reads_gitignore() {
            return (None, Vec::new());
        }
        match place {
            Place::Root(path) | Place::File(path) => {
                let here = source.working_directory();
                self.exclusions.above_root(path.to_bytes(), &here)
            }
            Place::Child(parent, _) => (parent.ignore.clone(), Vec::new()),
        }
    }
}
