// SPDX-License-Identifier: MIT OR Apache-2.0

//! From a name to an open directory: roots, subdirectories, mounts, links.

use std::ffi::CStr;
use std::sync::Arc;

use super::Lister;
use super::context::Visit;
use super::in_place::InPlaceDir;
use super::job::Fate;
use super::options::{EnteredMounts, Shown};
use super::outlet::{Events, Note, Outlet};
use super::read::Opening;
use super::read_in_place::Attempt;
use super::source::{DirectorySource, EntryStat, NotOpened};
use super::stacked::{Layers, Stacked};
use super::suspicion::Confirmed;
use crate::dir_handle::DirHandle;
use crate::directory::{Dir, DirState, Place};
use crate::entry::{Attributes, FileType};
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::{Handle, OpenParent};

/// The attempts to open a directory that is something else for a moment.
const OPENS_MAX: u32 = 3;

/// How a worker comes to a subdirectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// Its parent listed it.
    First,
    /// It is a mount that had to wait.
    Deferred,
    /// It was not found, and another listing has its name all the same. If it is not found
    /// again, [`Lister::is_lost_again`] says so.
    Again,
    /// As `Again`, and what is not found now is an error.
    Last,
}

/// The decision about a directory on which a file system is mounted.
enum Crossing {
    /// The lister must list it.
    Entered(DirHandle),
    /// It stays unlisted: it was delivered or noted, or else deferred.
    Stays(Fate),
    Refused(NotOpened),
}

/// Whether the files that a mount shows count in other directories, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elsewhere {
    /// All of them do.
    Whole,
    Perhaps,
    Not,
}

/// Whether an error says that a path leads nowhere.
pub(super) fn is_no_way(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::NotFound(_) | Failure::NotADirectory(_) | Failure::Loop(_)
    )
}

/// Says that a name does not come if it is settled and no row was delivered since so many.
fn tell_gone(fate: Fate, rows: Option<u64>, parent: &Dir, offset: u32, out: &mut dyn Events) {
    if fate == Fate::Settled && rows.is_some() && out.rows_by_path() == rows {
        out.gone(parent, offset);
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Lists a root, or delivers it as an entry if it is no directory.
    pub(crate) fn root(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        out: &mut dyn Outlet,
    ) -> Result<Fate, Failure> {
        let place = Place::Root(Arc::clone(path));
        if self.context.options.exclusions.fits(path.to_bytes()) {
            out.note(root, Note::Excluded);
            return Ok(Fate::Settled);
        }
        if let Some(id) = self.context.source.image(root) {
            return Ok(self.image(path, root, id, out));
        }
        if self.context.options.roots.was_no_directory(root) {
            let found = self.context.source.stat_path(path).map_err(Into::into)?;
            let found = found.attributes(self.context.options.wanted);
            if found.kind != FileType::Directory {
                return self.root_entry(path, root, found, Failure::NOT_A_DIRECTORY, out);
            }
        }
        match self.context.source.open_root(path) {
            Ok(fd) => {
                let opening = Opening {
                    fd,
                    place,
                    root,
                    depth: 0,
                    parent_mount: None,
                    followed: false,
                    in_place_was_tried: false,
                    holds_doubles: false,
                };
                Ok(self.enter(opening, out))
            }
            Err(NotOpened::Gone(failure)) => Err(failure),
            Err(NotOpened::NotADirectory(failure)) => {
                let found = self.context.source.stat_path(path).map_err(Into::into)?;
                let found = found.attributes(self.context.options.wanted);
                if found.kind == FileType::Directory {
                    self.unreadable(&place, root, 0, Some(&found), failure, out);
                    return Ok(Fate::Settled);
                }
                self.root_entry(path, root, found, failure, out)
            }
            Err(refused) => {
                let found = self.context.source.stat_path(path).map_err(Into::into)?;
                let found = found.attributes(self.context.options.wanted);
                let failure = match refused {
                    NotOpened::Refused(failure) => failure,
                    // The call allows crossings here: only a file system in user
                    // space can return this.
                    _ => Failure::OTHER_DEVICE,
                };
                self.unreadable(&place, root, 0, Some(&found), failure, out);
                Ok(Fate::Settled)
            }
        }
    }

    /// Delivers a root that is no directory, as `failure` says.
    fn root_entry(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        found: Attributes,
        failure: Failure,
        out: &mut dyn Outlet,
    ) -> Result<Fate, Failure> {
        let target = self.target_of(None, path, found.kind);
        // A scan that follows links cannot take a dangling one as its root.
        if self.context.options.follows && found.kind == FileType::Symlink && target.is_none() {
            return Err(failure);
        }
        self.root_file(path, root, &target.unwrap_or(found), out);
        Ok(Fate::Settled)
    }

    /// Lists a crossing that had to wait.
    pub(crate) fn deferred(
        &mut self,
        parent: Arc<OpenParent>,
        offset: u32,
        out: &mut dyn Outlet,
    ) -> Fate {
        self.child(parent, offset, 0, Sight::Deferred, out)
    }

    /// Follows a symbolic link.
    pub(crate) fn follow(&mut self, parent: Arc<Dir>, offset: u32, out: &mut dyn Outlet) -> Fate {
        let rows = out.rows_by_path();
        let fate = self.follow_to(&parent, offset, out);
        tell_gone(fate, rows, &parent, offset, out);
        fate
    }

    fn follow_to(&mut self, parent: &Arc<Dir>, offset: u32, out: &mut dyn Outlet) -> Fate {
        let place = Place::Child(Arc::clone(parent), offset);
        let base = match self.base_of(&Handle::Closed, &place, Sight::First, out) {
            Ok(Some(base)) => base,
            Ok(None) => unreachable!("a closed directory is opened again"),
            Err(fate) => return fate,
        };
        let name = place.name();
        let target = self.context.source.stat_target(Some(&base), name);
        if let Ok(target) = &target
            && target.kind() == FileType::Directory
            && !self.leaves_out(target, parent, &base)
            && !self.context.visited.contains(target.id())
            && !(self.context).is_left_to_other_root(target.id(), target.mount(), parent.root)
            && (parent.depth + 1 < self.context.options.max_depth
                || !self.context.is_shown_already(target.id(), parent.mount))
        {
            let (root, depth) = (parent.root, parent.depth + 1);
            if self.context.options.refuses(&place, root, depth) {
                out.note(root, Note::Excluded);
                return Fate::Settled;
            }
            if depth >= self.context.options.max_depth {
                let attributes = target.attributes(self.context.options.wanted);
                self.at_limit(&place, root, depth, &attributes, out);
                return Fate::Settled;
            }
            match self.context.source.open_through_links(&base, name) {
                Ok(fd)
                    if self.context.options.enters_kernel_file_systems
                        || self.context.source.kernel_file_system(&fd).is_none() =>
                {
                    let opening = Opening {
                        fd,
                        parent_mount: None,
                        followed: true,
                        in_place_was_tried: false,
                        holds_doubles: false,
                        place,
                        root,
                        depth,
                    };
                    return self.enter(opening, out);
                }
                Err(
                    NotOpened::Refused(failure)
                    | NotOpened::Gone(failure)
                    | NotOpened::NotADirectory(failure),
                ) if self.leads_to_directory(&base, name) => {
                    // A second link to it becomes an entry without size.
                    self.context.visited.insert(target.id());
                    let attributes = target.attributes(self.context.options.wanted);
                    self.unreadable(&place, root, depth, Some(&attributes), failure, out);
                    return Fate::Settled;
                }
                // A kernel file system or an automount point, or it has changed.
                _ => {}
            }
        }
        // A link to a file counts as the file, and a dangling link as itself. A link to a
        // directory that is listed elsewhere, or not at all, is a link without bytes: it
        // stands for those of the directory.
        let found = match self.stat_of(&base, name) {
            Ok(found) => found,
            Err(Failure::NotFound(_)) if self.is_gone(&place, None, out) => {
                out.note(parent.root, Note::Vanished);
                return Fate::Settled;
            }
            Err(failure) => {
                out.failed(parent.root, place.path(), Op::Follow, failure);
                return Fate::Settled;
            }
        };
        if let Err(failure) = target
            && !(is_no_way(failure) || matches!(failure, Failure::NameTooLong(_)))
        {
            out.failed(parent.root, place.path(), Op::Follow, failure);
        }
        let target = self.target_of(Some(&base), name, found.kind);
        let (entry, followed) = match target {
            Some(target) if target.kind != FileType::Directory => (target, true),
            Some(_) => (found.without_bytes(), false),
            None => (found, false),
        };
        self.deliver_alone(parent, name, &entry, followed, out);
        Fate::Settled
    }

    /// Opens a closed parent again: `Ok(None)` if `handle` is open.
    ///
    /// An error if the parent cannot be opened; that is reported, or the judgement is
    /// deferred.
    fn base_of(
        &mut self,
        handle: &Handle,
        place: &Place,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Result<Option<DirHandle>, Fate> {
        let Place::Child(parent, _) = place else {
            return Err(Fate::Open);
        };
        if handle.get().is_some() {
            return Ok(None);
        }
        match self.reopen(parent) {
            Ok(fd) => Ok(Some(fd)),
            // The parent is gone, or another directory stands in its place.
            Err(failure) if is_no_way(failure) => Err(self.not_found(place, sight, failure, out)),
            Err(failure) => {
                self.unreadable_child(place, None, failure, out);
                Err(Fate::Settled)
            }
        }
    }

    /// Defers a listed directory that was not found. When the rest of the tree is
    /// done, a worker judges whether it has vanished.
    fn not_found(
        &mut self,
        place: &Place,
        sight: Sight,
        failure: Failure,
        out: &mut dyn Outlet,
    ) -> Fate {
        match (place, sight) {
            (Place::Child(..), Sight::Again) => {
                self.is_lost_again = true;
                Fate::Open
            }
            (Place::Child(parent, offset), Sight::First | Sight::Deferred) => {
                out.defer_vanished(parent, *offset);
                Fate::Open
            }
            _ => {
                self.unreadable_child(place, None, failure, out);
                Fate::Settled
            }
        }
    }

    /// Delivers a subdirectory that cannot be read, and reports the error.
    pub(super) fn unreadable_child(
        &mut self,
        place: &Place,
        found: Option<&Attributes>,
        failure: Failure,
        out: &mut dyn Events,
    ) {
        if let Place::Child(parent, _) = place {
            self.unreadable(place, parent.root, parent.depth + 1, found, failure, out);
        }
    }

    /// Lists a subdirectory, and tells a caller who waits for it if it does not come.
    pub(super) fn child(
        &mut self,
        parent: Arc<OpenParent>,
        offset: u32,
        ino: u64,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Fate {
        let rows = out.rows_by_path();
        if rows.is_none() {
            return self.list_child(parent, offset, ino, sight, out);
        }
        // Not the parent that is open: the last subdirectory closes it.
        let dir = Arc::clone(&parent.dir);
        let fate = self.list_child(parent, offset, ino, sight, out);
        tell_gone(fate, rows, &dir, offset, out);
        fate
    }

    /// Lists a subdirectory: in place if its inode number is known, else by the source.
    fn list_child(
        &mut self,
        parent: Arc<OpenParent>,
        offset: u32,
        ino: u64,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Fate {
        let dir = &parent.dir;
        let (root, depth, mount) = (dir.root, dir.depth + 1, dir.mount);
        let place = Place::Child(Arc::clone(dir), offset);
        if sight == Sight::First && self.context.options.refuses(&place, root, depth) {
            self.context.lack(None, &place);
            out.note(root, Note::Excluded);
            return Fate::Settled;
        }
        let listed = || InPlaceDir {
            place: &place,
            root,
            depth,
            mount,
            followed: false,
            is_visited: false,
        };
        let is_limit = depth >= self.context.options.max_depth;
        if is_limit {
            self.context.lack(None, &place);
        }
        let is_known_alone = !self.context.options.wanted.need_stat()
            && !self.context.options.follows
            && !self.context.has_several_roots();
        if is_limit && is_known_alone {
            let nothing = Attributes::of_type(FileType::Directory);
            self.at_limit(&place, root, depth, &nothing, out);
            return Fate::Settled;
        }
        let attempt = match ino {
            0 => Attempt::Open,
            _ => self.child_in_place(dir, ino, &listed(), out),
        };
        if let Attempt::Done(fate) = attempt {
            return fate;
        }
        let reopened = match self.base_of(&parent.handle, &place, sight, out) {
            Ok(reopened) => reopened,
            Err(fate) => return fate,
        };
        let base = (reopened.as_ref().or(parent.handle.get()))
            .expect("a closed directory was opened again");
        if is_limit {
            return self.child_at_limit(base, &parent, offset, sight, out);
        }
        let opened = self.open_child(base, &parent, &place, sight, out);
        let (fd, is_crossed) = match opened {
            Ok(opened) => opened,
            Err(fate) => {
                self.in_place.suspicion = None;
                return fate;
            }
        };
        // A call can take long, and a scan that was stopped waits for it.
        if out.cancelled() {
            return Fate::Open;
        }
        let confirmed = match self.in_place.suspicion {
            Some(_) => self.confirm_suspicion(&listed(), &fd),
            None => Confirmed::Nothing,
        };
        if confirmed == Confirmed::Double {
            self.unreadable_child(&place, None, Failure::DAMAGED, out);
            return Fate::Settled;
        }
        let opening = Opening {
            fd,
            parent_mount: (!is_crossed).then_some(mount),
            followed: false,
            in_place_was_tried: attempt == Attempt::ByKernel,
            holds_doubles: confirmed == Confirmed::HoldsDoubles,
            place,
            root,
            depth,
        };
        // The last subdirectory closes its parent, and its copy is one more
        // descriptor than a worker may need.
        drop((reopened, parent));
        self.enter(opening, out)
    }

    /// Delivers a subdirectory that lies at the depth limit.
    fn child_at_limit(
        &mut self,
        base: &DirHandle,
        holder: &Arc<OpenParent>,
        offset: u32,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Fate {
        let parent = &holder.dir;
        let place = &Place::Child(Arc::clone(parent), offset);
        let (root, depth) = (parent.root, parent.depth + 1);
        let found = self.context.source.stat_entry(base, place.name());
        let found = match found.map_err(Into::into) {
            Ok(found) => found,
            Err(failure @ Failure::NotFound(_)) => {
                return self.not_found(place, sight, failure, out);
            }
            Err(failure) => {
                // A mount that shuts out this user is left out all the same.
                let seen = self.context.source.recognise(base, place.name());
                match seen.ok().filter(|seen| self.leaves_out(seen, parent, base)) {
                    Some(seen) => self.crossing(place, &seen, root, depth, out),
                    None => self.unreadable_child(place, None, failure, out),
                }
                return Fate::Settled;
            }
        };
        let attributes = found.attributes(self.context.options.wanted);
        if attributes.kind != FileType::Directory {
            self.deliver_alone(parent, place.name(), &attributes, false, out);
            return Fate::Settled;
        }
        if self.leaves_out(&found, parent, base) {
            self.crossing(place, &found, root, depth, out);
            return Fate::Settled;
        }
        if (self.context).is_left_to_other_root(found.id(), found.mount(), root) {
            return Fate::Settled;
        }
        let mut mount = parent.mount;
        if found.mount() != mount.id {
            mount.id = found.mount();
            mount.shared = self.context.is_reached_twice(mount.id);
            // The same way wins in every scan.
            if mount.shared && sight != Sight::Deferred {
                out.defer(holder, offset);
                return Fate::Open;
            }
        }
        if self.context.is_shown_already(found.id(), mount) {
            self.left_standing(place, root, depth, DirState::Crossing, out);
            out.note(root, Note::Crossing);
            return Fate::Settled;
        }
        self.at_limit(place, root, depth, &attributes, out);
        Fate::Settled
    }

    /// Opens a subdirectory, and returns whether a mount begins there.
    ///
    /// An error if it stays unlisted; that was delivered or noted, or else deferred.
    fn open_child(
        &mut self,
        base: &DirHandle,
        parent: &Arc<OpenParent>,
        place: &Place,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Result<(DirHandle, bool), Fate> {
        let name = place.name();
        let mut tries_left = OPENS_MAX;
        loop {
            tries_left -= 1;
            let crossing = match self.context.source.open_child(base, name) {
                Ok(fd) => return Ok((fd, false)),
                Err(refusal @ (NotOpened::OtherMount | NotOpened::Automount)) => {
                    self.cross(base, parent, place, refusal, sight, out)
                }
                Err(refusal) => Crossing::Refused(refusal),
            };
            let refusal = match crossing {
                Crossing::Entered(fd) => return Ok((fd, true)),
                Crossing::Stays(fate) => return Err(fate),
                Crossing::Refused(refusal) => refusal,
            };
            let (found, failure) = match refusal {
                NotOpened::Gone(failure) => {
                    return Err(self.not_found(place, sight, failure, out));
                }
                NotOpened::Refused(failure) => {
                    let found = self.context.source.stat_entry(base, name).ok();
                    if let Some(found) = &found
                        && self.is_other_root(found, parent)
                    {
                        return Err(Fate::Settled);
                    }
                    let wanted = self.context.options.wanted;
                    (found.map(|found| found.attributes(wanted)), failure)
                }
                // The stat shows no mount: it was there for a moment, or the file
                // system returned a false error.
                NotOpened::OtherMount | NotOpened::Automount if tries_left > 0 => {
                    continue;
                }
                NotOpened::OtherMount | NotOpened::Automount => {
                    (self.stat_of(base, name).ok(), Failure::OTHER_DEVICE)
                }
                NotOpened::NotADirectory(failure) => match self.stat_of(base, name) {
                    Ok(found) if found.kind != FileType::Directory => {
                        self.deliver_alone(&parent.dir, name, &found, false, out);
                        return Err(Fate::Settled);
                    }
                    // It was something else for a moment.
                    Ok(_) if tries_left > 0 => continue,
                    Ok(found) => (Some(found), failure),
                    Err(failure @ Failure::NotFound(_)) => {
                        return Err(self.not_found(place, sight, failure, out));
                    }
                    Err(failure) => (None, failure),
                },
            };
            self.unreadable_child(place, found.as_ref(), failure, out);
            return Err(Fate::Settled);
        }
    }

    /// Whether a subdirectory that cannot be opened is another root, which gives the error.
    /// With an unlimited depth a later root is left out then.
    fn is_other_root(&self, found: &D::Stat, parent: &Arc<OpenParent>) -> bool {
        let (root, depth) = (parent.dir.root, parent.dir.depth + 1);
        let visit = self
            .context
            .visit_of_root(found.id(), found.mount(), root, depth);
        let is_other = visit == Visit::OtherRoot;
        if is_other {
            self.context.lack(Some(parent.dir.id), &parent.dir.place);
        }
        is_other
    }

    /// Decides about a directory on which a file system is mounted.
    fn cross(
        &mut self,
        base: &DirHandle,
        parent: &Arc<OpenParent>,
        place: &Place,
        refusal: NotOpened,
        sight: Sight,
        out: &mut dyn Outlet,
    ) -> Crossing {
        let (root, depth) = (parent.dir.root, parent.dir.depth + 1);
        let name = place.name();
        // An overlay of the directory shows what the mount covers.
        self.context.lack(None, place);
        let found = match self.context.source.recognise(base, name) {
            Ok(found) => found,
            Err(failure) => return Crossing::Refused(NotOpened::from(failure)),
        };
        let stays = match found.is_idle_automount() {
            true => true,
            false => self.leaves_out(&found, &parent.dir, base),
        };
        let is_same_mount = found.has_mount_id()
            && found.mount() == parent.dir.mount.id
            && refusal == NotOpened::OtherMount
            && !found.is_idle_automount()
            && !self.context.source.mounts_on_demand(base);
        if stays && is_same_mount {
            return Crossing::Refused(refusal);
        }
        let outcome = match stays {
            true => Err(NotOpened::OtherMount),
            false => self.context.source.open_across(base, name),
        };
        let fd = match outcome {
            Ok(fd) => fd,
            Err(NotOpened::OtherMount | NotOpened::Automount) if !is_same_mount => {
                self.crossing(place, &found, root, depth, out);
                return Crossing::Stays(Fate::Settled);
            }
            Err(refusal) => return Crossing::Refused(refusal),
        };
        if !self.context.options.enters_kernel_file_systems
            && let Some(file_system) = self.context.source.kernel_file_system(&fd)
        {
            if (self.context).is_other_root(found.id(), found.mount(), root) {
                return Crossing::Stays(Fate::Settled);
            }
            self.left_standing(place, root, depth, DirState::Excluded, out);
            out.note(root, Note::Excluded);
            out.left_out(place.path(), file_system);
            return Crossing::Stays(Fate::Settled);
        }
        let stacked = self.context.stacked(found.mount());
        let waits =
            stacked == Some(Stacked::Overlay) || self.context.is_reached_twice(found.mount());
        if sight != Sight::Deferred && waits {
            let Place::Child(_, offset) = place else {
                return Crossing::Stays(Fate::Open);
            };
            match stacked {
                Some(Stacked::Overlay) => out.defer_overlay(parent, *offset),
                _ => out.defer(parent, *offset),
            }
            return Crossing::Stays(Fate::Open);
        }
        match stacked.map(|stacked| self.counts_elsewhere(&fd, &found, stacked)) {
            Some(Elsewhere::Whole) => {
                self.left_standing(place, root, depth, DirState::Crossing, out);
                out.note(root, Note::OverlayLeftOut);
                return Crossing::Stays(Fate::Settled);
            }
            Some(Elsewhere::Perhaps) => out.note(root, Note::PerhapsTwice),
            Some(Elsewhere::Not) | None => {}
        }
        Crossing::Entered(fd)
    }

    /// Delivers a mount that the scan does not enter, unless it is a root, which does.
    fn crossing(
        &mut self,
        place: &Place,
        found: &D::Stat,
        root: u32,
        depth: u32,
        out: &mut dyn Outlet,
    ) {
        if (self.context).is_other_root(found.id(), found.mount(), root) {
            return;
        }
        self.left_standing(place, root, depth, DirState::Crossing, out);
        out.note(root, Note::Crossing);
    }

    /// Whether the files that a mount shows count in other directories, too.
    fn counts_elsewhere(&self, fd: &DirHandle, found: &D::Stat, stacked: Stacked) -> Elsewhere {
        let mount = found.mount();
        let is_listed =
            self.context.is_reached_twice(mount) && self.context.visited.contains(found.id());
        // Another mount of the same was entered: this one is a second way.
        if is_listed {
            return Elsewhere::Not;
        }
        // The caller has asked for a root by name, so it has an answer of its own.
        let can_stay = stacked == Stacked::Overlay && !self.context.holds_root(mount);
        match self.context.source.layers_of(fd, mount) {
            Layers::Elsewhere => Elsewhere::Not,
            Layers::Known(layers) if can_stay && self.context.has_read(&layers) => Elsewhere::Whole,
            Layers::Known(_) | Layers::Unknown => Elsewhere::Perhaps,
        }
    }

    /// Whether the scan leaves out an entry of a directory, because a mount begins there.
    fn leaves_out(&self, found: &D::Stat, holder: &Dir, base: &DirHandle) -> bool {
        let options = &self.context.options;
        let entry = found.shown();
        // Nobody asks the system where the mounts alone decide.
        if options.mounts == EnteredMounts::All || entry.mount == holder.mount.id {
            return false;
        }
        let known = holder.identity.get().copied();
        let holder = Shown {
            mount: holder.mount.id,
            dev: (known.or_else(|| self.context.source.identity(base).ok())).map(|id| id.dev),
        };
        options.leaves_out(entry, holder)
    }

    pub(super) fn stat_of(&self, dir: &DirHandle, name: &CStr) -> Result<Attributes, Failure> {
        let found = (self.context.source.stat_entry(dir, name)).map_err(Into::into)?;
        Ok(found.attributes(self.context.options.wanted))
    }

    /// Whether a symbolic link leads to a directory.
    fn leads_to_directory(&self, dir: &DirHandle, name: &CStr) -> bool {
        let found = self.context.source.stat_target(Some(dir), name);
        found.is_ok_and(|found| found.kind() == FileType::Directory)
    }

    /// The attributes of a symbolic link's target.
    ///
    /// Absent if the scan does not follow links, the entry is no link, or it dangles.
    fn target_of(
        &self,
        dir: Option<&DirHandle>,
        name: &CStr,
        kind: FileType,
    ) -> Option<Attributes> {
        if !self.context.options.follows || kind != FileType::Symlink {
            return None;
        }
        let found = self.context.source.stat_target(dir, name).ok()?;
        Some(found.attributes(self.context.options.wanted))
    }
}
