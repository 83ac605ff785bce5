// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories: the nodes of the frontier, and what a sink sees of one.

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::iter;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};

use statwalk_sys::c_strings;

use crate::entry::{Attributes, DirId, FileId, FileType};
use crate::error::Errno;
use crate::exclusion::IgnoreRules;
use crate::handle::OpenParent;
use crate::path::{file_name, file_name_of_root, path_buf};
use crate::unfinished::Unfinished;

/// A directory that was listed and has subdirectories.
///
/// It lives as long as anything below it is known, and is what paths are made
/// of. The names of the subdirectories lie here, once, so that what is queued
/// is a pointer and an offset.
pub(crate) struct Dir {
    pub(crate) place: Place,
    pub(crate) id: DirId,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    /// Whether it was reached through a symbolic link.
    pub(crate) followed: bool,
    /// Device and inode number, to know it again; there where it was stat'ed,
    /// where its descriptor was closed early, and above what is read in place.
    pub(crate) identity: OnceLock<FileId>,
    /// The identity of the directory above it, or its own, whose depth is the last
    /// power of two.
    pub(crate) landmark: Option<FileId>,
    /// The mark of the reader in place that has listed it; 0 if the kernel has.
    pub(crate) mark: u64,
    /// Its descriptor, as long as subdirectories wait.
    pub(crate) held: OnceLock<Weak<OpenParent>>,
    /// Names of subdirectories, each ended by NUL.
    pub(crate) names: Box<[u8]>,
    pub(crate) ignore: Option<Arc<IgnoreRules>>,
    /// Its own delivery, and what waits by the names above.
    pub(crate) unfinished: Unfinished,
    /// Where it is read in pieces, a node for each: the pieces, and the listing itself.
    pub(crate) pieces: Option<Arc<Unfinished>>,
}

/// The attributes of a directory whose own are not at hand.
static OF_A_DIRECTORY: Attributes = Attributes::of_type(FileType::Directory);

/// Where a directory hangs.
#[derive(Clone)]
pub(crate) enum Place {
    /// A root, by the path that the caller gave.
    Root(Arc<CStr>),
    /// A root that is no directory, by that path.
    File(Arc<CStr>),
    /// A child, by the offset of its name in [`Dir::names`].
    Child(Arc<Dir>, u32),
}

/// How many of the directories above a place are compared with what stands there.
const NEAR_ANCESTORS: u32 = 32;

/// The mount that a directory was reached through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountMark {
    /// `stx_mnt_id`, or `st_dev` where the kernel is too old to tell.
    pub(crate) id: u64,
    /// Whether its directories can be reached through another mount, so that
    /// each must be remembered.
    pub(crate) shared: bool,
    /// Whether a server gives its names, so that a directory can list one twice.
    pub(crate) served: bool,
}

impl Place {
    // Paths are made of it, a call for each directory on the way.
    #[inline]
    pub(crate) fn name(&self) -> &CStr {
        match self {
            Place::Root(path) | Place::File(path) => path,
            Place::Child(parent, offset) => parent.child_name(*offset),
        }
    }

    #[inline]
    pub(crate) fn parent(&self) -> Option<&Arc<Dir>> {
        match self {
            Place::Root(_) | Place::File(_) => None,
            Place::Child(parent, _) => Some(parent),
        }
    }

    /// The distance from the root.
    pub(crate) fn depth(&self) -> u32 {
        self.parent().map_or(0, |parent| parent.depth + 1)
    }

    /// Whether the way here leads through a directory on the same mount: if that is
    /// what stands here, it holds itself, and there is no end below it.
    ///
    /// A circle of up to 32 directories is seen when it closes, a longer one before
    /// it was gone through three times. That takes no memory for each directory on
    /// the way, and no time that grows with the depth.
    pub(crate) fn leads_through(&self, id: FileId, mount: u64) -> bool {
        // The inode number first: it is what differs.
        let is_it = |other: Option<FileId>, dir: &Dir| {
            other.is_some_and(|other| other.ino == id.ino && other.dev == id.dev)
                && dir.mount.id == mount
        };
        let mut above = self.parent();
        if let Some(dir) = above.filter(|dir| dir.depth >= NEAR_ANCESTORS)
            && is_it(dir.landmark, dir)
        {
            return true;
        }
        for _ in 0..NEAR_ANCESTORS {
            let Some(dir) = above else { return false };
            if is_it(dir.identity.get().copied(), dir) {
                return true;
            }
            above = dir.place.parent();
        }
        false
    }

    /// The directories above it of which [`leads_through`](Self::leads_through) cannot
    /// tell, the nearest first, and how many levels above it they lie.
    pub(crate) fn unidentified(&self) -> impl Iterator<Item = (usize, &Arc<Dir>)> {
        let above = iter::successors(self.parent(), |dir| dir.place.parent());
        let near = (1..).zip(above).take(NEAR_ANCESTORS as usize);
        near.filter(|(_, dir)| dir.identity.get().is_none())
    }

    /// The path, beginning with the root as the caller gave it.
    pub(crate) fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.push_path(&mut path);
        path
    }

    /// Appends the path, as in [`path`](Self::path).
    pub(crate) fn push_path(&self, out: &mut Vec<u8>) {
        let mut length = 0;
        let mut place = self;
        while let Place::Child(parent, offset) = place {
            length += parent.child_name(*offset).count_bytes() + 1;
            place = &parent.place;
        }
        let root = place.name().to_bytes();
        if length > 0 && (root.is_empty() || root.ends_with(b"/")) {
            length -= 1;
        }
        let start = out.len();
        out.extend_from_slice(root);
        out.resize(start + root.len() + length, b'/');
        // From the last name to the first; the separators are there.
        let mut end = out.len();
        let mut place = self;
        while let Place::Child(parent, offset) = place {
            let name = parent.child_name(*offset).to_bytes();
            out[end - name.len()..end].copy_from_slice(name);
            end = end.saturating_sub(name.len() + 1);
            place = &parent.place;
        }
    }
}

impl Dir {
    /// Whether it is a directory, or lies below it.
    pub(crate) fn is_at_or_below(&self, id: DirId) -> bool {
        let mut dir = Some(self);
        while let Some(at) = dir {
            if at.id == id {
                return true;
            }
            dir = at.place.parent().map(|parent| &**parent);
        }
        false
    }

    /// The directory as a sink sees it, without its attributes.
    pub(crate) fn view(&self) -> Directory<'_> {
        Directory {
            own: false,
            followed: self.followed,
            ..Directory::of(&self.place, self.id, self.root, self.depth)
        }
    }

    pub(crate) fn child_name(&self, offset: u32) -> &CStr {
        c_strings::first(&self.names[offset as usize..])
            .expect("every name in `names` ends with NUL")
    }
}

impl Drop for Dir {
    /// Lets go of the ancestors one after another: a chain of a hundred
    /// thousand directories would overflow the stack if each dropped its parent.
    fn drop(&mut self) {
        let mut place = std::mem::replace(&mut self.place, Place::Root(Arc::default()));
        while let Place::Child(parent, _) = place {
            match Arc::into_inner(parent) {
                Some(mut last) => {
                    place = std::mem::replace(&mut last.place, Place::Root(Arc::default()));
                }
                None => break,
            }
        }
    }
}

/// How far a directory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirState {
    /// Its entries follow.
    Listed,
    /// It could not be opened.
    Unreadable,
    /// Another file system, or a second mount of a directory, that was not entered.
    Crossing,
    /// A kernel file system or a cache directory, left out on request.
    Excluded,
    /// It lies as deep as the scan goes, so its entries were not asked for.
    AtDepthLimit,
}

impl DirState {
    const ALL: [DirState; 5] = [
        DirState::Listed,
        DirState::Unreadable,
        DirState::Crossing,
        DirState::Excluded,
        DirState::AtDepthLimit,
    ];

    /// The number of the state in [`Directories::states`](crate::Directories::states): 0
    /// for a listed one, then in the order of the variants.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The state of a number; absent where no state has it.
    ///
    /// ```
    /// use statwalk_core::DirState;
    /// assert_eq!(DirState::from_number(DirState::Crossing.number()), Some(DirState::Crossing));
    /// assert_eq!(DirState::from_number(200), None);
    /// ```
    #[must_use]
    pub fn from_number(number: u8) -> Option<DirState> {
        DirState::ALL.get(usize::from(number)).copied()
    }
}

/// A directory, as a sink sees it.
///
/// A sink gets each directory once, by [`Collect::directory`](crate::Collect::directory),
/// and again as the [`Origin`] of each batch of its entries.
#[derive(Clone, Copy)]
pub struct Directory<'a> {
    pub(crate) place: &'a Place,
    pub(crate) id: DirId,
    /// Whether the worker that delivers it gave out its number.
    pub(crate) own: bool,
    /// Whether it, or the entry that comes with it, was reached by following a link.
    pub(crate) followed: bool,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) attributes: &'a Attributes,
    pub(crate) state: DirState,
    /// The error for which the system has refused its attributes.
    pub(crate) refusal: Option<Errno>,
    /// Whether this delivery is its last, and nothing below it waits.
    pub(crate) is_last: bool,
}

impl<'a> Directory<'a> {
    /// One that is listed, and of which more comes: without attributes, from the worker that
    /// gave out its number.
    #[inline]
    pub(crate) fn of(place: &'a Place, id: DirId, root: u32, depth: u32) -> Directory<'a> {
        Directory {
            place,
            id,
            own: true,
            followed: false,
            root,
            depth,
            attributes: &OF_A_DIRECTORY,
            state: DirState::Listed,
            refusal: None,
            is_last: false,
        }
    }

    /// The number of the directory within this scan.
    #[must_use]
    pub fn id(&self) -> DirId {
        self.id
    }

    /// Whether the number comes from a block that this worker took.
    pub(crate) fn id_is_own(&self) -> bool {
        self.own
    }

    /// The number of the parent; absent for a root.
    #[must_use]
    pub fn parent(&self) -> Option<DirId> {
        self.place.parent().map(|parent| parent.id)
    }

    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root as usize
    }

    /// The distance from the root, which is 0.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether a link was followed on the way to its entries.
    pub(crate) fn is_behind_link(&self) -> bool {
        let mut above = self.place.parent();
        let mut behind = self.followed;
        while let Some(dir) = above {
            behind |= dir.followed;
            above = dir.place.parent();
        }
        behind
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        self.place.name().to_bytes()
    }

    /// The name as `std` has it; for a root the last name of the path.
    #[must_use]
    pub fn file_name(&self) -> &OsStr {
        match self.depth {
            0 => file_name_of_root(self.name()),
            _ => file_name(self.name()),
        }
    }

    /// The attributes; where it was not entered, those that are known.
    #[must_use]
    pub fn attributes(&self) -> &Attributes {
        self.attributes
    }

    /// How far it was read.
    #[must_use]
    pub fn state(&self) -> DirState {
        self.state
    }

    /// The whole path, beginning with the root as the caller gave it.
    ///
    /// Built on request from the names of all ancestors.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.push_path(&mut path);
        path
    }

    /// The whole path as `std` has it.
    #[must_use]
    pub fn to_path_buf(&self) -> PathBuf {
        path_buf(self.path())
    }

    /// Appends the path, as in [`path`](Self::path), to a buffer that the caller keeps.
    pub fn push_path(&self, out: &mut Vec<u8>) {
        self.place.push_path(out);
    }
}

/// Where some entries were found: in a directory, or nowhere, where the entry is a root
/// that is no directory.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a>(pub(crate) &'a Directory<'a>);

impl<'a> Origin<'a> {
    /// The directory that holds the entries; absent for a root that is no directory.
    #[must_use]
    pub fn directory(self) -> Option<&'a Directory<'a>> {
        (!self.is_root()).then_some(self.0)
    }

    /// Which root the entries belong to, or which the entry is: an index into the roots of
    /// the scan.
    #[must_use]
    pub fn root(self) -> usize {
        self.0.root()
    }

    /// Whether the entry is a root.
    pub(crate) fn is_root(self) -> bool {
        matches!(self.0.place, Place::File(_))
    }

    /// The distance of the entries from the root: 0 for a root that is no directory.
    #[must_use]
    pub fn entry_depth(self) -> u32 {
        match self.is_root() {
            true => 0,
            false => self.0.depth + 1,
        }
    }

    /// The path of an entry.
    #[must_use]
    pub fn entry_path(self, name: &[u8]) -> Vec<u8> {
        let mut path = Vec::new();
        self.push_entry_path(name, &mut path);
        path
    }

    /// Appends the path of an entry to a buffer that the caller keeps.
    ///
    /// ```
    /// use statwalk_core::{Fields, Found, Fill, Scan};
    ///
    /// let mut lists = Scan::new("src").gather(Fields::NAME, |list: &mut Vec<u8>, found| {
    ///     if let Found::Entries(origin, batch) = found {
    ///         for entry in batch.iter() {
    ///             origin.push_entry_path(entry.name, list);
    ///             list.push(b'\n');
    ///         }
    ///     }
    ///     Fill::Some
    /// })?;
    /// let mut list = Vec::new();
    /// for part in &mut lists {
    ///     list.extend(part?);
    /// }
    /// assert!(lists.finish().is_complete());
    /// assert!(list.split(|&byte| byte == b'\n').any(|path| path == b"src/lib.rs"));
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn push_entry_path(self, name: &[u8], out: &mut Vec<u8>) {
        if !self.is_root() {
            let start = out.len();
            self.0.push_path(out);
            if out.len() > start && !out.ends_with(b"/") {
                out.push(b'/');
            }
        }
        out.extend_from_slice(name);
    }
}

/// A directory that was found and not opened, as the closure of
/// [`Scan::filter_dir`](crate::Scan::filter_dir) sees it.
///
/// Its attributes are not known yet: it costs no call to refuse it.
#[derive(Clone, Copy)]
pub struct Subdirectory<'a> {
    place: &'a Place,
    root: u32,
    depth: u32,
}

impl<'a> Subdirectory<'a> {
    pub(crate) fn new(place: &'a Place, root: u32, depth: u32) -> Subdirectory<'a> {
        Subdirectory { place, root, depth }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        self.place.name().to_bytes()
    }

    /// The whole path, beginning with the root as the caller gave it.
    ///
    /// Built on request from the names of all ancestors.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        self.place.path()
    }

    /// The name as `std` has it.
    ///
    /// ```
    /// use statwalk_core::Scan;
    /// let scan = Scan::new(".").filter_dir(|dir| dir.file_name() != "target");
    /// # let _ = scan;
    /// ```
    #[must_use]
    pub fn file_name(&self) -> &'a OsStr {
        file_name(self.name())
    }

    /// The whole path as `std` has it.
    #[must_use]
    pub fn to_path_buf(&self) -> PathBuf {
        path_buf(self.path())
    }

    /// The distance from the root: 1 for a directory in a root.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root as usize
    }

    /// The number of the directory that holds it.
    #[must_use]
    pub fn parent(&self) -> Option<DirId> {
        self.place.parent().map(|parent| parent.id)
    }
}

impl fmt::Debug for Subdirectory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subdirectory")
            .field("path", &String::from_utf8_lossy(&self.path()))
            .finish_non_exhaustive()
    }
}

/// The caller's choice of directories to scan.
#[derive(Clone)]
pub(crate) struct DirFilter(Arc<dyn Fn(&Subdirectory<'_>) -> bool + Send + Sync>);

impl DirFilter {
    pub(crate) fn new(
        filter: impl Fn(&Subdirectory<'_>) -> bool + Send + Sync + 'static,
    ) -> DirFilter {
        DirFilter(Arc::new(filter))
    }

    /// A filter for those that pass an earlier one, too.
    pub(crate) fn after(self, earlier: Option<DirFilter>) -> DirFilter {
        match earlier {
            Some(earlier) => DirFilter::new(move |dir| earlier.passes(dir) && self.passes(dir)),
            None => self,
        }
    }

    pub(crate) fn passes(&self, dir: &Subdirectory<'_>) -> bool {
        (self.0)(dir)
    }
}

impl fmt::Debug for DirFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DirFilter")
    }
}

impl fmt::Debug for Directory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory")
            .field("path", &String::from_utf8_lossy(&self.path()))
            .field("id", &self.id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Adds a name to the path of a directory.
pub(crate) fn join(mut path: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if !path.is_empty() && path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNT: u64 = 7;

    fn id(ino: u64) -> FileId {
        FileId { dev: 1, ino }
    }

    /// A directory of this number below another one, as a listing makes it.
    fn below(place: Place, depth: u32, ino: u64) -> Place {
        let above = place.parent();
        let landmark = match above {
            Some(above) if !depth.is_power_of_two() => above.landmark,
            _ => Some(id(ino)),
        };
        let dir = Dir {
            place,
            id: DirId(0),
            root: 0,
            depth,
            mount: MountMark {
                id: MOUNT,
                shared: false,
                served: false,
            },
            followed: false,
            identity: OnceLock::from(id(ino)),
            landmark,
            mark: 0,
            held: OnceLock::new(),
            names: Box::from(*b"x\0"),
            ignore: None,
            unfinished: Unfinished::new(1),
            pieces: None,
        };
        Place::Child(Arc::new(dir), 0)
    }

    #[test]
    fn a_path_has_one_slash_between_names() {
        for (root, paths) in [
            (c"root", ["root", "root/x", "root/x/x"]),
            (c"/", ["/", "/x", "/x/x"]),
            (c"a//", ["a//", "a//x", "a//x/x"]),
            (c"", ["", "x", "x/x"]),
        ] {
            let mut place = Place::Root(Arc::from(root));
            for (depth, path) in paths.into_iter().enumerate() {
                assert_eq!(place.path(), path.as_bytes());
                let mut behind = b"before ".to_vec();
                place.push_path(&mut behind);
                assert_eq!(behind, format!("before {path}").as_bytes());
                place = below(place, depth as u32, depth as u64);
            }
        }
    }

    /// How deep a walk goes in a circle of so many directories below a chain.
    fn depth_reached(chain: u64, circle: u64) -> u64 {
        let mut place = Place::Root(Arc::from(c"root"));
        for depth in 0.. {
            let ino = match depth < chain {
                true => depth,
                false => chain + (depth - chain) % circle,
            };
            if place.leads_through(id(ino), MOUNT) {
                return depth;
            }
            place = below(place, depth as u32, ino);
        }
        unreachable!("the numbers have an end only by the return");
    }

    #[test]
    fn a_circle_has_an_end() {
        for chain in [0, 1, 5, 100] {
            for circle in 1..=32 {
                assert_eq!(depth_reached(chain, circle), chain + circle);
            }
            for circle in [33, 64, 1_000] {
                let depth = depth_reached(chain, circle);
                let most = (chain + circle).next_power_of_two() + circle;
                assert!((chain + circle..=most).contains(&depth), "{depth}");
            }
        }
    }

    /// As a bind mount of a directory into itself is.
    #[test]
    fn another_mount_of_a_directory_is_no_circle() {
        let place = below(Place::Root(Arc::from(c"root")), 0, 5);
        assert!(place.leads_through(id(5), MOUNT));
        assert!(!place.leads_through(id(5), MOUNT + 1));
        assert!(!place.leads_through(id(6), MOUNT));
    }
}
