// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads an open directory, verifies that it held still, and delivers it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::contents::{deliver, queue};
use super::context::Visit;
use super::in_place::{InPlace, InPlaceDir};
use super::listed::{More, Reading};
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet};
use super::shared::PART_MIN;
use super::suspicion::Confirmed;
use super::{Lister, REREADS_MAX, WITHHELD_MAX};
use crate::calls::{Sharing, StatOrder};
use crate::directory::{DirState, Directory, MountMark};
use crate::entry::{Attributes, FileId, FileType};
use crate::error::Op;
use crate::handle::Handle;
use crate::source::in_place::volume_table::DIR_BYTES_BEFORE;
use crate::source::posix::open::{self, Opening};
use crate::source::posix::stat;
use crate::source::posix::stat::Stillness;
use crate::tally;

/// How reading a directory ended.
enum End {
    Complete,
    Failed(Errno),
    Cancelled,
    CacheDirectory,
    /// There are more entries than are withheld, or somebody has nothing to do;
    /// `listed` holds some that were not stat'ed.
    Share,
}

impl Lister {
    /// Reads a directory that is open.
    pub(super) fn enter(&mut self, opening: Opening, out: &mut impl Outlet) {
        let Opening {
            fd,
            place,
            root,
            depth,
            parent_mount,
            followed,
            in_place_was_tried,
            mut holds_doubles,
        } = opening;
        self.dirs_begun += 1;
        let terms = Arc::clone(&self.terms);
        let (mut before, mut identity) = (None, None);
        let mut attributes = Attributes::of_type(FileType::Directory);
        let mut mount = parent_mount.unwrap_or(MountMark {
            id: 0,
            shared: false,
        });
        // What was looked for by its number is not looked for again.
        let may_be_in_place = parent_mount.is_none()
            || !in_place_was_tried
                && (self.in_place_of(mount.id, 0)).is_some_and(InPlace::finds_opened);
        if may_be_in_place || terms.stats_directories(mount.shared) {
            let found = match terms.stat_directory(fd.as_fd()) {
                Ok(found) => found,
                Err(errno) => {
                    self.unreadable(&place, root, depth, None, errno, out);
                    return;
                }
            };
            // The same as its parent's, unless devices stand for mounts: a nested
            // btrfs subvolume is one of its own.
            mount.id = stat::mount_id(&found);
            if parent_mount.is_none() {
                // For a root it is asked when it has subdirectories.
                mount.shared = depth > 0 && terms.is_reached_twice(mount.id);
            }
            match terms.visit(stat::file_id(&found), mount, root, depth) {
                Visit::First => {}
                Visit::Again => {
                    self.left_standing(&place, root, depth, DirState::Crossing, out);
                    out.note(root, Note::Crossing);
                    return;
                }
                Visit::EarlierRoot => return,
            }
            if place.leads_through(stat::file_id(&found), mount.id) {
                // As the kernel answers where it sees the circle itself:
                // d_splice_alias, fs/dcache.c.
                self.unreadable(&place, root, depth, None, Errno::LOOP, out);
                return;
            }
            identity = Some(stat::file_id(&found));
            // A root: others are not even opened.
            if depth >= terms.max_depth {
                attributes = stat::attributes(&found, terms.wanted);
                return self.at_limit(&place, root, depth, &attributes, out);
            }
            // Large enough to look for a volume that nobody has looked for yet.
            let is_first_large =
                found.stx_size >= DIR_BYTES_BEFORE && self.in_place_of(mount.id, 0).is_none();
            if may_be_in_place || is_first_large {
                let dir = InPlaceDir {
                    place: &place,
                    root,
                    depth,
                    mount,
                    followed,
                    is_visited: true,
                };
                if self.opened_in_place(fd.as_fd(), &found, &dir, out) {
                    return;
                }
                match self.confirm_suspicion(&dir, fd.as_fd()) {
                    Confirmed::Double => {
                        self.unreadable(&place, root, depth, None, Errno::UCLEAN, out);
                        return;
                    }
                    Confirmed::HoldsDoubles => holds_doubles = true,
                    Confirmed::Nothing => {}
                }
            }
            if terms.wanted.need_stat() {
                attributes = stat::attributes(&found, terms.wanted);
                before = Some(Stillness::of(&found));
            }
        }
        let mut dir = OpenDir {
            ignore: terms.ignore_rules(&place, fd.as_fd()),
            id: out.next_id(),
            place,
            root,
            depth,
            mount,
            followed,
            attributes,
            identity,
            before,
            link_stop_is_off: false,
            subvolume: 0,
            holds_doubles,
        };
        // To find the tag of a cache the whole directory must have been seen.
        let may_gather = terms.wanted.need_stat() && !terms.exclusions.leaves_out_caches();
        if may_gather && out.gathers() {
            return self.gather(dir, fd, out);
        }
        let mut rereads = 0;
        loop {
            self.contents.clear();
            let end = self.read_directory(&fd, &dir, out);
            match end {
                End::Cancelled => return,
                End::Share => {
                    return self.share(dir, fd, out);
                }
                End::CacheDirectory => {
                    self.left_standing(&dir.place, root, depth, DirState::Excluded, out);
                    out.note(root, Note::Excluded);
                    return;
                }
                // It was removed after it was opened: getdents64 says so. What it
                // held until then went before it.
                End::Failed(Errno::NOENT) if self.is_gone(&dir.place, dir.identity, out) => {
                    return out.note(root, Note::Vanished);
                }
                End::Failed(errno) => {
                    self.finish(&dir, fd, out);
                    out.failed(root, dir.place.path(), Op::Read, errno);
                    out.incomplete(&dir.view());
                    return;
                }
                End::Complete => {}
            }
            let link_stop = &self.contents.link_stop;
            dir.link_stop_is_off |= !link_stop.can_be_trusted(fd.as_fd(), &terms);
            let doubtful = dir.link_stop_is_off && link_stop.was_used();
            if !doubtful && dir.held_still(fd.as_fd(), &terms) {
                self.judge_missing_here(fd.as_fd(), &dir, out);
                return self.finish(&dir, fd, out);
            }
            if rereads == REREADS_MAX {
                self.judge_missing_here(fd.as_fd(), &dir, out);
                self.finish(&dir, fd, out);
                out.changed(&dir.view());
                return;
            }
            rereads += 1;
            self.rewind(&mut dir, &fd);
        }
    }

    /// Judges the names that no stat found in the directory that was read.
    fn judge_missing_here(&mut self, fd: BorrowedFd<'_>, dir: &OpenDir, out: &impl Outlet) {
        if self.contents.missing.is_empty() {
            return;
        }
        let mut contents = std::mem::take(&mut self.contents);
        let missing = std::mem::take(&mut contents.missing);
        self.judge_missing(missing, fd, dir, &mut contents, out);
        self.contents = contents;
    }

    /// Reads the next entries of an open directory into `listed`.
    pub(super) fn fill(&mut self, fd: BorrowedFd<'_>) -> Result<More, Errno> {
        self.listed.clear();
        self.fill_on(fd)
    }

    /// Reads the next entries of an open directory behind those in `listed`.
    fn fill_on(&mut self, fd: BorrowedFd<'_>) -> Result<More, Errno> {
        self.listed.fill(fd, &mut self.buffer, &self.terms)
    }

    /// Makes a directory that changed ready to be read again.
    fn rewind(&self, dir: &mut OpenDir, fd: &OwnedFd) {
        // If either call fails, the next look at the directory fails as well
        // and reports it.
        tally::count();
        let _ = seek(fd, SeekFrom::Start(0));
        if dir.before.is_some()
            && let Ok(found) = self.terms.stat_directory(fd.as_fd())
        {
            dir.attributes = stat::attributes(&found, self.terms.wanted);
            dir.before = Some(Stillness::of(&found));
        }
    }

    /// Reads entries until the directory ends or must be shared.
    fn read_directory(&mut self, fd: &OwnedFd, dir: &OpenDir, out: &mut impl Outlet) -> End {
        let sorts = self.terms.calls.stat_order == StatOrder::Inode;
        let mut buffers = 0;
        loop {
            match self.fill(fd.as_fd()) {
                Ok(More::Entries) => {}
                Ok(More::End) => return End::Complete,
                Err(errno) => return End::Failed(errno),
            }
            // The whole directory, as far as it is withheld, before the first stat.
            while sorts && self.listed.len() < WITHHELD_MAX && !out.cancelled() {
                match self.fill_on(fd.as_fd()) {
                    Ok(More::Entries) => {}
                    Ok(More::End) => break,
                    Err(errno) => return End::Failed(errno),
                }
            }
            if sorts {
                self.listed.sort_by_inode();
            }
            if out.cancelled() {
                return End::Cancelled;
            }
            if self.terms.exclusions.leaves_out_caches()
                && self.listed.holds(c"CACHEDIR.TAG")
                && open::is_cache_directory(fd.as_fd())
            {
                return End::CacheDirectory;
            }
            buffers += 1;
            if self.contents.entry_count() + self.listed.len() > WITHHELD_MAX {
                return End::Share;
            }
            let may_share =
                self.terms.wanted.need_stat() && self.terms.calls.sharing == Sharing::WhenIdle;
            let worth_it = match out.is_slow() {
                true => self.listed.len() >= 2 * PART_MIN,
                false => buffers > 1 && out.somebody_idle(),
            };
            if may_share && worth_it {
                return End::Share;
            }
            let (listed, contents) = (&self.listed, &mut self.contents);
            match listed.read_attributes(fd.as_fd(), dir, &self.terms, contents, out) {
                Reading::Whole => {}
                Reading::Stopped => return End::Cancelled,
                Reading::Until(index) => {
                    self.listed = self.listed.split_off(index);
                    return End::Share;
                }
            }
        }
    }

    /// Delivers what was read, and queues the subdirectories.
    fn finish(&mut self, dir: &OpenDir, fd: OwnedFd, out: &mut impl Outlet) {
        let doubles = match dir.holds_doubles {
            true => self.contents.take_doubles(),
            false => Vec::new(),
        };
        let contents = &self.contents;
        let mut parent = None;
        if !contents.waiting_names.is_empty() {
            let (handle, over) = match self.terms.budget.keep(fd) {
                Ok(handle) => (handle, None),
                Err(fd) => (Handle::Closed, Some(fd)),
            };
            let identity = match &over {
                Some(fd) => self.identity_of(dir, fd.as_fd()),
                None => dir.identity,
            };
            let mount = self.mount_below(dir);
            let node = dir.node(&contents.waiting_names, mount, handle, identity);
            if let Some(fd) = over {
                self.kept = Some((Arc::clone(&node.dir), fd));
            }
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        } else {
            drop(fd);
        }
        let view = Directory {
            own: true,
            ..dir.view()
        };
        deliver(&view, true, &self.contents, out);
        if let Some(parent) = parent {
            self.deliver_doubles(&parent, &doubles, out);
        }
    }

    /// The mount of the subdirectories.
    ///
    /// Whether a root's mount shows what another mount shows too is asked here,
    /// when it is known that there is something below the root.
    pub(crate) fn mount_below(&self, dir: &OpenDir) -> MountMark {
        let mut mount = dir.mount;
        if dir.depth == 0 && self.terms.is_reached_twice(mount.id) {
            mount.shared = true;
            if let Some(id) = dir.identity {
                self.terms.visited.insert(id);
            }
        }
        mount
    }

    /// By what a directory that is going to be closed can be known again.
    pub(super) fn identity_of(&self, dir: &OpenDir, fd: BorrowedFd<'_>) -> Option<FileId> {
        dir.identity.or_else(|| {
            let found = stat::by_descriptor(fd, open::IDENTITY).ok()?;
            Some(stat::file_id(&found))
        })
    }
}
