// SPDX-License-Identifier: MIT OR Apache-2.0

//! The state that the workers of a scan share.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::options::{EnteredMounts, NamedRoots, RootTable, ScanOptions, Shown};
use super::read_layers::ReadLayers;
use super::source::{DirectorySource, EntryStat};
use super::stacked::{DoubleWays, Stacked};
use crate::dir_handle::DirHandle;
use crate::directory::{MountMark, Place};
use crate::entry::{DirId, FileId, FileType};
use crate::exclusion::{Exclusions, GITIGNORE, IgnoreRules, NotRead};
use crate::handle::DescriptorBudget;
use crate::inode_set::InodeSet;
use crate::reason::Reason;

/// The options, the source, and the state that the workers of one scan share.
pub(crate) struct ScanContext<D> {
    pub(crate) options: ScanOptions,
    pub(crate) source: D,
    /// Whether a listing lacks wanted fields, so that entries are stat'ed for them.
    pub(super) stats_entries: bool,
    pub(super) budget: Arc<DescriptorBudget>,
    /// The visited directories, if one can be reached by two ways.
    pub(super) visited: InodeSet,
    /// Those that were delivered at the depth limit, if one can be reached by two ways.
    at_limit: InodeSet,
    /// Roots that an earlier root has reached.
    reached_roots: Vec<AtomicBool>,
    /// The ways by which a file can be counted twice. Empty until the first use.
    double_ways: OnceLock<DoubleWays>,
    read_layers: ReadLayers,
}

/// The kind of a visit to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// The first one.
    First,
    /// It was listed already, in this tree: a second mount, or a loop.
    Again,
    /// It belongs to another root.
    OtherRoot,
}

impl RootTable {
    /// The table for some roots; empty for a single one.
    pub(crate) fn of(
        source: &impl DirectorySource,
        roots: &[Arc<CStr>],
        follows: bool,
        counts_once: bool,
        exclusions: &Exclusions,
    ) -> RootTable {
        let (mut table, mut mounts) = (RootTable::default(), HashSet::new());
        if roots.len() < 2 {
            return table;
        }
        table.repeat = vec![false; roots.len()];
        table.no_directory = vec![false; roots.len()];
        // Names of one directory come together: it is asked about once.
        let mut last_parent: Option<(CString, FileId, u64)> = None;
        for (index, root) in roots.iter().enumerate() {
            // It delivers nothing, so nothing belongs to it.
            if exclusions.fits(root.to_bytes()) {
                continue;
            }
            let found = match follows {
                true => source.stat_target(None, root),
                false => source.stat_root(root),
            };
            let Ok(found) = found else { continue };
            mounts.insert(found.mount());
            let number = index as u32;
            let first = if found.kind() == FileType::Directory {
                let entry = table.directories.entry(found.id());
                entry.or_insert((number, found.mount())).0
            } else {
                table.no_directory[index] = true;
                let (parent, name) = split(root.to_bytes());
                if last_parent
                    .as_ref()
                    .is_none_or(|(last, ..)| *last != parent)
                {
                    let Ok(found) = source.stat_target(None, &parent) else {
                        continue;
                    };
                    last_parent = Some((parent, found.id(), found.mount()));
                }
                let Some((_, id, mount)) = last_parent else {
                    continue;
                };
                let named = table.others.entry(id).or_default();
                named.entry(name.to_vec()).or_insert((number, mount)).0
            };
            table.repeat[index] = first != number;
        }
        if counts_once {
            let files = source.mounted_files(&mounts);
            table.mounted_files = (!files.is_empty()).then(|| Arc::new(files));
        }
        table
    }
}

impl<D: DirectorySource> ScanContext<D> {
    pub(crate) fn new(options: ScanOptions, source: D, open_dirs_max: usize) -> ScanContext<D> {
        ScanContext {
            budget: DescriptorBudget::new(open_dirs_max),
            visited: InodeSet::new(),
            at_limit: InodeSet::new(),
            reached_roots: options.roots.repeat.iter().map(|&is| is.into()).collect(),
            double_ways: OnceLock::new(),
            read_layers: ReadLayers::default(),
            stats_entries: options.wanted.without(source.listed_fields()).need_stat(),
            options,
            source,
        }
    }

    /// Whether the directories of a mount can be reached by another way.
    ///
    /// The first call asks the source, so that a scan of a small directory never pays
    /// for it.
    pub(super) fn is_reached_twice(&self, mount: u64) -> bool {
        let ways = self.double_ways.get_or_init(|| {
            // Where device numbers stand for mounts, a scan of one mount enters the others of
            // its device. A scan that follows links remembers every directory, and the second
            // ways must wait there, too.
            let enters_mounts =
                self.options.mounts != EnteredMounts::None || !self.source.tells_mounts_apart();
            let mut ways = match enters_mounts {
                true => self.source.double_ways(),
                false => DoubleWays::default(),
            };
            // An overlay is another device. Links can lead into a layer later.
            if self.options.mounts != EnteredMounts::All || self.options.follows {
                ways.layers.clear();
            }
            ways
        });
        ways.mounts.contains(mount)
    }

    fn layers(&self) -> Option<&HashSet<FileId>> {
        let ways = self.double_ways.get()?;
        (!ways.layers.is_empty()).then_some(&ways.layers)
    }

    /// Notes that a directory is read, in case it is a layer of an overlay.
    #[inline]
    pub(super) fn begin_layer(&self, dir: DirId, id: Option<FileId>) {
        if let (Some(layers), Some(id)) = (self.layers(), id)
            && layers.contains(&id)
        {
            self.read_layers.begin(dir, id);
        }
    }

    /// Notes that something in a directory, or below the one that holds a place, was not
    /// read: an overlay can show it all the same.
    #[inline]
    pub(crate) fn lack(&self, dir: Option<DirId>, place: &Place) {
        if self.layers().is_some() {
            self.read_layers.lack(dir, place);
        }
    }

    /// Whether the scan has read directories, and left out nothing in them.
    pub(super) fn has_read(&self, layers: &[FileId]) -> bool {
        self.layers().is_some() && self.read_layers.have_all(layers)
    }

    /// Whether a mount shows the files of other directories.
    pub(super) fn stacked(&self, mount: u64) -> Option<Stacked> {
        match self.options.mounts {
            EnteredMounts::All => self.source.stacked(mount),
            // It is left out, or shows what is below itself.
            EnteredMounts::OfSameDevice | EnteredMounts::None => None,
        }
    }

    /// Whether a root lies on a mount.
    pub(super) fn holds_root(&self, mount: u64) -> bool {
        let roots = &self.options.roots;
        let others = roots.others.values().flat_map(|named| named.values());
        let mut all = roots.directories.values().chain(others);
        all.any(|&(_, there)| there == mount)
    }

    /// The reason why the scan remembered directories, if mounts made it do so.
    pub(crate) fn double_mounts_reason(&self) -> Option<Reason> {
        self.double_ways.get()?.mounts.reason()
    }

    /// Whether an earlier root has reached this one, or is the same.
    pub(crate) fn is_reached_earlier(&self, root: usize) -> bool {
        let reached = self.reached_roots.get(root);
        reached.is_some_and(|reached| reached.load(Ordering::Relaxed))
    }

    /// Whether a directory within a mount must be stat'ed.
    pub(super) fn stats_directories(&self, shared: bool) -> bool {
        let options = &self.options;
        options.wanted.need_stat()
            || shared
            || options.follows
            || self.has_several_roots()
            || self.layers().is_some()
    }

    pub(super) fn has_several_roots(&self) -> bool {
        !self.reached_roots.is_empty()
    }

    /// Whether an entry that cannot be stat'ed is left out, because a mount begins there.
    #[cold]
    pub(super) fn is_left_out(&self, dir: &DirHandle, name: &CStr, holder: Shown) -> bool {
        self.options.mounts != EnteredMounts::All
            && (self.source.recognise(dir, name))
                .is_ok_and(|found| self.options.leaves_out(found.shown(), holder))
    }

    /// Whether an entry begins a mount that is left out here, and is a root: that delivers it.
    pub(super) fn is_root_left_out(
        &self,
        roots: &NamedRoots,
        dir: &DirHandle,
        name: &CStr,
        holder: Shown,
    ) -> bool {
        roots.contains_key(name.to_bytes()) && self.is_left_out(dir, name, holder)
    }

    /// Whether a directory that is left out here is another root, which delivers it.
    pub(super) fn is_other_root(&self, id: FileId, mount: u64, root: u32) -> bool {
        let root_here = self.options.roots.directories.get(&id);
        root_here.is_some_and(|&(other, there)| other != root && there == mount)
    }

    /// Notes a visit to a directory.
    pub(super) fn visit(&self, id: FileId, mount: MountMark, root: u32, depth: u32) -> Visit {
        let visit = self.visit_of_root(id, mount.id, root, depth);
        let is_remembered = mount.shared || self.options.follows;
        if visit == Visit::First && is_remembered && !self.visited.insert(id) {
            return Visit::Again;
        }
        visit
    }

    /// Whether a directory is left to another root: from there the scan goes deeper, or goes
    /// on where the caller skips what is above.
    pub(super) fn is_left_to_other_root(&self, id: FileId, mount: u64, root: u32) -> bool {
        self.options.roots_apart && self.is_other_root(id, mount, root)
    }

    /// Whether a directory at the depth limit was delivered before, by another way.
    pub(super) fn is_shown_already(&self, id: FileId, mount: MountMark) -> bool {
        let is_remembered = mount.shared || self.options.follows;
        is_remembered && (self.visited.contains(id) || !self.at_limit.insert(id))
    }

    /// Whether the bytes of a directory count where an earlier way ended at the depth limit.
    ///
    /// Second mounts and links come after all that is real (`order/agenda.rs`).
    pub(super) fn counts_at_limit(&self, id: FileId, mount: MountMark) -> bool {
        self.options.max_depth < u32::MAX
            && (mount.shared || self.options.follows)
            && self.at_limit.contains(id)
    }

    /// Notes a visit to a directory that can be a root.
    pub(super) fn visit_of_root(&self, id: FileId, mount: u64, root: u32, depth: u32) -> Visit {
        match self.options.roots.directories.get(&id) {
            Some(&(other, there)) if other < root && there == mount => Visit::OtherRoot,
            // It is visible here too, through another mount.
            Some(&(other, _)) if other < root => Visit::Again,
            Some(&(other, _)) if other == root && depth > 0 => Visit::Again,
            _ if self.is_left_to_other_root(id, mount, root) => Visit::OtherRoot,
            Some(&(other, _)) if other > root && self.options.roots_apart => Visit::Again,
            Some(&(other, _)) if other > root => {
                self.reached_roots[other as usize].store(true, Ordering::Relaxed);
                Visit::First
            }
            _ => Visit::First,
        }
    }

    /// Notes a visit to an entry of a directory that holds roots.
    pub(super) fn visit_other(
        &self,
        named: &NamedRoots,
        name: &[u8],
        mount: u64,
        root: u32,
    ) -> Visit {
        // A file that a mount covers is another entry than what the mount shows there.
        let is_told_apart = self.options.mounts == EnteredMounts::None;
        let found = named.get(name);
        match found.filter(|&&(_, there)| !is_told_apart || there == mount) {
            Some(&(other, _)) if other < root || self.options.roots_apart => Visit::OtherRoot,
            Some(&(other, _)) => {
                self.reached_roots[other as usize].store(true, Ordering::Relaxed);
                Visit::First
            }
            None => Visit::First,
        }
    }

    /// The `.gitignore` rules for the entries of a directory, and the files that could not be
    /// read.
    pub(super) fn ignore_rules(
        &self,
        place: &Place,
        dir: &DirHandle,
    ) -> (Option<Arc<IgnoreRules>>, Vec<NotRead>) {
        let (above, mut not_read) = self.options.rules_above(place, &self.source);
        let Some(mut above) = above else {
            return (None, not_read);
        };
        // A root has the rules of its repository already.
        let is_below = matches!(place, Place::Child(..)) && above.have_patterns();
        if is_below && self.source.holds_repository(dir) {
            above = above.of_repository();
        }
        let text = self.source.read_gitignore(dir).transpose();
        match text.map(|text| above.with(place, &text?)) {
            None => (Some(above), not_read),
            Some(Ok(rules)) => (Some(rules), not_read),
            Some(Err(failure)) => {
                let path = [&place.path()[..], b"/", GITIGNORE.as_bytes()].concat();
                not_read.push((path, failure));
                (Some(above), not_read)
            }
        }
    }
}

/// The directory that holds a path, and its name there.
fn split(path: &[u8]) -> (CString, &[u8]) {
    let (parent, name): (&[u8], &[u8]) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(0) => (b"/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b".", path),
    };
    (CString::new(parent).unwrap_or_default(), name)
}
