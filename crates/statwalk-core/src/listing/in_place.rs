// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is read in place, and how what was read of it is delivered,
//! at once or piece by piece.

use std::ffi::CStr;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::io::Errno;

use super::Lister;
use super::contents::{Contents, deliver, queue};
use super::context::Visit;
use super::listed::sort_in;
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet};
use crate::directory::{DirState, Directory, MountMark, Place};
use crate::entry::{Attributes, FileId, FileType};
use crate::handle::Handle;
use crate::tally;

/// A directory that is about to be read in place.
pub(crate) struct InPlaceDir<'a> {
    pub(crate) place: &'a Place,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    pub(crate) followed: bool,
    /// Whether the visit was noted by whoever found it.
    pub(crate) is_visited: bool,
}

/// How the reading of a directory ended.
pub(crate) enum End {
    Delivered,
    /// Nothing was delivered, and the kernel must be asked.
    ByKernel,
    Cancelled,
}

/// What was delivered of a directory so far.
pub(crate) struct Delivery {
    /// Whether it is a first visit, once something of it was to be delivered.
    visit: Option<Visit>,
    is_released: bool,
    is_image: bool,
}

/// Entries that the kernel must be asked for by their names.
#[derive(Default)]
pub(crate) struct Doubtful {
    /// Each ended by NUL.
    names: Vec<u8>,
    listed: Vec<(FileType, u64)>,
}

impl InPlaceDir<'_> {
    /// The directory, as one that is open is seen; `subvolume` is what the inode
    /// numbers of its entries belong to, 0 where there is one for all.
    pub(crate) fn begin(
        &self,
        lister: &mut Lister,
        id: FileId,
        subvolume: u64,
        attributes: Attributes,
        out: &mut impl Outlet,
    ) -> OpenDir {
        let mut open_dir = OpenDir {
            place: self.place.clone(),
            id: out.next_id(),
            root: self.root,
            depth: self.depth,
            mount: self.mount,
            followed: self.followed,
            attributes,
            identity: Some(id),
            before: None,
            ignore: lister.terms.rules_above(self.place),
            link_stop_is_off: true,
            subvolume,
            holds_doubles: false,
        };
        open_dir.mount = lister.mount_below(&open_dir);
        open_dir
    }
}

impl Delivery {
    pub(crate) fn of(dir: &InPlaceDir<'_>, is_image: bool) -> Delivery {
        Delivery {
            is_image,
            visit: dir.is_visited.then_some(Visit::First),
            is_released: false,
        }
    }

    /// Whether a part was delivered, so that it is too late to ask the kernel.
    pub(crate) fn has_begun(&self) -> bool {
        self.is_released
    }

    /// Delivers a piece; `doubles` are names of subdirectories that have another one
    /// in it. Answers false where the directory was visited before:
    /// then that was told, and no more of it is wanted.
    pub(crate) fn add(
        &mut self,
        lister: &mut Lister,
        dir: &InPlaceDir<'_>,
        open_dir: &OpenDir,
        contents: &Contents,
        doubles: &[u32],
        out: &mut impl Outlet,
    ) -> bool {
        let visit = match (self.visit, open_dir.identity) {
            (Some(visit), _) => visit,
            (None, Some(id)) => lister.terms.visit(id, dir.mount, dir.root, dir.depth),
            (None, None) => Visit::First,
        };
        self.visit = Some(visit);
        match visit {
            Visit::First => {}
            // An image has no second mount.
            Visit::Again if self.is_image => {
                lister.unreadable(dir.place, dir.root, dir.depth, None, Errno::UCLEAN, out);
                return false;
            }
            Visit::Again => {
                lister.left_standing(dir.place, dir.root, dir.depth, DirState::Crossing, out);
                out.note(dir.root, Note::Crossing);
                return false;
            }
            Visit::EarlierRoot => return false,
        }
        tally::count_reads(contents.entry_count() as u64 + 1);
        let mut parent = None;
        if !contents.waiting_names.is_empty() {
            let (names, mount) = (&contents.waiting_names, open_dir.mount);
            let node = open_dir.node(names, mount, Handle::Closed, open_dir.identity);
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        }
        let view = Directory {
            own: !self.is_released,
            ..open_dir.view()
        };
        deliver(&view, !self.is_released, contents, out);
        if let Some(parent) = parent {
            lister.deliver_doubles(&parent, doubles, out);
        }
        self.is_released = true;
        true
    }
}

impl Doubtful {
    #[inline]
    pub(crate) fn push(&mut self, name: &[u8], kind: FileType, ino: u64) {
        self.names.extend_from_slice(name);
        self.names.push(0);
        self.listed.push((kind, ino));
    }

    pub(crate) fn len(&self) -> usize {
        self.listed.len()
    }

    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.listed.clear();
    }

    fn iter(&self) -> impl Iterator<Item = (&CStr, (FileType, u64))> {
        let names = self.names.split_inclusive(|&byte| byte == 0);
        let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        names.zip(self.listed.iter().copied())
    }
}

impl Lister {
    /// Stats entries of a directory that was read in place. Answers false where
    /// the directory or one of them cannot be found any more.
    pub(crate) fn stat_doubtful(
        &mut self,
        doubtful: &Doubtful,
        dir: &OpenDir,
        contents: &mut Contents,
    ) -> bool {
        if doubtful.len() == 0 {
            return true;
        }
        let Ok(fd) = self.open_again(dir, dir.identity) else {
            return false;
        };
        let terms = Arc::clone(&self.terms);
        for (name, listed) in doubtful.iter() {
            let found = terms.stat_entry(fd.as_fd(), name);
            sort_in(found, name, listed, dir.mount.id, &terms, contents);
        }
        // The kernel's listing tells whether they have vanished.
        contents.missing.is_empty()
    }
}
