// SPDX-License-Identifier: MIT OR Apache-2.0

//! From a name to an open directory: roots, subdirectories, mounts, links.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::CWD;
use rustix::io::Errno;

use super::open::{self, Opening};
use super::{Lister, Note, Outlet, stat};
use crate::directory::{Dir, DirState, Place};
use crate::entry::{Attributes, FileType};
use crate::error::Op;
use crate::handle::{Handle, OpenParent};
use crate::source::in_place::piece::InPlaceDir;

impl Lister {
    /// Lists the tree's root, or delivers it as an entry where it is no directory.
    ///
    /// # Errors
    ///
    /// Returns the kernel's answer where the root is not there.
    pub(crate) fn root(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        out: &mut impl Outlet,
    ) -> Result<(), Errno> {
        let place = Place::Root(Arc::clone(path));
        if self.terms.exclusions.fits(path.to_bytes()) {
            out.note(root, Note::Excluded);
            return Ok(());
        }
        if let Some((id, mounted)) = self.terms.volumes.image(root) {
            self.image(path, root, id, &mounted, out);
            return Ok(());
        }
        match open::root(path, &self.terms) {
            Ok(fd) => {
                let opening = Opening {
                    fd,
                    place,
                    root,
                    depth: 0,
                    parent_mount: None,
                    followed: false,
                    in_place_was_tried: false,
                };
                self.enter(opening, out);
                Ok(())
            }
            Err(open::NotOpened::Gone(errno)) => match self.stat_of(CWD, path) {
                // A link that leads nowhere counts as itself.
                Ok(found) if self.terms.follows => {
                    self.argument(path, root, &found, out);
                    Ok(())
                }
                _ => Err(errno),
            },
            Err(open::NotOpened::NotADirectory) => {
                let found = self.stat_of(CWD, path)?;
                let target = self.target_of(CWD, path, found.kind);
                self.argument(path, root, &target.unwrap_or(found), out);
                Ok(())
            }
            Err(refused) => {
                let found = self.stat_of(CWD, path)?;
                let errno = match refused {
                    open::NotOpened::Refused(errno) => errno,
                    // Nothing forbids a crossing here, so a file system in user
                    // space made this answer up.
                    _ => Errno::XDEV,
                };
                self.unreadable(&place, root, 0, Some(&found), errno, out);
                Ok(())
            }
        }
    }

    /// Lists a crossing that had to wait.
    pub(crate) fn deferred(&mut self, parent: Arc<OpenParent>, offset: u32, out: &mut impl Outlet) {
        self.child(parent, offset, 0, true, out);
    }

    /// Follows a symbolic link.
    pub(crate) fn follow(&mut self, parent: Arc<Dir>, offset: u32, out: &mut impl Outlet) {
        let place = Place::Child(Arc::clone(&parent), offset);
        let Some(Some(base)) = self.base_of(&Handle::Closed, &place, out) else {
            return;
        };
        let base = base.as_fd();
        let name = place.name();
        let mask = self.terms.directory_mask;
        let target = stat::through_links(base, name, mask);
        if let Ok(target) = target
            && FileType::of_mode(target.stx_mode) == FileType::Directory
            && (self.terms.enters_mounts || stat::mount_id(&target) == parent.mount.id)
            && !self.terms.visited.contains(stat::file_id(&target))
        {
            let (root, depth) = (parent.root, parent.depth + 1);
            match open::through_links(base, name, &self.terms) {
                Ok(fd)
                    if self.terms.enters_kernel_file_systems
                        || open::kernel_file_system(fd.as_fd()).is_none() =>
                {
                    let opening = Opening {
                        fd,
                        parent_mount: None,
                        followed: true,
                        in_place_was_tried: false,
                        place,
                        root,
                        depth,
                    };
                    return self.enter(opening, out);
                }
                Err(open::NotOpened::Refused(errno)) => {
                    // Another link to it is an entry without size.
                    self.terms.visited.insert(stat::file_id(&target));
                    let attributes = stat::attributes(&target, self.terms.wanted);
                    self.unreadable(&place, root, depth, Some(&attributes), errno, out);
                    return;
                }
                _ => {}
            }
        }
        // A link to a file counts as the file; one that leads nowhere, or to a
        // directory that was listed, counts as itself.
        let found = match self.stat_of(base, name) {
            Ok(found) => found,
            Err(Errno::NOENT) => return out.note(parent.root, Note::Vanished),
            Err(errno) => {
                return out.failed(parent.root, place.path(), Op::Follow, errno);
            }
        };
        let nowhere = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG];
        if let Err(errno) = target
            && !nowhere.contains(&errno)
        {
            out.failed(parent.root, place.path(), Op::Follow, errno);
        }
        let target = self.target_of(base, name, found.kind);
        let target = target.filter(|target| target.kind != FileType::Directory);
        let followed = target.is_some();
        self.deliver_alone(&parent, name, &target.unwrap_or(found), followed, out);
    }

    /// The descriptor of a parent that was closed; nothing where it is open.
    /// `None` where it cannot be had, which is then reported.
    fn base_of(
        &mut self,
        handle: &Handle,
        place: &Place,
        out: &mut impl Outlet,
    ) -> Option<Option<OwnedFd>> {
        let Place::Child(parent, _) = place else {
            return None;
        };
        if handle.get().is_some() {
            return Some(None);
        }
        match self.reopen(parent) {
            Ok(fd) => Some(Some(fd)),
            Err(errno) => {
                // Its parent is gone, or something else stands in its place.
                if matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
                    out.note(parent.root, Note::Vanished);
                } else {
                    self.unreadable(place, parent.root, parent.depth + 1, None, errno, out);
                }
                None
            }
        }
    }

    /// Lists a subdirectory.
    pub(super) fn child(
        &mut self,
        parent: Arc<OpenParent>,
        offset: u32,
        ino: u32,
        deferred: bool,
        out: &mut impl Outlet,
    ) {
        let dir = &parent.dir;
        let (root, depth, mount) = (dir.root, dir.depth + 1, dir.mount);
        let place = Place::Child(Arc::clone(dir), offset);
        if ino != 0 {
            let listed = InPlaceDir {
                place: &place,
                root,
                depth,
                mount,
                followed: false,
                is_visited: false,
            };
            if self.child_in_place(dir, ino, &listed, out) {
                return;
            }
        }
        let Some(reopened) = self.base_of(&parent.handle, &place, out) else {
            return;
        };
        let Some(base) = reopened.as_ref().map(AsFd::as_fd).or(parent.handle.get()) else {
            return;
        };
        let name = place.name();
        let outcome = open::child(base, name, &self.terms);
        let opened = match outcome {
            Ok(fd) => Some((fd, false)),
            Err(open::NotOpened::OtherMount) => self
                .cross(base, &parent, offset, deferred, out)
                .map(|fd| (fd, true)),
            Err(open::NotOpened::Gone(_)) => {
                out.note(root, Note::Vanished);
                None
            }
            Err(open::NotOpened::NotADirectory) => {
                self.replaced(base, &place, out);
                None
            }
            Err(open::NotOpened::Refused(errno)) => {
                let found = self.stat_of(base, name).ok();
                self.unreadable(&place, root, depth, found.as_ref(), errno, out);
                None
            }
        };
        if let Some((fd, crossed)) = opened {
            let opening = Opening {
                fd,
                parent_mount: (!crossed).then_some(mount),
                followed: false,
                in_place_was_tried: ino != 0 && dir.subvolume != 0,
                place,
                root,
                depth,
            };
            // The last subdirectory closes its parent.
            drop(parent);
            self.enter(opening, out);
        }
    }

    /// Decides about a directory on which something is mounted.
    fn cross(
        &mut self,
        base: BorrowedFd<'_>,
        parent: &Arc<OpenParent>,
        offset: u32,
        deferred: bool,
        out: &mut impl Outlet,
    ) -> Option<OwnedFd> {
        let place = &Place::Child(Arc::clone(&parent.dir), offset);
        let (root, depth) = (parent.dir.root, parent.dir.depth + 1);
        let name = place.name();
        let found = match stat::by_name(base, name, stat::directory_mask(self.terms.wanted)) {
            Ok(found) => found,
            Err(Errno::NOENT) => {
                out.note(root, Note::Vanished);
                return None;
            }
            Err(errno) => {
                self.unreadable(place, root, depth, None, errno, out);
                return None;
            }
        };
        let stays = !self.terms.enters_mounts || stat::is_idle_automount(&found);
        let outcome = match stays {
            true => Err(open::NotOpened::OtherMount),
            false => open::across(base, name, &self.terms),
        };
        let fd = match outcome {
            Ok(fd) => fd,
            Err(open::NotOpened::OtherMount) => {
                self.left_standing(place, root, depth, DirState::Crossing, out);
                out.note(root, Note::Crossing);
                return None;
            }
            Err(open::NotOpened::Gone(_)) => {
                out.note(root, Note::Vanished);
                return None;
            }
            Err(open::NotOpened::Refused(errno)) => {
                let attributes = stat::attributes(&found, self.terms.wanted);
                self.unreadable(place, root, depth, Some(&attributes), errno, out);
                return None;
            }
            Err(_) => {
                self.replaced(base, place, out);
                return None;
            }
        };
        if !self.terms.enters_kernel_file_systems
            && let Some(file_system) = open::kernel_file_system(fd.as_fd())
        {
            self.left_standing(place, root, depth, DirState::Excluded, out);
            out.note(root, Note::Excluded);
            out.left_out(place.path(), file_system);
            return None;
        }
        if !deferred && self.terms.is_reached_twice(stat::mount_id(&found)) {
            out.defer(parent, offset);
            return None;
        }
        Some(fd)
    }

    pub(super) fn stat_of(&self, dir: BorrowedFd<'_>, name: &CStr) -> Result<Attributes, Errno> {
        let stat = stat::by_name(dir, name, stat::mask(self.terms.wanted))?;
        Ok(stat::attributes(&stat, self.terms.wanted))
    }

    /// What a symbolic link leads to, where links are followed and it leads
    /// anywhere.
    fn target_of(&self, dir: BorrowedFd<'_>, name: &CStr, kind: FileType) -> Option<Attributes> {
        if !self.terms.follows || kind != FileType::Symlink {
            return None;
        }
        let found = stat::through_links(dir, name, stat::mask(self.terms.wanted)).ok()?;
        Some(stat::attributes(&found, self.terms.wanted))
    }
}
